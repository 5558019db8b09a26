"""Counts successes by role and number of hops while rows stream past."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from synth.schemas.reports import OutcomeReport

__all__ = ["Outcomes"]


class Outcomes:
    """Tasks first, then trajectories; holds one small number per task."""

    def __init__(self) -> None:
        self._hops: dict[str, int] = {}
        self._sums: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0] * 7)

    def see_tasks(self, batch: pa.RecordBatch) -> None:
        hops = pc.struct_field(batch.column("difficulty"), "hops")
        self._hops.update(zip(batch.column("id").to_pylist(), hops.to_pylist(), strict=True))

    def see_trajectories(self, batch: pa.RecordBatch) -> None:
        names = ("task_id", "role", "success", "turns", "tool_calls", "retry_of")
        columns = {name: batch.column(name).to_pylist() for name in names}
        columns["correct"] = pc.struct_field(batch.column("verdict"), "correct").to_pylist()
        for task, role, success, turns, calls, retry_of, correct in zip(*columns.values(), strict=True):
            sums = self._sums[role, self._hops.get(task, 0)]
            first = (1, bool(success), correct is None, turns, calls, 0, 0)
            again = (0, 0, 0, 0, 0, 1, bool(success))
            for place, value in enumerate(first if retry_of is None else again):
                sums[place] += value

    def reports(self) -> tuple[OutcomeReport, ...]:
        """One per role and number of hops, sorted by both."""
        names = ("trajectories", "successes", "abstained", "turns", "tool_calls", "retries", "retry_successes")
        return tuple(
            OutcomeReport(role=role, hops=hops, **dict(zip(names, sums, strict=True)))
            for (role, hops), sums in sorted(self._sums.items())
        )
