"""What ``validate`` finds: one clear line per problem, and not ten thousand lines about one broken file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["Problem", "Problems"]


@dataclass(frozen=True)
class Problem:
    """Something that is not as it should be."""

    file: str
    """Path inside the dataset folder."""
    row: int | None
    """Row of the file, from 0; None when it is about the whole file."""
    what: str

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        return f"{place}: {self.what}"


class Problems:
    """Collects problems; after ``limit`` for one file it only counts."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: list[Problem] = []
        self._counts: Counter[str] = Counter()

    def add(self, file: str, row: int | None, what: str) -> None:
        self._counts[file] += 1
        if self._counts[file] <= self._limit:
            self._found.append(Problem(file, row, " ".join(what.split())))

    def listed(self) -> list[Problem]:
        """In the order of finding; a file with more than ``limit`` problems ends with their number."""
        more = [
            Problem(file, None, f"and {count - self._limit:,} more problems in this file")
            for file, count in self._counts.items()
            if count > self._limit
        ]
        return self._found + more
