"""The state of an application that keeps it in an SQLite file: every table, row by row."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from synth.errors import InputError

__all__ = ["Unreadable", "primary_keys", "read_tables"]

_MOST_ROWS = 20_000
"""Of all tables together: the state is read and compared at each call."""
_EXACT = 2**53


class Unreadable(Exception):
    """Not a database, no tables in it, or too many rows."""


def read_tables(path: Path, seconds: float) -> dict[str, list[dict[str, Any]]]:
    """Table -> its rows, by column; tables without rows are left out. Bytes are told by their hash.

    Args:
        seconds: How long to wait while another process writes to the database.

    Raises:
        Unreadable: it can't be read.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    left = _MOST_ROWS
    try:
        with closing(_opened(path, seconds)) as database:
            database.execute("BEGIN")  # all tables as they were at one time
            for table in _tables(database):
                rows = database.execute(f"SELECT * FROM {_quoted(table)} LIMIT {left + 1}")
                names = [str(column[0]) for column in rows.description]
                read = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
                left -= len(read)
                if left < 0:
                    raise Unreadable(f"it holds more than {_MOST_ROWS:,} rows")
                if read:
                    found[table] = read
    except sqlite3.Error as error:
        raise Unreadable(str(error)) from None
    return found


def primary_keys(folder: Path, name: str) -> dict[str, str]:
    """Where a table's rows stand in the state -> the column that tells them apart, where it is one column.

    Raises:
        InputError: there is no such file, or it can't be read.
    """
    path = folder / name
    mend = "name an SQLite file in the folder of the site, by its path there"
    if not path.is_file():
        raise InputError(f"there is no file {name!r} in {folder.name}", where="source.state_database", mend=mend)
    found: dict[str, str] = {}
    try:
        read_tables(path, 1.0)
        with closing(_opened(path, 1.0)) as database:
            for table in _tables(database):
                columns = database.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
                keys = [str(column[1]) for column in columns if column[5]]
                if len(keys) == 1:
                    found[f"(server).{table}"] = keys[0]
    except (sqlite3.Error, Unreadable) as error:
        raise InputError(f"{name!r} can't be read: {error}", where="source.state_database", mend=mend) from None
    return found


def _opened(path: Path, seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=seconds, isolation_level=None)


def _tables(database: sqlite3.Connection) -> list[str]:
    """Names of the tables that the application fills itself: none of SQLite's own, or of an index of words."""
    rows = database.execute("PRAGMA table_list").fetchall()
    names = sorted(str(row[1]) for row in rows if row[0] == "main" and row[2] == "table")
    names = [name for name in names if not name.startswith("sqlite_")]
    if not names:
        raise Unreadable("it has no tables, or this SQLite is older than 3.37")
    return names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"sha256:{sha256(value).hexdigest()}"
    if isinstance(value, int) and abs(value) >= _EXACT:
        return str(value)
    return value
