"""The store of calls in PostgreSQL, for several machines: one session.

The server ends a session that is idle for a minute. A machine that has gone silent, or a stopped process, thereby loses
what it held, and can no longer write as its owner.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from synth.errors import InputError, StoreError
from synth.redaction import hide_credentials
from synth.store.calls_format import FORMAT, SHARED_TABLES, TABLES, DamagedReply, other_format

__all__ = ["PostgresDatabase"]

_LEASE_SECONDS = 60
"""The server ends a session that is idle for this long and releases what it held."""
_BEAT_SECONDS = 15.0
_SILENT_SECONDS = 30
"""How long to wait for an answer of the server."""
_LOCK_SECONDS = 60
"""How long to wait for other writers."""
_WRITER = 0x73796E74  # "synt": held by the one writer


class Heartbeat:
    """Keeps an idle session alive, from a thread: the event loop may be busy for longer than the lease."""

    holding = False

    def __init__(self, connection: Any, errors: type[Exception]) -> None:
        self._connection, self._errors = connection, errors
        self._over = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="synth-calls-heartbeat", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(_BEAT_SECONDS):
            try:
                self._connection.execute("SELECT 1")
            except self._errors as failure:
                if self._connection.closed:  # the writer is told by ``check``
                    self._failure = failure
                    return

    def written(self, pages: int) -> None:
        """Nothing has to follow."""

    def check(self) -> None:
        """Raise why the session is lost."""
        if self._failure is not None:
            raise self._failure

    def join(self) -> None:
        """Stop keeping the session alive."""
        self._over.set()
        self._thread.join()


class PostgresDatabase:
    """The database ``url`` (``postgresql://...``), in whose schema ``synth`` the tables are made when missing."""

    pause = 0.02

    def __init__(self, url: str, *, lease_seconds: int = _LEASE_SECONDS) -> None:
        self._where = hide_credentials(url)
        try:
            import psycopg
        except ModuleNotFoundError:
            raise InputError(
                "calls in PostgreSQL need psycopg, which is not installed",
                where=self._where,
                mend="pip install 'synth-posttrain[postgres]'",
            ) from None
        self._psycopg: Any = psycopg
        settings = {
            "search_path": "synth",
            "lock_timeout": _LOCK_SECONDS * 1000,
            "idle_session_timeout": lease_seconds * 1000,
            "idle_in_transaction_session_timeout": lease_seconds * 1000,
        }
        with self.errors():
            self._connection = psycopg.connect(
                url,
                autocommit=True,
                application_name="synth",
                connect_timeout=10,
                tcp_user_timeout=_SILENT_SECONDS * 1000,
                options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
            )
            try:
                with self.transaction():
                    self._make_tables()
            except BaseException:
                self._connection.close()
                raise
        self.upkeep = Heartbeat(self._connection, psycopg.Error)

    def _make_tables(self) -> None:
        self.execute("CREATE SCHEMA IF NOT EXISTS synth")
        for statement in ("CREATE TABLE format (format INTEGER PRIMARY KEY)", *TABLES, *SHARED_TABLES):
            self.execute(_for_postgres(statement))
        self.execute("INSERT INTO format SELECT ? WHERE NOT EXISTS (SELECT 1 FROM format)", (FORMAT,))
        found = self.execute("SELECT format FROM format").fetchone()[0]
        if found != FORMAT:
            raise other_format(found, self._where)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See :class:`~synth.store.calls_database.Database`."""
        try:
            self._connection.execute(f"BEGIN; SELECT pg_advisory_xact_lock({_WRITER})")
            yield
            self.execute("COMMIT")
        except BaseException:
            if not self._connection.closed:
                self.execute("ROLLBACK")
            raise

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        """See :class:`~synth.store.calls_database.Database`."""
        return self._connection.execute(statement.replace("?", "%s"), values)

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """See :class:`~synth.store.calls_database.Database`."""
        with self._connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s"), rows)
            return int(cursor.rowcount)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """See :class:`~synth.store.calls_database.Database`."""
        try:
            yield
        except (self._psycopg.Error, DamagedReply) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise StoreError(
                f"the database of calls can't be used ({said})",
                where=self._where,
                mend="see to it, then run the same command: stored calls are kept",
            ) from error

    def is_busy(self, error: Exception) -> bool:
        """See :class:`Database`: never: the server itself makes a writer wait."""
        return False

    def hold(self, name: str) -> None:
        """See :class:`~synth.store.calls_database.Database`."""
        self.execute("SELECT pg_advisory_lock(?)", (_number(name),))

    def strays(self) -> Sequence[str]:
        """See :class:`Database`: a lock goes with its session."""
        return ()

    @contextmanager
    def gone(self, name: str) -> Iterator[bool]:
        """See :class:`~synth.store.calls_database.Database`."""
        yield bool(self.execute("SELECT pg_try_advisory_xact_lock(?)", (_number(name),)).fetchone()[0])

    def ending(self) -> None:
        """See :class:`~synth.store.calls_database.Database`."""

    def close(self) -> None:
        """See :class:`~synth.store.calls_database.Database`."""
        self.upkeep.join()
        self._connection.close()


def _for_postgres(statement: str) -> str:
    """A statement for SQLite in PostgreSQL's dialect, in which sums beyond 64 bits are errors anyway."""
    for ours, theirs in (
        ("CREATE TABLE IF NOT EXISTS ", "CREATE TABLE "),
        ("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS "),
        ("CREATE INDEX IF NOT EXISTS ", "CREATE INDEX "),
        ("CREATE INDEX ", "CREATE INDEX IF NOT EXISTS "),
        ("INTEGER PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
        ("INTEGER", "BIGINT"),
        ("BLOB", "BYTEA"),
        (" WITHOUT ROWID", ""),
    ):
        statement = statement.replace(ours, theirs)
    return re.sub(r"typeof\(\w+\) = 'integer' AND ", "", statement)


def _number(name: str) -> int:
    """A lock's name as PostgreSQL knows it."""
    return int.from_bytes(bytes.fromhex(name), "big", signed=True)
