"""What one call can do for a task whose walk or plan is known, and which call of a turn says most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from synth.annotate.evidence.view import EvidenceView
from synth.schemas.tasks import Task

__all__ = ["OFF_PATH", "ON_PATH", "Effect", "StepAssessment", "gold_documents", "missing_for_answer", "telling"]


class Effect(StrEnum):
    """From the best to the worst, roughly."""

    PROGRESS = "progress"
    """Brings evidence of the walk into view."""
    REACHES = "reaches"
    """Shows, for the first time, a page that is still needed."""
    ON_PATH = "on_path"
    """About something on the walk, and shows nothing new of it."""
    CANDIDATE = "candidate"
    """Tests something that could be what is sought, as far as was visible."""
    EXPLORES = "explores"
    """Looks elsewhere while nothing better was visible."""
    UNMEASURED = "unmeasured"
    """No evidence is known to measure it by."""
    FAILED = "failed"
    """The tool broke."""
    REPEATED = "repeated"
    """The same call with the same observation as before."""
    ASTRAY = "astray"
    """Goes on from a page that is not on the walk."""
    CHANGED = "changed"
    """Changes something that nobody asked for, or otherwise than it was asked for."""
    UNFIT = "unfit"
    """Follows something that can't be what is sought: another kind of thing."""
    PASSED_OVER = "passed_over"
    """Follows another link although a text had named the right one."""
    WRONG_RESULT = "wrong_result"
    """Opens another result although the page that was asked for by name was listed."""
    INVALID = "invalid"
    """A call that the tool refuses."""
    REPEATED_FAILURE = "repeated_failure"
    """A call that had failed before, made again."""


OFF_PATH = frozenset(
    (
        Effect.PASSED_OVER,
        Effect.WRONG_RESULT,
        Effect.UNFIT,
        Effect.ASTRAY,
        Effect.CHANGED,
    )
)
"""Off the walk although something better was visible, or it can't be right."""


ON_PATH = frozenset((Effect.PROGRESS, Effect.REACHES, Effect.ON_PATH, Effect.CANDIDATE))
"""What leads on; after a wrong turn, what leaves it behind."""
_TELLING = (
    Effect.REPEATED_FAILURE,
    Effect.CHANGED,
    Effect.INVALID,
    Effect.PASSED_OVER,
    Effect.WRONG_RESULT,
    Effect.UNFIT,
    Effect.ASTRAY,
    Effect.PROGRESS,
    Effect.REACHES,
    Effect.CANDIDATE,
    Effect.ON_PATH,
    Effect.EXPLORES,
    Effect.UNMEASURED,
    Effect.FAILED,
    Effect.REPEATED,
)


@dataclass(frozen=True)
class StepAssessment:
    kind: Effect
    why: str
    """One line."""
    about: str = ""
    """The document that it goes to, where it is off the walk."""
    hops: frozenset[int] = frozenset()
    """Hops that it brings into view."""


def telling(assessments: Sequence[StepAssessment]) -> StepAssessment | None:
    """Of the calls of one turn the one that says most about it: a harmful one, else the best. None without calls."""
    return min(assessments, key=lambda assessment: _TELLING.index(assessment.kind), default=None)


def gold_documents(task: Task) -> frozenset[str]:
    """Pages on the walk: of its ends and of its evidence."""
    found = set(task.gold_documents)
    for hop in task.walk.hops:
        found |= {hop.source.document_id or "", hop.target.document_id or "", hop.evidence.document_id}
    return frozenset(found - {""})


def missing_for_answer(view: EvidenceView) -> tuple[int, ...]:
    """Hops whose evidence was not in view: with any of them missing, no answer rests on what was read."""
    return tuple(number for number in range(len(view.task.walk.hops)) if number not in view.hops)
