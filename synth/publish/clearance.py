"""What must hold before a dataset is sent: every row is valid, nothing leaks, and text that is not ours is redacted."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from synth.dataset.files import REPORT_FILE, stated_files
from synth.dataset.reader import Dataset, load
from synth.dataset.rules.validate import validate
from synth.errors import DatasetError
from synth.publish.contents import LocalFile, contents
from synth.publish.hub import Announce
from synth.publish.leaks import leaks, this_machine, without_licence
from synth.publish.redaction import redact, unlicensed

__all__ = ["check_rows", "check_unchanged", "checked", "publishable_edition"]

_SHOWN = 3
"""Problems that an error names; ``synth validate`` lists all."""


def publishable_edition(dataset: Dataset, stack: ExitStack, say: Announce) -> Dataset:
    """What everybody may read of the dataset: itself, or an edition in a folder that lasts as long as ``stack``."""
    if dataset.report.redacted is not None or not unlicensed(dataset):
        return dataset
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="synth-push-"))) / "edition"
    say("redacting text without a stated licence")
    about = redact(dataset.path, folder).redacted
    if about is not None:
        rows = ", ".join(f"{config} {count:,}" for config, count in about.rows.items())
        say(f"redacted: {about.documents:,} texts, {about.characters:,} characters; rows with references: {rows}")
    edition = load(folder)
    check_rows(edition, say)
    return edition


def checked(
    dataset: Dataset, sent_from: Dataset, public: bool, token: str | None, say: Announce
) -> tuple[list[LocalFile], list[str]]:
    """The files of ``sent_from``, once they may be published, and what lies beside ``dataset``."""
    where = str(dataset.path)
    files, beside = contents(sent_from.path)
    found = leaks(files, this_machine(dataset.path, token))
    if found:
        raise DatasetError(
            f"it holds what must not be published: {_listed(found)}",
            where=where,
            mend="build it again without that; source.private: mask takes keys out of documents",
        )
    if sent_from is not dataset:
        beside = contents(dataset.path)[1]
    nobody = without_licence(files)
    # A row that is made of documents has their licence, or none where they have several; their own text is settled.
    if public and nobody and "documents" not in dataset.configs:
        listed = ", ".join(f"{config} {count:,}" for config, count in nobody.items())
        raise DatasetError(
            f"no licence is stated for rows of {listed}, which have no documents whose text could be redacted",
            where=where,
            mend="state it where the rows come from (source.licence, synth import --licence), or leave out --public",
        )
    if not public and nobody:
        listed = ", ".join(f"{config} {count:,}" for config, count in nobody.items())
        say(f"no licence is stated for rows of {listed}: keep the repository private until one is")
    for name in beside:
        say(f"left out, since it is not part of a dataset: {name}")
    return files, beside


def check_rows(dataset: Dataset, say: Announce) -> None:
    say("checking every row")
    problems = validate(dataset.path)
    if problems:
        raise DatasetError(
            f"it is not valid: {_listed(problems)}",
            where=str(dataset.path),
            mend="see all of them with `synth validate`",
        )


def check_unchanged(dataset: Dataset, validated: str) -> None:
    """The dataset is still the one whose every row was found valid.

    Args:
        validated: Hash of its ``report.json`` then, which states size and hash of every other file.

    Raises:
        DatasetError: it is not.
    """
    report = hashlib.sha256((dataset.path / REPORT_FILE).read_bytes()).hexdigest()
    if report != validated or stated_files(dataset.path) != dataset.report.files:
        raise DatasetError("it changed after it was validated", where=str(dataset.path), mend="validate it again")


def _listed(problems: list[Any]) -> str:
    more = f"; and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return "; ".join(str(problem) for problem in problems[:_SHOWN]) + more
