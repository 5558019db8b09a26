"""Keep the trajectories that prove themselves: valid ADP, and for a teacher no word that nothing had shown, and of a
scripted one no omission."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import ClassVar

from pydantic import ValidationError

from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.grounding.consistency import inconsistencies
from synth.agents.grounding.diligence import unlooked
from synth.agents.helpers import helper_runs
from synth.agents.reflection import own_system
from synth.agents.trajectory import history_of
from synth.schemas.adp import error_lines
from synth.schemas.arrow import trajectory_of
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.stages.contract import Context, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["Verify", "VerifyConfig"]


class VerifyConfig(StageConfig):
    grounded_roles: tuple[Role, ...] = ("teacher", "expert")
    """Roles whose every argument, thought and answer must be grounded; a model's thoughts may be in words of its own
    that name nothing. A policy's slips are what it has to unlearn: they stay in its own rows, and are never a chosen
    side."""


class Verify(RowStage[VerifyConfig, TrajectoryRow]):
    name = "verify"
    version = 127
    config_type = VerifyConfig
    reads = ("rollouts", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    over = "rollouts"
    looks_up: ClassVar[frozenset[str]] = frozenset({"tasks"})
    rows_per_shard = 256

    def __init__(self, config: VerifyConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")

    def process(self, row: TrajectoryRow) -> Outcome:
        try:
            trajectory_of(row)
        except ValidationError as error:
            return self._reject(row, Reason.INVALID_TRAJECTORY, error_lines(error)[0])
        if row.role in self.config.grounded_roles:
            prompt, history = history_of(row)
            prompt = prompt.model_copy(update={"system": own_system(row)})
            task = self._tasks.one(row.task_id)
            computed = answer_is_computed(task)
            own_words = row.model is not None
            loose = ungrounded(prompt, history, computed=computed, own_words=own_words)
            for told, helped in helper_runs(row):
                told = told.model_copy(update={"system": prompt.system})
                loose += ungrounded(told, helped, own_words=own_words)
            if loose:
                return self._reject(row, Reason.UNGROUNDED, str(loose[0]))
            if row.success and not own_words:
                left_out = next(chain(inconsistencies(prompt, history), unlooked(task, prompt, history)), None)
                if left_out is not None:
                    return self._reject(row, Reason.OMISSION, str(left_out))
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
