"""What a file of model calls holds, for who only looks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from synth.store.calls_format import Account, check_tables, read_accounts, sqlite_errors, total

__all__ = ["CallsSummary", "summarize"]


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
        size = sum(each.stat().st_size for each in (path, path.with_name(path.name + "-wal")) if each.exists())
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=10)) as connection:
            check_tables(connection, path)
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return CallsSummary(path, size, 0, 0, ())
            roles = read_accounts(connection)
            replies = connection.execute("SELECT coalesce(max(id), 0) FROM replies").fetchone()[0]
            served = connection.execute("SELECT count(*) FROM keys").fetchone()[0]
    names = dict.fromkeys(role.account for role in roles)
    return CallsSummary(path, size, replies, served, tuple(total(name, roles) for name in names))
