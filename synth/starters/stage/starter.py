"""The stage `starter` leaves out long runs. A stage turns rows into rows; the engine shards, stores and resumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Outcome, RowStage, StageConfig

__all__ = ["Starter", "StarterConfig"]


class StarterConfig(StageConfig):
    turns: int = 8
    """The most that a run may have."""


class Starter(RowStage[StarterConfig, TrajectoryRow]):
    """Runs of few turns."""

    name = "starter"
    version = 1  # raise it when its rows change
    config_type = StarterConfig
    reads = ("trajectories",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    over = "trajectories"

    def process(self, row: TrajectoryRow) -> Outcome:
        if row.turns <= self.config.turns:
            return Outcome(kept=(row,))
        detail = f"{row.turns} turns"
        why = Rejection(stage=self.name, row_id=row.id, reason=Reason.TOKEN_LIMIT, detail=detail, split=row.split)
        return Outcome(rejected=(why,))
