"""Who failed each failed run, and at which step, as judgments of the kind ``failure``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow.compute as pc

from synth.annotate.failures.attribution import attribute
from synth.identity import digest
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.row import Row
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Batch, Context, ShardStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["AttributeFailures"]

_ROWS = 256
"""Failed runs of a shard."""


class AttributeFailures(ShardStage[StageConfig]):
    """By continuations where the run was searched, else by labels, else by what the record shows against each step.
    Runs without a failed verdict are skipped."""

    name = "attribute_failures"
    version = 6
    config_type = StageConfig
    reads: ClassVar[tuple[str, ...]] = ("trajectories",)
    optional: ClassVar[tuple[str, ...]] = ("steps",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"judgments": JudgmentRow}
    libraries = ("numpy",)

    def __init__(self, config: StageConfig, context: Context) -> None:
        super().__init__(config, context)
        self._runs = context.inputs.table("trajectories")
        correct = pc.struct_field(self._runs.arrow.column("verdict"), "correct")
        self._failed = np.flatnonzero(pc.fill_null(pc.invert(correct), False).to_numpy())
        there = "steps" in context.inputs
        self._steps = RowsByKey(context.inputs.table("steps"), "trajectory_id") if there else None

    def shards(self) -> int:
        return math.ceil(len(self._failed) / _ROWS)

    def produce(self, shard: int) -> Batch:
        rows = [self._judged(self._runs.row(int(at))) for at in self._failed[shard * _ROWS : (shard + 1) * _ROWS]]
        return Batch({"judgments": rows}, rows_in=len(rows), kept_in=len(rows))

    def _judged(self, row: TrajectoryRow) -> JudgmentRow:
        found = attribute(row, self._steps.rows(row.id) if self._steps is not None else ())
        self.context.metrics.add(f"{JudgmentKind.FAILURE}.{found.basis}")
        return JudgmentRow(
            id=f"verdict-{digest('verdict', JudgmentKind.FAILURE, row.id)[:16]}",
            kind=JudgmentKind.FAILURE,
            task_id=row.task_id,
            trajectory_id=row.id,
            step=found.step,
            alternative=-1,
            pair_id=None,
            verdict=found.basis,
            value=found.share,
            parts={"agent": found.agent, "failure": found.failure, "next": list(found.others)},
            cites=(found.step,),
            reason=found.why,
            abstained=None,
            calls=(),
            split=row.split,
            provenance=self.context.provenance,
        )
