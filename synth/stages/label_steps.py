"""Label every step of every trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import ClassVar

from synth.annotate.labels.answer_probability import AnswerProbability
from synth.annotate.labels.label import StepLabel, label
from synth.annotate.labels.model_judge import ModelStepJudge
from synth.schemas.provenance import Provenance
from synth.schemas.row import Row
from synth.schemas.searched import SearchedRow, SearchedStep
from synth.schemas.steps import LabelReason, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["LabelSteps", "LabelStepsConfig"]


LabelRule = Callable[[TrajectoryRow, Task, tuple[StepLabel, ...]], Iterable[StepLabel]]


class LabelStepsConfig(StageConfig):
    rules: tuple[Implementation, ...] = ()
    """What looks at a run's labels after our own rules, in order: ``rule(row, task, labels)`` gives the labels anew."""
    judge: Implementation | None = None
    """Who labels what the rules leave open in runs on tasks without a walk; None = no one."""
    believer: Implementation | None = None
    """The model whose probability of the right answer is measured after each turn; None: it is not measured."""


class LabelSteps(RowStage[LabelStepsConfig, TrajectoryRow]):
    """By the task's evidence and, where the runs were searched for critical steps, by what branching showed."""

    name = "label_steps"
    version = 21
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
        self._judge: ModelStepJudge | None = None if config.judge is None else context.make(config.judge)
        self._believer: AnswerProbability | None = None if config.believer is None else context.make(config.believer)
        self._tasks = RowsByKey(inputs.table("tasks"), "id")
        self._found = RowsByKey(inputs.table("searched"), "id") if "searched" in inputs else None

    def process(self, row: TrajectoryRow) -> Outcome:
        found = {step.step: step for step in self._searched(row)}
        rows = []
        task = self._tasks.one(row.task_id)
        judge = self._judge
        labels = label(row, task, judged=partial(judge.labels, task, row) if judge and judge.wanted(task) else None)
        for rule in self._rules:
            labels = tuple(rule(row, task, labels))
        held = self._believer.after(task, row) if self._believer else ()
        for labelled in labels:
            tried = found.get(labelled.step)
            if labelled.judged_right is not None:
                self.context.metrics.add("judged_right", labelled.judged_right)
            by_judge = labelled.label_reason is LabelReason.JUDGED
            self.context.metrics.add("judged", by_judge)
            rows.append(
                labelled.row(
                    self._judged_by if by_judge else self.context.provenance,
                    score=tried.score if tried else None,
                    criticality=tried.criticality if tried else None,
                    first_error_branching=tried.first_error if tried else None,
                    advantage=tried.advantage if tried else None,
                    pivot=tried.pivot if tried else None,
                    held=held,
                )
            )
        return Outcome(kept=tuple(rows))

    @cached_property
    def _judged_by(self) -> Provenance:
        who = self.config.judge
        if who is None:
            raise LookupError("no judge")
        prompt = next(str(value) for name, value in who.versions.items() if name.startswith("prompt "))
        return self.context.provenance.model_copy(update={**who.origin(), "prompt": prompt})

    def _searched(self, row: TrajectoryRow) -> tuple[SearchedStep, ...]:
        if self._found is None:
            return ()
        searched: SearchedRow = self._found.one(row.id)
        return searched.steps
