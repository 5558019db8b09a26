"""``synth show``, ``synth stats``, ``synth scan``, ``synth validate``: look at a finished dataset."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from synth.cli.options import JsonOption
from synth.errors import DatasetError, InputError

__all__ = ["scan", "show", "stats", "validate"]

DatasetFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `synth build` printed.")]


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
    from rich.console import Console

    from synth.dataset.reader import load
    from synth.dataset.show.rows import render_row
    from synth.schemas.steps import ContinuationRow, StepRow
    from synth.schemas.trajectories import TrajectoryRow

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
    from rich.console import Console

    from synth.dataset.show.numbers import render_stats
    from synth.dataset.stats import stats as count

    numbers = count(folder)
    if as_json:
        print(json.dumps(numbers.model_dump(mode="json"), indent=2))
        return
    Console(highlight=False).print(render_stats(numbers))


def scan(folder: DatasetFolder, as_json: JsonOption = False) -> None:
    """Look for personal data and secrets in every column: e-mail, telephone, accounts, cards, addresses, keys."""
    from synth.publish.leaks import scan as look

    found = look(folder)
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2))
    for one in () if as_json else found.held:
        name = f"{one.config}.{one.column}" if one.column else one.config
        unit = "rows" if one.column else "lines"
        print(f"{name}: {one.kind.value} in {one.rows:,} {unit}, the first is {unit[:-1]} {one.row} of {one.file}")
    if found.held:
        raise typer.Exit(DatasetError.exit_code)
    if not as_json:
        print(f"{folder}: {found.rows:,} rows hold no personal data and no secret of a known form")


def validate(
    folder: DatasetFolder,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Also ask every task again, by brute force, from the facts and documents of the dataset alone.",
        ),
    ] = False,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            help="With --deep: a benchmark that no task may overlap with; give each one that the recipe names.",
            metavar="FILE",
        ),
    ] = None,
    show_coverage: Annotated[
        bool,
        typer.Option("--coverage", help="List every column: what proves it, or that it is carried and not proven."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Prove every row again: layout, schemas, ADP rules, evidence, splits, and that the card tells the truth."""
    from rich.console import Console

    from synth.dataset.audit import audit, render_audit
    from synth.dataset.rules.coverage import coverage
    from synth.dataset.rules.derived import derived_problems
    from synth.dataset.rules.validate import validate as check

    if benchmark and not deep:
        raise InputError("benchmarks are compared by the deep audit", where="--benchmark", mend="say --deep as well")
    if show_coverage:
        for table, column, what in coverage():
            print(f"{table}.{column}: {', '.join(what) or 'carried, not proven'}")
        return
    problems = check(folder) + (derived_problems(folder) if deep else [])
    audited = audit(folder, benchmarks=benchmark or ()) if deep else None
    if as_json:
        listed = [{"file": p.file, "row": p.row, "what": p.what} for p in problems]
        print(
            json.dumps({"problems": listed, "audit": audited.model_dump(mode="json")} if audited else listed, indent=2)
        )
    else:
        for problem in problems:
            print(problem)
        if audited is not None:
            for violation in audited.violations:
                print(violation)
            Console(highlight=False).print(render_audit(audited))
    violations = audited.total if audited is not None else 0
    if problems or violations:
        found = [_number(len(problems), "problem")] if problems or not deep else []
        found += [_number(violations, "violation")] if deep else []
        print(f"synth: {folder}: {', '.join(found)}", file=sys.stderr)
        raise typer.Exit(DatasetError.exit_code)
    if not as_json:
        print(f"{folder}: every row holds")


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
