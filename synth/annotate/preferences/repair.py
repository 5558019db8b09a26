"""Repair pairs for safety twins (FATE, arXiv 2605.11882): a failed step, and what the same policy does in its place.

The paper has the policy that failed propose repairs, and keeps those that verifiers pass on security, utility,
over-refusal and validity. Here the verdicts are those of the environment, on both of two twins: what proposes a repair
goes on to the end of the run, and with the same draws meets the other twin from the same step on. It has to leave the
harmful request undone and to do the harmless one; else a pair would teach to refuse, or to help, whatever is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from synth.agents.contract import History, Policy, Turn
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.trajectory import history_of, step_items
from synth.annotate.preferences.sides import (
    PairPosition,
    Pairs,
    describe,
    make_pair,
    not_grounded,
    refusal,
    side_of_turn,
)
from synth.environments.contract import Environment
from synth.schemas.adp import ContentItem
from synth.schemas.plans import Request
from synth.schemas.preferences import PairKind, PreferenceRow, Repair
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import bare_actions
from synth.tasks.safety_pairs import twin_of

__all__ = ["Failure", "RepairContext", "Repaired", "changed", "failure_of", "repair_pairs", "same_actions"]

Failure = Literal["gave_in", "over_refused"]
_NOT_TAKEN = frozenset(("unknown_tool", "bad_arguments", "not_found"))
_SAYS_NO = ("can't", "cannot", "can not", "won't", "unable", "not able", "allow", "policy", "against", "refuse")
_MOST = 300
_LIMITS = Limits()


@dataclass(frozen=True)
class RepairContext:
    """Where repairs are made and tried."""

    environment: Environment
    policy: Callable[[Task], Policy]
    """The policy that failed, for a task."""
    generator: Callable[..., np.random.Generator]
    """``generator(*names)``: equal names give equal draws."""
    limits: Limits = _LIMITS


def failure_of(run: TrajectoryRow, task: Task) -> Failure | None:
    """How a run on a safety twin failed in what the twins are about; None where it did not, or failed otherwise."""
    if run.verdict.correct is not False or twin_of(task) is None:
        return None
    if Request.of(task.details).kind == "harmful":
        return "gave_in"
    _, history = history_of(run)
    changing = Request.of(task.details).changing
    said = (history[-1].turn.answer or "").casefold() if history else ""
    tried = any(call.name in changing for step in history for call in step.turn.calls)
    # Who could not get at something, or believes that it is done, does not refuse.
    stopped = any(result.error is not None for step in history for result in step.results)
    return "over_refused" if not tried and not stopped and any(word in said for word in _SAYS_NO) else None


def repair_pairs(
    run: TrajectoryRow,
    task: Task,
    context: RepairContext,
    *,
    proposals: int,
    provenance: Provenance,
    stage: str = "preferences",
    own_words: bool | None = None,
) -> Pairs:
    """At most one pair per failed step of ``run``, a run on the safety twin ``task``.

    Args:
        proposals: So many are drawn for a step, until one passes.
        own_words: Whether a model proposes; None = as the run that is repaired.

    Every proposal that did not pass is rejected with the first check that it failed.
    """
    try:
        failure = failure_of(run, task)
        _, history = history_of(run)
    except ValueError as error:
        return Pairs(rejected=(refusal(run, stage, Reason.INVALID_TRAJECTORY, str(error)),))
    other = twin_of(task)
    if failure is None or other is None:
        return Pairs()
    rows: list[PreferenceRow] = []
    rejected: list[Rejection] = []
    for step in _steps(failure, task, history):
        for number in range(proposals):
            made = _repaired(run, task, other, history[: step + 1], failure, number, context)
            if isinstance(made, Repaired):
                pair = _pair(run, step, made, provenance)
                bad = not_grounded(PairPosition.at(run, step), pair.chosen, stage=stage, own_words=own_words)
                if bad is None:
                    rows.append(pair)
                    break
                made = (Reason.REPAIR_INVALID, bad.detail)
            reason, detail = made
            rejected.append(refusal(run, stage, reason, f"proposal {number}: {detail}"[:500], step=step))
    return Pairs(tuple(rows), tuple(rejected))


def _steps(failure: Failure, task: Task, history: History) -> Iterator[int]:
    """Who refuses, refuses in the last turn. Who gives in does so in the first one, and can still leave it until
    something is changed."""
    if failure == "over_refused":
        yield len(history) - 1
        return
    yield 0
    first = next((n for n in range(len(history)) if changed(task, history[: n + 1])), 0)
    if first:
        yield first


@dataclass(frozen=True)
class Repaired:
    """A proposal that passed."""

    turn: Turn
    failed: Turn
    checks: Repair


def _repaired(
    run: TrajectoryRow,
    task: Task,
    other: Task,
    failed: History,
    failure: Failure,
    number: int,
    context: RepairContext,
) -> Repaired | tuple[Reason, str]:
    prefix, wrong = failed[:-1], failed[-1].turn
    try:
        own, twin = (_goes_on(run, one, prefix, number, context) for one in (task, other))
    except ValueError as error:
        return Reason.ENVIRONMENT_ERROR, str(error)
    if own.rejected is not None or twin.rejected is not None or len(own.history) <= len(prefix):
        return Reason.REPAIR_INVALID, "there is no further turn"
    first = own.history[len(prefix)]
    if same_actions(first.turn, wrong):
        return Reason.REPAIR_SAME, "it does the same"
    errors = [result for result in first.results if result.error in _NOT_TAKEN]
    if errors:
        return Reason.REPAIR_INVALID, f"{errors[0].name}: {errors[0].content}"
    harmful, benign = (own, twin) if failure == "gave_in" else (twin, own)
    harmless = other if failure == "gave_in" else task
    if harmful.verdict.correct is not True:
        return Reason.REPAIR_UNSAFE, harmful.verdict.evidence
    if not changed(harmless, benign.history):
        return Reason.REPAIR_OVER_REFUSES, benign.verdict.evidence
    if benign.verdict.correct is not True:
        return Reason.REPAIR_USELESS, benign.verdict.evidence
    met = describe(side_of_turn(benign.history[len(prefix)].turn))
    taken = f"taken by {', '.join(call.name for call in first.turn.calls)}" if first.turn.calls else "a message"
    checks = Repair(
        failure=failure,
        candidate=number,
        security=harmful.verdict.evidence[:_MOST],
        utility=benign.verdict.evidence[:_MOST],
        over_refusal=f"begins with {met}"[:_MOST],
        validity=f"{taken}; all that it names was seen",
        own=_content(own.history[len(prefix) :]),
        twin=_content(twin.history[len(prefix) :]),
    )
    return Repaired(first.turn, wrong, checks)


def _goes_on(run: TrajectoryRow, task: Task, prefix: History, number: int, context: RepairContext) -> Rollout:
    """
    Raises:
        ValueError: replaying the prefix gave different results.
    """
    return rollout(
        context.policy(task),
        context.environment,
        task,
        system=run.system_prompt,
        limits=context.limits,
        generator_for_turn=lambda turn: context.generator(run.id, "repair", len(prefix), number, turn),
        history=prefix,
    )


def _pair(run: TrajectoryRow, step: int, made: Repaired, provenance: Provenance) -> PreferenceRow:
    gave_in = made.checks.failure == "gave_in"
    position = PairPosition.at(run, step, recovery=gave_in and step > 0)
    chosen, rejected = side_of_turn(made.turn), bare_actions(position.recorded)
    gave_up = (not made.turn.calls and made.turn.answer is None, not made.failed.calls and made.failed.answer is None)
    pair = make_pair(
        position,
        kind=PairKind.REPAIR,
        family="safety",
        chosen=chosen,
        rejected=rejected,
        difference=f"{describe(chosen, gave_up=gave_up[0])} instead of {describe(rejected, gave_up=gave_up[1])}",
        why=(
            f"The run {'did what is meant to do harm' if gave_in else 'refused what does no harm'}. With the other "
            f"step the same policy left the harmful request undone ({made.checks.security}) and did the harmless one "
            f"({made.checks.utility})"
        )[:1000],
        provenance=provenance,
        gave_up=gave_up,
    )
    return pair.model_copy(update={"repair": made.checks})


def changed(task: Task, history: History) -> bool:
    """Whether a call of ``history`` changed something: one of a changing tool that was not refused."""
    names = Request.of(task.details).changing
    return any(
        call.name in names and result.error is None
        for step in history
        for call, result in zip(step.turn.calls, step.results, strict=False)
    )


def same_actions(one: Turn, other: Turn) -> bool:
    """Whether two turns do the same, whatever they think: the same calls, or both end the run."""
    if not one.calls and not other.calls:
        return True
    return [(c.name, c.arguments) for c in one.calls] == [(c.name, c.arguments) for c in other.calls]


def _content(history: History) -> tuple[ContentItem, ...]:
    return tuple(item for step in history for item in step_items(step))
