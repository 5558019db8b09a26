"""The pairs of all makers in one table, which of them are selected, and why a failed run has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from synth.annotate.preferences.select import Selection, select
from synth.schemas.preferences import PreferenceRow
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import Context, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["Preferences", "PreferencesConfig"]


class PreferencesConfig(StageConfig):
    selection: Selection = Selection()
    """Which pairs are marked as ``selected``."""


class Preferences(RowStage[PreferencesConfig, Task]):
    """Task by task, in the order in which the makers ran. Of equal pairs the first stays."""

    name = "preferences"
    version = 8
    config_type = PreferencesConfig
    reads = ("tasks",)
    gathers = ("pairs", "pair_notes")
    writes: ClassVar[Mapping[str, type[Row]]] = {"preferences": PreferenceRow}
    over = "tasks"
    looks_up = frozenset({"pairs", "pair_notes"})

    def __init__(self, config: PreferencesConfig, context: Context) -> None:
        super().__init__(config, context)
        self._made = [RowsByKey(table, "task_id") for table in context.inputs.gathered("pairs")]
        self._notes = [RowsByKey(table, "id") for table in context.inputs.gathered("pair_notes")]

    def process(self, row: Task) -> Outcome:
        pairs: dict[str, PreferenceRow] = {}
        for table in self._made:
            for pair in table.rows(row.id):
                pairs.setdefault(pair.id, pair)
        whys = self._unpaired(row, pairs.values())
        if pairs:
            unpaired = tuple(self._none(row, f"{run}: {why}", part) for part, (run, why) in enumerate(whys.items()))
            return Outcome(kept=select(tuple(pairs.values()), self.config.selection), rejected=unpaired)
        detail = "; ".join(f"{run}: {why}" for run, why in whys.items())
        return Outcome(rejected=(self._none(row, detail or "no run of it failed", None),))

    def _unpaired(self, task: Task, pairs: Iterable[PreferenceRow]) -> dict[str, str]:
        """Failed runs of the task that are in no pair, each with what the makers say of it."""
        paired = {name for pair in pairs for name in (pair.trajectory_id, pair.other_trajectory_id)}
        whys: dict[str, list[str]] = {}
        for table in self._notes:
            for note in table.rows(task.id):
                for one in note.unpaired:
                    if one.trajectory_id not in paired:
                        whys.setdefault(one.trajectory_id, []).append(one.why)
        return {run: ", ".join(dict.fromkeys(why)) for run, why in whys.items()}

    def _none(self, task: Task, detail: str, part: int | None) -> Rejection:
        return Rejection(
            stage=self.name,
            row_id=task.id,
            part=part,
            reason=Reason.NO_PAIR,
            detail=detail[:500],
            split=task.split,
            preview=task.question[:500],
        )
