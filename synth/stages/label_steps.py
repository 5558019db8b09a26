"""Label every step of every trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from synth.annotate.labels.label import StepLabel, label
from synth.schemas.row import Row
from synth.schemas.searched import SearchedRow, SearchedStep
from synth.schemas.steps import StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["LabelSteps", "LabelStepsConfig"]


LabelRule = Callable[[TrajectoryRow, Task, tuple[StepLabel, ...]], Iterable[StepLabel]]


class LabelStepsConfig(StageConfig):
    rules: tuple[Implementation, ...] = ()
    """What looks at a run's labels after our own rules, in order: ``rule(row, task, labels)`` gives the labels anew."""


class LabelSteps(RowStage[LabelStepsConfig, TrajectoryRow]):
    """By the task's evidence and, where the runs were searched for critical steps, by what branching showed."""

    name = "label_steps"
    version = 4
    config_type = LabelStepsConfig
    reads: ClassVar[tuple[str, ...]] = ("trajectories", "tasks")
    optional: ClassVar[tuple[str, ...]] = ("searched",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"steps": StepRow}
    over = "trajectories"
    looks_up: ClassVar[frozenset[str]] = frozenset({"tasks", "searched"})
    rows_per_shard = 128

    def __init__(self, config: LabelStepsConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        self._rules: list[LabelRule] = [rule.itself() for rule in config.rules]
        self._tasks = RowsByKey(inputs.table("tasks"), "id")
        self._found = RowsByKey(inputs.table("searched"), "id") if "searched" in inputs else None

    def process(self, row: TrajectoryRow) -> Outcome:
        found = {step.step: step for step in self._searched(row)}
        rows = []
        task = self._tasks.one(row.task_id)
        labels = label(row, task)
        for rule in self._rules:
            labels = tuple(rule(row, task, labels))
        for labelled in labels:
            tried = found.get(labelled.step)
            rows.append(
                labelled.row(
                    self.context.provenance,
                    score=tried.score if tried else None,
                    criticality=tried.criticality if tried else None,
                    first_error_branching=tried.first_error if tried else None,
                    pivot=tried.pivot if tried else None,
                )
            )
        return Outcome(kept=tuple(rows))

    def _searched(self, row: TrajectoryRow) -> tuple[SearchedStep, ...]:
        if self._found is None:
            return ()
        searched: SearchedRow = self._found.one(row.id)
        return searched.steps
