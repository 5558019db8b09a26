"""First error by continuations alone (VPPO's longest correct prefix, with errors stated).

``V(s)`` is the policy's success rate after the first ``s`` recorded steps. It succeeds from the question, V(0), and
the recorded run has failed, so somewhere V falls. Bisection looks for a step with V(s) high and V(s + 1) low. Each look
is Wald's sequential probability ratio test between the rates ``still_succeeds`` and ``no_more``; by Ville's inequality
it errs with at most its share of ``first_error_error``, so all of them together hold at the confidence that is stated.

V need not fall once and for all: a run may get lost and recover. Bisection then finds *a* fall, so the neighbours of
the fall are looked at as well, and what was drawn for other tests too; what speaks against one single fall is reported.
"""

from __future__ import annotations

import math
from enum import StrEnum

from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.schemas.row import Row

__all__ = ["FirstError", "FirstErrorOutcome", "Prefix", "PrefixState", "first_error"]


class FirstErrorOutcome(StrEnum):
    """How the search for a first error ended."""

    FOUND = "found"
    """From before ``step`` the policy still succeeds, from after it no more."""
    NEVER_FINE = "never_fine"
    """The policy does not succeed from the question alone: the task is too hard for it."""
    NOT_LOST = "not_lost"
    """It still succeeds from the last state that can be restored."""
    UNDECIDED = "undecided"
    """The fall lies between ``low`` and ``high``, no closer was possible."""


class PrefixState(StrEnum):
    FINE = "fine"
    LOST = "lost"
    UNDECIDED = "undecided"


class Prefix(Row):
    """What is known of one prefix."""

    steps: int
    """Its length: recorded steps that are kept."""
    state: PrefixState
    successes: int
    n: int


class FirstError(Row):
    """Where the run went wrong, as far as continuations tell."""

    outcome: FirstErrorOutcome
    step: int | None
    """The first wrong step; None unless found."""
    low: int | None
    """Longest prefix, below the fall, that is known to be fine."""
    high: int | None
    """Shortest prefix, above the fall, that is known to be lost."""
    single_fall: bool | None
    """False when a longer prefix is fine or a shorter one lost: the run recovered in between. True when every prefix
    beside the fall that was judged agrees. None when nothing else was judged."""
    confidence: float
    """That no judgement of a prefix is wrong."""
    prefixes: tuple[Prefix, ...]
    """All that were looked at, shortest first."""


def first_error(pool: ContinuationPool, config: CriticalConfig) -> FirstError:
    """Look for the first error of a failed run.

    Continuations that were drawn for other tests are used first; at most ``first_error_budget`` are added.
    """
    search = _Bisection(pool, config)
    outcome, low, high = search.run()
    single: bool | None = None
    if outcome is FirstErrorOutcome.FOUND and low is not None and high is not None:
        search.judge(low - 1)
        search.judge(high + 1)
        for place in pool.originals():
            search.judge(place.step + 1, draw=False)
        others = [(at, state) for at, state in search.states.items() if at not in (low, high)]
        others = [(at, state) for at, state in others if state is not PrefixState.UNDECIDED]
        if others:
            single = all((at < low) == (state is PrefixState.FINE) for at, state in others)
    return FirstError(
        outcome=outcome,
        step=low if outcome is FirstErrorOutcome.FOUND else None,
        low=low,
        high=high,
        single_fall=single,
        confidence=1 - config.first_error_error,
        prefixes=search.prefixes(),
    )


class _Bisection:
    def __init__(self, pool: ContinuationPool, config: CriticalConfig) -> None:
        self.pool = pool
        self.config = config
        self.start = pool.spent
        branching = pool.branching
        self.end = branching.steps
        """The longest prefix that can be restored."""
        self.over = branching.refused is None
        """It is the whole run, which has failed: nothing needs to be drawn to know that."""
        self.looks = math.ceil(math.log2(max(2, self.end))) + 5
        """So many prefixes may be judged; each with its share of the error."""
        self.states: dict[int, PrefixState] = {self.end: PrefixState.LOST} if self.over else {}

    def run(self) -> tuple[FirstErrorOutcome, int | None, int | None]:
        if self.judge(self.end) is not PrefixState.LOST:
            fine = self.states.get(self.end) is PrefixState.FINE
            return (FirstErrorOutcome.NOT_LOST, self.end, None) if fine else (FirstErrorOutcome.UNDECIDED, None, None)
        beginning = self.judge(0)
        if beginning is not PrefixState.FINE:
            return (
                (FirstErrorOutcome.NEVER_FINE, None, 0)
                if beginning is PrefixState.LOST
                else (FirstErrorOutcome.UNDECIDED, None, self.end)
            )
        low, high = 0, self.end
        while high - low > 1:
            # From the middle outwards: a prefix that stays undecided does not end the search.
            between = sorted(range(low + 1, high), key=lambda at: (abs(2 * at - low - high), at))
            for at in between:
                state = self.judge(at)
                if state is PrefixState.FINE:
                    low = at
                    break
                if state is PrefixState.LOST:
                    high = at
                    break
            else:
                return FirstErrorOutcome.UNDECIDED, low, high
        return FirstErrorOutcome.FOUND, low, high

    def judge(self, prefix: int, *, draw: bool = True) -> PrefixState:
        """Judge a prefix, once; without ``draw`` by what was drawn already."""
        if not 0 <= prefix <= self.end:
            return PrefixState.UNDECIDED
        known = self.states.get(prefix)
        if known is None:
            drawn = len(self.states) - self.over
            known = self._ratio(prefix, draw) if drawn < self.looks else PrefixState.UNDECIDED
            self.states[prefix] = known
        return known

    def _ratio(self, prefix: int, draw: bool) -> PrefixState:
        """Wald's test on the outcomes of the place, in order, drawing more where needed and allowed."""
        config, place = self.config, self.pool.original(prefix - 1)
        bound = math.log(self.looks / config.first_error_error)
        gain = math.log(config.still_succeeds / config.no_more)
        loss = math.log((1 - config.still_succeeds) / (1 - config.no_more))
        total = 0.0
        for number in range(config.first_error_samples):
            while len(self.pool.outcomes(place)) <= number:
                spent = self.pool.spent - self.start
                if not draw:
                    return PrefixState.UNDECIDED
                if spent >= config.first_error_budget or self.pool.drawn(place) >= 2 * config.first_error_samples:
                    return PrefixState.UNDECIDED
                self.pool.draw(place)
            total += gain if self.pool.outcomes(place)[number] else loss
            if total >= bound:
                return PrefixState.FINE
            if total <= -bound:
                return PrefixState.LOST
        return PrefixState.UNDECIDED

    def prefixes(self) -> tuple[Prefix, ...]:
        rows = []
        for at in sorted(self.states):
            successes, n = self.pool.tally(self.pool.original(at - 1))
            rows.append(Prefix(steps=at, state=self.states[at], successes=successes, n=n))
        return tuple(rows)
