"""``synth show`` and ``synth stats``: look at a finished dataset."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from synth.cli.options import DatasetFolder, JsonOption
from synth.errors import InputError
from synth.late import late

if TYPE_CHECKING:
    from synth.dataset import reader
    from synth.dataset import stats as counting
    from synth.dataset.show import numbers, rows
    from synth.schemas import steps as step_rows
    from synth.schemas import trajectories as trajectory_rows
else:
    reader = late("synth.dataset.reader")
    numbers = late("synth.dataset.show.numbers")
    rows = late("synth.dataset.show.rows")
    counting = late("synth.dataset.stats")
    step_rows = late("synth.schemas.steps")
    trajectory_rows = late("synth.schemas.trajectories")

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

    dataset = reader.load(folder)
    row = _by_id(dataset, row_id) if row_id is not None else _first(dataset, role, failed)
    if as_json:
        print(row.model_dump_json(indent=2))
        return
    task = trajectory = None
    steps: list[step_rows.StepRow] = []
    if isinstance(row, trajectory_rows.TrajectoryRow):
        task = dataset.find("tasks", row.task_id)
        steps = list(dataset.where("steps", "trajectory_id", row.id))
    elif isinstance(row, step_rows.StepRow | step_rows.ContinuationRow):
        trajectory = dataset.find("trajectories", row.trajectory_id)
    console = Console(soft_wrap=False, highlight=False)
    console.print(rows.render_row(row, task, trajectory=trajectory, steps=steps, full=full))


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

    found = counting.stats(folder)
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2))
        return
    Console(highlight=False).print(numbers.render_stats(found))
