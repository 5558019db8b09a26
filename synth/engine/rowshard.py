"""The work of a stage run, and one shard of a row stage in the making: its journal, what is finished, what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from synth.engine.units import PartRecord, RowRecord, content_hash, read_units
from synth.engine.usage import CallUse
from synth.errors import SynthError
from synth.models.contract import Models
from synth.own_code import folders
from synth.prompting import overlaid
from synth.schemas.provenance import Provenance
from synth.stages.context import RowContext
from synth.stages.contract import Implementation, RowStage, Stage, StageConfig
from synth.store.files import store_errors
from synth.store.journal import Journal
from synth.store.ledger import Ledger, LedgerEntry
from synth.store.shards import Manifest, check_shard
from synth.store.store import StageFolder
from synth.store.tables import StoredInputs

__all__ = ["PendingRow", "RowShard", "ShardTask", "StageWork"]


@dataclass(frozen=True)
class ShardTask:
    """Units ``start`` to ``stop - 1``: rows, candidates, or one shard of a batch stage."""

    start: int
    stop: int

    @property
    def units(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class StageWork:
    """One stage run, ready to be done. Small when pickled."""

    label: str
    stage: type[Stage[Any]]
    config: StageConfig
    seed: int
    provenance: Provenance
    inputs: StoredInputs
    folder: StageFolder
    ledger: Ledger | None = None
    models: Models | None = None
    """All models of the build, for work that stays in this process; None for a stage that needs none."""
    filters: tuple[Implementation, ...] = ()
    """Who looks at what a stage of candidates kept."""
    prompts: Mapping[str, str | None] = field(default_factory=dict)
    """Prompts of the user's own, as :attr:`~synth.engine.plan.StageNode.prompts` has them."""
    code: tuple[str, ...] = field(default_factory=folders)
    """Where code of the user's lies, as this process knows it: another one is told."""

    def note(self, event: Any, task: ShardTask, row: str | None = None) -> None:
        """A line for the ledger, where there is one."""
        if self.ledger is not None:
            self.ledger.write(LedgerEntry(event, self.folder.name, task.start, row))

    @contextmanager
    def named(self, place: str) -> Iterator[None]:
        """The user's own prompts hold. Errors of the user pass; a bug passes with a note that says where."""
        try:
            with overlaid(self.prompts):
                yield
        except SynthError:
            raise
        except Exception as error:
            error.add_note(f"in stage {self.label!r} ({self.stage.name} version {self.stage.version}), {place}")
            raise


@dataclass(frozen=True)
class PendingRow:
    """A row that is to be processed."""

    row: Any
    name: tuple[str, str]
    """Key, and hash of its content."""


class RowShard:
    """Shard ``task`` of ``work``, with its journal open. Rows may be finished in any order; the shard is in theirs.

    Args:
        locked: Lock the journal. False for the engine's own process, which holds the lock of the whole stage run and
            may have hundreds of shards open.
        committed: What ``work.folder.committed()`` gave to one who makes many shards; None = it is asked.
        appending: Called before each record is written.

    Raises:
        StoreError: the journal can't be opened.
    """

    def __init__(
        self,
        work: StageWork,
        task: ShardTask,
        *,
        committed: Mapping[int, Sequence[int]] | None = None,
        locked: bool = True,
        appending: Callable[[RowShard], None] | None = None,
    ) -> None:
        self.work = work
        self.task = task
        with store_errors(work.folder.journals):
            self.journal = Journal(work.folder.journal(task.start), locked=locked)
        self._committed = committed
        self._appending = appending
        self._finished: dict[tuple[str, str], bytes] = {}
        self._order: list[tuple[str, str]] = []
        self._parts: dict[tuple[str, str], dict[str, str]] = {}
        self._calls: dict[tuple[str, str], dict[str, CallUse]] = {}
        self.outstanding = 0
        """Rows that were given out and are not finished."""
        self.given_out = False
        """Whether all were given out."""

    def rows(self, key: Callable[[Any], str]) -> Iterator[PendingRow | None]:
        """All rows in order, named by ``key``. None stands for one that the journal, a shorter shard or an equal row
        sees to."""
        self._remember()
        given: set[tuple[str, str]] = set()
        stage = self.work.stage
        assert issubclass(stage, RowStage)
        for row in self.work.inputs.table(stage.over).rows(self.task.start, self.task.stop):
            with self.work.named(f"row {getattr(row, 'id', '?')}"):
                name = (key(row), content_hash(row))
            self._order.append(name)
            if name in self._finished or name in given:
                yield None
                continue
            given.add(name)
            self.outstanding += 1
            yield PendingRow(row, name)

    def _remember(self) -> None:
        payloads = self.journal.payloads
        self._finished = {RowRecord.name_of(record): record for record in payloads if not PartRecord.is_part(record)}
        self._parts = PartRecord.by_row(payloads)
        self._calls = PartRecord.calls_by_row(payloads)
        shorter = self._shorter()
        if shorter is not None:
            for unit in read_units(self.work.stage, shorter):
                name = (str(unit.key), unit.content)
                if name not in self._finished:
                    self._finished[name] = unit.encode()

    def _shorter(self) -> Manifest | None:
        """A sound committed shard that begins where this one does and ends before it."""
        folder = self.work.folder
        committed = folder.committed() if self._committed is None else self._committed
        for stop in committed.get(self.task.start, []):
            if stop < self.task.stop:
                manifest = check_shard(folder.shard(self.task.start, stop))
                if manifest is not None:
                    return manifest
        return None

    def context_of(self, row: PendingRow) -> RowContext:
        """What belongs to the row: what is known of it already, and where more goes."""
        calls: dict[str, CallUse] = dict(self._calls.get(row.name, {}))
        mine = RowContext(dict(self._parts.get(row.name, {})), calls=calls)
        written = len(calls)

        def keep(key: str, text: str) -> None:
            nonlocal written
            fresh = dict(list(calls.items())[written:])
            self._append(PartRecord(row.name, key, text, fresh).encode())
            written = len(calls)
            self.work.note("done", self.task, f"{row.name[0]}#{key}")

        mine.keep = keep
        return mine

    def finish(self, row: PendingRow, record: bytes) -> None:
        """Write a finished row to the journal."""
        self._append(record)
        self._finished[row.name] = record
        self.outstanding -= 1
        self.work.note("done", self.task, row.name[0])

    def _append(self, record: bytes) -> None:
        if self._appending is not None:
            self._appending(self)
        with store_errors(self.journal.path):
            self.journal.append(record)

    def units(self) -> list[RowRecord]:
        """All of it, in the order of the rows. From the records even when all rows were made just now: a resumed shard
        can't differ."""
        with self.work.named(f"rows {self.task.start} to {self.task.stop - 1}"):
            return [RowRecord.decode(self.work.stage, self._finished[name]) for name in self._order]

    def drop(self) -> None:
        """Remove the journal: the shard is committed."""
        with store_errors(self.journal.path):
            self.journal.drop()

    def park(self, *, sync: bool = True) -> None:
        """Close the journal's file until the next record."""
        with store_errors(self.journal.path):
            self.journal.park(sync=sync)

    def close(self) -> None:
        with store_errors(self.journal.path):
            self.journal.close()

    def __enter__(self) -> RowShard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
