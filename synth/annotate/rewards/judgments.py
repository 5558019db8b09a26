"""Verdicts on whole runs as rows."""

from __future__ import annotations

from synth.identity import digest
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["run_judgment"]


def run_judgment(
    row: TrajectoryRow,
    kind: JudgmentKind,
    word: str,
    value: float | None,
    *,
    reason: str,
    provenance: Provenance,
    parts: JsonObject | None = None,
    cites: tuple[int, ...] = (),
    abstained: Reason | None = None,
    calls: tuple[str, ...] = (),
) -> JudgmentRow:
    """A verdict on a whole run, or on its answer."""
    return JudgmentRow(
        id=f"verdict-{digest('verdict', kind, row.id)[:16]}",
        kind=kind,
        task_id=row.task_id,
        trajectory_id=row.id,
        step=-1,
        alternative=-1,
        pair_id=None,
        verdict=word,
        value=value,
        parts=parts or {},
        cites=cites,
        reason=reason,
        abstained=abstained,
        calls=calls,
        split=row.split,
        provenance=provenance,
    )
