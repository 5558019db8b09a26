"""``synth redact`` and ``synth rehydrate``: text that is not ours to publish out of a dataset, and back into it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth import api
from synth.cli.options import DatasetFolder
from synth.late import late

if TYPE_CHECKING:
    from synth.publish import redaction
    from synth.store import remote
else:
    redaction = late("synth.publish.redaction")
    remote = late("synth.store.remote")

__all__ = ["redact", "rehydrate"]

NewFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder for it.")]


def redact(folder: DatasetFolder, out: NewFolder) -> None:
    """Write a dataset without the text of documents that state no licence: what `synth push --public` publishes."""

    about = redaction.redact(folder, out).redacted
    if about is not None:
        rows = ", ".join(f"{config} {count:,}" for config, count in about.rows.items())
        print(f"{remote.url_of(out)}: {about.documents:,} texts ({about.characters:,} characters) are references now")
        print(f"rows with references: {rows}")


def rehydrate(
    folder: DatasetFolder,
    copy: Annotated[
        Path,
        typer.Option("--from", metavar="PATH", help="The documents: a dataset with them, or what --source was."),
    ],
    out: NewFolder,
) -> None:
    """Put redacted text back into a dataset, by id and hash, from your own copy of its documents."""

    done = api.rehydrate(folder, copy, out)
    print(f"{remote.url_of(out)}: {done.documents:,} texts are there again")
    for names, what in ((done.missing, "are not in the copy"), (done.other, "have another text in the copy")):
        if names:
            print(f"{len(names):,} {what} and stay references: {', '.join(names[:3])} ...", file=sys.stderr)
