"""One SQLite database in memory and the only ways to it: what a tool's statement may do, and how long.

Defence in depth. No agent's text is ever part of a statement; beside that, an authorizer looks at every statement that
is prepared: tools read and write tables of the application, call functions of a list, and nothing else (no ATTACH, no
PRAGMA, no schema, no extension, no random number, no clock). A budget counts steps of SQLite's virtual machine, not
seconds, so that the same call is stopped at the same place on any machine; steps that are uncommonly slow (a search in
long texts) count for more. What takes too much memory is stopped, too.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from synth.environments.app.ddl import VIOLATIONS
from synth.environments.app.functions import MAKERS, PURE, add_functions

__all__ = ["Database", "Mode", "TooMuchWork"]

Mode = Literal["engine", "make", "read", "write"]
"""``engine``: bookkeeping of ours; ``make``: a definition's data; ``read`` and ``write``: a tool's statements."""

_BUILT_IN = frozenset(
    """
    abs avg coalesce count format glob group_concat ifnull iif instr json json_array json_array_length json_each
    json_extract json_group_array json_object json_type length like lower ltrim max min nullif printf replace round
    row_number rtrim sign substr substring sum trim typeof upper date datetime julianday strftime time unixepoch -> ->>
    rank dense_rank
    """.split()
)
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_LONGEST = 256_000
"""Bytes of the longest text, blob or row that SQLite may make."""
_EVERY = 200
_SLOW_SECONDS = 0.0001
"""Of processor time: so much of it counts as ``_EVERY`` steps, which usually take a tenth of that."""
_TIMED_EVERY = 8
"""Ticks from one look at the clock to the next."""
_LOOK_EVERY = 40
"""Ticks from one look at the memory to the next."""
_MOST_GROWTH = 512 * 1024 * 1024
"""Bytes by which the process may grow during one call."""


class TooMuchWork(Exception):
    """A statement went over the budget, or took too much memory; ``str()`` says what it took."""


class Database:
    """A connection with its guards on. Not for two threads at once."""

    def __init__(self, image: bytes | None = None, *, budget: int = 200_000_000) -> None:
        """
        Args:
            image: A serialized database to begin with; it is copied.
            budget: Steps of the virtual machine that all statements of one call may take together.
        """
        self._mode: Mode = "engine"
        self._budget = budget // _EVERY
        self._over, self._clock, self._ticks = "", 0.0, 0
        self.new_budget()
        self.connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=1024
        )
        if image is not None:
            self.connection.deserialize(image)
        for pragma in ("foreign_keys = ON", "recursive_triggers = ON", "temp_store = MEMORY"):
            self.connection.execute(f"PRAGMA {pragma}")
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._formatter = add_functions(self.connection)
        # The table-valued function declares its table at its first use, which the authorizer would refuse.
        self.connection.execute("SELECT 1 FROM json_each('[]')").fetchall()
        self.connection.set_authorizer(self._authorize)
        self.connection.set_progress_handler(self._tick, _EVERY)

    def close(self) -> None:
        self.connection.close()
        self._formatter.close()

    def serialize(self) -> bytes:
        return self.connection.serialize()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or, when anything is raised inside, none."""
        self.run("BEGIN", mode="engine")
        try:
            yield
            self.run("COMMIT", mode="engine")
        except BaseException:
            if self.connection.in_transaction:
                self.run("ROLLBACK", mode="engine")
            raise

    def new_budget(self, steps: int | None = None) -> None:
        """What follows is another call, of ``steps`` where it has more than the usual ones."""
        self._left = self._budget if steps is None else steps // _EVERY
        self._beginning: int | None = None

    def run(
        self, sql: str, values: Mapping[str, Any] | Sequence[Any] = (), *, mode: Mode, limit: int | None = None
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Names of the columns and the rows (at most ``limit``) of one statement.

        Raises:
            TooMuchWork: the budget is used up.
            sqlite3.Error: SQLite or the authorizer refuses it.
        """
        before, self._mode = self._mode, mode
        self._over = ""
        if mode != "engine":  # not counted, and reading the clock takes longer than most of its statements
            self._clock = time.thread_time()
        try:
            cursor = self.connection.execute(sql, values)
            try:
                names = tuple(column[0] for column in cursor.description or ())
                return names, cursor.fetchall() if limit is None else cursor.fetchmany(limit)
            finally:
                cursor.close()
        except sqlite3.OperationalError:
            if self._over:
                raise TooMuchWork(self._over) from None
            raise
        finally:
            self._mode = before

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """A statement of ours for many rows."""
        self.connection.executemany(sql, rows)

    def _tick(self) -> int:
        if self._mode == "engine":
            return 0
        self._left -= 1
        self._ticks += 1
        if self._ticks % _TIMED_EVERY == 0:  # reading the clock takes longer than most ticks
            now = time.thread_time()
            self._left -= max(0, int((now - self._clock) / _SLOW_SECONDS) - _TIMED_EVERY)
            self._clock = now
        if self._beginning is None:  # here and not in new_budget: most calls end before the first tick
            self._beginning = _resident()
        if self._left < 0:
            self._over = "takes too many steps"
        elif self._left % _LOOK_EVERY == 0 and _resident() - self._beginning > _MOST_GROWTH:
            self._over = "takes too much memory"
        return int(bool(self._over))

    def _authorize(
        self, action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) or second == "load_extension":
            return sqlite3.SQLITE_DENY
        if self._mode == "engine":
            return sqlite3.SQLITE_OK
        allowed = self._allows(action, first or "", second or "", trigger)
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _allows(self, action: int, first: str, second: str, trigger: str | None) -> bool:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return second in _BUILT_IN or second in PURE or (self._mode == "make" and second in MAKERS)
        if action == sqlite3.SQLITE_READ:
            return trigger is not None or not _ours(first)
        if action in _WRITES and self._mode in ("write", "make"):
            return trigger is not None or not _ours(first)
        return False


def _ours(table: str) -> bool:
    """Tables that no statement of a definition may name."""
    return table.startswith(("_", "sqlite_")) or table == VIOLATIONS


def _resident() -> int:
    """Bytes of memory that the process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
