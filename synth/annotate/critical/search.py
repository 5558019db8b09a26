"""Critical-step search on one recorded trajectory (CSO, arXiv 2602.03412, and beyond).

At every step an expert proposes other actions and a scorer judges them beside the recorded one. Where they clearly
disagree there is a candidate; the policy's own continuations of both actions, from the same restored state, decide.
CSO takes one lucky continuation for a proof; here both sides are measured. By default the search goes from the first
deviation on and verifies steps by a few continuations per side: many pairs for few calls. An audit measures all
candidates until the difference is positive with an error that holds for the whole trajectory, or is not worth more. The
recorded end of the run never counts.

On a successful trajectory the search goes the other way round: the alternative is another action of the policy's own,
and it is verified when the recorded action succeeds more often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from synth.agents.contract import Decision, History, Policy, Turn
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.advantages import advantages
from synth.annotate.critical.branching import Branching, Continuation, Generators, Refused
from synth.annotate.critical.candidates import (
    Direction,
    Found,
    Scored,
    candidates_at,
    count_abstentions,
    direction_of,
    find_candidates,
    no_counts,
)
from synth.annotate.critical.comparisons import Comparison, Finding, Result, compare, compare_once
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool, Record
from synth.annotate.critical.contract import Expert, Score, Scorer
from synth.annotate.critical.firsterror import FirstError, first_error
from synth.annotate.critical.intervals import criticality
from synth.annotate.critical.pivots import Spread, spreads
from synth.environments.contract import Environment
from synth.schemas.row import Row
from synth.schemas.steps import Criticality
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "Candidate",
    "Searched",
    "open_pool",
    "result_row",
    "search",
    "search_trajectory",
]


class Candidate(Row):
    """A step where scorer and expert see something in another action, and what continuations showed."""

    step: int
    alternative: int
    """Number among the alternatives of the step."""
    turn: Turn
    """The alternative."""
    same_kind: bool
    """It is the same kind of action as the recorded one."""
    alternative_score: Score
    original_score: Score
    why: str
    """Why it is a candidate, in words."""
    finding: Finding
    criticality: Criticality | None
    """Over all continuations of both sides, also those that other tests drew. ``difference`` is alternative minus
    original, so it is below 0 where a successful run was searched; ``verified`` then says that it is negative. None
    when a side has none."""
    level: float
    """The level at which it was verified or last looked at: the trajectory's error, shared by Holm."""

    @property
    def verified(self) -> bool:
        return self.finding is Finding.VERIFIED


class Searched(Row):
    """What the search of one trajectory gave."""

    trajectory_id: str
    direction: Direction
    steps: int
    """Turns of the trajectory."""
    refused: Refused | None
    """Why (some of) its steps could not be branched from."""
    scores: tuple[float | None, ...]
    """Score of the recorded action at each step; None = abstained, or the step was refused."""
    scored: tuple[Scored, ...]
    """Everything that the scorer said, by step: the recorded action first, then the alternatives."""
    candidates: tuple[Candidate, ...]
    """In the order in which they were tested: those of the recorded action's kind, greatest gap of scores first, then
    the others."""
    first_error: FirstError | None
    """None when it was not looked for."""
    spreads: tuple[Spread, ...]
    """How outcomes vary, at each turn before which enough continuations were drawn; the pivots among them."""
    advantages: tuple[float | None, ...]
    """By how much each turn changes the policy's chance of success; None where that was not measured."""
    continuations: tuple[Continuation, ...]
    """Everything that was drawn, for whatever test: rows of ``continuations``."""
    counts: dict[str, int]
    """``candidates``, ``verified``, ``verified_steps``, ``continuations``, ``policy_calls`` (turns that the policy was
    asked for), ``expert_calls`` (steps at which the expert was asked), ``proposed``, ``abstentions`` (of the
    scorer), ``abstained.<reason>`` (those of them that a model gave no score for), ``same_action`` (proposals that
    change nothing), ``finding.<name>``, ``refused.<reason>``, ``not_proposed.<reason>`` (what a model
    was asked for as an expert and did not bring about), ``rejected_turns.<reason>`` (other proposals and continuations
    that a model did not bring about)."""

    @property
    def verified(self) -> tuple[Candidate, ...]:
        """Verified candidates, earliest step first."""
        return tuple(sorted((c for c in self.candidates if c.verified), key=lambda c: (c.step, c.alternative)))

    def criticality(self, step: int) -> Criticality | None:
        """What branching from ``step`` showed: of the verified alternative, else of the one that differs most in the
        direction searched for; None when nothing was tried there."""
        sign = 1 if self.direction == "failed" else -1
        tried = [c.criticality for c in self.candidates if c.step == step and c.criticality is not None]
        return max(tried, key=lambda c: (c.verified, sign * c.difference, -c.alternative), default=None)


