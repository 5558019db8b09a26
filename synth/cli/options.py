"""Options that several commands share, each defined once."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from synth.errors import InputError
from synth.inputs import parse_yaml, read_text

__all__ = [
    "LOCAL_ENDPOINT",
    "AllowHostsOption",
    "CallsOption",
    "Dataset",
    "DatasetFolder",
    "EndpointOption",
    "ExecutorName",
    "ExecutorOption",
    "HostOption",
    "InFlightOption",
    "JsonOption",
    "KeyOption",
    "MaxCostOption",
    "MaxTokensOption",
    "ModelOption",
    "OutOption",
    "PromptsOption",
    "RecipeOption",
    "SeedOption",
    "SetOption",
    "SlurmOption",
    "SourceOption",
    "StoreOption",
    "TasksFileOption",
    "TasksOption",
    "TrustOption",
    "WorkersOption",
    "environment_options",
]


LOCAL_ENDPOINT = "http://localhost:8000/v1"
"""Where a server of the user's usually listens: vLLM's own default."""


class ExecutorName(StrEnum):
    """Where stages run."""

    LOCAL = "local"
    PROCESSES = "processes"
    RAY = "ray"
    SLURM = "slurm"


Dataset = Annotated[
    str | None, typer.Argument(metavar="[DATASET]", help="A builtin dataset (`synth list`); with --recipe, its name.")
]
DatasetFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder that `synth build` printed, or its URL.")
]
RecipeOption = Annotated[Path | None, typer.Option("--recipe", metavar="FILE", help="A recipe of your own (YAML).")]
SourceOption = Annotated[
    Path | None,
    typer.Option(
        "--source",
        metavar="PATH",
        help="Folder of HTML, Markdown or reStructuredText; JSONL or Parquet documents; hf://datasets/OWNER/NAME; "
        "triples or tables (CSV, SQLite, ...). May lie in s3:// or other storage.",
    ),
]
TasksOption = Annotated[int | None, typer.Option("--tasks", metavar="N", help="Exactly how many tasks to make.")]
TasksFileOption = Annotated[
    Path | None,
    typer.Option("--tasks-file", metavar="F", help="Your own questions and answers (JSONL or CSV) instead of ours."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of everything that is drawn.")]
PromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR",
        help="Your own prompts: files at the relative paths of those that ship (agents/search/v2.md).",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where the finished dataset goes: a folder or a URL (s3://...); default: out/<dataset>.",
    ),
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
    typer.Option(
        "--executor",
        help="local = this process; processes = N of them; ray = a Ray cluster (extra `ray`); slurm = job arrays.",
    ),
]
SlurmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--slurm",
        metavar="KEY=VALUE",
        help="What a job of --executor slurm asks for: partition (required), time, cpus, memory (GiB per CPU), qos, "
        "env, or an option of sbatch. Repeatable.",
    ),
]
InFlightOption = Annotated[
    int, typer.Option("--in-flight", metavar="N", help="How many rows wait for a model at once.")
]
CallsOption = Annotated[
    str | None,
    typer.Option(
        "--calls",
        metavar="PLACE",
        help="Keep model calls there instead of in the store: a file, or postgresql://USER@HOST/DB (extra `postgres`). "
        "Builds of one recipe that name the same place, on several machines too, share its rows.",
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="MONEY",
        help="What all model calls of this dataset may cost, over all runs, at the recipe's prices.",
    ),
]


def _count(text: str) -> int:
    """``250000``, ``250k``, ``2M`` or ``1.5G``."""
    sizes = {"k": 10**3, "m": 10**6, "g": 10**9}
    try:
        number = Decimal(text[:-1]) * sizes[text[-1].lower()] if text[-1:].lower() in sizes else Decimal(text)
        if number != int(number):
            raise ValueError
    except (ArithmeticError, ValueError):
        raise typer.BadParameter(f"{text!r} is not a number of tokens: write 250000, 250k or 2M") from None
    return int(number)


MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        parser=_count,
        help="How many tokens all model calls of this dataset may use, over all runs: 250000, 250k, 2M.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key of the recipe; may be given several times."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program instead of text for a person.")]
HostOption = Annotated[str, typer.Option("--host", help="Address to listen on.")]
AllowHostsOption = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="Another name that requests may use for the server. Repeatable."),
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run the programs, read the files and reach the servers that the dataset names.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help="Who acts: the name of a model at --endpoint.")
]
EndpointOption = Annotated[
    str | None,
    typer.Option(
        "--endpoint", metavar="URL", help=f"Its OpenAI-compatible server, up to and with /v1; else {LOCAL_ENDPOINT}."
    ),
]
KeyOption = Annotated[
    str | None, typer.Option("--key", metavar="NAME", help="The variable that holds the server's key, if it needs one.")
]


def environment_options(path: Path) -> dict[str, Any]:
    """What the file of ``--environment`` holds.

    Raises:
        InputError: it is no YAML of an object with ``kind``.
    """

    value = parse_yaml(read_text(path, mend="give a YAML file with `kind`"), str(path), mend="mend the line")
    if not isinstance(value, dict) or "kind" not in value or not all(isinstance(key, str) for key in value):
        raise InputError("it holds no object with `kind`", where=str(path))
    return value
