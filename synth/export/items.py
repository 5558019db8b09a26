"""The rows of a dataset that an export begins with, each with what belongs to it, in the order of the dataset.

Steps stand in the order of their trajectories, so both tables are read side by side. Where that does not hold, what is
read too early waits in memory, and nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from synth.annotate.preferences.select import balance_lengths
from synth.dataset.reader import Dataset
from synth.errors import DatasetError, InputError
from synth.export.contract import Item, Run, SourceTable, StepOf
from synth.export.selection import Selection
from synth.schemas.judgments import JudgmentKind
from synth.schemas.steps import PreferenceRow, StepRow

__all__ = ["Chooser", "items_of"]


def items_of(dataset: Dataset, source: SourceTable, split: str) -> Iterator[Item]:
    """The rows of one split.

    Raises:
        DatasetError: a row breaks its schema, or a step belongs to no trajectory.
    """
    if source == "preferences" or source == "rl":
        yield from dataset.rows(source, split)
        return
    steps = _Steps(dataset, split) if "steps" in dataset.configs else None
    for row in dataset.rows("trajectories", split):
        run = Run(row, None if steps is None else steps.of(row.id))
        if source == "trajectories":
            yield run
            continue
        for step in run.steps or ():
            before = row.model_copy(update={"content": row.content[: step.content_end]})
            yield StepOf(Run(before, run.steps), step)
    if steps is not None and source == "steps" and (left := steps.left()):
        where = f"{dataset.path}: steps"
        raise DatasetError(f"step {left!r} belongs to no trajectory of its split", where=where)


class _Steps:
    """The steps of one split, by trajectory."""

    def __init__(self, dataset: Dataset, split: str) -> None:
        self._rows: Iterator[StepRow] = dataset.rows("steps", split)
        self._waiting: dict[str, list[StepRow]] = {}
        self._next: StepRow | None = next(self._rows, None)

    def of(self, trajectory: str) -> tuple[StepRow, ...]:
        """The steps of a trajectory, in order; none where it has none."""
        found = self._waiting.pop(trajectory, [])
        while self._next is not None and (not found or self._next.trajectory_id == trajectory):
            row, self._next = self._next, next(self._rows, None)
            if row.trajectory_id == trajectory:
                found.append(row)
            else:
                self._waiting.setdefault(row.trajectory_id, []).append(row)
        return tuple(sorted(found, key=lambda step: step.step))

    def left(self) -> str | None:
        """The id of a step that nobody asked for."""
        for steps in self._waiting.values():
            return steps[0].id
        return None if self._next is None else self._next.id


class Chooser:
    """Which items a selection takes."""

    def __init__(self, selection: Selection, dataset: Dataset, source: SourceTable) -> None:
        """
        Raises:
            InputError: a condition can't hold for these rows, or a table that it needs is not there.
        """
        self._selection = selection
        by_task = {"split", "difficulty", "chosen"}
        of_runs = by_task | {"success", "rating", "drawn"}
        fitting = {
            "trajectories": of_runs | {"role", "duplicates"},
            "steps": of_runs | {"role", "duplicates", "label"},
            "preferences": of_runs | {"selected", "kind", "lengths"},
            "rl": by_task,
        }[source]
        for name in selection.set():
            if name not in fitting:
                mend = f"rows of {source} can be selected by {', '.join(sorted(fitting))}"
                raise InputError(f"rows of {source} have no {name}", where=f"--select {name}", mend=mend)
        for name, table, wanted in (
            ("difficulty", "difficulty", selection.by_task),
            ("rating", "judgments", selection.rating is not None),
            ("drawn", "judgments", selection.drawn is not None),
        ):
            if wanted and table not in dataset.configs:
                raise InputError(
                    f"the dataset has no table {table}", where=f"--select {name}", mend="drop the condition"
                )
        self._tasks = _tasks(selection, dataset) if selection.by_task else None
        rated = selection.rating is not None or selection.drawn is not None
        self._rated = _rated(selection.rating or 0.0, selection.drawn, dataset) if rated else None
        self._surplus: frozenset[str] = frozenset()
        if source == "preferences" and selection.lengths != "any":
            splits = selection.split or dataset.splits(source)
            self._surplus = frozenset().union(*(self._uneven(dataset, split) for split in splits))

    def __call__(self, item: Item) -> str | None:
        """The first condition that leaves ``item`` out; None where it is taken."""
        return next((name for name, holds in self._conditions(item) if not holds), None)

    def _uneven(self, dataset: Dataset, split: str) -> frozenset[str]:
        """Of the pairs that are taken otherwise, those that must be left out for lengths to be even."""
        return balance_lengths(row for row in dataset.rows("preferences", split) if self(row) is None)

    def _conditions(self, item: Item) -> Iterator[tuple[str, bool]]:
        wanted = self._selection
        row: Any = item
        success: bool | None = None
        runs: tuple[str, ...] = ()
        if isinstance(item, Run | StepOf):
            run = item if isinstance(item, Run) else item.run
            row = run.row
            success, runs = row.success, (row.id,)
            yield "duplicates", row.duplicate_of is None or bool(wanted.duplicates)
            yield "role", wanted.role is None or row.role in wanted.role
            if isinstance(item, StepOf):
                yield "label", wanted.label is None or item.step.label in wanted.label
        elif isinstance(item, PreferenceRow):
            success, runs = item.from_success, (item.trajectory_id,)
            yield "selected", wanted.selected in (None, "any", item.selected)
            yield "kind", wanted.kind is None or item.kind in wanted.kind
        yield "success", wanted.success is None or success is wanted.success
        by = "difficulty" if wanted.difficulty is not None else "chosen"
        yield by, self._tasks is None or row.task_id in self._tasks
        by = "rating" if wanted.rating is not None else "drawn"
        yield by, self._rated is None or all(run in self._rated for run in runs)
        yield "lengths", not isinstance(item, PreferenceRow) or item.id not in self._surplus


def _tasks(selection: Selection, dataset: Dataset) -> frozenset[str]:
    """Tasks of the wanted difficulty."""
    low, high = selection.difficulty or (0.0, 1.0)
    names = ("task_id", "predicted", "successes", "rollouts", "chosen")
    found: list[str] = []
    for batch in dataset.batches("difficulty", columns=names):
        for row in batch.to_pylist():
            rate = row["successes"] / row["rollouts"] if row["rollouts"] else row["predicted"]
            if low <= rate <= high and selection.chosen in (None, row["chosen"]):
                found.append(row["task_id"])
    return frozenset(found)


def _rated(least: float, drawn: bool | None, dataset: Dataset) -> frozenset[str]:
    """Trajectories with a rating of ``least`` or more; with ``drawn``, of those that were drawn by it, or were not.

    Raises:
        InputError: draws are asked for, and none were made.
    """
    found: list[str] = []
    draws = 0
    for batch in dataset.batches("judgments", columns=("kind", "trajectory_id", "value", "parts")):
        for row in batch.to_pylist():
            if row["kind"] != JudgmentKind.RUN or row["value"] is None or row["value"] < least:
                continue
            was = json.loads(row["parts"]).get("drawn") if drawn is not None else None
            draws += was is not None
            if was is drawn:
                found.append(row["trajectory_id"])
    if drawn is not None and not draws:
        mend = "build with ratings.graded: true, or drop the condition"
        raise InputError("no run was drawn by its rating", where="--select drawn", mend=mend)
    return frozenset(found)
