"""Advantages among turns taken from equal states (GiGPO, arXiv 2505.10978).

Runs on one task meet the same states again. Each turn is worth the discounted verdict of its run, and its advantage is
that minus the mean over all turns that runs took from the state: no continuation is drawn and no model asked. The state
is what was last shown without an error, as in the paper's text environments; before anything was, the question. The
difference is not divided by the group's standard deviation, which the paper leaves open (its F_norm = 1).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from synth.agents.contract import History
from synth.agents.trajectory import history_of
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["DISCOUNT", "group_advantages"]

DISCOUNT = 0.95
"""By turn: the paper's gamma."""


def group_advantages(runs: Sequence[TrajectoryRow]) -> Mapping[str, tuple[float | None, ...]]:
    """Run -> the advantage of each of its turns; None where no other run was in that state. ``runs`` are on one task;
    second tries and branches, which copy turns of others, and runs without a verdict are left out."""
    taken: dict[tuple[str, ...], list[tuple[str, int, float]]] = defaultdict(list)
    found: dict[str, list[float | None]] = {}
    for run in runs:
        if run.retry_of is not None or run.verdict.correct is None:
            continue
        _, history = history_of(run)
        found[run.id] = [None] * len(history)
        for step, state in enumerate(_states(history)):
            taken[state].append((run.id, step, run.verdict.correct * DISCOUNT ** (len(history) - 1 - step)))
    for turns in taken.values():
        if len({run for run, _, _ in turns}) > 1:
            mean = math.fsum(value for _, _, value in turns) / len(turns)
            for run_id, step, value in turns:
                found[run_id][step] = value - mean
    return {run: tuple(values) for run, values in found.items()}


def _states(history: History) -> Iterator[tuple[str, ...]]:
    """Before each turn."""
    state: tuple[str, ...] = ()
    for step in history:
        yield state
        state = tuple(result.content for result in step.results if result.error is None) or state
