"""The tables of the store of calls.

accounts   (account, role) -> counters, kept equal to the sums over the intents
intents    one row per attempt, in the order in which they were begun
replies    one row per reply, in the order in which they came
keys       reply -> key of the call that it answers, its last 16 bytes; of replies to one call only the first
stops      account -> caps under which a call used more than was reserved for it: nothing is sent until they are raised
owners     who has open intents: the name of a lock file that its process holds while it lives
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from synth.errors import StoreError
from synth.store.calls_values import DAMAGED, Account, DamagedReply, decode, primary_code, sqlite_errors, total

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
import struct
import sys
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import quote

from synth.store.files import write_file

__all__ = [
    "CALLS_FILE",
    "CALLS_FORMAT",
    "COUNTERS",
    "OPEN_CODE",
    "Answers",
    "CallsSummary",
    "KeyTable",
    "check_tables",
    "make_tables",
    "read_accounts",
    "summarize",
]

CALLS_FORMAT = 3
"""Bumped when the tables or their meaning change; a file of another format is refused, never half understood."""

_APPLICATION = 0x73796E74  # "synt": marks the file as ours

OPEN_CODE = 0
"""What stands in ``state`` for open intents."""

COUNTERS = (
    "delivered",
    "unknown",
    "open",
    "free",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cost_exact",
    "tokens_unknown",
    "cost_unknown",
    "tokens_open",
    "cost_open",
    "overruns",
)
"""Columns of ``accounts`` and fields of ``Account``."""

# Sums that leave 64 bits become floats in SQLite: the checks make that an error instead.
_TABLES = (
    "CREATE TABLE accounts (id INTEGER PRIMARY KEY, account TEXT NOT NULL, role TEXT NOT NULL, "
    + ", ".join(
        f"{name} INTEGER NOT NULL DEFAULT 0 CHECK (typeof({name}) = 'integer' AND {name} >= 0)" for name in COUNTERS
    )
    + ", UNIQUE (account, role))",
    "CREATE TABLE owners (id INTEGER PRIMARY KEY, lock TEXT NOT NULL UNIQUE)",
    "CREATE TABLE intents (id INTEGER PRIMARY KEY, request_id TEXT NOT NULL, key BLOB NOT NULL, "
    "account INTEGER NOT NULL, owner INTEGER NOT NULL, state INTEGER NOT NULL, tokens_bound INTEGER NOT NULL, "
    "cost_bound INTEGER NOT NULL, "
    "prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, cost INTEGER)",
    f"CREATE INDEX intents_open ON intents (owner) WHERE state = {OPEN_CODE}",
    "CREATE TABLE replies (id INTEGER PRIMARY KEY, intent INTEGER NOT NULL, reason TEXT, body BLOB NOT NULL)",
    "CREATE TABLE keys (reply INTEGER PRIMARY KEY, key BLOB NOT NULL)",
    "CREATE TABLE stops (account TEXT PRIMARY KEY, cost INTEGER, tokens INTEGER)",
)


def check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Whether the file holds our tables, or nothing yet.

    Raises:
        StoreError: it is something else, damaged, or of another format.
    """
    execute = connection.execute
    try:
        execute("BEGIN")  # all of one moment: another process may be making them
        try:
            application, form = (execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
            tables = {row[0] for row in execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        finally:
            if connection.in_transaction:
                execute("COMMIT")
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_ERROR:
            raise
        # Such simple statements fail this way only on a damaged header.
        raise StoreError(f"{DAMAGED[0]} ({error})", where=str(path), mend=DAMAGED[1]) from error
    if (tables or form or application) and application != _APPLICATION:
        raise StoreError("this is no store of calls", where=str(path), mend="move the file away")
    if tables and form != CALLS_FORMAT:
        raise StoreError(
            f"it has format {form}, and this version of synth reads format {CALLS_FORMAT}",
            where=str(path),
            mend="choose another store with --store, or the version of synth that made it",
        )
    if tables and not tables.issuperset(_TABLES):
        raise StoreError(f"{DAMAGED[0]} (its tables)", where=str(path), mend=DAMAGED[1])


def read_accounts(connection: sqlite3.Connection) -> tuple[Account, ...]:
    """All accounts, role by role."""
    rows = connection.execute(f"SELECT account, role, {', '.join(COUNTERS)} FROM accounts ORDER BY account, role")
    return tuple(Account(*row) for row in rows)


def make_tables(connection: sqlite3.Connection) -> None:
    """Inside a transaction: make the tables if there are none."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {CALLS_FORMAT}")


_LEAST = 1024


class KeyTable:
    """Replies by the keys of the calls that they answer. Keys are hashes, so their bits are their places.

    A hash table with linear probing: rows of (last eight bytes of a key, number), a power of two of them and at most
    two thirds used, so 24 to 48 bytes for each key. Adding and finding take a few steps however many keys there are;
    what grows is only how often a step waits for memory that no cache of the processor holds.

    Args:
        memory: where the rows of another table lie from the byte ``at`` on, which become the rows of this one.
    """

    def __init__(self, memory: bytearray | None = None, at: int = 0) -> None:
        import numpy as np

        if memory is None:
            self._use(np.zeros((_LEAST, 2), np.uint64))
        else:
            self._use(np.frombuffer(memory, np.uint64, offset=at).reshape(-1, 2))

    def _use(self, rows: NDArray[np.uint64]) -> None:
        self._rows = rows
        """(power of two, 2) uint64: end of a key and number of a reply; 0 in the second = free."""
        self._cells = rows.reshape(-1).data  # single cells are read faster through it
        self._mask = 2 * len(rows) - 2
        self.count = int((rows[:, 1] != 0).sum())

    def rows(self) -> bytes:
        """As ``memory`` takes them, in the machine's order of bytes."""
        return self._rows.tobytes()

    def find(self, key: bytes) -> list[int]:
        """Replies to calls whose keys end like ``key``: almost always one or none."""
        end = int.from_bytes(key[-8:], "big")
        cells, mask = self._cells, self._mask
        cell = end << 1 & mask
        found = []
        while reply := cells[cell + 1]:
            if cells[cell] == end:
                found.append(reply)
            cell = cell + 2 & mask
        return found

    def add(self, key: bytes, reply: int) -> None:
        """``reply``, a number above 0, answers ``key``."""
        if 3 * (self.count + 1) > len(self._cells):
            self._grow(1)
        end = int.from_bytes(key[-8:], "big")
        cells, mask = self._cells, self._mask
        cell = end << 1 & mask
        while cells[cell + 1]:
            cell = cell + 2 & mask
        cells[cell], cells[cell + 1] = end, reply
        self.count += 1

    def extend(self, keys: Sequence[bytes], replies: Sequence[int]) -> None:
        """Add one or more, fast if they are many; all keys have one length, a multiple of eight bytes."""
        import numpy as np

        self._grow(len(keys))
        ends = np.frombuffer(b"".join(keys), ">u8").reshape(len(keys), -1)[:, -1].astype(np.uint64)
        self._put(ends, np.array(replies, np.uint64))

    def _grow(self, more: int) -> None:
        import numpy as np

        size = len(self._rows)
        while 3 * (self.count + more) > 2 * size:
            size *= 2
        if size > len(self._rows):
            rows = self._rows[self._rows[:, 1] != 0]
            self._use(np.zeros((size, 2), np.uint64))
            self._put(rows[:, 0], rows[:, 1])

    def _put(self, ends: NDArray[np.uint64], replies: NDArray[np.uint64]) -> None:
        """Those that find their place taken try the next one, all together; of several at one place the last has it."""
        import numpy as np

        self.count += len(replies)
        places = ends & np.uint64(len(self._rows) - 1)
        while len(replies):
            free = self._rows[places, 1] == 0
            self._rows[places[free], 1] = replies[free]
            there = self._rows[places, 1] == replies
            self._rows[places[there], 0] = ends[there]
            places, ends, replies = (places[~there] + 1) % len(self._rows), ends[~there], replies[~there]


_KEY_BYTES = 16
"""The end of a key that the list holds."""

_PAGE_ROWS = 10_000

_HEAD = struct.Struct(f"<Q8sQ{_KEY_BYTES}s")
"""Of the copy: check sum of what follows, format, last row of the list that is in it and its key."""

_FORMAT = b"SYNTHK1" + sys.byteorder[:1].encode()

_CHECKED = 8
"""Bytes of the head before those that the check sum is of."""

_WORTH = 20_000
"""Keys that are read from the list in no time: for fewer new ones, no copy is made."""


class Answers:
    """The replies that are served, over ``connection``, whose errors pass; a copy of the table is kept in ``copy``.

    An index in the file would be written at a random page for every call: at 10^6 replies a page for each, once in the
    log and once more in the file. Here a key is added at the end of the list, and each process has a table of the whole
    list, which follows what any process adds. Who closes the file leaves the table beside it, so that the next one need
    not read the list again from the start (a second for 10^6 keys): only what came since. That copy is never trusted
    further than it fits the list, and can be removed.

    The table says what may answer; then keys are compared. Two of 10^9 hashes agree in the 16 bytes that the list has
    of each with a chance of 10^-21, and then neither is served the other's reply, for each reply carries a check sum of
    its whole key.
    """

    def __init__(self, connection: sqlite3.Connection, copy: Path, *, worth: int = _WORTH) -> None:
        self._connection = connection
        self._copy = copy
        self._worth = worth
        self.forget()

    def forget(self) -> None:
        """What was added may not be there: a transaction was rolled back."""
        self._table = KeyTable()
        self._last = 0  # row of ``keys`` up to which they are in the table
        self._copied = 0  # keys in the copy

    def get(self, key: bytes) -> bytes | None:
        """The reply that answers ``key``; None when there is none.

        Raises:
            DamagedReply: it is there, and can't be read.
        """
        found = self._find(key)
        return self._find(key) if found is None and self._follow() else found

    def add(self, served: Iterable[tuple[bytes, int]]) -> list[int]:
        """Inside a transaction: these keys are answered by these replies, in rising order from now on.

        Returns:
            Replies whose keys are answered already.
        """
        self._follow()  # nobody else adds any before this transaction ends
        rows: list[tuple[int, bytes]] = []
        lost = []
        for key, reply in served:
            known = self._table.find(key)
            if known:
                self._insert(rows)
                if any(self._listed(other) == key[-_KEY_BYTES:] for other in known):
                    lost.append(reply)
                    continue
            rows.append((reply, key[-_KEY_BYTES:]))
            self._table.add(key, reply)
            self._last = reply
        self._insert(rows)
        return lost

    def _insert(self, rows: list[tuple[int, bytes]]) -> None:
        self._connection.executemany("INSERT INTO keys (reply, key) VALUES (?, ?)", rows)
        rows.clear()

    def _follow(self) -> bool:
        """Take what was added since, by whichever process, into the table; whether there was any."""
        before = self._last
        if not before:
            self._read_copy()
        query = "SELECT reply, key FROM keys WHERE reply > ? ORDER BY reply LIMIT ?"
        while rows := self._connection.execute(query, (self._last, _PAGE_ROWS)).fetchall():
            replies, keys = zip(*rows, strict=True)
            sound = set(map(type, keys)) == {bytes} and set(map(len, keys)) == {_KEY_BYTES}
            if not sound or replies[-1] <= self._last:
                raise DamagedReply("the list of keys")
            self._table.extend(keys, replies)
            self._last = replies[-1]
        return self._last > before

    def _find(self, key: bytes) -> bytes | None:
        for reply in self._table.find(key):
            row = self._connection.execute("SELECT body FROM replies WHERE id = ?", (reply,)).fetchone()
            try:
                if row is not None:
                    return decode(key, row[0])
            except DamagedReply:
                if self._listed(reply) == key[-_KEY_BYTES:]:
                    raise
        return None

    def _listed(self, reply: int) -> bytes | None:
        """What the list has of the key that ``reply`` answers."""
        row = self._connection.execute("SELECT key FROM keys WHERE reply = ?", (reply,)).fetchone()
        return row[0] if row and type(row[0]) is bytes else None

    def write_copy(self) -> None:
        """Leave the table beside the file if that is worth it by now; its keys must be on the disk already. Nothing is
        lost when it can't be written."""
        new = self._table.count - self._copied
        if new < self._worth or 4 * new < self._table.count:
            return
        rows = self._table.rows()
        head = _HEAD.pack(0, _FORMAT, self._last, self._listed(self._last) or b"")[_CHECKED:]
        check = zlib.crc32(rows, zlib.crc32(head)).to_bytes(_CHECKED, "little")
        with suppress(OSError):
            write_file(self._copy, b"".join((check, head, rows)))

    def _read_copy(self) -> None:
        """Begin with the copy, if there is one, it is whole, and the list has the row up to which it goes."""
        with suppress(OSError, struct.error):
            data = bytearray(self._copy.read_bytes())
            check, form, last, key = _HEAD.unpack_from(data)
            whole = zlib.crc32(memoryview(data)[_CHECKED:]) == check
            if whole and form == _FORMAT and self._listed(last) == key:
                self._table = KeyTable(data, _HEAD.size)
                self._last, self._copied = last, self._table.count


CALLS_FILE = "calls.sqlite"
"""Name of the store of calls in the folder of a store."""


@dataclass(frozen=True)
class CallsSummary:
    """One store of calls."""

    path: Path
    bytes: int
    """The write-ahead log included."""
    replies: int
    served: int
    """Replies that answer later calls; the others are recorded only."""
    accounts: tuple[Account, ...]
    """One per dataset, all its roles together."""


def summarize(path: Path) -> CallsSummary | None:
    """What ``path`` holds; None when there is no such file. A build may be using it.

    Raises:
        StoreError: it can't be read, is something else, damaged, or of another format.
    """
    with sqlite_errors(path):
        if not path.exists():
            return None
        logs = [path.with_name(path.name + "-wal")]
        size = sum(each.stat().st_size for each in (path, *logs) if each.exists())
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=10)) as connection:
            check_tables(connection, path)
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return CallsSummary(path, size, 0, 0, ())
            roles = read_accounts(connection)
            replies = connection.execute("SELECT coalesce(max(id), 0) FROM replies").fetchone()[0]
            served = connection.execute("SELECT count(*) FROM keys").fetchone()[0]
    names = dict.fromkeys(role.account for role in roles)
    return CallsSummary(path, size, replies, served, tuple(total(name, roles) for name in names))
