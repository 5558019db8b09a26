"""Rules of what agents think: a scripted teacher leaves out nothing, and does what it says."""

from __future__ import annotations

from collections.abc import Iterator

from synth.agents.grounding.consistency import inconsistencies
from synth.agents.trajectory import history_of
from synth.dataset.rules.rules import Known, rule
from synth.schemas.trajectories import RECORDED, TrajectoryRow

__all__ = ["THOUGHT_RULES"]


@rule("trajectories", "content[]", text=True)
def thoughts(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """In good runs of a scripted teacher, thoughts leave out nothing of a list, a comparison or a conclusion, give a
    reason for every return, and match the action."""
    scripted = row.provenance.backend == "scripted" and row.model is None and row.environment != RECORDED
    if row.role != "teacher" or not row.success or not scripted or known.redacted:
        return
    try:
        prompt, history = history_of(row)
    except ValueError:
        return  # the rules of the protocol say why
    for one in inconsistencies(prompt, history):
        yield f"content: {one}"


THOUGHT_RULES = (thoughts,)
