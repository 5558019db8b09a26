"""Critical-step search on one recorded trajectory (CSO, arXiv 2602.03412, and beyond).

At every step an expert proposes other actions and a scorer judges them beside the recorded one. Where they clearly
disagree there is a candidate; the policy's own continuations of both actions, from the same restored state, decide.
CSO takes one lucky continuation for a proof; here both sides are measured, in pairs, until the difference is positive
with an error that holds for the whole trajectory, or is not worth more. The recorded end of the run never counts.

On a successful trajectory the search goes the other way round: the alternative is another action of the policy's own,
and it is verified when the recorded action succeeds more often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from synth.agents.contract import Policy, Turn, TurnRejected, act
from synth.annotate.critical.actions import action_key, action_kind
from synth.annotate.critical.branching import Branching, Continuation, Generators, Refused
from synth.annotate.critical.comparisons import Comparison, Finding, Result, compare
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool, Record
from synth.annotate.critical.contract import Expert, Point, Proposals, Score, Scorer
from synth.annotate.critical.firsterror import FirstError, first_error
from synth.annotate.critical.intervals import criticality
from synth.annotate.critical.pivots import Spread, spreads
from synth.environments.contract import Environment
from synth.schemas.model_turns import ModelTurn
from synth.schemas.row import Row
from synth.schemas.steps import Criticality
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "Candidate",
    "Direction",
    "Scored",
    "Searched",
    "find_candidates",
    "open_pool",
    "result_row",
    "search",
    "search_trajectory",
]

_ALWAYS = ("abstentions", "candidates", "continuations", "proposed", "same_action", "verified", "verified_steps")

Direction = Literal["failed", "succeeded"]
"""What became of the recorded trajectory. ``failed``: the alternative is to be better. ``succeeded``: worse."""


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


class Scored(Row):
    """What the scorer said of one action."""

    step: int
    alternative: int
    """Number among the alternatives of the step; -1 = the recorded action."""
    score: Score


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
    continuations: tuple[Continuation, ...]
    """Everything that was drawn, for whatever test: rows of ``continuations``."""
    counts: dict[str, int]
    """``candidates``, ``verified``, ``verified_steps``, ``continuations``, ``proposed``, ``abstentions`` (of the
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


@dataclass(frozen=True)
class Found:
    """A candidate before anything was drawn."""

    point: Point
    number: int
    turn: Turn
    recorded: Score
    score: Score
    source: ModelTurn | None = None
    """Where the turn comes from, when a model proposed it."""

    @property
    def gap(self) -> float:
        return abs((self.score.value or 0.0) - (self.recorded.value or 0.0))

    @property
    def same_kind(self) -> bool:
        return action_kind(self.turn) == action_kind(self.point.recorded)


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
    scorer: Scorer,
    expert: Expert | None,
    config: CriticalConfig,
    generator: Generators,
    done: Mapping[str, Continuation] | None = None,
    record: Record | None = None,
) -> Searched:
    """Search one trajectory for critical steps; a failed one with the expert's alternatives, a successful one, or where
    there is no expert, with the policy's own.

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
        continuations=(),
        counts=dict.fromkeys(_ALWAYS, 0) | {f"refused.{why.reason.value}": 1},
    )


def search(pool: ContinuationPool, *, scorer: Scorer, expert: Expert | None, config: CriticalConfig) -> Searched:
    """:func:`search_trajectory` on an open pool, whose continuations other measures of the same trajectory may use."""
    direction = direction_of(pool)
    scored, found, counts = find_candidates(pool, scorer=scorer, expert=expert, config=config)
    comparisons: list[Comparison] = []
    for one in found:
        original = pool.original(one.point.step)
        alternative = pool.alternative(one.point.step, one.number, one.turn, one.source)
        pair = (alternative, original) if direction == "failed" else (original, alternative)
        comparisons.append(Comparison(*pair, action=action_key(one.turn)))
    results = compare(comparisons, pool, config, group=not config.all_alternatives)
    wrong = first_error(pool, config) if config.first_error and direction == "failed" else None
    return result_row(pool, config, scored, found, results, counts, wrong)


def direction_of(pool: ContinuationPool) -> Direction:
    return "succeeded" if pool.branching.row.success else "failed"


def find_candidates(
    pool: ContinuationPool, *, scorer: Scorer, expert: Expert | None, config: CriticalConfig, every: bool = False
) -> tuple[tuple[Scored, ...], tuple[Found, ...], Counter[str]]:
    """All scores, the candidates in the order in which they are to be tested, and counts.

    The expert is not asked where the recorded action's own score rules a candidate out. ``every``: no score is asked
    for, and every alternative at every step is a candidate, in the order of the steps.
    """
    branching = pool.branching
    every = every or config.outcome_alone is True
    counts: Counter[str] = Counter(dict.fromkeys(_ALWAYS, 0))
    scored: list[Scored] = []
    found: list[Found] = []
    for step in range(branching.steps):
        point = branching.point(step)
        none = Score(value=None, reason="not asked for")
        recorded = none if every else scorer.score(point, (point.recorded,))[0]
        if not every:
            scored.append(Scored(step=step, alternative=-1, score=recorded))
        if not every and not _worth(recorded, config, direction_of(pool), recorded_side=True):
            continue
        proposals = _alternatives(pool, point, expert, config, counts)
        turns = [turn for turn, _ in proposals]
        judged = [none] * len(turns) if every else scorer.score(point, turns) if turns else ()
        for number, ((turn, source), score) in enumerate(zip(proposals, judged, strict=True)):
            if not every:
                scored.append(Scored(step=step, alternative=number, score=score))
            if every or _worth(score, config, direction_of(pool), recorded_side=False):
                found.append(Found(point, number, turn, recorded, score, source))
    # The same action may be a candidate at several steps, and only one of them is tested to the end: that where it
    # differs from an action of its own kind, for those are the pairs that train (METHODS 11).
    found.sort(key=lambda one: (not one.same_kind, -one.gap, one.point.step, one.number))
    counts["abstentions"] += sum(one.score.value is None for one in scored)
    counts.update(f"abstained.{one.score.abstained.value}" for one in scored if one.score.abstained is not None)
    return tuple(scored), tuple(found), counts


def _worth(score: Score, config: CriticalConfig, direction: Direction, *, recorded_side: bool) -> bool:
    """Whether ``score`` lets its side take part: the better one above, the worse one below; an abstention never."""
    if score.value is None:
        return False
    better = recorded_side == (direction == "succeeded")
    return score.value > config.above if better else score.value < config.below


def _alternatives(
    pool: ContinuationPool, point: Point, expert: Expert | None, config: CriticalConfig, counts: Counter[str]
) -> tuple[tuple[Turn, ModelTurn | None], ...]:
    """Up to ``config.alternatives`` turns that do something else than the recorded one and than each other, each with
    where it comes from."""
    identity = ("branch", pool.branching.row.id, point.step)
    proposed: list[tuple[Turn, ModelTurn | None]] = []
    if direction_of(pool) == "failed" and expert is not None:
        try:
            turns = expert.propose(point, config.alternatives, pool.generator(*identity, "expert"))
            made = turns if isinstance(turns, Proposals) else Proposals(turns)
            proposed += zip(made, made.sources, strict=True)
            counts.update({f"not_proposed.{name}": count for name, count in made.dropped.items()})
        except TurnRejected as error:
            counts[f"rejected_turns.{error.reason.value}"] += 1
    else:
        for number in range(2 * config.alternatives):
            generator = pool.generator(*identity, "again", number)
            try:
                decision = act(pool.policy, point.prompt, point.history, generator)
                proposed.append((decision.turn, decision.source))
            except TurnRejected as error:
                counts[f"rejected_turns.{error.reason.value}"] += 1
    known = {action_key(point.recorded)}
    new: list[tuple[Turn, ModelTurn | None]] = []
    for turn, source in proposed:
        counts["proposed"] += 1
        if action_key(turn) in known:
            counts["same_action"] += 1
        elif len(new) < config.alternatives:
            known.add(action_key(turn))
            new.append((turn, source))
    return tuple(new)


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
    candidates = tuple(_candidate(pool, one, result, config) for one, result in zip(found, results, strict=True))
    counts.update(
        candidates=len(candidates),
        verified=sum(c.verified for c in candidates),
        verified_steps=len({c.step for c in candidates if c.verified}),
        continuations=pool.spent,
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
