"""What a store of calls holds, for those who only look: nothing in it changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from synth.store.calls_errors import sqlite_errors
from synth.store.calls_rows import Account, total
from synth.store.calls_tables import check_tables, count_served, read_accounts

__all__ = ["CALLS_FILE", "CallsSummary", "summarize"]

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
            served = count_served(connection)
    names = dict.fromkeys(role.account for role in roles)
    return CallsSummary(path, size, replies, served, tuple(total(name, roles) for name in names))
