"""Which of two places is better: sequential tests over one trajectory, with one error for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from synth.annotate.critical.branching import BranchPoint
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.sequential import Design, Futility, futile, threshold

__all__ = ["Budget", "Comparison", "Finding", "Outcomes", "Result", "compare", "compare_once"]


class Outcomes(Protocol):
    """Where outcomes come from: a ``ContinuationPool`` of continuations."""

    @property
    def spent(self) -> int: ...

    def spent_at(self, step: int) -> int: ...

    def outcomes(self, place: BranchPoint) -> tuple[bool, ...]:
        """Those drawn so far from ``place`` that are known, in the order of the samples."""

    def drawn(self, place: BranchPoint) -> int:
        """How many were drawn from ``place``, those without a verdict included."""

    def draw(self, place: BranchPoint) -> object:
        """Draw one more."""


class Finding(StrEnum):
    """How a comparison ended."""

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
    """Another alternative of the same step, or the same action at another step, was verified before."""


@dataclass(frozen=True)
class Comparison:
    """Does ``better`` succeed more often than ``worse``?"""

    better: BranchPoint
    worse: BranchPoint
    action: str = ""
    """What the tried action is. Where it is verified at one step, the same action at another step says nothing new:
    "open that page" stays right as long as it was not done. Empty: like no other."""

    def like(self, other: Comparison) -> bool:
        """Whether one of the two is not needed when the other is verified."""
        return self.better.step == other.better.step or (self.action != "" and self.action == other.action)


@dataclass(frozen=True)
class Result:
    """What a comparison gave. Successes are counted over the first ``pairs`` decided outcomes of each side; on the
    worse side over those of them that were drawn, for it is not drawn as long as the better one never succeeds."""

    comparison: Comparison
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
    comparison: Comparison
    pairs: int = 0
    better: int = 0
    worse: int = 0
    peak: float = float("-inf")
    """Greatest statistic at any look so far."""
    finding: Finding | None = None
    level: float = 1.0


def compare(
    comparisons: Sequence[Comparison],
    pool: Outcomes,
    config: CriticalConfig,
    *,
    budget: Budget | None = None,
    group: bool = True,
) -> tuple[Result, ...]:
    """Test ``comparisons`` one after the other, in the order given, with Holm's correction over all of them.

    Whatever the order, the data and the budget do, the chance that any comparison between equal places is verified is
    at most ``config.error`` (:mod:`synth.annotate.critical.sequential`). ``group``: once a comparison is verified, the
    others of its step and those of the same action are not needed. ``budget`` counts what is drawn in this call.
    """
    allowed = budget or Budget(config.step_budget, config.trajectory_budget)
    design = Design(config.max_pairs, config.first_look)
    states = [_State(comparison) for comparison in comparisons]
    verified: list[_State] = []
    start = pool.spent
    for state in states:
        if group and any(other.comparison.like(state.comparison) for other in verified):
            state.finding = Finding.NOT_NEEDED
            continue
        level = config.error / (len(states) - len(verified))
        _run(state, design, level, pool, config, allowed, start)
        if state.finding is Finding.VERIFIED:
            verified.append(state)
            _look_back(states, verified, design, config, group)
    return tuple(
        Result(s.comparison, s.finding or Finding.OVER_BUDGET, s.pairs, s.better, s.worse, s.level) for s in states
    )


def compare_once(comparison: Comparison, pool: Outcomes, config: CriticalConfig) -> Result:
    """Whether ``samples`` continuations of the better side all succeed and none of the worse side does. It ends at the
    first that speaks against it, so most candidates that lead nowhere cost one continuation.

    With equal rates p the chance is (p (1 - p)) ** samples, at most 4 ** -samples; it is not adjusted for how many
    alternatives are tried.
    """
    allowed = Budget(config.step_budget, config.trajectory_budget)
    finding: Finding | None = None
    if any(pool.outcomes(comparison.worse)) or not all(pool.outcomes(comparison.better)):
        finding = Finding.FUTILE  # another alternative of the step has shown it
    for wanted in range(1, config.samples + 1):
        for place, good in ((comparison.better, True), (comparison.worse, False)):
            if finding is None:
                finding = _decide(place, wanted, pool, config, allowed, 0)
            if finding is None and pool.outcomes(place)[wanted - 1] != good:
                finding = Finding.FUTILE
    counts = [sum(pool.outcomes(place)) for place in (comparison.better, comparison.worse)]
    drawn = len(pool.outcomes(comparison.better))
    return Result(comparison, finding or Finding.VERIFIED, drawn, counts[0], counts[1], 4.0**-config.samples)


def _run(
    state: _State, design: Design, level: float, pool: Outcomes, config: CriticalConfig, allowed: Budget, start: int
) -> None:
    rule = Futility(
        config.minimal_difference, config.futility_confidence, config.futility_first, config.futility_barren
    )
    limit = threshold(design, level)
    state.level = level
    while state.finding is None:
        if state.pairs == design.max_pairs:
            state.finding = Finding.UNDECIDED
        elif futile(design, limit, rule, state.pairs, state.better, state.worse):
            state.finding = Finding.FUTILE
        else:
            state.finding = _pair(state, pool, config, allowed, start)
            if state.finding is None and state.better:
                state.peak = max(state.peak, design.statistic(state.pairs, state.better, state.worse))
                if state.peak >= limit:
                    state.finding = Finding.VERIFIED


def _pair(state: _State, pool: Outcomes, config: CriticalConfig, allowed: Budget, start: int) -> Finding | None:
    """One more pair of decided outcomes; None when it was drawn.

    The worse side is drawn only when the better one has succeeded at all: before that, whatever it does, the statistic
    is not above 0 and nothing could be verified. Most candidates that lead nowhere end there, at half the price. What
    is known of the worse side by then (other alternatives share it) counts; the unknown rest counts as failures, which
    only puts giving up off.
    """
    comparison = state.comparison
    ended = _decide(comparison.better, state.pairs + 1, pool, config, allowed, start)
    if ended is not None:
        return ended
    better = sum(pool.outcomes(comparison.better)[: state.pairs + 1])
    if better:
        ended = _decide(comparison.worse, state.pairs + 1, pool, config, allowed, start)
        if ended is not None:
            return ended
    state.pairs += 1
    state.better, state.worse = better, sum(pool.outcomes(comparison.worse)[: state.pairs])
    return None


def _decide(
    place: BranchPoint, wanted: int, pool: Outcomes, config: CriticalConfig, allowed: Budget, start: int
) -> Finding | None:
    """Draw until ``wanted`` outcomes of ``place`` are known."""
    while len(pool.outcomes(place)) < wanted:
        if pool.drawn(place) >= 2 * config.max_pairs:
            return Finding.ABSTAINED
        if pool.spent - start >= allowed.trajectory or pool.spent_at(place.step) >= allowed.step:
            return Finding.OVER_BUDGET
        pool.draw(place)
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
            taken = group and any(o.comparison.like(state.comparison) for o in verified)
            if ended and not taken and state.better > state.worse and state.peak >= threshold(design, level):
                state.finding, state.level = Finding.VERIFIED, level
                verified.append(state)
                again = True
                break
