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
from pathlib import Path

from synth.errors import StoreError
from synth.store.calls_errors import DAMAGED, primary_code
from synth.store.calls_rows import Account

__all__ = [
    "CALLS_FORMAT",
    "COUNTERS",
    "OPEN_CODE",
    "bring_up_to_date",
    "check_tables",
    "count_served",
    "make_tables",
    "read_accounts",
]

CALLS_FORMAT = 3
"""Bumped when the tables or their meaning change; a file of another format is refused, never half understood.
Format 2 is brought to this one when it is opened."""

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
_TABLES_OF_ALL = (
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
)
_SERVED_2 = "CREATE TABLE served (key BLOB PRIMARY KEY, reply INTEGER NOT NULL) WITHOUT ROWID"
_KEYS = "CREATE TABLE keys (reply INTEGER PRIMARY KEY, key BLOB NOT NULL)"
_STOPS = "CREATE TABLE IF NOT EXISTS stops (account TEXT PRIMARY KEY, cost INTEGER, tokens INTEGER)"
_TABLES = {2: (*_TABLES_OF_ALL, _SERVED_2), 3: (*_TABLES_OF_ALL, _KEYS)}
"""By format."""


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
    if tables and form not in _TABLES:
        raise StoreError(
            f"it has format {form}, and this version of synth reads format {CALLS_FORMAT}",
            where=str(path),
            mend="choose another store with --store, or the version of synth that made it",
        )
    if tables and not tables.issuperset(_TABLES[form]):
        raise StoreError(f"{DAMAGED[0]} (its tables)", where=str(path), mend=DAMAGED[1])


def read_accounts(connection: sqlite3.Connection) -> tuple[Account, ...]:
    """All accounts, role by role."""
    rows = connection.execute(f"SELECT account, role, {', '.join(COUNTERS)} FROM accounts ORDER BY account, role")
    return tuple(Account(*row) for row in rows)


def count_served(connection: sqlite3.Connection) -> int:
    """How many replies answer later calls, in any format."""
    form = connection.execute("PRAGMA user_version").fetchone()[0]
    return int(connection.execute(f"SELECT count(*) FROM {'served' if form == 2 else 'keys'}").fetchone()[0])


def make_tables(connection: sqlite3.Connection) -> None:
    """Inside a transaction: make the tables if there are none."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in _TABLES[CALLS_FORMAT]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {CALLS_FORMAT}")
    connection.execute(_STOPS)


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Inside a transaction, after dead owners were swept away: make format 2 this one.

    Raises:
        StoreError: a process that lives uses the file in format 2.
    """
    execute = connection.execute
    if execute("PRAGMA user_version").fetchone()[0] == CALLS_FORMAT:
        return
    if execute("SELECT count(*) FROM owners").fetchone()[0]:
        raise StoreError("an older version of synth is using it", where=str(path), mend="run again when that has ended")
    execute(_KEYS)
    execute("INSERT INTO keys SELECT reply, key FROM served ORDER BY reply")
    execute("DROP TABLE served")
    execute(f"PRAGMA user_version = {CALLS_FORMAT}")
