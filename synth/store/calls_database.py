"""The database behind the store of calls: an SQLite file for the processes of one machine, PostgreSQL for several
machines. One set of statements serves both.

Each process holds a lock that tells the others it is alive and is released when it ends: a lock on a file, or an
advisory lock of its PostgreSQL session.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from synth.errors import InputError, StoreError
from synth.store.calls_format import check_tables, is_busy, make_tables, sqlite_errors
from synth.store.calls_postgres import PostgresDatabase
from synth.store.locks import FileLock

__all__ = [
    "BUSY_SECONDS",
    "GIVE_UP_SECONDS",
    "Checkpoints",
    "Database",
    "SqliteDatabase",
    "database_at",
    "patiently",
]

T = TypeVar("T")

_MAPPED = 1 << 40
"""Bytes of the file that are mapped; SQLite as it is usually built takes 2 GB at most, and reads what lies behind."""
BUSY_SECONDS = 0.001
"""Wait before the next try when another process writes."""
GIVE_UP_SECONDS = 60.0
"""A lock that another process keeps longer than this is an error."""
_OPEN_SECONDS = 60.0
"""How long opening the file waits for other processes."""

_CHECKPOINT_PAGES = 8_192
"""Pages written between two checkpoints: the log stays below 64 MB or so."""
_CHECKPOINT_SECONDS = 5.0
"""Seconds between two checkpoints while something is written: what a power cut may take."""


class Upkeep(Protocol):
    """What goes on beside the one writer, in a thread."""

    @property
    def holding(self) -> bool:
        """Whether the writer has to wait for it."""

    def written(self, pages: int) -> None: ...

    def check(self) -> None:
        """Raise what went wrong in the thread."""

    def join(self) -> None:
        """Wait for its end."""


class Database(Protocol):
    """One connection."""

    pause: float
    """Seconds between two transactions, at least: what comes meanwhile goes into the next one."""

    @property
    def upkeep(self) -> Upkeep: ...

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        """A cursor."""

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Rows that the statement changed, for all of ``rows`` together."""

    def transaction(self) -> AbstractContextManager[None]:
        """The only one that writes. What is done inside stands afterwards, or nothing of it."""

    def errors(self) -> AbstractContextManager[None]:
        """Turns errors of the database into a one-line ``StoreError``."""

    def is_busy(self, error: Exception) -> bool:
        """Whether another process is writing at the moment, so that trying again may help."""

    def hold(self, name: str) -> None:
        """Hold the lock ``name`` from now on, for as long as this process lives."""

    def strays(self) -> Sequence[str]:
        """Names of locks that may stand in no table, after a kill."""

    def gone(self, name: str) -> AbstractContextManager[bool]:
        """Inside a transaction: whether no living process holds ``name``. If so, it is ours until the transaction ends,
        and is then removed."""

    def ending(self) -> None:
        """The last transaction follows; it may wait for others."""

    def close(self) -> None: ...


async def patiently(database: Database, do: Callable[[], T]) -> T:
    """What ``do`` gives, as soon as no other process is in its way.

    Raises:
        StoreError: the database can't be used.
    """
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while True:
        try:
            return do()
        except Exception as error:
            if not database.is_busy(error) or time.monotonic() > deadline:
                with database.errors():
                    raise
        await asyncio.sleep(BUSY_SECONDS)


def database_at(place: Path | str) -> Database:
    """What ``place`` names: an address of PostgreSQL, or a file.

    Raises:
        InputError: an address of something else, or its driver is not installed.
        StoreError: it can't be opened or written, is something else, damaged, or of another format.
    """
    scheme, there, _ = str(place).partition("://")
    if not there:
        return SqliteDatabase(Path(place).absolute())
    if scheme not in ("postgresql", "postgres"):
        raise InputError(
            f"calls are kept in a file or in PostgreSQL, not in {scheme}",
            where="--calls",
            mend="give a path, or postgresql://USER@HOST/DATABASE",
        )
    return PostgresDatabase(str(place))


