"""Stores of calls as older versions left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def as_format_2(path: Path) -> None:
    """Give the file the tables of format 2: an index of keys instead of their list."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(
            "BEGIN IMMEDIATE;"
            "CREATE TABLE served (key BLOB PRIMARY KEY, reply INTEGER NOT NULL) WITHOUT ROWID;"
            "INSERT INTO served SELECT key, reply FROM keys;"
            "DROP TABLE keys;"
            "PRAGMA user_version = 2;"
            "COMMIT;"
        )
