"""What a filter of tasks remembers, on the disk once it is much: memory holds what was added last.

Files have no name (they are gone with the process, however it ends), and are mapped to memory where they are searched:
the system keeps of them what it has room for. Postings are sorted runs, of which neighbours of about one size are
merged, so that there are as many as the number of entries has binary digits (O'Neil et al., The Log-Structured
Merge-Tree, 1996).
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["HELD", "Postings", "Records", "Rows"]

HELD = 65_536
"""Tasks that are held in memory: below that there is no file."""
_BLOCK = 1 << 20
"""Entries that are merged at once."""

Numbers = NDArray[np.int64]


class Postings:
    """Key (64 bits) -> the numbers that were added under it, ascending."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._recent: dict[int, list[int]] = {}
        self._runs: list[tuple[NDArray[np.uint64], Numbers]] = []
        """Keys in their order, and their numbers; those of an earlier run are smaller."""

    def add(self, key: int, number: int) -> None:
        self._recent.setdefault(key, []).append(number)

    def get(self, key: int) -> list[int]:
        found: list[int] = []
        for keys, numbers in self._runs:
            start = int(np.searchsorted(keys, np.uint64(key), "left"))
            if start < len(keys) and int(keys[start]) == key:
                end = int(np.searchsorted(keys, np.uint64(key), "right"))
                found += numbers[start:end].tolist()
        return found + self._recent.get(key, [])

    def spill(self) -> None:
        """Put what is in memory on the disk."""
        if not self._recent:
            return
        keys = np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent))
        counts = np.fromiter(map(len, self._recent.values()), dtype=np.int64, count=len(keys))
        keys = np.repeat(keys, counts)
        numbers = np.fromiter((one for many in self._recent.values() for one in many), np.int64, count=len(keys))
        order = np.argsort(keys, kind="stable")
        run = self._empty(len(keys))
        run[0][:], run[1][:] = keys[order], numbers[order]
        self._recent.clear()
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            later, earlier = self._runs.pop(), self._runs.pop()
            self._runs.append(self._merged(earlier, later))

    def _empty(self, count: int) -> tuple[NDArray[np.uint64], Numbers]:
        with tempfile.TemporaryFile(dir=self._folder) as file:
            file.truncate(16 * count)
            whole = np.frombuffer(mmap.mmap(file.fileno(), 16 * count), dtype=np.uint64)
        return whole[:count], whole[count:].view(np.int64)

    def _merged(
        self, earlier: tuple[NDArray[np.uint64], Numbers], later: tuple[NDArray[np.uint64], Numbers]
    ) -> tuple[NDArray[np.uint64], Numbers]:
        keys, numbers = self._empty(len(earlier[0]) + len(later[0]))
        for (own, mine), (other, _), side in ((earlier, later, "left"), (later, earlier, "right")):
            for start in range(0, len(own), _BLOCK):
                block = own[start : start + _BLOCK]
                place = np.arange(start, start + len(block)) + np.searchsorted(other, block, side)  # type: ignore[call-overload]
                keys[place], numbers[place] = block, mine[start : start + _BLOCK]
        return keys, numbers


class Records:
    """Byte strings by number, in the order in which they came."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._recent: list[bytes] = []
        self._ends = array("Q", [0])
        """Where each of those on the disk ends, behind a zero."""
        self._file: int | None = None

    def __len__(self) -> int:
        return len(self._ends) - 1 + len(self._recent)

    def add(self, record: bytes) -> None:
        self._recent.append(record)

    def __getitem__(self, number: int) -> bytes:
        if number >= len(self._ends) - 1:
            return self._recent[number - len(self._ends) + 1]
        assert self._file is not None
        return os.pread(self._file, self._ends[number + 1] - self._ends[number], self._ends[number])

    def spill(self) -> None:
        """Put what is in memory on the disk."""
        if self._file is None:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                self._file = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._file)
        with os.fdopen(os.dup(self._file), "wb") as out:
            out.seek(self._ends[-1])
            out.writelines(self._recent)
        for record in self._recent:
            self._ends.append(self._ends[-1] + len(record))
        self._recent.clear()


class Rows:
    """Vectors of one length by number: in memory up to :data:`HELD`, in a file beyond."""

    def __init__(self, folder: Path | None, held: int) -> None:
        self._folder, self._held = folder, held
        self._rows: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)

    def __getitem__(self, numbers: list[int]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self._rows[numbers]
        return found

    def put(self, number: int, vector: NDArray[np.float32]) -> None:
        if number >= len(self._rows):
            self._grow(max(min(1024, self._held), 2 * number), len(vector))
        self._rows[number] = vector

    def _grow(self, count: int, dim: int) -> None:
        if count <= self._held:
            grown = np.zeros((count, dim), dtype=np.float32)
            grown[: len(self._rows)] = self._rows.reshape(-1, dim)
            self._rows = grown
            return
        with tempfile.TemporaryFile(dir=self._folder) as file:
            file.truncate(4 * count * dim)
            whole = np.frombuffer(mmap.mmap(file.fileno(), 4 * count * dim), dtype=np.float32)
        grown = whole.reshape(count, dim)
        for start in range(0, len(self._rows), _BLOCK):
            grown[start : min(start + _BLOCK, len(self._rows))] = self._rows[start : start + _BLOCK]
        self._rows = grown
