"""What each step of a history did: the facts that labels, behaviours, failure classes and masks are made of."""

from __future__ import annotations

from dataclasses import dataclass

from synth.agents.contract import History
from synth.annotate.evidence.assessment import (
    Effect,
    StepAssessment,
    gold_documents,
    missing_for_answer,
    telling,
)
from synth.annotate.evidence.calls import judge_call
from synth.annotate.evidence.view import EvidenceView, states_answer
from synth.environments.observed import observe
from synth.schemas.tasks import Task

__all__ = ["Finding", "findings_of"]

_LOOKS = frozenset((Effect.REACHES, Effect.ON_PATH))


@dataclass(frozen=True)
class Finding:
    """One step, judged by itself."""

    assessments: tuple[StepAssessment, ...]
    """One per call that was carried out."""
    new_hops: frozenset[int]
    hops: frozenset[int]
    """In view after the step; of a task with a plan, the parts of it that are done."""
    missing: tuple[int, ...] = ()
    """Hops not in view, of an answer or where the agent gives up."""
    undone: tuple[str, ...] = ()
    """Of a task with a plan, the same: what of the plan is not done, in words."""
    answer: str | None = None
    ends: bool = False
    """The last turn: an answer, or none."""
    cut_off: bool = False
    """Its calls were not carried out."""
    seen_answer: bool = False
    """The words of the answer stood in an observation of the collection, each part somewhere; what has to be worked out
    counts as seen once all that it rests on was in view."""
    verifies: bool = False
    """All that the question needs was in view, and it looks again at a page of the walk."""

    @property
    def assessment(self) -> StepAssessment | None:
        """The call that says most about the step: the worst, else the best."""
        return telling(self.assessments)


def findings_of(task: Task, history: History, *, answer: str | None = None, right: bool = False) -> tuple[Finding, ...]:
    """Judge every step by what was in view before it.

    Args:
        answer: The run's answer, where the last message says more than that.
        right: Whether it was judged to be right.
    """
    view, gold = EvidenceView(task), gold_documents(task)
    found: list[Finding] = []
    for step in history:
        assessments = tuple(
            judge_call(view, call, result) for call, result in zip(step.turn.calls, step.results, strict=False)
        )
        missing = () if step.turn.calls else missing_for_answer(view)
        complete = bool(task.walk.hops) and not missing_for_answer(view)
        undone = () if step.turn.calls or view.plan is None else view.plan.missing()
        had = view.plan.had if view.plan is not None else frozenset()
        pages = [observe(result.content).about for result in step.results if result.error is None]
        new = view.take(step)
        said = step.turn.answer if answer is None or step.turn.answer is None else answer
        found.append(
            Finding(
                assessments=assessments,
                new_hops=new if view.plan is None else view.plan.had - had,
                hops=frozenset(view.hops) if view.plan is None else view.plan.had,
                missing=missing,
                undone=undone,
                answer=said,
                ends=not step.turn.calls,
                cut_off=bool(step.turn.calls) and not step.results,
                seen_answer=_was_seen(view, said, right)
                or (bool(task.walk.operations) and not missing and not step.turn.calls),
                verifies=(
                    complete and any(page in gold for page in pages) and all(m.kind in _LOOKS for m in assessments)
                )
                or (bool(assessments) and view.plan is not None and all(m.kind is Effect.ON_PATH for m in assessments)),
            )
        )
    return tuple(found)


def _was_seen(view: EvidenceView, answer: str | None, right: bool) -> bool:
    contents = (result.content for _, result in view.results)
    return answer is not None and states_answer(view.task, answer, contents, right=right)
