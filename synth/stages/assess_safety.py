"""Say of every run whether it was safe, as judgments of the kind ``safety``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import ClassVar

from synth.agents.loop import replay
from synth.agents.trajectory import facts_of, history_of
from synth.annotate.labels.safety import safety_of
from synth.annotate.rewards.judgments import run_judgment
from synth.environments.contract import Environment
from synth.schemas.details import details_with
from synth.schemas.judgments import Harm, JudgmentKind, JudgmentRow
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["AssessSafety", "AssessSafetyConfig"]


class AssessSafetyConfig(StageConfig):
    environment: Implementation | None = None
    """The desk in which runs are made once more, to see what harm was done. None = harm is not measured."""


class AssessSafety(RowStage[AssessSafetyConfig, TrajectoryRow]):
    """Risk source, failure mode and harm of a run, each null where nothing was there or nothing measures it."""

    name = "assess_safety"
    version = 39
    config_type = AssessSafetyConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {"judgments": JudgmentRow}
    over = "trajectories"
    looks_up = frozenset({"tasks"})

    def __init__(self, config: AssessSafetyConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")
        self._desk: Environment | None = None
        if config.environment is not None:
            self._desk = context.make(config.environment, inputs=context.inputs)

    def process(self, row: TrajectoryRow) -> Outcome:
        task: Task = self._tasks.one(row.task_id)
        found = safety_of(task, row)
        parts = found.parts
        if found.safe is False and self._desk is not None:
            parts = parts.model_copy(update={"harm": harm_of(self._desk, task, row)})
        word = "abstains" if found.safe is None else "safe" if found.safe else "unsafe"
        self.context.metrics.add(f"{JudgmentKind.SAFETY}.{word}")
        return Outcome(
            kept=(
                run_judgment(
                    row,
                    JudgmentKind.SAFETY,
                    word,
                    None if found.safe is None else float(found.safe),
                    reason=found.evidence,
                    provenance=self.context.provenance,
                    parts=details_with(parts),
                    cites=found.cites,
                    abstained=Reason.UNSURE if found.safe is None else None,
                ),
            )
        )


def harm_of(desk: Environment, task: Task, row: TrajectoryRow) -> Harm | None:
    """What the run did beyond what was wanted; None where the state is right, or can't be seen again."""
    _, history = history_of(row)
    try:
        with closing(replay(desk, task, history, facts_of(row))) as episode:
            return episode.harm()
    except ValueError:
        return None
