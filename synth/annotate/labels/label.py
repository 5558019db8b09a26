"""Labels of a trajectory's steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.agents.plan_view import plan_of
from synth.agents.trajectory import history_of
from synth.annotate.evidence.assessment import OFF_PATH, ON_PATH, Effect
from synth.annotate.evidence.view import stands_verbatim
from synth.annotate.labels.behaviours import behaviours_of
from synth.annotate.labels.claims import Claim, false_claims
from synth.annotate.labels.commitments import Commitment, commitments
from synth.annotate.labels.conclusions import Conclusion, false_conclusions
from synth.annotate.labels.failures import failure_of
from synth.annotate.labels.findings import Finding, findings_of
from synth.annotate.labels.masks import mask_of, wrong_names
from synth.annotate.labels.matching import gold_matches
from synth.annotate.labels.walkless import Judged, Measured, measured_by_results
from synth.environments.final_answer import final_answer
from synth.schemas.provenance import Provenance
from synth.schemas.row import NonEmpty, Row, Split
from synth.schemas.steps import Behaviour, Criticality, FailureClass, LabelReason, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, StopReason, TrajectoryRow
from synth.schemas.turns import action_kind, turn_ranges
from synth.text.words import words_of

__all__ = ["StepLabel", "label"]

_OWN_FAULT = frozenset(
    (
        LabelReason.INVALID_CALL,
        LabelReason.REPEATED_FAILURE,
        LabelReason.WRONG_TURN,
        LabelReason.UNSUPPORTED_ANSWER,
        LabelReason.PREMATURE,
    )
)
"""Wrong by the step's own doing, not by what came before."""


class StepLabel(Row):
    """A ``StepRow`` before anybody scored it, branched from it, or stamped it."""

    trajectory_id: NonEmpty
    task_id: NonEmpty
    step: int
    content_start: int
    content_end: int
    role: Role
    action_kind: NonEmpty
    label: Measured
    label_reason: LabelReason
    label_detail: str
    first_error: bool | None
    failure: FailureClass | None
    behaviours: tuple[Behaviour, ...]
    information_gain: float | None
    progress: float | None
    gold_match: int | None
    train: bool
    train_reason: NonEmpty
    split: Split

    def row(
        self,
        provenance: Provenance,
        *,
        score: float | None = None,
        criticality: Criticality | None = None,
        first_error_branching: bool | None = None,
        pivot: bool | None = None,
    ) -> StepRow:
        """The finished row."""
        return StepRow(
            id=f"{self.trajectory_id}/{self.step}",
            score=score,
            criticality=criticality,
            first_error_branching=first_error_branching,
            pivot=pivot,
            provenance=provenance,
            **{name: getattr(self, name) for name in StepLabel.model_fields},
        )


