"""The work on one shard: make the stage's rows, check that nothing vanished, commit.

This runs wherever an executor puts it: in this process, in a worker process, on another machine. It knows the shard,
the stage and the store, and no other shard.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol

from synth.engine.rowshard import PendingRow, RowShard, ShardTask, StageWork
from synth.engine.units import REJECTED, Counts, RowRecord, exact, key_hash, write_units
from synth.engine.usage import MeteredModels, use_numbers
from synth.identity import derive_generator
from synth.models.bridge import wait
from synth.models.contract import CallFailed, FailureKind
from synth.own_code import beside
from synth.schemas.rejections import Reason, Rejection
from synth.stages.context import RowContext
from synth.stages.contract import (
    Batch,
    CandidateStage,
    Context,
    Outcome,
    RowStage,
    ShardStage,
    Stage,
    TableStage,
)
from synth.store.claims import Share
from synth.store.failpoints import failpoint
from synth.store.shards import ShardWriter, check_shard

__all__ = ["ConservationError", "Observer", "ShardTask", "Work", "covering"]


class ConservationError(AssertionError):
    """Rows in are not rows kept plus rows rejected: a bug in a stage or in the engine."""


class Observer(Protocol):
    """Who watches the work: counts units, and may ask to stop between two of them."""

    def units(self, count: int) -> None:
        """``count`` more units are finished. Raises whatever must end the work here."""


class Work(StageWork):
    """Does it, shard by shard."""

    def open(self) -> Stage[Any]:
        """A stage object, with whatever heavy things it opens."""
        for folder in self.code:
            beside(folder)
        context = Context(
            seed=self.seed,
            inputs=self.inputs,
            provenance=self.provenance,
            generator=partial(derive_generator, self.seed, self.stage.stream(self.config)),
            models=None if self.models is None else MeteredModels(self.models, self.config),
        )
        with self.named("while it was made"):
            stage = self.stage(self.config, context)
            if isinstance(stage, CandidateStage):
                stage.filters = [context.make(task_filter) for task_filter in self.filters]
            return stage

    def run(self, stage: Stage[Any], task: ShardTask, observer: Observer, share: Share | None = None) -> None:
        """Do one shard and commit it; what is committed already is left alone. ``share``: of candidates that several
        builds share, what is known of them, and where more goes.

        Raises:
            SynthError: one line for the user.
            ConservationError: rows vanished or were counted twice.
            Exception: a bug in the stage, with a note that says where.
        """
        match stage:
            case RowStage():
                self._rows(stage, task, observer)
            case CandidateStage():
                self._candidates(stage, task, observer, share)
            case ShardStage() | TableStage():
                self._batch(stage, task, observer)
            case _:
                raise TypeError(f"{type(stage).__name__} is none of the four shapes of a stage")

    # --- the three ways ----------------------------------------------------------------------------------------------

    def _batch(self, stage: ShardStage[Any] | TableStage[Any], task: ShardTask, observer: Observer) -> None:
        if self.covered(task):
            return
        self.note("begin", task)
        mine = RowContext()
        with self.named(f"shard {task.start}"), mine.entered():
            batch = stage.produce(task.start) if isinstance(stage, ShardStage) else stage.run()
            unknown = sorted(set(batch.tables) - set(self.stage.writes))
            if unknown or (batch.arrays and self.stage.arrays is None):
                raise ValueError(f"it wrote {', '.join(unknown) or 'arrays'}, which it does not declare")
        failpoint("engine.shard.computed")
        with ShardWriter(self.folder.shard(task.start, task.stop)) as writer:
            rows = {
                name: writer.table(name, row_type, batch.tables.get(name, ()))
                for name, row_type in self.stage.writes.items()
            }
            writer.table(REJECTED, Rejection, batch.rejected)
            for name, array in batch.arrays.items():
                writer.array(name, array)
            counts = _count_batch(batch, rows, _numbers(mine))
            self._conserve(counts, task)
            writer.commit(counts.facts())
        self.note("done", task)
        observer.units(task.units)

    def _candidates(self, stage: CandidateStage[Any], task: ShardTask, observer: Observer, share: Share | None) -> None:
        if self.covered(task):
            return
        self.note("begin", task)
        if share is None:
            units, numbers = self._proposed(stage, task)
        else:
            if share.record is None:
                wait(share.deliver(_joined(*self._proposed(stage, task))))
            assert share.record is not None
            units, numbers = _parted(self.stage, share.record)
        failpoint("engine.shard.computed")
        self._commit(task, units, numbers)
        self.note("done", task)
        observer.units(task.units)

    def _proposed(self, stage: CandidateStage[Any], task: ShardTask) -> tuple[list[RowRecord], dict[str, float]]:
        mine = RowContext()
        with self.named(f"candidates {task.start} to {task.stop - 1}"), mine.entered():
            outcomes = stage.propose(task.start, task.stop)
            if len(outcomes) != task.units:
                raise ConservationError(f"{task.units} candidates were asked for and {len(outcomes)} came")
            if any(len(outcome.kept) > 1 for outcome in outcomes):
                raise ValueError("a candidate leads to one row at most")
            units: list[RowRecord] = []
            for outcome in _filtered(stage, outcomes, task.start):
                key = key_hash(stage.duplicate_key(outcome.kept[0])) if outcome.kept else None
                units.append(RowRecord.of(self.stage, outcome, key, "", {}))
        return units, _numbers(mine)

    def _rows(self, stage: RowStage[Any, Any], task: ShardTask, observer: Observer) -> None:
        with RowShard(self, task) as shard:
            # Asked under the journal's lock: a worker that outlived a killed build may have been at it until now.
            if not self.covered(task):
                waiting = shard.rows(stage.key)
                while rows := list(islice(waiting, stage.together)):
                    stage.look_ahead([row.row for row in rows if row is not None])
                    for row in rows:
                        if row is not None:
                            shard.finish(row, self.process(stage, shard, row))
                        observer.units(1)
                self.commit_rows(shard)
            shard.drop()

    def process(self, stage: RowStage[Any, Any], shard: RowShard, row: PendingRow) -> bytes:
        """Work on one row: the record that goes to the journal. Rows may be worked on at once in one thread, each in a
        context of its own (``contextvars``)."""
        self.note("begin", shard.task, row.name[0])
        mine = shard.context_of(row)
        with self.named(f"row {row.name[0]}"), mine.entered():
            try:
                outcome = stage.process(row.row)
            except CallFailed as error:
                outcome = Outcome(rejected=(self._failed(row, error),))
            unit = RowRecord.of(self.stage, outcome, *row.name, _numbers(mine))
        failpoint("engine.row.processed")
        return unit.encode()

    def _failed(self, row: PendingRow, error: CallFailed) -> Rejection:
        return Rejection(
            stage=self.stage.name,
            row_id=row.name[0],
            reason=Reason.CONTEXT_OVERFLOW if error.kind is FailureKind.CONTEXT else Reason.ENDPOINT_FAILED,
            detail=" ".join(str(error).split()),
            split=getattr(row.row, "split", None),
            preview=str(getattr(row.row, "question", ""))[:500],
        )

    def commit_rows(self, shard: RowShard) -> None:
        """Write a row shard all of whose rows are finished."""
        units = shard.units()
        if len(units) != shard.task.units:
            raise ConservationError(
                f"stage {self.label!r}, rows {shard.task.start} to {shard.task.stop - 1}: {len(units)} rows of "
                f"{shard.task.units} came"
            )
        self._commit(shard.task, units, None)

    def covered(self, task: ShardTask) -> bool:
        """Whether a sound committed shard holds all of it."""
        stops = covering(self.stage, task, self.folder.committed().get(task.start, []))
        return any(check_shard(self.folder.shard(task.start, stop)) for stop in stops)

    # --- common ------------------------------------------------------------------------------------------------------

    def _commit(self, task: ShardTask, units: list[RowRecord], numbers: dict[str, float] | None) -> None:
        with ShardWriter(self.folder.shard(task.start, task.stop)) as writer:
            counts = write_units(writer, self.stage, units)
            if numbers is not None:
                counts = counts + Counts(numbers=exact(numbers))
            self._conserve(counts, task)
            if counts.rows_in != task.units:
                raise ConservationError(f"stage {self.label!r}: {counts.rows_in} units counted, {task.units} expected")
            writer.commit(counts.facts())

    def _conserve(self, counts: Counts, task: ShardTask) -> None:
        if not counts.conserved:
            raise ConservationError(
                f"stage {self.label!r} ({self.stage.name}), shard {task.start}: {counts.rows_in} in, "
                f"{counts.kept} kept, {sum(counts.rejected.values())} rejected: nothing may vanish or count twice"
            )


def covering(stage: type[Stage[Any]], task: ShardTask, stops: Sequence[int]) -> list[int]:
    """Which of the committed shards that begin where ``task`` does hold all of its units: the tightest first.

    A shard of a row stage may be longer, since any prefix of it can be read; others must match.
    """
    if issubclass(stage, RowStage):
        return sorted(stop for stop in stops if stop >= task.stop)
    return [task.stop] if task.stop in stops else []


def _numbers(mine: RowContext) -> dict[str, float]:
    return {**mine.metrics, **use_numbers(mine.calls.values())}


def _count_batch(batch: Batch, rows: dict[str, int], numbers: dict[str, float]) -> Counts:
    reasons: dict[str, str] = {}
    for rejection in batch.rejected:
        reasons.setdefault(rejection.row_id, rejection.reason.value)
    rejected: dict[str, int] = {}
    for reason in reasons.values():
        rejected[reason] = rejected.get(reason, 0) + 1
    return Counts(batch.rows_in, batch.kept_in, {key: rejected[key] for key in sorted(rejected)}, rows, exact(numbers))


def _joined(units: Sequence[RowRecord], numbers: dict[str, float]) -> bytes:
    return b"\0".join([json.dumps(numbers).encode(), *(unit.encode() for unit in units)])  # JSON has no such byte


def _parted(stage: type[Stage[Any]], record: bytes) -> tuple[list[RowRecord], dict[str, float]]:
    numbers, *units = record.split(b"\0")
    return [RowRecord.decode(stage, unit) for unit in units], json.loads(numbers)


def _filtered(stage: CandidateStage[Any], outcomes: Sequence[Outcome], start: int) -> list[Outcome]:
    """``outcomes`` of the candidates from ``start`` on, with a rejection for each that a filter refuses.

    Nothing of the row is quoted: it was refused for what it holds. Each reason is counted in the stage's report.
    """
    found = list(outcomes)
    for one in stage.filters:
        kept = [place for place, outcome in enumerate(found) if outcome.kept]
        for place, verdict in zip(kept, one.look([found[place].kept[0] for place in kept]), strict=True):
            if verdict is None:
                continue
            reason, detail = verdict
            row = found[place].kept[0]
            rejection = Rejection(
                stage=stage.name,
                row_id=str(start + place),
                reason=reason,
                detail=detail,
                split=getattr(row, "split", None),
            )
            found[place] = Outcome(rejected=(rejection,))
    return found
