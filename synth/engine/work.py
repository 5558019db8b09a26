"""The work on one shard: make the stage's rows, check that nothing vanished, commit.

This runs wherever an executor puts it: in this process, in a worker process, on another machine. It knows the shard,
the stage and the store, and no other shard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from synth.engine.units import (
    REJECTED,
    Counts,
    Part,
    Unit,
    content_hash,
    exact,
    key_hash,
    read_units,
    write_units,
)
from synth.errors import SynthError
from synth.identity import derive_generator
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Rejection
from synth.stages.contract import (
    Batch,
    CandidateStage,
    Context,
    RowStage,
    ShardStage,
    Stage,
    StageConfig,
    TableStage,
)
from synth.store.failpoints import failpoint
from synth.store.files import store_errors
from synth.store.journal import Journal
from synth.store.ledger import Ledger, LedgerEntry
from synth.store.shards import Manifest, ShardWriter, check_shard
from synth.store.store import StageFolder
from synth.store.tables import StoredInputs

__all__ = ["ConservationError", "Observer", "ShardTask", "Work", "covering"]


class ConservationError(AssertionError):
    """Rows in are not rows kept plus rows rejected: a bug in a stage or in the engine."""


@dataclass(frozen=True)
class ShardTask:
    """Units ``start`` to ``stop - 1``: rows, candidates, or one shard of a batch stage."""

    start: int
    stop: int

    @property
    def units(self) -> int:
        return self.stop - self.start


class Observer(Protocol):
    """Who watches the work: counts units, and may ask to stop between two of them."""

    def units(self, count: int) -> None:
        """``count`` more units are finished. Raises whatever must end the work here."""


@dataclass(frozen=True)
class Work:
    """One stage run, ready to be done shard by shard. Small when pickled."""

    label: str
    stage: type[Stage[Any]]
    config: StageConfig
    seed: int
    provenance: Provenance
    inputs: StoredInputs
    folder: StageFolder
    ledger: Ledger | None = None

    def open(self) -> Stage[Any]:
        """A stage object, with whatever heavy things it opens."""
        context = Context(
            seed=self.seed,
            inputs=self.inputs,
            provenance=self.provenance,
            generator=partial(derive_generator, self.seed, self.stage.name),
        )
        with self._named("while it was made"):
            return self.stage(self.config, context)

    def run(self, stage: Stage[Any], task: ShardTask, observer: Observer) -> None:
        """Do one shard and commit it; what is committed already is left alone.

        Raises:
            SynthError: one line for the user.
            ConservationError: rows vanished or were counted twice.
            Exception: a bug in the stage, with a note that says where.
        """
        match stage:
            case RowStage():
                self._rows(stage, task, observer)
            case CandidateStage():
                self._candidates(stage, task, observer)
            case ShardStage() | TableStage():
                self._batch(stage, task, observer)
            case _:
                raise TypeError(f"{type(stage).__name__} is none of the four shapes of a stage")

    # --- the three ways ----------------------------------------------------------------------------------------------

    def _batch(self, stage: ShardStage[Any] | TableStage[Any], task: ShardTask, observer: Observer) -> None:
        if self._covered(task):
            return
        self._note("begin", task)
        stage.context.notes.clear()
        with self._named(f"shard {task.start}"):
            batch = stage.produce(task.start) if isinstance(stage, ShardStage) else stage.run()
            unknown = sorted(set(batch.tables) - set(self.stage.writes))
            if unknown or (batch.arrays and not self.stage.writes_arrays):
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
            counts = _count_batch(batch, rows, dict(stage.context.notes))
            self._conserve(counts, task)
            writer.commit(counts.facts())
        self._note("done", task)
        observer.units(task.units)

    def _candidates(self, stage: CandidateStage[Any], task: ShardTask, observer: Observer) -> None:
        if self._covered(task):
            return
        self._note("begin", task)
        stage.context.notes.clear()
        with self._named(f"candidates {task.start} to {task.stop - 1}"):
            outcomes = stage.propose(task.start, task.stop)
            if len(outcomes) != task.units:
                raise ConservationError(f"{task.units} candidates were asked for and {len(outcomes)} came")
            units: list[Unit] = []
            for outcome in outcomes:
                if len(outcome.kept) > 1:
                    raise ValueError("a candidate leads to one row at most")
                key = key_hash(stage.duplicate_key(outcome.kept[0])) if outcome.kept else None
                units.append(Unit.of(self.stage, outcome, key, "", {}))
        failpoint("engine.shard.computed")
        self._commit(task, units, dict(stage.context.notes))
        self._note("done", task)
        observer.units(task.units)

    def _rows(self, stage: RowStage[Any, Any], task: ShardTask, observer: Observer) -> None:
        with store_errors(self.folder.journals):
            journal = Journal(self.folder.journal(task.start))
        with journal:
            # Asked under the journal's lock: a worker that outlived a killed build may have been at it until now.
            if not self._covered(task):
                records = self._finish_rows(stage, task, journal, observer)
                with self._named(f"rows {task.start} to {task.stop - 1}"):
                    # From the records even when all rows were made just now: a resumed shard can't differ.
                    units = [Unit.decode(self.stage, record) for record in records]
                self._commit(task, units, None)
            with store_errors(journal.path):
                journal.drop()

    def _finish_rows(
        self, stage: RowStage[Any, Any], task: ShardTask, journal: Journal, observer: Observer
    ) -> list[bytes]:
        """One record per row of the shard; those that are in the journal or in a shorter shard are not made again."""
        finished = {Unit.name_of(record): record for record in journal.payloads if not Part.is_part(record)}
        parts = Part.by_row(journal.payloads)
        shorter = self._shorter(task)
        if shorter is not None:
            for unit in read_units(self.stage, shorter):
                name = (str(unit.key), unit.content)
                if name not in finished:
                    finished[name] = unit.encode()
        records: list[bytes] = []
        for row in self.inputs.table(stage.over).rows(task.start, task.stop):
            with self._named(f"row {getattr(row, 'id', '?')}"):
                name = (stage.key(row), content_hash(row))
            record = finished.get(name)
            if record is None:
                self._open_notebook(stage, task, name, parts.get(name, {}), journal)
                record = finished[name] = self._process(stage, task, row, name)
                with store_errors(journal.path):
                    journal.append(record)
                self._note("done", task, name[0])
            records.append(record)
            observer.units(1)
        if len(records) != task.units:
            raise ConservationError(
                f"stage {self.label!r}, rows {task.start} to {task.stop - 1}: {len(records)} rows of {task.units} came"
            )
        return records

    def _open_notebook(
        self,
        stage: RowStage[Any, Any],
        task: ShardTask,
        name: tuple[str, str],
        parts: dict[str, str],
        journal: Journal,
    ) -> None:
        def keep(key: str, text: str) -> None:
            with store_errors(journal.path):
                journal.append(Part(name, key, text).encode())
            self._note("done", task, f"{name[0]}#{key}")

        stage.context.notebook.open(parts, keep)

    def _process(self, stage: RowStage[Any, Any], task: ShardTask, row: Any, name: tuple[str, str]) -> bytes:
        self._note("begin", task, name[0])
        stage.context.notes.clear()
        with self._named(f"row {name[0]}"):
            outcome = stage.process(row)
            unit = Unit.of(self.stage, outcome, *name, stage.context.notes)
        failpoint("engine.row.processed")
        return unit.encode()

    def _covered(self, task: ShardTask) -> bool:
        stops = covering(self.stage, task, self.folder.committed().get(task.start, []))
        return any(check_shard(self.folder.shard(task.start, stop)) for stop in stops)

    def _shorter(self, task: ShardTask) -> Manifest | None:
        """A sound committed shard that begins where ``task`` does and ends before it."""
        for stop in self.folder.committed().get(task.start, []):
            if stop < task.stop:
                manifest = check_shard(self.folder.shard(task.start, stop))
                if manifest is not None:
                    return manifest
        return None

    # --- common ------------------------------------------------------------------------------------------------------

    def _commit(self, task: ShardTask, units: list[Unit], numbers: dict[str, float] | None) -> None:
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

    def _note(self, event: Any, task: ShardTask, row: str | None = None) -> None:
        if self.ledger is not None:
            self.ledger.write(LedgerEntry(event, self.folder.name, task.start, row))

    @contextmanager
    def _named(self, place: str) -> Iterator[None]:
        """Errors of the user pass; a bug passes with a note that says where it happened."""
        try:
            yield
        except SynthError:
            raise
        except Exception as error:
            error.add_note(f"in stage {self.label!r} ({self.stage.name} version {self.stage.version}), {place}")
            raise


def covering(stage: type[Stage[Any]], task: ShardTask, stops: Sequence[int]) -> list[int]:
    """Which of the committed shards that begin where ``task`` does hold all of its units: the tightest first.

    A shard of a row stage may be longer, since any prefix of it can be read; others must match.
    """
    if issubclass(stage, RowStage):
        return sorted(stop for stop in stops if stop >= task.stop)
    return [task.stop] if task.stop in stops else []


def _count_batch(batch: Batch, rows: dict[str, int], numbers: dict[str, float]) -> Counts:
    reasons: dict[str, str] = {}
    for rejection in batch.rejected:
        reasons.setdefault(rejection.row_id, rejection.reason.value)
    rejected: dict[str, int] = {}
    for reason in reasons.values():
        rejected[reason] = rejected.get(reason, 0) + 1
    return Counts(batch.rows_in, batch.kept_in, {key: rejected[key] for key in sorted(rejected)}, rows, exact(numbers))
