"""Options that several commands share, each defined once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Dataset",
    "ExecutorName",
    "ExecutorOption",
    "JsonOption",
    "OutOption",
    "RecipeOption",
    "SeedOption",
    "SetOption",
    "SourceOption",
    "StoreOption",
    "TasksFileOption",
    "TasksOption",
    "WorkersOption",
]


class ExecutorName(StrEnum):
    """Where stages run."""

    LOCAL = "local"
    PROCESSES = "processes"
    RAY = "ray"


Dataset = Annotated[
    str | None, typer.Argument(metavar="[DATASET]", help="A builtin dataset (`synth list`); with --recipe, its name.")
]
RecipeOption = Annotated[Path | None, typer.Option("--recipe", metavar="FILE", help="A recipe of your own (YAML).")]
SourceOption = Annotated[
    Path | None,
    typer.Option(
        "--source", metavar="PATH", help="Folder of HTML or Markdown, or a JSONL or Parquet file of documents."
    ),
]
TasksOption = Annotated[int | None, typer.Option("--tasks", metavar="N", help="Exactly how many tasks to make.")]
TasksFileOption = Annotated[
    Path | None,
    typer.Option("--tasks-file", metavar="F", help="Your own questions and answers (JSONL or CSV) instead of ours."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of everything that is drawn.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Where the finished dataset goes (default: out/<dataset>).")
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="DIR",
        envvar="SYNTH_STORE",
        help="Shards, journals and caches (default: the user's cache folder).",
    ),
]
WorkersOption = Annotated[int, typer.Option("--workers", metavar="N", help="How many shards run at once.")]
ExecutorOption = Annotated[
    ExecutorName,
    typer.Option("--executor", help="local = this process; processes = N of them; ray = a Ray cluster (extra `ray`)."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key of the recipe; may be given several times."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program instead of text for a person.")]
