"""Text back into an edition from which it was redacted: by id and hash, from a copy that its reader may use."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.configs import CONFIGS, Config
from synth.dataset.files import REPORT_FILE
from synth.dataset.key_hashes import carry
from synth.dataset.layout import write_dataset
from synth.dataset.reader import Dataset, load
from synth.dataset.references import Reference, filled, references_in, whole_in
from synth.errors import InputError
from synth.publish.redaction import changed
from synth.schemas.reports import BuildReport
from synth.store import check_destination, staged

__all__ = ["Rehydrated", "is_dataset", "rehydrate"]

_ROWS = 100


@dataclass(frozen=True)
class Rehydrated:
    """What was brought back."""

    path: Path
    documents: int
    """Documents whose text is there again."""
    missing: tuple[str, ...]
    """Those that the copy does not hold."""
    other: tuple[str, ...]
    """Those that it holds with another text: nothing of it was used."""


def is_dataset(folder: Path) -> bool:
    """Whether a synth dataset stands in ``folder``, rather than a source to be read."""
    return (folder / REPORT_FILE).is_file()


def rehydrate(folder: str | Path, texts: Mapping[str, str], out: str | Path) -> Rehydrated:
    """Write to ``out`` the edition in ``folder`` with the text of the documents in ``texts`` (id -> text).

    A text counts when its SHA-256 is the one that the edition states. With all of them the dataset is, byte for byte,
    what it was before (but for token ids that were left out, see ``redact``); else it stays an edition, with what is
    missing as references.

    Raises:
        InputError: nothing is redacted from the dataset, or not one text of it is in ``texts``.
        StoreError: ``out`` is not empty or can't be written; nothing is left there.
    """
    check_destination(out, marker=None)
    dataset = load(folder)
    about = dataset.report.redacted
    if about is None:
        raise InputError("nothing is redacted from it", where=str(folder), mend="use it as it is")
    stated = _stated(dataset)
    kept: dict[str, str] = {}
    other = []
    for name, sha256 in stated.items():
        if name not in texts:
            continue
        if hashlib.sha256(texts[name].encode()).hexdigest() == sha256:
            kept[name] = texts[name]
        else:
            other.append(name)
    missing = tuple(name for name in stated if name not in texts)
    if not kept:
        raise InputError(
            f"none of the {len(stated):,} texts is in the copy: {len(missing):,} ids are not there, "
            f"{len(other):,} have another text",
            where=str(folder),
            mend="give the documents as they were when the dataset was built, under the same ids",
        )
    work = _Work(kept, whole=len(kept) == len(stated))
    tables = {config.name: work.batches(dataset, config) for config in CONFIGS if config.name in dataset.configs}
    left = about.model_copy(
        update={
            "documents": len(stated) - len(kept),
            "characters": about.characters - sum(map(len, kept.values())),
        }
    )
    report = dataset.report.model_copy(update={"redacted": None if work.whole else left})
    with staged(Path(out), marker=REPORT_FILE) as staging:
        write_dataset(staging, tables, report, complete=work.complete)
        carry([dataset.path], staging)
    return Rehydrated(Path(out), len(kept), missing, tuple(other))


def _stated(dataset: Dataset) -> dict[str, str]:
    """Id -> SHA-256 of every text that is redacted."""
    found: dict[str, str] = {}
    for batch in dataset.batches("documents", columns=["id", "text"]):
        for name, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            one = whole_in(text, name)
            if one is not None and one.sha256 is not None:
                found[name] = one.sha256
    return found


class _Work:
    def __init__(self, texts: Mapping[str, str], *, whole: bool) -> None:
        self.whole = whole
        self._texts = texts
        self._counts: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()

    def batches(self, dataset: Dataset, config: Config) -> Iterator[pa.RecordBatch]:
        for batch in dataset.batches(config.name, size=_ROWS):
            if config.name == "documents":
                made = self._documents(batch)
            else:
                made = changed(batch, config.row_type, self._change)
            if not self.whole:
                self._count(config.name, made)
            yield made

    def complete(self, report: BuildReport) -> BuildReport:
        """With what is left counted anew."""
        if report.redacted is None:
            return report
        counts = {"references": dict(sorted((+self._counts).items())), "rows": dict(sorted((+self._rows).items()))}
        return report.model_copy(update={"redacted": report.redacted.model_copy(update=counts)})

    def _documents(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        place = batch.schema.get_field_index("text")
        names, texts = (batch.column(name).to_pylist() for name in ("id", "text"))
        new = [
            self._texts.get(name, text) if whole_in(text, name) is not None else text
            for name, text in zip(names, texts, strict=True)
        ]
        return batch.set_column(place, batch.schema.field(place), pa.array(new, pa.string()))

    def _change(self, value: Any, name: str) -> Any:
        return filled(value, self._text, unescape=self.whole) if isinstance(value, str) else value

    def _text(self, one: Reference) -> str | None:
        text = self._texts.get(one.document_id)
        return None if text is None else text[one.start : one.end]

    def _count(self, config: str, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            count = sum(len(references_in(text)) for text in _texts(row))
            self._counts[config] += count
            self._rows[config] += bool(count)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
