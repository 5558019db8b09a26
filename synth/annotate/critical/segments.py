"""Useful segments of failed runs of a stronger agent (EEF, arXiv 2504.13145).

The policy is restarted from every l-th state of the run. Where it succeeds more often after a segment than before it,
the segment is worth learning although the run as a whole has failed. As with critical steps, both ends are measured and
the error is controlled over all segments of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from synth.agents.contract import Policy
from synth.annotate.critical.branching import Continuation, Generators, Refused
from synth.annotate.critical.comparisons import Comparison, Finding, compare
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool, Record
from synth.annotate.critical.intervals import newcombe
from synth.annotate.critical.search import open_pool
from synth.environments.contract import Environment
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["Segment", "Segmented", "find_segments", "segment_trajectory"]


class Segment(Row):
    """Steps ``start`` to ``stop - 1`` of a run, and how often the policy succeeds from before and from after them."""

    start: int
    stop: int
    finding: Finding
    """``verified``: the policy succeeds more often after it."""
    difference: float
    """Success rate after minus success rate before."""
    low: float
    high: float
    """Newcombe interval at ``confidence``, not adjusted for stopping."""
    confidence: float
    before_successes: int
    before_n: int
    after_successes: int
    after_n: int


class Segmented(Row):
    """All segments of one run, in order. The continuations at prefix length ``s`` have step ``s - 1``."""

    trajectory_id: str
    refused: Refused | None
    segments: tuple[Segment, ...]
    continuations: tuple[Continuation, ...]

    @property
    def useful(self) -> tuple[Segment, ...]:
        return tuple(segment for segment in self.segments if segment.finding is Finding.VERIFIED)


def segment_trajectory(
    row: TrajectoryRow,
    task: Task,
    environment: Environment,
    policy: Policy,
    *,
    every: int,
    config: CriticalConfig,
    generator: Generators,
    done: Mapping[str, Continuation] | None = None,
    record: Record | None = None,
) -> Segmented:
    """Segments of ``every`` steps (the last may be shorter) of a failed run. Pure, like ``search_trajectory``.

    Raises:
        ValueError: ``every`` is less than 1, or the run has not failed.
    """
    if row.success:
        raise ValueError(f"{row.id} has not failed")
    pool = open_pool(row, task, environment, policy, config, generator, done, record)
    if isinstance(pool, Refused):
        return Segmented(trajectory_id=row.id, refused=pool, segments=(), continuations=())
    try:
        return find_segments(pool, config, every)
    finally:
        pool.branching.close()


def find_segments(pool: ContinuationPool, config: CriticalConfig, every: int) -> Segmented:
    """:func:`segment_trajectory` on an open pool."""
    if every < 1:
        raise ValueError(f"a segment of {every} steps")
    branching = pool.branching
    # The last turn of a run that is over leaves nothing to go on from.
    end = branching.steps - (branching.refused is None)
    borders = [*range(0, end, every), end] if end > 0 else []
    spans = list(pairwise(borders))
    comparisons = [Comparison(better=pool.original(stop - 1), worse=pool.original(start - 1)) for start, stop in spans]
    results = compare(comparisons, pool, config, group=False)
    segments: list[Segment] = []
    for (start, stop), result in zip(spans, results, strict=True):
        before, after = pool.tally(result.comparison.worse), pool.tally(result.comparison.better)
        difference = after[0] / max(1, after[1]) - before[0] / max(1, before[1])
        finding = result.finding
        if finding is Finding.VERIFIED and difference <= 0:
            finding = Finding.UNDECIDED
        low, high = newcombe(*after, *before, config.confidence)
        segments.append(
            Segment(
                start=start,
                stop=stop,
                finding=finding,
                difference=difference,
                low=low,
                high=high,
                confidence=config.confidence,
                before_successes=before[0],
                before_n=before[1],
                after_successes=after[0],
                after_n=after[1],
            )
        )
    return Segmented(
        trajectory_id=branching.row.id,
        refused=branching.refused,
        segments=tuple(segments),
        continuations=pool.continuations(),
    )
