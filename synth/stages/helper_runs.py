"""The runs of helpers as rows of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from synth.agents.helpers import helper_rows
from synth.schemas.delegations import HelperRunRow
from synth.schemas.row import Row
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["HelperRuns"]

_ROWS = 128
"""Runs of a shard."""


class HelperRuns(ShardStage[StageConfig]):
    """Every sub-question that a run gave away, with the helper's run, its answer and its verdict."""

    name = "helper_runs"
    version = 5
    config_type = StageConfig
    reads: ClassVar[tuple[str, ...]] = ("trajectories",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"helper_runs": HelperRunRow}

    def __init__(self, config: StageConfig, context: Context) -> None:
        super().__init__(config, context)
        self._runs = context.inputs.table("trajectories")

    def shards(self) -> int:
        return math.ceil(len(self._runs) / _ROWS)

    def produce(self, shard: int) -> Batch:
        places = range(shard * _ROWS, min(len(self._runs), (shard + 1) * _ROWS))
        runs: list[TrajectoryRow] = [self._runs.row(at) for at in places]
        rows = [row for run in runs for row in helper_rows(run, self.context.provenance)]
        self.context.metrics.add("judged", sum(row.verdict.correct is not None for row in rows))
        self.context.metrics.add("right", sum(row.verdict.correct is True for row in rows))
        return Batch({"helper_runs": rows}, rows_in=len(runs), kept_in=len(runs))