def open_pool(
    row: TrajectoryRow,
    task: Task,
    environment: Environment,
    policy: Policy,
    config: CriticalConfig,
    generator: Generators,
    done: Mapping[str, Continuation] | None = None,
    record: Record | None = None,
) -> ContinuationPool | Refused:
    """Replay ``row`` and make ready to continue from its steps; refused with a reason when that can't be."""
    branching = Branching.open(row, task, environment, config)
    return branching if isinstance(branching, Refused) else ContinuationPool(branching, policy, generator, done, record)


def search_trajectory(
    row: TrajectoryRow,
    task: Task,
    environment: Environment,
    policy: Policy,
    *,
    scorer: Scorer | None,
    expert: Expert | None,
    config: CriticalConfig,
    generator: Generators,
    done: Mapping[str, Continuation] | None = None,
    record: Record | None = None,
) -> Searched:
    """Search one trajectory for critical steps; a failed one with the expert's alternatives, a successful one, or where
    there is no expert, with the policy's own. Without a scorer every alternative is tried.

    Pure: the result depends on the arguments alone. ``done`` (key -> continuation, as ``record`` was given them) saves
    what was finished before and changes nothing in the result.
    """
    pool = open_pool(row, task, environment, policy, config, generator, done, record)
    if isinstance(pool, Refused):
        return refused(row, pool)
    try:
        return search(pool, scorer=scorer, expert=expert, config=config)
    finally:
        pool.branching.close()


def refused(row: TrajectoryRow, why: Refused) -> Searched:
    """The result for a trajectory that can't be branched from at all."""
    return Searched(
        trajectory_id=row.id,
        direction="succeeded" if row.success else "failed",
        steps=row.turns,
        refused=why,
        scores=(),
        scored=(),
        candidates=(),
        first_error=None,
        spreads=(),
        advantages=(),
        continuations=(),
        counts=dict(no_counts()) | {f"refused.{why.reason.value}": 1},
    )


def search(pool: ContinuationPool, *, scorer: Scorer | None, expert: Expert | None, config: CriticalConfig) -> Searched:
    """:func:`search_trajectory` on an open pool, whose continuations other measures of the same trajectory may use."""
    if config.strategy == "first_deviation":
        scored, found, results, counts = _from_first_deviation(pool, scorer, expert, config)
    else:
        scored, found, counts = find_candidates(pool, scorer=scorer, expert=expert, config=config)
        comparisons = [_comparison(pool, one) for one in found]
        results = compare(comparisons, pool, config, group=not config.all_alternatives)
    wrong = first_error(pool, config) if config.first_error and direction_of(pool) == "failed" else None
    return result_row(pool, config, scored, found, results, counts, wrong)


def _from_first_deviation(
    pool: ContinuationPool, scorer: Scorer | None, expert: Expert | None, config: CriticalConfig
) -> tuple[tuple[Scored, ...], tuple[Found, ...], tuple[Result, ...], Counter[str]]:
    """Candidates step by step, each tested before the next is looked for; the expert is asked nothing behind the last
    step that is to be verified."""
    counts: Counter[str] = no_counts()
    scored: list[Scored] = []
    found: list[Found] = []
    results: list[Result] = []
    for step in range(pool.branching.steps):
        done = not config.all_alternatives and len(_verified_steps(results)) >= config.steps
        slip = direction_of(pool) == "failed" and _slips(pool.branching.history, step)
        said, here = candidates_at(pool, step, scorer, expert, config, counts, propose=not done and not slip)
        scored += said
        for one in sorted(here, key=lambda one: (not one.same_kind, -one.gap, one.number)):
            results.append(compare_once(_comparison(pool, one), pool, config))
            found.append(one)
            if results[-1].finding is Finding.VERIFIED and not config.all_alternatives:
                break
    _look_again(pool, config, results)
    count_abstentions(counts, scored)
    return tuple(scored), tuple(found), tuple(results), counts


def _slips(history: History, step: int) -> bool:
    """Whether the tools took none of a turn's calls, for the first time: a slip of form. No pair is made of one, so its
    verified alternative would end the search for nothing."""
    turn, results = history[step].turn, history[step].results
    if not turn.calls or len(results) != len(turn.calls):
        return False
    failed = [
        (call.name, call.arguments)
        for before in history[:step]
        for call, result in zip(before.turn.calls, before.results, strict=False)
        if result.error is not None
    ]
    return all(
        result.error not in (None, "failure") and (call.name, call.arguments) not in failed
        for call, result in zip(turn.calls, results, strict=True)
    )


