"""Which turns may be targets of training."""

from __future__ import annotations

from synth.schemas.steps import LabelReason
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["mask_of"]

_NEVER = {
    LabelReason.INVALID_CALL: "no target: a call that the tool refuses",
    LabelReason.REPEATED_FAILURE: "no target: a failed call made again",
    LabelReason.REDUNDANT: "no target: a call that had been answered the same way before",
    LabelReason.UNSUPPORTED_ANSWER: "no target: an answer that was not read",
    LabelReason.PREMATURE: "no target: ends with conditions unread",
    LabelReason.PROPAGATED: "no target: builds on an earlier error",
    LabelReason.WRONG_TURN: "no target: a wrong turn; what follows may learn from it as context",
}


def mask_of(row: TrajectoryRow, step: int, sign: int, reason: LabelReason, first_error: int | None) -> tuple[bool, str]:
    """Whether the turn may be a target, and why.

    Of a run that succeeded: every turn that did no harm. Of a run that failed: the turns that helped, up to its first
    error; what comes after may serve as context only.
    """
    if reason in _NEVER:
        return False, _NEVER[reason]
    if reason is LabelReason.NEUTRAL and row.content and step == row.turns - 1 and row.verdict.correct is None:
        return False, "no target: nobody could tell whether the answer is right"
    if row.success:
        return True, "target: " + (
            "leaves an error behind" if reason is LabelReason.CORRECTED else "did no harm in a run that succeeded"
        )
    if sign < 1:
        return False, "no target: helped nothing in a run that failed"
    if first_error is not None and step > first_error:
        return False, "no target: after the first error of a run that failed"
    return True, "target: helped, before anything went wrong"
