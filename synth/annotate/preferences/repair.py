"""Repair pairs for safety twins (FATE, arXiv 2605.11882): a failed step, and what the same policy does in its place.

The paper has the policy that failed propose repairs, and keeps those that verifiers pass on security, utility,
over-refusal and validity. Here the verdicts are those of the environment, on both of two twins: what proposes a repair
goes on to the end of the run, and with the same draws meets the other twin from the same step on. It has to leave the
harmful request undone and to do the harmless one; else a pair would teach to refuse, or to help, whatever is asked.
Every other proposal takes its first turn with a hint, the same on both twins, and goes on without. Of the repairs that
pass, those on the Pareto front of lengths are kept: no other one is shorter on one twin and no longer on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from synth.agents.contract import History, Policy, Turn
from synth.agents.hinted import HintedTurns
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
from synth.prompting import load_prompt
from synth.schemas.adp import ContentItem
from synth.schemas.plans import Request
from synth.schemas.preferences import PairKind, PreferenceRow, Repair
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import bare_actions
from synth.tasks.safety_pairs import twin_of

__all__ = [
    "Failure",
    "RepairContext",
    "Repaired",
    "changed",
    "failure_of",
    "pareto_front",
    "repair_pairs",
    "same_actions",
]

Failure = Literal["gave_in", "over_refused"]
_NOT_TAKEN = frozenset(("unknown_tool", "bad_arguments", "not_found"))
_SAYS_NO = ("can't", "cannot", "can not", "won't", "unable", "not able", "allow", "policy", "against", "refuse")
_MOST = 300
_LIMITS = Limits()
_HINT = ("agents/retry", 1)
_MISTAKE = "either something was done that is meant to do harm, or something was refused that does none."
_ADVICE = (
    "before you act or refuse, hold what the user says it is for against what the policy says of that; leave it undone "
    "where it does harm, and do it where it does not."
)


@dataclass(frozen=True)
class RepairContext:
    """Where repairs are made and tried."""

    environment: Environment
    policy: Callable[[Task], Policy]
    """The policy that failed, for a task."""
    generator: Callable[..., np.random.Generator]
    """``generator(*names)``: equal names give equal draws."""
    hinted: Callable[[Task], Policy] | None = None
    """Who takes hinted turns, where that policy can't read hints; None = the policy, with the hint at the end of its
    system prompt."""
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
    """Pairs of the failed steps of ``run``, a run on the safety twin ``task``.

    Args:
        proposals: So many are drawn for a step.
        own_words: Whether a model proposes; None = as the run that is repaired.

    Every proposal that did not pass is rejected with the first check that it failed, and one that is longer than
    another that passed is rejected too.
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
        passed: list[PreferenceRow] = []
        for number in range(proposals):
            made = _repaired(run, task, other, history[: step + 1], failure, number, context)
            if isinstance(made, Repaired):
                pair = _pair(run, step, made, provenance)
                bad = not_grounded(PairPosition.at(run, step), pair.chosen, stage=stage, own_words=own_words)
                if bad is None:
                    passed.append(pair)
                    continue
                made = (Reason.REPAIR_INVALID, bad.detail)
            reason, detail = made
            rejected.append(refusal(run, stage, reason, f"proposal {number}: {detail}"[:500], step=step))
        kept = pareto_front(passed)
        rows += [_counted(pair, proposals, len(passed)) for pair in kept]
        for pair in passed:
            if pair not in kept and pair.repair is not None:
                said = f"proposal {pair.repair.candidate}: another one does as much in no more turns"
                rejected.append(refusal(run, stage, Reason.REPAIR_LONGER, said, step=step))
    return Pairs(tuple(rows), tuple(rejected))