def _look_again(pool: ContinuationPool, config: CriticalConfig, results: list[Result]) -> None:
    """In a run without a verified alternative, go on with what was given up early, in the same order, until one is
    verified. The first look's acceptance lies within that of the second, so one error holds for both."""
    if config.second_look < config.samples:
        return
    update = {
        "error": config.candidate_error,
        "max_pairs": config.second_look,
        "first_look": config.samples,
        "futility_barren": max(2, config.samples),
    }
    longer = config.model_copy(update=update)
    for at, first in enumerate(results):
        if _verified_steps(results):
            return
        if not first.worse:
            results[at] = compare((first.comparison,), pool, longer)[0]


def _verified_steps(results: Sequence[Result]) -> set[int]:
    return {result.comparison.better.step for result in results if result.finding is Finding.VERIFIED}


def _comparison(pool: ContinuationPool, one: Found) -> Comparison:
    original = pool.original(one.point.step)
    alternative = pool.alternative(one.point.step, one.number, one.turn, one.source)
    pair = (alternative, original) if direction_of(pool) == "failed" else (original, alternative)
    return Comparison(*pair, action=action_key(one.turn, one.point.prompt.tools))


def result_row(
    pool: ContinuationPool,
    config: CriticalConfig,
    scored: Sequence[Scored],
    found: Sequence[Found],
    results: Sequence[Result],
    counts: Counter[str],
    wrong: FirstError | None = None,
) -> Searched:
    """Put it all in one row, with the counts of all continuations drawn so far."""
    branching = pool.branching
    gained = advantages(pool, config)
    candidates = tuple(_candidate(pool, one, result, config) for one, result in zip(found, results, strict=True))
    counts.update(
        candidates=len(candidates),
        verified=sum(c.verified for c in candidates),
        verified_steps=len({c.step for c in candidates if c.verified}),
        continuations=pool.spent,
        policy_calls=pool.policy_calls,
    )
    counts.update(f"finding.{c.finding.value}" for c in candidates)
    values = {one.step: one.score.value for one in scored if one.alternative < 0}
    rejected = [one.rejected for one in pool.continuations() if one.rejected is not None]
    counts.update(f"rejected_turns.{reason.value}" for reason in rejected)
    if branching.refused is not None:
        counts[f"refused.{branching.refused.reason.value}"] += 1
    return Searched(
        trajectory_id=branching.row.id,
        direction=direction_of(pool),
        steps=len(branching.history),
        refused=branching.refused,
        scores=tuple(values.get(step) for step in range(len(branching.history))),
        scored=tuple(scored),
        candidates=candidates,
        first_error=wrong,
        spreads=spreads(pool, config),
        advantages=gained,
        continuations=pool.continuations(),
        counts=dict(sorted(counts.items())),
    )


def _candidate(pool: ContinuationPool, one: Found, result: Result, config: CriticalConfig) -> Candidate:
    step = one.point.step
    alternative = pool.tally(pool.alternative(step, one.number, one.turn))
    original = pool.tally(pool.original(step))
    finding = result.finding
    measured: Criticality | None = None
    if alternative[1] and original[1]:
        # All that was drawn counts, also what another test of the same step drew later. Where that turns the sign
        # (rare), nothing is verified: dropping an acceptance keeps the error.
        difference = alternative[0] / alternative[1] - original[0] / original[1]
        if finding is Finding.VERIFIED and (difference <= 0 if direction_of(pool) == "failed" else difference >= 0):
            finding = Finding.UNDECIDED
        measured = criticality(
            one.number,
            alternative,
            original,
            verified=finding is Finding.VERIFIED,
            confidence=config.confidence,
        )
        if measured.verified and config.draws:
            measured = measured.model_copy(update=_draws(pool, one, config.draws))
    why = "tried at every step"
    if one.score.value is not None and one.recorded.value is not None:
        why = (
            f"the alternative scores {one.score.value:.2f} ({one.score.reason}), "
            f"the recorded action {one.recorded.value:.2f} ({one.recorded.reason})"
        )
    return Candidate(
        step=step,
        alternative=one.number,
        turn=one.turn,
        same_kind=one.same_kind,
        alternative_score=one.score,
        original_score=one.recorded,
        why=why,
        finding=finding,
        criticality=measured,
        level=result.level,
    )


def _draws(pool: ContinuationPool, one: Found, draws: int) -> dict[str, int]:
    """How often the policy itself does what either side does."""
    own = [pool.own_turn(one.point.step, number) for number in range(draws)]
    tools = one.point.prompt.tools
    done = [action_key(decision.turn, tools) for decision in own if isinstance(decision, Decision)]
    return {
        "policy_draws": len(done),
        "alternative_draws": done.count(action_key(one.turn, tools)),
        "original_draws": done.count(action_key(one.point.recorded, tools)),
    }
