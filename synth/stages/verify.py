"""Keep the trajectories that prove themselves: valid ADP, and for a teacher no word that nothing had shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import ValidationError

from synth.agents.grounding import ungrounded
from synth.agents.trajectory import history_of
from synth.schemas.adp import error_lines
from synth.schemas.arrow import trajectory_of
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.stages.contract import Outcome, RowStage, StageConfig

__all__ = ["Verify", "VerifyConfig"]


class VerifyConfig(StageConfig):
    grounded_roles: tuple[Role, ...] = ("teacher", "expert")
    """Roles whose every argument, thought and answer must be grounded. A policy's slips are what it has to unlearn:
    they stay in its own rows, and are never a chosen side."""


class Verify(RowStage[VerifyConfig, TrajectoryRow]):
    name = "verify"
    version = 1
    config_type = VerifyConfig
    reads = ("rollouts",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    over = "rollouts"
    rows_per_shard = 256

    def process(self, row: TrajectoryRow) -> Outcome:
        try:
            trajectory_of(row)
        except ValidationError as error:
            return self._reject(row, Reason.INVALID_TRAJECTORY, error_lines(error)[0])
        if row.role in self.config.grounded_roles:
            prompt, history = history_of(row)
            loose = ungrounded(prompt, history)
            if loose:
                return self._reject(row, Reason.UNGROUNDED, str(loose[0]))
        return Outcome(kept=(row,))

    def _reject(self, row: TrajectoryRow, reason: Reason, detail: str) -> Outcome:
        rejection = Rejection(
            stage=self.name,
            row_id=row.id,
            reason=reason,
            detail=detail,
            split=row.split,
            preview=f"{row.role}: {row.answer or row.stop_reason}"[:500],
        )
        return Outcome(rejected=(rejection,))
