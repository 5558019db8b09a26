"""Labels of a trajectory's steps: rules are asked in order, the first that says something decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from synth.agents.trajectory import history_of
from synth.annotate.evidence.assessment import Effect
from synth.annotate.labels import endings, rules
from synth.annotate.labels.contract import Label, LabelRule, RunContext, StepContext, is_own_fault
from synth.annotate.labels.findings import Finding, gold_matches
from synth.annotate.labels.judged import judged_right
from synth.annotate.labels.outcomes import behaviours_of, failure_of, mask_of, wrong_names
from synth.annotate.labels.tested import measured_by_tests
from synth.annotate.labels.walkless import Measured, measured_by_results
from synth.environments.answers import final_answer
from synth.schemas.code import Mutated
from synth.schemas.provenance import Provenance
from synth.schemas.row import NonEmpty, Row, Split
from synth.schemas.steps import Behaviour, Criticality, FailureClass, LabelReason, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, StopReason, TrajectoryRow
from synth.schemas.turns import action_kind, turn_ranges
from synth.text.words import words_of

__all__ = ["RULES", "StepLabel", "label", "labels_of"]

RULES: tuple[LabelRule, ...] = (
    endings.NotJudged(),
    endings.GivesUpAstray(),
    endings.GivesUp(),
    endings.DoneUnseen(),
    endings.DoneUntried(),
    endings.DoneAsAsked(),
    endings.RightAndRead(),
    endings.RightUnread(),
    endings.RightBeyondWords(),
    endings.RightNeverRead(),
    endings.EndsAstray(),
    endings.WrongUnread(),
    endings.ClaimsDone(),
    endings.WrongRead(),
    rules.NotCarriedOut(),
    rules.RepeatedFailure(),
    rules.InvalidCall(),
    rules.Astray(),
    rules.WrongTurn(),
    rules.Concludes(),
    rules.Unmeasured(),
    rules.BrokenTool(),
    rules.ActsOnConclusion(),
    rules.Corrected(),
    rules.Propagated(),
    rules.Verified(),
    rules.Progress(),
    rules.Redundant(),
    rules.Neutral(),
    rules.Commits(),
    rules.Contradicts(),
)
"""In the order in which they are asked. Rules of other packages have to stand before them: of ours one always says
something."""
_LEFT_ASIDE = frozenset((Effect.CHANGED, None))
"""What follows such a step does not build on it, and can hardly leave it behind: it shows at the end. None: no call."""
_UNKNOWN = Label(None, LabelReason.UNMEASURED, "no label rule says anything of it")


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
    judged_right: bool | None
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
        advantage: float | None = None,
        pivot: bool | None = None,
        group_advantage: float | None = None,
        held: Sequence[float | None] = (),
        potential: Sequence[float | None] = (),
    ) -> StepRow:
        """The finished row.

        Args:
            held: How probable the policy held the right answer after 0, 1, ... turns.
            potential: By how much it leaned, then, to what its runs reliably end with.
        """
        probability, gain = _gained(held, self.step)
        leaned, more = _gained(potential, self.step)
        return StepRow(
            id=f"{self.trajectory_id}/{self.step}",
            score=score,
            criticality=criticality,
            first_error_branching=first_error_branching,
            advantage=advantage,
            pivot=pivot,
            group_advantage=group_advantage,
            answer_probability=probability,
            answer_gain=gain,
            outcome_potential=leaned,
            outcome_gain=more,
            provenance=provenance,
            **{name: getattr(self, name) for name in StepLabel.model_fields},
        )


def _gained(measured: Sequence[float | None], step: int) -> tuple[float | None, float | None]:
    """What was measured after the turn, and by how much more that is than before it."""
    before, after = measured[step : step + 2] if len(measured) > step + 1 else (None, None)
    return after, None if after is None or before is None else after - before


def labels_of(run: RunContext, asked: Sequence[LabelRule] = RULES) -> tuple[Label, ...]:
    """One label per step."""
    labels: list[Label] = []
    wrong: int | None = None
    for number, finding in enumerate(run.findings):
        step = StepContext(run, number, wrong)
        found = (rule.apply(step) for rule in asked if not rule.revises)
        labels.append(next((one for one in found if one is not None), _UNKNOWN))
        if finding.ends or (finding.assessment and finding.assessment.kind) in _LEFT_ASIDE:
            continue
        if labels[-1].reason in (LabelReason.WRONG_TURN, LabelReason.PROPAGATED):
            wrong = number if wrong is None else wrong
        elif labels[-1].reason is LabelReason.CORRECTED:
            wrong = None
    if not run.task.walk.hops and run.plan is None:
        given = [(one.sign, one.reason, one.detail) for one in labels]
        correct = run.run.verdict.correct
        measure = measured_by_tests if Mutated.stand_in(run.task.details) else measured_by_results
        labels = [Label(*one) for one in measure(run.task, run.history, given, correct=correct, tools=run.tools)]
    for rule in asked:
        for number in range(len(labels)) if rule.revises else ():
            labels[number] = rule.apply(StepContext(run, number, None, tuple(labels))) or labels[number]
    return tuple(labels)


def label(
    row: TrajectoryRow,
    task: Task,
    asked: Sequence[LabelRule] = RULES,
    judged: Callable[[], Mapping[int, Label]] | None = None,
) -> tuple[StepLabel, ...]:
    """Label every step of ``row``, a trajectory on ``task``.

    +1 helps, 0 neither, -1 harms (AgentProcessBench, arXiv 2603.14465): an external tool failure is 0, a failed action
    made again -1, and what builds on an error is -1 until a step leaves it behind. A task without a walk (a question of
    the user's) has no evidence to measure against: then calls that fail, what results add and the answer are judged,
    and every other step has no label.

    Args:
        asked: The rules, in the order in which they are asked.
        judged: Asked for labels, step -> label, where the rules leave a step without one; it fills those only.

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
    run = RunContext(row, task, history)
    found, every = run.findings, list(labels_of(run, asked))
    if judged is not None and any(one.sign is None for one in every):
        said = judged()
        every = [said.get(number, one) if one.sign is None else one for number, one in enumerate(every)]
    first = next((n for n, one in enumerate(every) if is_own_fault(one)), None)
    unknown = next((n for n, one in enumerate(every) if one.sign is None), len(every))
    matches = gold_matches(task, history) if task.walk.hops else [None] * len(history)
    reasons = [one.reason for one in every]
    right = judged_right(task, history)
    behaviours = behaviours_of(task, history, found, reasons)
    failure = None if row.success else failure_of(row, task, history, found, reasons)
    wrong = wrong_names(row, task, history, "" if first is None else _about(every[first], found[first]))
    labels: list[StepLabel] = []
    plan = run.plan
    total = len(task.walk.hops) or (0 if plan is None else len(plan.calls) + len(plan.user) + len(plan.attempts))
    for number, ((start, end), finding, one) in enumerate(zip(ranges, found, every, strict=True)):
        thought = words_of(history[number].turn.thought or "")
        speaks = any(name in thought for name in wrong)
        train, why = mask_of(row, number, one.sign, one.reason, first, names_error=speaks)
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
                label=one.sign,
                label_reason=one.reason,
                label_detail=one.detail,
                first_error=_is_first(number, first, unknown, one.sign),
                failure=failure if number == first else None,
                behaviours=behaviours[number],
                information_gain=len(finding.new_hops) / total if total else None,
                progress=len(finding.hops) / total if total else None,
                gold_match=matches[number],
                judged_right=right[number],
                train=train,
                train_reason=why,
                split=row.split,
            )
        )
    return tuple(labels)


def _about(one: Label, finding: Finding) -> str:
    """The document that a wrong step is wrong about; empty for none."""
    return one.about or (finding.assessment.about if finding.assessment else "")


def _is_first(number: int, first: int | None, unknown: int, sign: Measured) -> bool | None:
    """Whether a step is the first error; None where it may be.

    Args:
        first: The first step that is known to be wrong by its own doing.
        unknown: The first step that was not measured.
    """
    if number == first:
        return True if unknown > number else None
    return None if sign is None and (first is None or number < first) else False
