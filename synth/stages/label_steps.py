"""Label every step of every trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache, partial
from typing import ClassVar

from synth.annotate.labels.answer_probability import AnswerProbability
from synth.annotate.labels.label import StepLabel, label
from synth.annotate.labels.model_judge import ModelStepJudge
from synth.annotate.labels.outcome_potential import outcome_modes, outcome_potential
from synth.annotate.labels.step_groups import group_advantages
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
    outcomes: Implementation | None = None
    """The model whose leaning to what its own runs reliably end with is measured after each turn; None: it is not."""


class LabelSteps(RowStage[LabelStepsConfig, TrajectoryRow]):
    """By the task's evidence and, where the runs were searched for critical steps, by what branching showed."""

    name = "label_steps"
    version = 48
    config_type = LabelStepsConfig
    reads: ClassVar[tuple[str, ...]] = ("trajectories", "tasks", "runs_on_task")
    optional: ClassVar[tuple[str, ...]] = ("searched",)
    known_as: ClassVar[Mapping[str, str]] = {"runs_on_task": "trajectories"}
    writes: ClassVar[Mapping[str, type[Row]]] = {"steps": StepRow}
    over = "trajectories"
    looks_up: ClassVar[frozenset[str]] = frozenset({"tasks", "searched", "runs_on_task"})
    rows_per_shard = 128

    def __init__(self, config: LabelStepsConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        self._rules: list[LabelRule] = [rule.itself() for rule in config.rules]
        self._judge: ModelStepJudge | None = None if config.judge is None else context.make(config.judge)
        self._believer: AnswerProbability | None = None if config.believer is None else context.make(config.believer)
        self._outcomes: AnswerProbability | None = None if config.outcomes is None else context.make(config.outcomes)
        self._on_task = lru_cache(maxsize=1)(RowsByKey(inputs.table("runs_on_task"), "task_id").rows)
        self._groups = lru_cache(maxsize=1)(self._groups_of)
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
        held = self._believer.after(row, task.answer) if self._believer else ()
        potential: tuple[float | None, ...] = ()
        if self._outcomes and row.retry_of is None:
            modes = outcome_modes(task, self._on_task(task.id))
            potential = outcome_potential(self._outcomes, task, row, modes)
        group = self._groups(task.id).get(row.id)
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
                    group_advantage=group[labelled.step] if group else None,
                    held=held,
                    potential=potential,
                )
            )
        return Outcome(kept=tuple(rows))

    def _groups_of(self, task_id: str) -> Mapping[str, tuple[float | None, ...]]:
        runs = self._on_task(task_id)
        return group_advantages(runs) if len(runs) > 1 else {}

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