def label(row: TrajectoryRow, task: Task) -> tuple[StepLabel, ...]:
    """Label every step of ``row``, a trajectory on ``task``.

    +1 helps, 0 neither, -1 harms (AgentProcessBench, arXiv 2603.14465): an external tool failure is 0, a failed action
    made again -1, and what builds on an error is -1 until a step leaves it behind. A task without a walk (a question of
    the user's) has no evidence to measure against: then calls that fail, what results add and the answer are judged,
    and every other step has no label.

    Raises:
        ValueError: the trajectory is of another task, or not of the form that ``to_row`` writes.
    """
    if row.task_id != task.id:
        raise ValueError(f"{row.id} is a trajectory on {row.task_id}, not on {task.id}")
    _, history = history_of(row)
    if row.answer is not None:
        row = row.model_copy(update={"answer": final_answer(row.answer) or row.answer})
    ranges = turn_ranges(row.content)
    if len(ranges) != len(history):
        raise ValueError(f"{row.id}: its content has {len(ranges)} turns, its history {len(history)}")
    found = findings_of(task, history, answer=row.answer, right=row.verdict.correct is True)
    wrong_answer = row.answer if row.verdict.correct is False else None
    concluded = {one.step: one for one in false_conclusions(task, history, wrong_answer)}
    judged = _judge(row, task, found, concluded)
    if not task.walk.hops and plan_of(task) is None:
        judged = measured_by_results(task, history, judged, correct=row.verdict.correct)
    taken = _backdate(judged, commitments(task, history, wrong_answer))
    taken |= _contradict(judged, false_claims(task, history, wrong_answer))
    taken |= {n: one.about for n, one in concluded.items() if judged[n][2].startswith(one.why)}
    first = next((n for n, (_, reason, _) in enumerate(judged) if reason in _OWN_FAULT), None)
    unknown = next((n for n, (sign, _, _) in enumerate(judged) if sign is None), len(judged))
    matches = gold_matches(task, history) if task.walk.hops else [None] * len(history)
    behaviours = behaviours_of(task, history, found, [reason for _, reason, _ in judged])
    failure = None if row.success else failure_of(row, task, history, found, [reason for _, reason, _ in judged])
    assessment = None if first is None else found[first].assessment
    about = taken.get(-1 if first is None else first) or (assessment.about if assessment else "")
    wrong = wrong_names(row, task, history, about)
    labels: list[StepLabel] = []
    plan = plan_of(task)
    total = len(task.walk.hops) or (0 if plan is None else len(plan.calls) + len(plan.user) + len(plan.attempts))
    for number, ((start, end), finding, (sign, reason, detail)) in enumerate(zip(ranges, found, judged, strict=True)):
        thought = words_of(history[number].turn.thought or "")
        speaks = any(name in thought for name in wrong)
        train, why = mask_of(row, number, sign, reason, first, names_error=speaks)
        gave_up = number == len(history) - 1 and row.stop_reason is StopReason.GAVE_UP
        labels.append(
            StepLabel(
                trajectory_id=row.id,
                task_id=task.id,
                step=number,
                content_start=start,
                content_end=end,
                role=row.role,
                action_kind=action_kind(row.content[start:end], gave_up=gave_up),
                label=sign,
                label_reason=reason,
                label_detail=detail,
                first_error=_is_first(number, first, unknown, sign),
                failure=failure if number == first else None,
                behaviours=behaviours[number],
                information_gain=len(finding.new_hops) / total if total else None,
                progress=len(finding.hops) / total if total else None,
                gold_match=matches[number],
                train=train,
                train_reason=why,
                split=row.split,
            )
        )
    return tuple(labels)


def _is_first(number: int, first: int | None, unknown: int, sign: Measured) -> bool | None:
    """Whether a step is the first error; None where it may be.

    Args:
        first: The first step that is known to be wrong by its own doing.
        unknown: The first step that was not measured.
    """
    if number == first:
        return True if unknown > number else None
    return None if sign is None and (first is None or number < first) else False


def _judge(
    row: TrajectoryRow, task: Task, found: Sequence[Finding], concluded: Mapping[int, Conclusion]
) -> list[Judged]:
    judged: list[Judged] = []
    wrong: int | None = None  # the step whose error is not left behind yet
    for number, finding in enumerate(found):
        if finding.ends:
            judged.append(_end(row, task, finding, wrong))
        elif finding.cut_off:
            judged.append((None, LabelReason.UNMEASURED, "not carried out: the run was stopped here"))
        elif number in concluded and wrong is None and (verdict := _turn(finding, None))[1] not in _OWN_FAULT:
            later = min(concluded[number].acts)
            acted = f"; acted on in step {later}" if later > number else ""
            judged.append((-1, LabelReason.WRONG_TURN, concluded[number].why + acted))
            wrong = number
        else:
            verdict = _turn(finding, wrong)
            if wrong is not None and wrong in concluded and number in concluded[wrong].acts and verdict[0] == 1:
                verdict = (-1, LabelReason.PROPAGATED, f"goes by what step {wrong} concluded")
            judged.append(verdict)
            reason = verdict[1]
            if finding.assessment is not None and finding.assessment.kind is Effect.CHANGED:
                pass  # what follows does not build on it, and can hardly leave it behind: it shows at the end
            elif reason in (LabelReason.WRONG_TURN, LabelReason.PROPAGATED):
                wrong = number if wrong is None else wrong
            elif reason is LabelReason.CORRECTED:
                wrong = None
    return judged


def _backdate(judged: list[Judged], taken: Sequence[Commitment]) -> dict[int, str]:
    """Where a thought took what a later step goes for and goes wrong with, that turn went wrong, whatever its own call
    was good for. Gives the document that each of these turns took."""
    moved: dict[int, str] = {}
    for one in taken:
        if one.step not in moved and judged[one.step][1] not in _OWN_FAULT and judged[one.acts][0] == -1:
            why = f"{one.why}; taken in thought here, acted on in step {one.acts}"
            judged[one.step] = (-1, LabelReason.WRONG_TURN, why)
            moved[one.step] = one.about
    return moved