def pareto_front(passed: Sequence[PreferenceRow]) -> list[PreferenceRow]:
    """Repairs of one step that no other one beats: all are safe and succeed, so what is left is how many turns each
    takes on the two twins. Of equal ones, and of those that begin alike, the first."""
    lengths = [(0, 0) if pair.repair is None else pair.repair.turns for pair in passed]
    found: dict[str, PreferenceRow] = {}
    for number, (pair, mine) in enumerate(zip(passed, lengths, strict=True)):
        if mine not in lengths[:number] and not any(
            one != mine and one[0] <= mine[0] and one[1] <= mine[1] for one in lengths
        ):
            found.setdefault(repr(bare_actions(pair.chosen)), pair)
    return list(found.values())


def _counted(pair: PreferenceRow, tried: int, passed: int) -> PreferenceRow:
    assert pair.repair is not None
    return pair.model_copy(update={"repair": pair.repair.model_copy(update={"tried": tried, "passed": passed})})


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
        own = _goes_on(run, task, prefix, number, context)
        if own.rejected is not None or len(own.history) <= len(prefix):
            return Reason.REPAIR_INVALID, "there is no further turn"
        first = own.history[len(prefix)]
        if same_actions(first.turn, wrong):
            return Reason.REPAIR_SAME, "it does the same"
        errors = [result for result in first.results if result.error in _NOT_TAKEN]
        if errors:
            return Reason.REPAIR_INVALID, f"{errors[0].name}: {errors[0].content}"
        failing = _failing(task, own)
        if failing is not None:
            return failing
        twin = _goes_on(run, other, prefix, number, context)
    except ValueError as error:
        return Reason.ENVIRONMENT_ERROR, str(error)
    if twin.rejected is not None:
        return Reason.REPAIR_INVALID, "there is no further turn on the other twin"
    failing = _failing(other, twin)
    if failing is not None:
        return failing
    harmful, benign = (own, twin) if failure == "gave_in" else (twin, own)
    met = describe(side_of_turn(benign.history[len(prefix)].turn))
    taken = f"taken by {', '.join(call.name for call in first.turn.calls)}" if first.turn.calls else "a message"
    checks = Repair(
        failure=failure,
        candidate=number,
        hinted=_hinted(number),
        turns=(len(own.history) - len(prefix), len(twin.history) - len(prefix)),
        tried=1,
        passed=1,
        security=harmful.verdict.evidence[:_MOST],
        utility=benign.verdict.evidence[:_MOST],
        over_refusal=f"begins with {met}"[:_MOST],
        validity=f"{taken}; all that it names was seen",
        own=_content(own.history[len(prefix) :]),
        twin=_content(twin.history[len(prefix) :]),
    )
    return Repaired(first.turn, wrong, checks)


def _failing(task: Task, done: Rollout) -> tuple[Reason, str] | None:
    """The check that a run on one of the twins does not pass."""
    if done.verdict.correct is True:
        return None
    if Request.of(task.details).kind == "harmful":
        return Reason.REPAIR_UNSAFE, done.verdict.evidence
    reason = Reason.REPAIR_USELESS if changed(task, done.history) else Reason.REPAIR_OVER_REFUSES
    return reason, done.verdict.evidence


def _goes_on(run: TrajectoryRow, task: Task, prefix: History, number: int, context: RepairContext) -> Rollout:
    """
    Raises:
        ValueError: replaying the prefix gave different results.
    """
    policy, system, start = context.policy(task), run.system_prompt, len(prefix)
    if _hinted(number) and context.hinted is not None:
        policy = HintedTurns(policy, context.hinted(task), start, start + 1)
    elif _hinted(number):
        system = f"{system}\n\n{load_prompt(*_HINT).render(mistake=_MISTAKE, advice=_ADVICE)}"
    return rollout(
        policy,
        context.environment,
        task,
        system=system,
        limits=context.limits,
        generator_for_turn=lambda turn: context.generator(run.id, "repair", start, number, turn),
        history=prefix,
    )


def _hinted(number: int) -> bool:
    """Whether the proposal takes a hint: every other one, so that what the policy finds alone is measured too."""
    return number % 2 == 1


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
