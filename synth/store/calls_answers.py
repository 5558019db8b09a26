"""Which reply answers a key: looked up in memory, in a table of what the list ``keys`` in the file holds.

An index in the file would be written at a random page for every call: at 10^6 replies a page for each, once in the log
and once more in the file. Here a key is added at the end of the list, and each process has a table of the whole list,
which follows what any process adds. Who closes the file leaves the table beside it, so that the next one need not read
the list again from the start (a second for 10^6 keys): only what came since. That copy is never trusted further than it
fits the list, and can be removed.

The table says what may answer; then keys are compared. Two of 10^9 hashes agree in the 16 bytes that the list has of
each with a chance of 10^-21, and then neither is served the other's reply, for each reply carries a check sum of its
whole key.
"""

from __future__ import annotations

import sqlite3
import struct
import sys
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from synth.store.calls_codec import DamagedReply, decode
from synth.store.calls_keys import KeyTable
from synth.store.files import write_file

__all__ = ["Answers"]

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
    """The replies that are served, over ``connection``, whose errors pass; a copy of the table is kept in ``copy``."""

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
