"""``synth report``: a quality report to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.cli.options import DatasetFolder
from synth.late import late

if TYPE_CHECKING:
    from synth.dataset import report as dataset_report
else:
    dataset_report = late("synth.dataset.report")

__all__ = ["report"]


def report(
    folder: DatasetFolder,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("report.html"),
    whole: Annotated[
        int, typer.Option("--whole", metavar="N", help="How many trajectories can be read whole in it; all are listed.")
    ] = 600,
) -> None:
    """Write a page that shows a dataset: plots, tables, rows to search and read. It needs no network."""

    written = dataset_report.write_report(folder, out, whole=whole)
    beside = "" if written.data is None else f", with {written.data} beside it"
    print(f"{written.page}{beside}: {written.trajectories:,} trajectories, {written.whole:,} of them with every turn")
