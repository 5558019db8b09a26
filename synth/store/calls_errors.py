"""What SQLite says, in one line for the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import StoreError
from synth.store.calls_codec import DamagedReply
from synth.store.files import store_errors

__all__ = ["DAMAGED", "is_busy", "primary_code", "sqlite_errors"]

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_KEPT = "then run the same command: stored calls are kept"
DAMAGED = (
    "the file is damaged",
    "save what can be read (sqlite3 FILE .recover), or move it away: its calls would be paid for again",
)
_SENTENCES = {
    sqlite3.SQLITE_FULL: ("no space left on the device", f"free some space, {_KEPT}"),
    sqlite3.SQLITE_READONLY: ("it is read-only", "choose a store that can be written, with --store"),
    sqlite3.SQLITE_PERM: ("permission denied", "choose a store that you may write, with --store"),
    sqlite3.SQLITE_CANTOPEN: ("it can't be opened or made", "check the folder and its permissions"),
    sqlite3.SQLITE_IOERR: ("the file can't be written or read", f"check the disk and its free space, {_KEPT}"),
    sqlite3.SQLITE_BUSY: ("another process keeps it locked", "look for a process that hangs, then run again"),
    sqlite3.SQLITE_LOCKED: ("another process keeps it locked", "look for a process that hangs, then run again"),
    sqlite3.SQLITE_NOTADB: (
        "this is no store of calls, or it is damaged",
        "move the file away: its calls would be made and paid for again",
    ),
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: DAMAGED,  # what we write keeps them
    sqlite3.SQLITE_MISMATCH: DAMAGED,
}


@contextmanager
def sqlite_errors(where: Path) -> Iterator[None]:
    """Turn what SQLite says about the file or the disk into a one-line ``StoreError``; bugs pass."""
    try:
        with store_errors(where):
            yield
    except (DamagedReply, UnicodeDecodeError) as error:  # Python can't read SQLite's message about a damaged name
        raise StoreError(f"{DAMAGED[0]} ({error})", where=str(where), mend=DAMAGED[1]) from error
    except sqlite3.Error as error:
        known = _SENTENCES.get(primary_code(error))
        if isinstance(error, sqlite3.OperationalError) and not primary_code(error):
            known = DAMAGED  # Python's own: a text that is none
        if known is None:
            raise
        sentence, mend = known
        raise StoreError(f"{sentence} ({error})", where=str(where), mend=mend) from error


def primary_code(error: sqlite3.Error) -> int:
    """The result code without its extension."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_busy(error: Exception) -> bool:
    """Another process writes at the moment."""
    return isinstance(error, sqlite3.Error) and primary_code(error) in _BUSY
