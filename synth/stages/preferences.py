"""The pairs of all makers in one table, and which of them are selected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.annotate.preferences.select import Selection, select
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.steps import PreferenceRow
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
    version = 5
    config_type = PreferencesConfig
    reads = ("tasks",)
    gathers = ("pairs",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"preferences": PreferenceRow}
    over = "tasks"
    looks_up = frozenset({"pairs"})

    def __init__(self, config: PreferencesConfig, context: Context) -> None:
        super().__init__(config, context)
        self._made = [RowsByKey(table, "task_id") for table in context.inputs.gathered("pairs")]

    def process(self, row: Task) -> Outcome:
        pairs: dict[str, PreferenceRow] = {}
        for table in self._made:
            for pair in table.rows(row.id):
                pairs.setdefault(pair.id, pair)
        if pairs:
            return Outcome(kept=select(tuple(pairs.values()), self.config.selection))
        rejection = Rejection(
            stage=self.name,
            row_id=row.id,
            reason=Reason.NO_PAIR,
            detail="no maker made a pair of its runs",
            split=row.split,
            preview=row.question[:500],
        )
        return Outcome(rejected=(rejection,))
