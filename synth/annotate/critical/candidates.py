"""Steps of a run at which another action looks better (of a successful run: worse), before anything is continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from synth.agents.contract import Decision, Turn, TurnRejected
from synth.annotate.critical.actions import action_key, action_kind
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.annotate.critical.contract import Expert, Point, Proposals, Score, Scorer
from synth.schemas.model_turns import ModelTurn
from synth.schemas.row import Row

__all__ = [
    "Direction",
    "Found",
    "Scored",
    "candidates_at",
    "count_abstentions",
    "direction_of",
    "find_candidates",
    "no_counts",
]

Direction = Literal["failed", "succeeded"]
"""What became of the recorded trajectory. ``failed``: the alternative is to be better. ``succeeded``: worse."""


class Scored(Row):
    """What the scorer said of one action."""

    step: int
    alternative: int
    """Number among the alternatives of the step; -1 = the recorded action."""
    score: Score


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


_SURELY_WRONG = 0.1
"""A recorded action that scores less ends the run in a wrong answer."""
_HARMLESS = 0.5
"""The score of an action that looks around."""


def no_counts() -> Counter[str]:
    """Counts of a search that has seen nothing yet."""
    always = ("abstentions", "candidates", "continuations", "expert_calls", "policy_calls", "proposed", "same_action")
    return Counter(dict.fromkeys((*always, "verified", "verified_steps"), 0))


def direction_of(pool: ContinuationPool) -> Direction:
    return "succeeded" if pool.branching.row.success else "failed"


def find_candidates(
    pool: ContinuationPool, *, scorer: Scorer | None, expert: Expert | None, config: CriticalConfig, every: bool = False
) -> tuple[tuple[Scored, ...], tuple[Found, ...], Counter[str]]:
    """All scores, the candidates in the order in which they are to be tested, and counts.

    The expert is not asked where the recorded action's own score rules a candidate out. ``every``: no score is asked
    for, and every alternative at every step is a candidate, in the order of the steps.
    """
    counts: Counter[str] = no_counts()
    scored: list[Scored] = []
    found: list[Found] = []
    for step in range(pool.branching.steps):
        said, here = candidates_at(pool, step, None if every else scorer, expert, config, counts)
        scored += said
        found += here
    # The same action may be a candidate at several steps, and only one of them is tested to the end: that where it
    # differs from an action of its own kind, for those are the pairs that train (METHODS 11).
    found.sort(key=lambda one: (not one.same_kind, -one.gap, one.point.step, one.number))
    count_abstentions(counts, scored)
    return tuple(scored), tuple(found), counts


def candidates_at(
    pool: ContinuationPool,
    step: int,
    scorer: Scorer | None,
    expert: Expert | None,
    config: CriticalConfig,
    counts: Counter[str],
    *,
    propose: bool = True,
) -> tuple[list[Scored], list[Found]]:
    """What the scorer says at ``step``, and the candidates there. Without a scorer every alternative is one; without an
    expert alternatives are the policy's own; without ``propose`` only the recorded action is scored."""
    point, direction = pool.branching.point(step), direction_of(pool)
    none = Score(value=None, reason="not asked for")
    recorded = none if scorer is None else scorer.score(point, (point.recorded,))[0]
    scored = [] if scorer is None else [Scored(step=step, alternative=-1, score=recorded)]
    if not propose or (scorer is not None and not _worth(recorded, config, direction, recorded_side=True)):
        return scored, []
    proposals = _alternatives(pool, point, expert, config, counts)
    turns = [turn for turn, _ in proposals]
    judged = [none] * len(turns) if scorer is None else scorer.score(point, turns) if turns else ()
    found: list[Found] = []
    for number, ((turn, source), score) in enumerate(zip(proposals, judged, strict=True)):
        if scorer is not None:
            scored.append(Scored(step=step, alternative=number, score=score))
        better = scorer is None or _worth(score, config, direction, recorded_side=False)
        if better or (direction == "failed" and _looks_on(recorded, score)):
            found.append(Found(point, number, turn, recorded, score, source))
    return scored, found


def count_abstentions(counts: Counter[str], scored: Sequence[Scored]) -> None:
    counts["abstentions"] += sum(one.score.value is None for one in scored)
    counts.update(f"abstained.{one.score.abstained.value}" for one in scored if one.score.abstained is not None)


def _worth(score: Score, config: CriticalConfig, direction: Direction, *, recorded_side: bool) -> bool:
    """Whether ``score`` lets its side take part: the better one above, the worse one below; an abstention never."""
    if score.value is None:
        return False
    better = recorded_side == (direction == "succeeded")
    return score.value > config.above if better else score.value < config.below


def _looks_on(recorded: Score, score: Score) -> bool:
    """Whether the recorded action is surely wrong, as a wrong answer is, and the other one at least looks on: what it
    puts right of the run's notes no score sees."""
    if recorded.value is None or score.value is None:
        return False
    return recorded.value < _SURELY_WRONG and score.value >= _HARMLESS


def _alternatives(
    pool: ContinuationPool, point: Point, expert: Expert | None, config: CriticalConfig, counts: Counter[str]
) -> tuple[tuple[Turn, ModelTurn | None], ...]:
    """Up to ``config.alternatives`` turns that do something else than the recorded one and than each other, each with
    where it comes from."""
    identity = ("branch", pool.branching.row.id, point.step)
    proposed: list[tuple[Turn, ModelTurn | None]] = []
    if direction_of(pool) == "failed" and expert is not None:
        counts["expert_calls"] += 1
        try:
            turns = expert.propose(point, config.alternatives, pool.generator(*identity, "expert"))
            made = turns if isinstance(turns, Proposals) else Proposals(turns)
            proposed += zip(made, made.sources, strict=True)
            counts.update({f"not_proposed.{name}": count for name, count in made.dropped.items()})
        except TurnRejected as error:
            counts[f"rejected_turns.{error.reason.value}"] += 1
    else:
        for number in range(2 * config.alternatives):
            own = pool.own_turn(point.step, number)
            if isinstance(own, Decision):
                proposed.append((own.turn, own.source))
            else:
                counts[f"rejected_turns.{own.value}"] += 1
    tools = point.prompt.tools
    known = {action_key(point.recorded, tools)}
    new: list[tuple[Turn, ModelTurn | None]] = []
    for turn, source in proposed:
        counts["proposed"] += 1
        key = action_key(turn, tools)
        if key in known:
            counts["same_action"] += 1
        elif len(new) < config.alternatives:
            known.add(key)
            new.append((turn, source))
    return tuple(new)
