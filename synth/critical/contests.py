"""Which of two places is better: sequential tests of many such contests of one trajectory, with one error for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from synth.critical.branching import Place
from synth.critical.config import CriticalConfig
from synth.critical.sequential import Design, Futility, futile, threshold

__all__ = ["Budget", "Contest", "Finding", "Outcomes", "Result", "compare"]


class Outcomes(Protocol):
    """Where outcomes come from: a ``Pool`` of continuations."""

    @property
    def spent(self) -> int: ...

    def spent_at(self, step: int) -> int: ...

    def outcomes(self, place: Place) -> tuple[bool, ...]:
        """Those drawn so far from ``place`` that are known, in the order of the samples."""

    def drawn(self, place: Place) -> int:
        """How many were drawn from ``place``, those without a verdict included."""

    def draw(self, place: Place) -> object:
        """Draw one more."""


class Finding(StrEnum):
    """How a contest ended."""

    VERIFIED = "verified"
    """The difference is positive; the error is controlled over the whole trajectory."""
    FUTILE = "futile"
    """Given up: its upper bound is below the minimal difference, or no further pair could verify it."""
    UNDECIDED = "undecided"
    """All pairs that it may have were drawn."""
    ABSTAINED = "abstained"
    """Too many continuations got no verdict."""
    OVER_BUDGET = "over_budget"
    """The budget of its step or trajectory was spent before it was decided."""
    NOT_NEEDED = "not_needed"
    """Another alternative of the same step was verified before."""


@dataclass(frozen=True)
class Contest:
    """Does ``better`` succeed more often than ``worse``?"""

    better: Place
    worse: Place


@dataclass(frozen=True)
class Result:
    """What a contest gave. Successes are counted over the first ``pairs`` decided outcomes of each side."""

    contest: Contest
    finding: Finding
    pairs: int
    better: int
    worse: int
    level: float
    """The level at which it was verified, or last looked at."""


@dataclass(frozen=True)
class Budget:
    step: int
    trajectory: int


@dataclass
class _State:
    contest: Contest
    pairs: int = 0
    better: int = 0
    worse: int = 0
    peak: float = float("-inf")
    """Greatest statistic at any look so far."""
    finding: Finding | None = None
    level: float = 1.0


def compare(
    contests: Sequence[Contest],
    pool: Outcomes,
    config: CriticalConfig,
    *,
    budget: Budget | None = None,
    group: bool = True,
) -> tuple[Result, ...]:
    """Test ``contests`` one after the other, in the order given, with Holm's correction over all of them.

    Whatever the order, the data and the budget do, the chance that any contest between equal places is verified is at
    most ``config.error`` (see :mod:`synth.critical.sequential`). ``group``: once a contest of a step is verified, the
    others of that step are not needed. ``budget`` counts what is drawn in this call.
    """
    allowed = budget or Budget(config.step_budget, config.trajectory_budget)
    design = Design(config.max_pairs, config.first_look)
    states = [_State(contest) for contest in contests]
    verified: list[_State] = []
    start = pool.spent
    for state in states:
        if group and any(other.contest.better.step == state.contest.better.step for other in verified):
            state.finding = Finding.NOT_NEEDED
            continue
        level = config.error / (len(states) - len(verified))
        _run(state, design, level, pool, config, allowed, start)
        if state.finding is Finding.VERIFIED:
            verified.append(state)
            _look_back(states, verified, design, config, group)
    return tuple(
        Result(s.contest, s.finding or Finding.OVER_BUDGET, s.pairs, s.better, s.worse, s.level) for s in states
    )


def _run(
    state: _State, design: Design, level: float, pool: Outcomes, config: CriticalConfig, allowed: Budget, start: int
) -> None:
    rule = Futility(config.minimal_difference, config.futility_confidence, config.futility_first)
    limit = threshold(design, level)
    state.level = level
    while state.finding is None:
        if state.pairs == design.max_pairs:
            state.finding = Finding.UNDECIDED
        elif futile(design, limit, rule, state.pairs, state.better, state.worse):
            state.finding = Finding.FUTILE
        else:
            state.finding = _pair(state, pool, config, allowed, start)
            if state.finding is None:
                state.peak = max(state.peak, design.statistic(state.pairs, state.better, state.worse))
                if state.peak >= limit:
                    state.finding = Finding.VERIFIED


def _pair(state: _State, pool: Outcomes, config: CriticalConfig, allowed: Budget, start: int) -> Finding | None:
    """One more pair of decided outcomes; None when it was drawn."""
    sides = (state.contest.better, state.contest.worse)
    for place in sides:
        while len(pool.outcomes(place)) <= state.pairs:
            if pool.drawn(place) >= 2 * config.max_pairs:
                return Finding.ABSTAINED
            if pool.spent - start >= allowed.trajectory or pool.spent_at(place.step) >= allowed.step:
                return Finding.OVER_BUDGET
            pool.draw(place)
    better, worse = (pool.outcomes(place)[state.pairs] for place in sides)
    state.pairs += 1
    state.better += better
    state.worse += worse
    return None


def _look_back(
    states: Sequence[_State], verified: list[_State], design: Design, config: CriticalConfig, group: bool
) -> None:
    """An acceptance raises the level of the others, those that have ended before it among them."""
    again = True
    while again:
        again = False
        level = config.error / max(1, len(states) - len(verified))
        for state in states:
            ended = state.finding not in (None, Finding.VERIFIED, Finding.NOT_NEEDED)
            taken = group and any(o.contest.better.step == state.contest.better.step for o in verified)
            if ended and not taken and state.better > state.worse and state.peak >= threshold(design, level):
                state.finding, state.level = Finding.VERIFIED, level
                verified.append(state)
                again = True
                break