class SqliteDatabase:
    """The file ``path``, made when missing."""

    pause = 0.004

    def __init__(self, path: Path) -> None:
        self._path = path
        self._locks = path.with_name(path.name + ".owners")
        self._lock: FileLock | None = None
        self.upkeep = Checkpoints(path)
        with self.errors():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, cached_statements=64, timeout=_OPEN_SECONDS
            )
            self.execute = self._connection.execute
            try:
                self._prepare()
                self._locks.mkdir(exist_ok=True)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        check_tables(self._connection, self._path)
        if self._write_ahead() != "wal":
            raise StoreError(
                "this file system has no shared memory, which the store of calls needs",
                where=str(self._path),
                mend="choose a store on a local disk, with --store",
            )
        # NORMAL: no sync per commit. What a killed process committed is in the kernel's hands and survives; a power cut
        # may take the last moments, never the file. The memory map spares a system call for a page not read lately.
        pragmas = ("synchronous = NORMAL", "secure_delete = OFF", "cache_size = -32768", "wal_autocheckpoint = 0")
        for pragma in (*pragmas, f"mmap_size = {_MAPPED}"):
            self.execute(f"PRAGMA {pragma}")
        with self.transaction():
            make_tables(self._connection)

    def _write_ahead(self) -> str:
        """Switch to a write-ahead log; the mode that the file has then. Two processes that do it at once with a fresh
        file would wait for each other, so SQLite tells one of them at once that it is busy, whatever its timeout."""
        deadline = time.monotonic() + _OPEN_SECONDS
        while True:
            try:
                return str(self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See :class:`Database`.

        Raises:
            sqlite3.OperationalError: ``is_busy`` when another process writes just now; nothing was done.
        """
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """See :class:`Database`."""
        return self._connection.executemany(statement, rows).rowcount

    def errors(self) -> AbstractContextManager[None]:
        """See :class:`Database`."""
        return sqlite_errors(self._path)

    def is_busy(self, error: Exception) -> bool:
        """See :class:`Database`."""
        return is_busy(error)

    def hold(self, name: str) -> None:
        """See :class:`Database`."""
        self._lock = FileLock(self._locks / name)
        if not self._lock.try_acquire():
            raise AssertionError("a lock of a fresh name is free")
        self.execute("PRAGMA busy_timeout = 0")  # from now on a loop waits, not its thread

    def strays(self) -> list[str]:
        """See :class:`Database`: a kill came between lock file and row."""
        return os.listdir(self._locks)

    @contextmanager
    def gone(self, name: str) -> Iterator[bool]:
        """See :class:`Database`."""
        lock = FileLock(self._locks / name)
        if not lock.try_acquire():
            yield False  # it lives, or is ourselves
            return
        try:
            yield True
            lock.path.unlink(missing_ok=True)
        finally:
            lock.release()

    def ending(self) -> None:
        """See :class:`Database`."""
        self.execute("PRAGMA busy_timeout = 60000")

    def close(self) -> None:
        """See :class:`Database`."""
        try:
            if self._lock is not None:
                self._lock.path.unlink(missing_ok=True)
                self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.close()
            if self._lock is not None:
                self._lock.release()


class Checkpoints:
    """Moves what the write-ahead log of ``path`` holds into the file, in a thread of its one writer.

    A checkpoint syncs the disk: on the event loop it would stop every call for as long. Its first and long part goes on
    beside the writers. Since they append meanwhile, the log would never be used up and would grow without end; so the
    second, which moves the little that is left, keeps the writers of all processes out. The next commit then starts
    the log anew.
    """

    def __init__(self, path: Path, *, seconds: float = _CHECKPOINT_SECONDS) -> None:
        self._path = path
        self._seconds = seconds
        self._pages = 0
        self._begun = time.monotonic()
        self._thread: threading.Thread | None = None
        self._failure: sqlite3.Error | None = None
        self.holding = False
        """The second part is under way: our writer waits, so that it begins at once. Only the thread changes it."""

    def written(self, pages: int) -> None:
        """The writer has committed about ``pages`` pages: begin a checkpoint when it is time."""
        self._pages += pages
        now = time.monotonic()
        due = self._pages >= _CHECKPOINT_PAGES or (self._pages and now - self._begun >= self._seconds)
        if due and not self.running:
            self._pages, self._begun = 0, now
            self._thread = threading.Thread(target=self._run, name="synth-calls-checkpoint", daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> None:
        """Raise what went wrong in the thread, once."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def join(self) -> None:
        """Wait until no checkpoint runs."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(sqlite3.connect(self._path, isolation_level=None, timeout=1)) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self.holding = True
                # If other processes leave it no gap within the timeout, the next one makes up for it.
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        except sqlite3.Error as error:
            self._failure = error
        finally:
            self.holding = False