def _contradict(judged: list[Judged], claims: Sequence[Claim]) -> dict[int, str]:
    """Who states what the walk contradicts goes wrong there, whatever the call of that turn is good for. Gives the
    document that each of these turns is about."""
    moved: dict[int, str] = {}
    for one in claims:
        if one.step not in moved and judged[one.step][1] not in _OWN_FAULT:
            judged[one.step] = (-1, LabelReason.WRONG_TURN, one.why)
            moved[one.step] = one.about
    return moved


def _turn(finding: Finding, wrong: int | None) -> Judged:
    assessment = finding.assessment
    assert assessment is not None
    kind, why = assessment.kind, assessment.why
    if kind is Effect.REPEATED_FAILURE:
        return -1, LabelReason.REPEATED_FAILURE, why
    if kind is Effect.INVALID:
        return -1, LabelReason.INVALID_CALL, why
    if kind is Effect.UNMEASURED:
        return None, LabelReason.UNMEASURED, why
    if kind is Effect.FAILED:
        return 0, LabelReason.TOOL_FAILURE, why
    if kind in OFF_PATH:
        if wrong is not None and kind is Effect.ASTRAY:
            return -1, LabelReason.PROPAGATED, f"{why}, as step {wrong} led to"
        return -1, LabelReason.WRONG_TURN, why
    if wrong is not None:
        if kind in ON_PATH:
            return 1, LabelReason.CORRECTED, f"leaves what step {wrong} went for; {why}"
        return -1, LabelReason.PROPAGATED, f"{why}; still on what step {wrong} went for"
    if finding.verifies:
        return 1, LabelReason.VERIFIED, f"all was in view; looks again: {why}"
    if kind in (Effect.PROGRESS, Effect.REACHES):
        return 1, LabelReason.PROGRESS, why
    if kind is Effect.REPEATED:
        return -1, LabelReason.REDUNDANT, why
    return 0, LabelReason.NEUTRAL, why


def _end(row: TrajectoryRow, task: Task, finding: Finding, wrong: int | None) -> Judged:
    unread = "; ".join(
        [f"{hop.source.name} -> {hop.target.name}" for hop in (task.walk.hops[number] for number in finding.missing)]
        + list(finding.undone)
    )
    plan = plan_of(task)
    if row.verdict.correct is None:
        return None, LabelReason.UNMEASURED, f"not judged: {row.verdict.evidence}"
    if finding.answer is None:
        if wrong is not None:
            return (
                -1,
                LabelReason.PROPAGATED,
                f"gives up after what step {wrong} went for; unread: {unread or 'nothing'}",
            )
        if not task.walk.hops and plan is None:
            return -1, LabelReason.PREMATURE, "gives up; what it left unread is not known"
        return -1, LabelReason.PREMATURE, f"gives up; unread: {unread or 'nothing'}"
    if row.verdict.correct and plan is not None and plan.outcome != "answered":
        if finding.undone and plan.outcome == "refused":
            return 0, LabelReason.NEUTRAL, f"rightly changes nothing, but did not look: {unread}"
        if finding.undone and plan.attempts:
            return 0, LabelReason.NEUTRAL, f"all is as it should be, but did not try first: {unread}"
        return 1, LabelReason.SUPPORTED_ANSWER, "all is as it was asked for"
    if row.verdict.correct:
        if not finding.missing and (task.walk.hops or finding.seen_answer):
            return 1, LabelReason.SUPPORTED_ANSWER, f"right, and {'every hop' if task.walk.hops else 'it'} was read"
        if finding.missing and finding.seen_answer:
            return -1, LabelReason.PREMATURE, f"right, but unread: {unread}"
        if not task.walk.hops and plan is None and not stands_verbatim(task):
            return None, LabelReason.UNMEASURED, "right; what was read need not state such an answer word for word"
        return -1, LabelReason.UNSUPPORTED_ANSWER, "right, but it was never read"
    if wrong is not None:
        return -1, LabelReason.PROPAGATED, f"wrong, after what step {wrong} went for"
    if finding.missing or finding.undone:
        return -1, LabelReason.PREMATURE, f"wrong, and {'not done' if finding.undone else 'unread'}: {unread}"
    if plan is not None:
        return -1, LabelReason.PROPAGATED, f"says that it is done, and it is not: {row.verdict.evidence}"[:300]
    told = "what was read gives" if task.walk.hops else "the answer is"
    return -1, LabelReason.UNSUPPORTED_ANSWER, f"wrong: {told} {task.answer}"
