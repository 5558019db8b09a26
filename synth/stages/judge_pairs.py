"""A judge looks at every preference pair, in both orders; the selection may require that it agrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from synth.annotate.preferences.judge import ModelPairJudge
from synth.identity import digest
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.row import Row
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["JudgePairs", "JudgePairsConfig"]


class JudgePairsConfig(StageConfig):
    judge: Implementation
    """Who judges."""
    required: Literal["require", "ignore"] = "ignore"
    """``require``: a pair that the selection takes stays selected only where the judge agrees; an abstention is no
    agreement."""


class JudgePairs(RowStage[JudgePairsConfig, PreferenceRow]):
    """Pairs come out as they went in, but for ``selected``."""

    name = "judge_pairs"
    version = 9
    config_type = JudgePairsConfig
    reads = ("preferences", "teacher_runs", "policy_runs")
    known_as: ClassVar[Mapping[str, str]] = {
        "teacher_runs": "trajectories@teacher",
        "policy_runs": "trajectories@policy",
    }
    writes: ClassVar[Mapping[str, type[Row]]] = {"preferences": PreferenceRow, "judgments": JudgmentRow}
    over = "preferences"
    looks_up = frozenset({"teacher_runs", "policy_runs"})

    def __init__(self, config: JudgePairsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._runs = [RowsByKey(context.inputs.table(name), "id") for name in ("teacher_runs", "policy_runs")]
        self._judge: ModelPairJudge = context.make(config.judge)
        told = [str(value) for name, value in config.judge.versions.items() if name.startswith("prompt ")]
        self._provenance = context.provenance.model_copy(
            update=config.judge.origin() | ({"prompt": told[0]} if told else {})
        )

    def process(self, row: PreferenceRow) -> Outcome:
        found = self._judge.judge(row, self._run(row))
        word = "abstains" if found.agrees is None else "agrees" if found.agrees else "disagrees"
        for name in (f"pair.{word}", f"pair.{word}.{row.kind.value}"):
            self.context.metrics.add(name)
        verdict = JudgmentRow(
            id=f"verdict-{digest('verdict', JudgmentKind.PAIR, row.id)[:16]}",
            kind=JudgmentKind.PAIR,
            task_id=row.task_id,
            trajectory_id=row.trajectory_id,
            step=row.step,
            alternative=-1,
            pair_id=row.id,
            verdict=word,
            value=None if found.agrees is None else float(found.agrees),
            parts={"orders": list(found.orders)},
            cites=found.cites,
            reason=found.reason,
            abstained=found.abstained,
            calls=found.calls,
            split=row.split,
            provenance=self._provenance,
        )
        if self.config.required == "require" and found.agrees is not True:
            row = row.model_copy(update={"selected": False})
        return Outcome(kept=(row,), side={"judgments": (verdict,)})

    def _run(self, row: PreferenceRow) -> TrajectoryRow:
        found: list[TrajectoryRow] = [run for table in self._runs for run in table.rows(row.trajectory_id)]
        return found[0]
