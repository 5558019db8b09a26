"""Process advantages (PAV, arXiv 2410.08146): by how much a turn changes the chance of success.

The value of a state is the success rate of continuations from it, and a turn's advantage is the value behind it minus
the value before it. The paper's prover is a different policy from the one being trained; here it is the policy that
continues, by default the one that acted. Continuations drawn for other tests count too; after the last turn none is
needed, since the run's own verdict is known.
"""

from __future__ import annotations

from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool

__all__ = ["advantages"]


def advantages(pool: ContinuationPool, config: CriticalConfig) -> tuple[float | None, ...]:
    """The advantage of every turn; None where one of its two values was not measured.

    At every state of the run ``config.advantages`` continuations are drawn, as far as the budget of the trajectory
    allows; 0 = none beside those that are there.
    """
    history, row = pool.branching.history, pool.branching.row
    last = len(history) - 1
    states = range(-1, min(pool.branching.steps, last))
    for step in states:
        place = pool.original(step)
        while pool.drawn(place) < config.advantages and pool.spent < config.trajectory_budget:
            pool.draw(place)
    values: dict[int, float] = {}
    for place in pool.originals():
        successes, n = pool.tally(place)
        if n and place.step < last:
            values[place.step] = successes / n
    if row.verdict.correct is not None:
        values[last] = float(row.verdict.correct)
    return tuple(
        values[step] - values[step - 1] if step in values and step - 1 in values else None
        for step in range(len(history))
    )
