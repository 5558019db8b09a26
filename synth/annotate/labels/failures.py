"""Why a run failed: five classes, fourteen sub-classes (after DeepVerifier, arXiv 2601.15808)."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History
from synth.agents.plan_view import PlanView
from synth.annotate.evidence.assessment import OFF_PATH, Effect, gold_documents
from synth.annotate.evidence.view import EvidenceView
from synth.annotate.labels.findings import Finding
from synth.schemas.steps import FailureClass, LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.text.words import same_words

__all__ = ["failure_of"]

_OF_MOVE = {
    Effect.WRONG_RESULT: FailureClass.FINDING_WRONG_PAGE,
    Effect.ASTRAY: FailureClass.FINDING_WRONG_PAGE,
    Effect.PASSED_OVER: FailureClass.READING_WRONG_FACT,
    Effect.CHANGED: FailureClass.ACTING_WRONG_CHANGE,
    Effect.UNFIT: FailureClass.REASONING_WRONG_ENTITY,
}
_LOOPS = frozenset((LabelReason.REPEATED_FAILURE, LabelReason.REDUNDANT))


def failure_of(
    row: TrajectoryRow, task: Task, history: History, found: Sequence[Finding], reasons: Sequence[LabelReason]
) -> FailureClass | None:
    """The class of a failed run: by how it was stopped, else by the error that its end builds on, else by what the end
    itself lacks, which is not known (None) where the task has neither walk nor plan."""
    view = EvidenceView(task, history)
    if row.stop_reason is StopReason.INVALID_CALLS:
        return FailureClass.ACTING_INVALID_CALL
    if not view.results:
        return FailureClass.FINDING_NO_QUERY
    if sum(reason in _LOOPS for reason in reasons[-6:]) >= 3:
        return FailureClass.ACTING_LOOP
    if row.stop_reason is StopReason.MAX_TURNS:
        return FailureClass.ENDING_LATE
    if view.plan is not None and (plain := _by_plan(view.plan, found)) is not None:
        return plain
    if found[-1].answer is not None and not found[-1].seen_answer:
        return FailureClass.REASONING_UNSUPPORTED
    if not task.walk.hops and view.plan is None:
        return None
    open_error = _open_error(found, reasons)
    if open_error is not None:
        return open_error
    return _gave_up(view, found[-1]) if found[-1].answer is None else _answered(view, found[-1])


def _by_plan(plan: PlanView, found: Sequence[Finding]) -> FailureClass | None:
    """Of a task with a plan; None where the end is a wrong answer, which is read like any other."""
    if any(assessment.kind is Effect.CHANGED for finding in found for assessment in finding.assessments):
        return FailureClass.ACTING_WRONG_CHANGE
    if found[-1].undone:
        return FailureClass.ENDING_EARLY
    return None if plan.plan.outcome == "answered" else FailureClass.REASONING_WRONG_ENTITY


def _open_error(found: Sequence[Finding], reasons: Sequence[LabelReason]) -> FailureClass | None:
    """The wrong turn that the end builds on, if any."""
    for finding, reason in zip(reversed(found), reversed(reasons), strict=True):
        if reason is LabelReason.CORRECTED:
            return None
        if reason is LabelReason.WRONG_TURN and finding.assessment is not None and finding.assessment.kind in OFF_PATH:
            return _OF_MOVE[finding.assessment.kind]
    return None


def _gave_up(view: EvidenceView, end: Finding) -> FailureClass:
    if not end.missing:
        return FailureClass.READING_MISSED
    return _unread(view, end) or FailureClass.ENDING_EARLY


def _answered(view: EvidenceView, end: Finding) -> FailureClass:
    hops = view.task.walk.hops
    answer = end.answer or ""
    if not end.missing:
        if view.task.walk.operations:
            return FailureClass.REASONING_UNSUPPORTED  # all was read, and something else concluded
        return FailureClass.READING_WRONG_FACT if hops else FailureClass.REASONING_WRONG_ENTITY  # a plan's answer
    if view.task.walk.operations:
        return _unread(view, end) or FailureClass.ENDING_EARLY
    conditions = [number for number, hop in enumerate(hops) if hop.target.id == hops[-1].target.id]
    if len(conditions) > 1 and any(number in end.missing for number in conditions):
        return FailureClass.REASONING_SKIPPED_CONDITION
    if any(same_words(answer, name) for hop in hops[:-1] for name in (hop.target.name, *hop.target.aliases)):
        return FailureClass.ENDING_EARLY  # a step on the way, taken for the end
    return _unread(view, end) or FailureClass.ENDING_EARLY


def _unread(view: EvidenceView, end: Finding) -> FailureClass | None:
    """What stood between the agent and the first hop that it lacks; None when it had only to go on."""
    document = view.task.walk.hops[end.missing[0]].evidence.document_id
    if document in view.read:
        return FailureClass.READING_PARTIAL
    shown = view.named_documents & gold_documents(view.task)
    return None if document in shown else FailureClass.FINDING_BAD_QUERY
