"""Recorded runs of a role as its trajectories: each once, by an id of its own, and numbered among its samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from synth.identity import digest, hash_64
from synth.schemas.recorded import RecordedRun
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.trajectories import RECORDED, Role, TrajectoryRow
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["RecordedRuns", "RecordedRunsConfig", "numbered"]

_ROWS = 512
"""Runs of a shard."""
Numbers = np.ndarray[Any, np.dtype[np.int64]]


class RecordedRunsConfig(StageConfig):
    role: Role
    """Whose runs."""


class RecordedRuns(ShardStage[RecordedRunsConfig]):
    """Of equal runs of one id the first stays; a different run of an id that is taken gets another one, and keeps its
    own in ``details.given.id``. Memory holds some sixty bytes a run."""

    name = "recorded_runs"
    version = 1
    config_type = RecordedRunsConfig
    reads = ("recorded",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    libraries = ("numpy",)

    def __init__(self, config: RecordedRunsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._runs = context.inputs.table("recorded")
        columns = self._runs.arrow.select(["name_hash", "run_hash", "sample_hash", "rollout", "role"])
        names, *others = (columns.column(name).to_numpy() for name in columns.column_names[:4])
        self._numbers = numbered(names, *others)
        self._names = np.unique(names)
        self._own = np.flatnonzero(pc.equal(columns.column("role"), config.role).to_numpy())

    def shards(self) -> int:
        return math.ceil(len(self._own) / _ROWS)

    def produce(self, shard: int) -> Batch:
        numbers = self._own[shard * _ROWS : (shard + 1) * _ROWS]
        wanted = frozenset(numbers.tolist())
        start, stop = int(numbers[0]), int(numbers[-1]) + 1
        kept: list[TrajectoryRow] = []
        rejected: list[Rejection] = []
        for number, run in enumerate(self._runs.rows(start, stop), start):
            if number not in wanted:
                continue
            first = int(self._numbers[number, 0])
            if first >= 0:
                rejected.append(self._equal(run, self._runs.row(first)))
            else:
                kept.append(self._row(run, number))
        return Batch({"trajectories": kept}, rejected=rejected, rows_in=len(numbers), kept_in=len(kept))

    def _equal(self, run: RecordedRun, first: RecordedRun) -> Rejection:
        row = TrajectoryRow.model_validate_json(run.run)
        detail = f"an earlier run is the same, its id {row.id}, too: {first.id}"
        reason = Reason.DUPLICATE_ID
        return Rejection(stage=self.name, row_id=run.id, reason=reason, detail=detail, split=row.split)

    def _row(self, run: RecordedRun, number: int) -> TrajectoryRow:
        row = TrajectoryRow.model_validate_json(run.run)
        _, place, rollout = (int(one) for one in self._numbers[number])
        update: dict[str, Any] = {"rollout": rollout}
        if not run.own:
            update["provenance"] = self.context.provenance.model_copy(update={"backend": RECORDED})
        if place:
            given = row.details.get("given")
            named = {**(given if isinstance(given, dict) else {}), "id": row.id}
            update |= {"id": self._named(row, place + 1), "details": {**row.details, "given": named}}
        return row.model_copy(update=update)

    def _named(self, row: TrajectoryRow, place: int) -> str:
        name = f"{row.id}-{place}"
        taken = bool(np.isin(hash_64(name), self._names))
        return f"{name}-{digest('renamed', row.model_dump(mode='json'))[:8]}" if taken else name


def numbered(names: ArrayLike, runs: ArrayLike, samples: ArrayLike, stated: ArrayLike) -> Numbers:
    """Of each run three numbers: that of the first that is equal to it, -1 where it is that itself; how many other runs
    of its id come before it; and which sample it is. The last two are -1 where an equal one came before.

    Args:
        stated: Which sample a run says that it is; -1 = it doesn't.
    """
    names, runs, samples, stated = (np.asarray(one, np.int64) for one in (names, runs, samples, stated))
    found = np.full((len(names), 3), -1, np.int64)
    found[:, 0] = _first_equal(names, runs)
    once = found[:, 0] < 0
    found[once, 1] = _places(names[once])
    found[once, 2] = _samples(samples[once], stated[once])
    return found


def _starts(*keys: Numbers) -> tuple[Numbers, Numbers]:
    """Rows ordered by ``keys`` and then by number; and for each place in that order, the place where its group of
    equal keys begins."""
    order = np.lexsort((np.arange(len(keys[0])), *reversed(keys)))
    new = np.ones(len(order), bool)
    if len(order):
        new[1:] = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
    return order, np.maximum.accumulate(np.where(new, np.arange(len(order)), 0)) if len(order) else order


def _first_equal(names: Numbers, runs: Numbers) -> Numbers:
    """Of each row the number of the first with the same name and run, where that is another one; else -1."""
    order, starts = _starts(names, runs)
    found = np.empty(len(order), np.int64)
    found[order] = order[starts] if len(order) else order
    return np.where(found == np.arange(len(order)), -1, found)


def _places(keys: Numbers) -> Numbers:
    """Of each row how many rows of its key come before it."""
    order, starts = _starts(keys)
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - starts
    return found


def _samples(samples: Numbers, stated: Numbers) -> Numbers:
    """Numbers of samples: as stated, where all of a kind state one of their own; else in their order."""
    order = np.lexsort((stated, samples))
    kinds, numbers = samples[order], stated[order]
    again = np.flatnonzero((kinds[1:] == kinds[:-1]) & (numbers[1:] == numbers[:-1]))
    counted = np.isin(samples, np.concatenate([kinds[again], samples[stated < 0]]))
    return np.where(counted, _places(samples), stated)
