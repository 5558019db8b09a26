"""Steps, continuations and pairs over the rollouts of ``exporter_samples``: all of them agree with each other.

In failed runs of the policy (odd numbers) step 1 is critical: searching for the place itself finds the answer. In its
successful runs (even numbers) the answer at step 2 is: another answer is wrong.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa
from exporter_samples import PROVENANCE, page, sample_tables, task, trajectory

from synth.schemas.adp import ApiAction, ContentItem, MessageAction, TextObservation
from synth.schemas.arrow import to_arrow
from synth.schemas.preferences import PairKind, PreferenceRow, Strength, selected_by_default
from synth.schemas.steps import Behaviour, ContinuationRow, Criticality, FailureClass, LabelReason, Side, StepRow
from synth.schemas.trajectories import StopReason, TrajectoryRow, Verdict
from synth.schemas.turns import bare_actions, turn_ranges

K = 4
"""Continuations on each side."""


def critical_step(run: TrajectoryRow) -> int | None:
    """The step that was branched from."""
    return None if run.role != "policy" else 2 if run.success else 1


def criticality(run: TrajectoryRow) -> Criticality:
    """All continuations of the better side succeed, and none of the other."""
    sign = -1 if run.success else 1
    return Criticality(
        alternative=0,
        difference=float(sign),
        low=0.4 if sign > 0 else -1.0,
        high=1.0 if sign > 0 else -0.4,
        confidence=0.95,
        alternative_successes=0 if run.success else K,
        alternative_n=K,
        original_successes=K if run.success else 0,
        original_n=K,
        verified=True,
    )


def steps(run: TrajectoryRow) -> list[StepRow]:
    rows: list[StepRow] = []
    for number, (start, end) in enumerate(turn_ranges(run.content)):
        wrong = not run.success and number == 1
        follows = not run.success and number == 2
        reason = (
            LabelReason.WRONG_TURN if wrong
            else LabelReason.PROPAGATED if follows
            else LabelReason.SUPPORTED_ANSWER if number == 2
            else LabelReason.PROGRESS
        )  # fmt: skip
        rows.append(
            StepRow(
                id=f"{run.id}/{number}",
                trajectory_id=run.id,
                task_id=run.task_id,
                step=number,
                content_start=start,
                content_end=end,
                role=run.role,
                action_kind="answer" if number == 2 else "search",
                label=-1 if wrong or follows else 1,
                label_reason=reason,
                label_detail=f"step {number} | of {run.id}",
                first_error=wrong,
                failure=FailureClass.FINDING_BAD_QUERY if wrong else None,
                behaviours=(Behaviour.ADAPTIVE_SEARCH,) if number == 1 else (),
                information_gain=0.5 if number < 2 else 0.0,
                progress=min(1.0, 0.5 * (number + 1)),
                gold_match=number if number < 2 else -1,
                score=0.3 if run.role == "policy" and number == 1 else None,
                criticality=criticality(run) if number == critical_step(run) else None,
                first_error_branching=None,
                advantage=0.0 if follows and run.role == "policy" else None,
                answer_probability=0.25 * (number + 1) if run.role == "policy" and number < 2 else None,
                answer_gain=0.25 if run.role == "policy" and number < 2 else None,
                pivot=number == critical_step(run),
                train=not (wrong or follows),
                train_reason="wrong" if wrong or follows else "right",
                split=run.split,
                provenance=PROVENANCE.model_copy(update={"stage": "label_steps"}),
            )
        )
    return rows


def alternative(run: TrajectoryRow) -> tuple[ContentItem, ...]:
    """The other action at the critical step."""
    if run.success:
        return (MessageAction(content="Somebody", reasoning_content="I guess."),)
    place = task(number_of(run)).walk.hops[1].source.name
    return (
        ApiAction(
            function="search", kwargs={"query": place}, tool_call_id="call_1", reasoning_content="I look there first."
        ),
    )


def number_of(run: TrajectoryRow) -> int:
    return int(run.id.rpartition("-")[2])


def continuations(run: TrajectoryRow) -> list[ContinuationRow]:
    step = critical_step(run)
    if step is None:
        return []
    answer = task(number_of(run)).answer
    rows: list[ContinuationRow] = []
    sides: tuple[Side, ...] = ("original", "alternative")
    for side in sides:
        start, end = turn_ranges(run.content)[step]
        first = run.content[start:end] if side == "original" else alternative(run)
        right = run.success == (side == "original")
        content: tuple[ContentItem, ...] = first
        if not run.success:
            call = first[0]
            assert isinstance(call, ApiAction)
            seen = TextObservation(
                content=page(3).text, source="environment", name="search", tool_call_id=call.tool_call_id
            )
            content = (*first, seen, MessageAction(content=answer if right else "Nobody", reasoning_content="So."))
        last = content[-1]
        assert isinstance(last, MessageAction)
        for sample in range(K):
            rows.append(
                ContinuationRow(
                    id=f"branch-{run.id}-{side}-{sample}",
                    trajectory_id=run.id,
                    task_id=run.task_id,
                    step=step,
                    side=side,
                    alternative=-1 if side == "original" else 0,
                    sample=sample,
                    action_kind="answer" if run.success else "search",
                    content=content,
                    success=right,
                    verdict=Verdict(correct=right, rule="exact", evidence=last.content),
                    answer=last.content,
                    stop_reason=StopReason.ANSWERED,
                    turns=1 if run.success else 2,
                    split=run.split,
                    provenance=PROVENANCE.model_copy(update={"stage": "search_steps"}),
                )
            )
    return rows


def pair(run: TrajectoryRow, kind: PairKind, **changes: object) -> PreferenceRow:
    values: dict[str, object] = {
        "id": f"pair-{kind}-{run.id}",
        "kind": kind,
        "family": "decision",
        "task_id": run.task_id,
        "trajectory_id": run.id,
        "system_prompt": run.system_prompt,
        "tool_schemas": run.tool_schemas,
        "position": "earliest",
        "nature": "decision",
        "from_success": run.success,
        "difference": "another query",
        "why": "its continuations succeed",
        "strength": None,
        "rejected_by": "rule" if kind is PairKind.PERTURBATION else "policy",
        "first_deviation": None,
        "selected": kind is not PairKind.PERTURBATION,
        "split": run.split,
        "licence": run.licence,
        "provenance": PROVENANCE.model_copy(update={"stage": "preferences"}),
        **changes,
    }
    return PreferenceRow.model_validate(values)


def step_pair(run: TrajectoryRow) -> PreferenceRow:
    """Of the critical step of a run of the policy."""
    step = critical_step(run)
    assert step is not None
    start, end = turn_ranges(run.content)[step]
    recorded, other = bare_actions(run.content[start:end]), bare_actions(alternative(run))
    kind = PairKind.VERIFIED_STEP_SUCCESS if run.success else PairKind.VERIFIED_STEP
    strength = Strength.of(criticality(run), "original" if run.success else "alternative")
    return pair(
        run,
        kind,
        step=step,
        prompt=run.content[:start],
        chosen=recorded if run.success else other,
        rejected=other if run.success else recorded,
        same_kind=True,
        strength=strength,
        selected=selected_by_default(kind, strength),
    )


def run_pair(good: TrajectoryRow, bad: TrajectoryRow) -> PreferenceRow:
    """A run that succeeded against one that failed: they share the question."""
    return pair(
        good,
        PairKind.TRAJECTORY,
        other_trajectory_id=bad.id,
        step=0,
        prompt=good.content[:1],
        chosen=good.content[1:],
        rejected=bad.content[1:],
        same_kind=True,
        position="whole",
        nature="whole",
    )


def perturbed_pair(good: TrajectoryRow) -> PreferenceRow:
    """At step 1 the run goes on, or answers too early."""
    start = turn_ranges(good.content)[1][0]
    return pair(
        good,
        PairKind.PERTURBATION,
        family="planning",
        step=1,
        prompt=good.content[:start],
        chosen=good.content[start:],
        rejected=(MessageAction(content="Nobody", reasoning_content="Enough."),),
        same_kind=False,
        position="whole",
        nature="whole",
    )


@cache
def critical_tables(tasks: int) -> dict[str, pa.Table]:
    """The three tables over ``sample_tables(tasks)``."""
    policy = [trajectory(number, "policy") for number in range(tasks)]
    teacher = [trajectory(number, "teacher") for number in range(tasks)]
    pairs = [step_pair(run) for run in policy]
    pairs += [run_pair(good, bad) for good, bad in zip(teacher, policy, strict=True) if not bad.success]
    pairs += [perturbed_pair(run) for run in teacher[::4]]
    return {
        "steps": to_arrow([row for run in (*policy, *teacher) for row in steps(run)], StepRow),
        "continuations": to_arrow([row for run in policy for row in continuations(run)], ContinuationRow),
        "preferences": to_arrow(pairs, PreferenceRow),
    }


def whole_tables(tasks: int = 20, rejected: int = 4) -> dict[str, pa.Table]:
    """Every table of a dataset."""
    return {**sample_tables(tasks, rejected), **critical_tables(tasks)}
