"""What labelled steps amount to: what turns do well (arXiv 2510.06534), by what they do, not by what they say; why a
run failed, in five classes and fourteen sub-classes (after DeepVerifier, arXiv 2601.15808); which turns may be targets
of training."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.agents.contract import History
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.plan_view import PlanView
from synth.annotate.evidence.assessment import OFF_PATH, Effect, gold_documents
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.annotate.labels.findings import Finding
from synth.environments.contract import WORD_ARGUMENTS, ToolCall
from synth.environments.observed import observe
from synth.schemas.steps import Behaviour, FailureClass, LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.text.words import same_words, words_of

__all__ = ["behaviours_of", "failure_of", "mask_of", "wrong_names"]

_WELL = frozenset(
    (
        LabelReason.NEUTRAL,
        LabelReason.UNMEASURED,
        LabelReason.PROGRESS,
        LabelReason.VERIFIED,
        LabelReason.CORRECTED,
        LabelReason.TOOL_FAILURE,
    )
)


def behaviours_of(
    task: Task, history: History, found: Sequence[Finding], reasons: Sequence[LabelReason]
) -> list[tuple[Behaviour, ...]]:
    """The behaviours of each step, in the order of ``Behaviour``. A step that harms shows none."""
    view = EvidenceView(task)
    behaviours: list[tuple[Behaviour, ...]] = []
    for number, step in enumerate(history):
        shown = {
            Behaviour.VERIFICATION: found[number].verifies,
            Behaviour.AUTHORITY: _weighs(view, history, number),
            Behaviour.ADAPTIVE_SEARCH: _adapts(history, number),
            Behaviour.RECOVERY: reasons[number] is LabelReason.CORRECTED,
        }
        well = reasons[number] in _WELL
        behaviours.append(tuple(behaviour for behaviour in Behaviour if well and shown[behaviour]))
        view.take(step)
    return behaviours


def _weighs(view: EvidenceView, history: History, number: int) -> bool:
    """Straight after a search that listed several pages of like titles, opens the one that is on the walk."""
    if number == 0 or not view.searches:
        return False
    call, hits = view.searches[-1]
    if call not in history[number - 1].turn.calls:
        return False
    query = set(_query(call).split())
    alike = {hit.document for hit in hits if query & set(words_of(hit.title).split())}
    pages = {observe(result.content).about for result in history[number].results if result.error is None}
    return len(alike) > 1 and bool(pages & alike & gold_documents(view.task))


def _adapts(history: History, number: int) -> bool:
    """Asks a searching tool again in other words, some of them kept."""
    now = [call for call in history[number].turn.calls if _query(call)]
    before = [call for step in history[:number] for call in step.turn.calls if _query(call)]
    if not now or not before or before[-1].name != now[0].name:
        return False
    last, new = _query(before[-1]), _query(now[0])
    return last != new and bool(set(last.split()) & set(new.split()))


def _query(call: ToolCall) -> str:
    """The words that a call looks for; empty for a call that looks for none."""
    words = (value for name, value in call.arguments.items() if name in WORD_ARGUMENTS and isinstance(value, str))
    return words_of(next(words, ""))


_OF_MOVE = {
    Effect.WRONG_RESULT: FailureClass.FINDING_WRONG_PAGE,
    Effect.ASTRAY: FailureClass.FINDING_WRONG_PAGE,
    Effect.PASSED_OVER: FailureClass.READING_WRONG_FACT,
    Effect.CHANGED: FailureClass.ACTING_WRONG_CHANGE,
    Effect.UNFIT: FailureClass.REASONING_WRONG_ENTITY,
}
_LOOPS = frozenset((LabelReason.REPEATED_FAILURE, LabelReason.REDUNDANT))
_REPEATS = frozenset((Effect.REPEATED, Effect.REPEATED_FAILURE))


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
    # A repeated call is labelled by the error that it builds on, where there is one: it is a loop all the same.
    again = [
        reason in _LOOPS or (finding.assessment is not None and finding.assessment.kind in _REPEATS)
        for finding, reason in zip(found, reasons, strict=True)
        if not finding.cut_off
    ]
    if sum(again[-6:]) >= 3:
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
