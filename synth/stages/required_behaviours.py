"""Keep the runs in which a turn shows each behaviour that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from synth.annotate.labels.label import label
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.steps import Behaviour
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["RequiredBehaviours", "RequiredBehavioursConfig"]


class RequiredBehavioursConfig(StageConfig):
    behaviours: tuple[Behaviour, ...] = Field(min_length=1)
    """What a run must show, each in some turn."""


class RequiredBehaviours(RowStage[RequiredBehavioursConfig, TrajectoryRow]):
    """By the labels of the run's turns (arXiv 2510.06534), before anything is made of it."""

    name = "required_behaviours"
    version = 38
    config_type = RequiredBehavioursConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    over = "trajectories"
    looks_up: ClassVar[frozenset[str]] = frozenset({"tasks"})
    rows_per_shard = 128

    def __init__(self, config: RequiredBehavioursConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")

    def process(self, row: TrajectoryRow) -> Outcome:
        shown = {behaviour for step in label(row, self._tasks.one(row.task_id)) for behaviour in step.behaviours}
        missing = [behaviour for behaviour in self.config.behaviours if behaviour not in shown]
        if not missing:
            return Outcome(kept=(row,))
        rejection = Rejection(
            stage=self.name,
            row_id=row.id,
            reason=Reason.MISSING_BEHAVIOUR,
            detail=f"no turn shows {', '.join(missing)}",
            split=row.split,
            preview=f"{row.role}: {row.answer or row.stop_reason}"[:500],
        )
        return Outcome(rejected=(rejection,))
