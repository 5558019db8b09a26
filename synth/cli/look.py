"""``synth show`` and ``synth stats``: look at a finished dataset."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from synth.cli.options import DatasetFolder, JsonOption
from synth.dataset.reader import load
from synth.dataset.show.numbers import render_stats
from synth.dataset.show.rows import render_row
from synth.dataset.stats import stats as count
from synth.errors import InputError
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["show", "stats"]


def show(
    folder: DatasetFolder,
    row_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Id of a row of any table; else the first trajectory.")
    ] = None,
    role: Annotated[str | None, typer.Option("--role", help="The first one of this role: teacher or policy.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="The first one that failed.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Show long texts whole.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show one trajectory, task, step, branch, pair or document as a person can read it."""

    dataset = load(folder)
    row = _by_id(dataset, row_id) if row_id is not None else _first(dataset, role, failed)
    if as_json:
        print(row.model_dump_json(indent=2))
        return
    task = trajectory = None
    steps: list[StepRow] = []
    if isinstance(row, TrajectoryRow):
        task = dataset.find("tasks", row.task_id)
        steps = list(dataset.where("steps", "trajectory_id", row.id))
    elif isinstance(row, StepRow | ContinuationRow):
        trajectory = dataset.find("trajectories", row.trajectory_id)
    console = Console(soft_wrap=False, highlight=False)
    console.print(render_row(row, task, trajectory=trajectory, steps=steps, full=full))


def _by_id(dataset: Any, row_id: str) -> Any:
    for config in (
        "trajectories",
        "tasks",
        "preferences",
        "continuations",
        "steps",
        "judgments",
        "rl",
        "contexts",
        "documents",
    ):
        row = dataset.find(config, row_id) if config in dataset.configs else None
        if row is not None:
            return row
    raise InputError(
        f"no row has the id {row_id!r}",
        where=str(dataset.path),
        mend="take an id from a table, for example from `synth show DIR --json`",
    )


def _first(dataset: Any, role: str | None, failed: bool) -> Any:
    for row in dataset.rows("trajectories"):
        if (role is None or row.role == role) and not (failed and row.success):
            return row
    wanted = " ".join(part for part in ("failed" if failed else "", role or "", "trajectory") if part)
    raise InputError(f"the dataset has no {wanted}", where=str(dataset.path), mend="drop --role or --failed")


def stats(folder: DatasetFolder, as_json: JsonOption = False) -> None:
    """Rows, yields per stage, success by role and hops, lengths."""

    numbers = count(folder)
    if as_json:
        print(json.dumps(numbers.model_dump(mode="json"), indent=2))
        return
    Console(highlight=False).print(render_stats(numbers))
