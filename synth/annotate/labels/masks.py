"""Which turns may be targets of training."""

from __future__ import annotations

import re

from synth.agents.contract import History
from synth.agents.grounding.computed import answer_is_computed
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.text.words import words_of

__all__ = ["mask_of", "wrong_names"]

_SMALL = re.compile(r" \d{1,2} ")
_NEVER = {
    LabelReason.INVALID_CALL: "no target: a call that the tool refuses",
    LabelReason.REPEATED_FAILURE: "no target: a failed call made again",
    LabelReason.REDUNDANT: "no target: a call that had been answered the same way before",
    LabelReason.UNSUPPORTED_ANSWER: "no target: an answer that was not read",
    LabelReason.PREMATURE: "no target: ends with conditions unread",
    LabelReason.PROPAGATED: "no target: builds on an earlier error",
    LabelReason.WRONG_TURN: "no target: a wrong turn; what follows may learn from it as context",
}


def wrong_names(row: TrajectoryRow, task: Task, history: History, about: str) -> frozenset[str]:
    """What a failed run goes wrong with: its answer, and what the page ``about`` of its first error is called. None of
    the question's own names, nor of the walk's; no small number that was worked out."""
    if row.success:
        return frozenset()
    view = EvidenceView(task, history)
    found = {name for name, documents in view.named.items() if about in documents}
    answer = words_of(row.answer or "")
    if not (answer_is_computed(task) and _SMALL.fullmatch(answer)):
        # A number as small as most counts stands in many a thought that does not rest on it.
        found.add(answer)
    walk = {words_of(name) for hop in task.walk.hops for end in (hop.source, hop.target) for name in names_of(end)}
    return frozenset(n for n in found if n.strip() and n not in walk and n not in words_of(task.question))


def mask_of(
    row: TrajectoryRow, step: int, sign: int | None, reason: LabelReason, first_error: int | None, *, names_error: bool
) -> tuple[bool, str]:
    """Whether the turn may be a target, and why.

    Of a run that succeeded: every turn that is not known to have done harm. Of a run that failed: the turns that
    helped, up to its first error; what comes after may serve as context only. ``names_error``: the turn's thought
    already speaks of what the first error goes for. That proves nothing and changes no label; a target must be above
    doubt.
    """
    if reason in _NEVER:
        return False, _NEVER[reason]
    if sign is None and row.success:
        return True, "target: the run succeeded; what this turn did for it was not measured"
    if sign is None:
        return False, "no target: not measured, in a run that is not known to have succeeded"
    if row.success:
        return True, "target: " + (
            "leaves an error behind" if reason is LabelReason.CORRECTED else "did no harm in a run that succeeded"
        )
    if sign < 1:
        return False, "no target: helped nothing in a run that failed"
    if first_error is not None and step > first_error:
        return False, "no target: after the first error of a run that failed"
    if names_error:
        return False, "no target: its thought may already rest on what the run goes wrong with"
    return True, "target: helped, before anything went wrong"
