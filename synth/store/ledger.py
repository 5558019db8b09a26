"""A ledger of work: which shard or row was begun and which was finished, in order, over processes.

Only for those who want to count (tests, a curious operator); nothing reads it to decide anything.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Ledger", "LedgerEntry", "read_ledger"]


@dataclass(frozen=True)
class LedgerEntry:
    event: Literal["begin", "done"]
    """``done`` is written after the work is in the journal or committed."""
    stage: str
    """``<kind>/<fingerprint16>``."""
    shard: int
    row: str | None
    """Key of the row for work that is done row by row; None for a whole shard."""


class Ledger:
    """Appends one line per event. Lines are short and go out in one write, so processes may share the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, entry: LedgerEntry) -> None:
        line = json.dumps(vars(entry), ensure_ascii=False, sort_keys=True) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def read_ledger(path: Path) -> list[LedgerEntry]:
    """All entries in the order in which they were written; an absent file has none."""
    if not path.exists():
        return []
    return [LedgerEntry(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
