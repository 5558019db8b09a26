"""Pivots (PivotRL, arXiv 2603.21383): turns at which the policy's own continuations vary most in outcome.

Nothing is drawn for it. The original side of step ``s`` lets the policy go on from the state before turn ``s + 1``, so
what was paid for there tells how much hangs on what the policy does at turn ``s + 1``.
"""

from __future__ import annotations

from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.schemas.row import Row

__all__ = ["Spread", "spreads"]


class Spread(Row):
    """How the outcomes of continuations from before one turn vary."""

    step: int
    """The turn."""
    successes: int
    n: int
    variance: float
    """Unbiased variance of the outcomes (0 or 1)."""
    pivot: bool
    """No turn of the trajectory that was judged varies more, and it varies enough (``pivot_variance``)."""


def spreads(pool: ContinuationPool, config: CriticalConfig) -> tuple[Spread, ...]:
    """Spread at every turn that has ``pivot_samples`` continuations from before it, in order of the turns."""
    rows: list[Spread] = []
    for place in pool.originals():
        successes, n = pool.tally(place)
        if n < config.pivot_samples or place.step + 1 >= len(pool.branching.history):
            continue
        variance = successes * (n - successes) / (n * (n - 1))
        rows.append(Spread(step=place.step + 1, successes=successes, n=n, variance=variance, pivot=False))
    most = max((row.variance for row in rows), default=0.0)
    if most < config.pivot_variance or most == 0.0:
        return tuple(rows)
    return tuple(row.model_copy(update={"pivot": row.variance == most}) for row in rows)
