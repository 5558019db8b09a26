"""A table in memory that finds numbers by the ends of keys.

A hash table with linear probing: rows of (last eight bytes of a key, number), a power of two of them and at most two
thirds used, so 24 to 48 bytes for each key. Adding and finding take a few steps however many keys there are; what grows
is only how often a step waits for memory that no cache of the processor holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["KeyTable"]

_LEAST = 1024


class KeyTable:
    """Replies by the keys of the calls that they answer. Keys are hashes, so their bits are their places.

    Args:
        memory: where the rows of another table lie from the byte ``at`` on, which become the rows of this one.
    """

    def __init__(self, memory: bytearray | None = None, at: int = 0) -> None:
        import numpy as np

        if memory is None:
            self._use(np.zeros((_LEAST, 2), np.uint64))
        else:
            self._use(np.frombuffer(memory, np.uint64, offset=at).reshape(-1, 2))

    def _use(self, rows: NDArray[np.uint64]) -> None:
        self._rows = rows
        """(power of two, 2) uint64: end of a key and number of a reply; 0 in the second = free."""
        self._cells = rows.reshape(-1).data  # single cells are read faster through it
        self._mask = 2 * len(rows) - 2
        self.count = int((rows[:, 1] != 0).sum())

    def rows(self) -> bytes:
        """As ``memory`` takes them, in the machine's order of bytes."""
        return self._rows.tobytes()

    def find(self, key: bytes) -> list[int]:
        """Replies to calls whose keys end like ``key``: almost always one or none."""
        end = int.from_bytes(key[-8:], "big")
        cells, mask = self._cells, self._mask
        cell = end << 1 & mask
        found = []
        while reply := cells[cell + 1]:
            if cells[cell] == end:
                found.append(reply)
            cell = cell + 2 & mask
        return found

    def add(self, key: bytes, reply: int) -> None:
        """``reply``, a number above 0, answers ``key``."""
        if 3 * (self.count + 1) > len(self._cells):
            self._grow(1)
        end = int.from_bytes(key[-8:], "big")
        cells, mask = self._cells, self._mask
        cell = end << 1 & mask
        while cells[cell + 1]:
            cell = cell + 2 & mask
        cells[cell], cells[cell + 1] = end, reply
        self.count += 1

    def extend(self, keys: Sequence[bytes], replies: Sequence[int]) -> None:
        """Add one or more, fast if they are many; all keys have one length, a multiple of eight bytes."""
        import numpy as np

        self._grow(len(keys))
        ends = np.frombuffer(b"".join(keys), ">u8").reshape(len(keys), -1)[:, -1].astype(np.uint64)
        self._put(ends, np.array(replies, np.uint64))

    def _grow(self, more: int) -> None:
        import numpy as np

        size = len(self._rows)
        while 3 * (self.count + more) > 2 * size:
            size *= 2
        if size > len(self._rows):
            rows = self._rows[self._rows[:, 1] != 0]
            self._use(np.zeros((size, 2), np.uint64))
            self._put(rows[:, 0], rows[:, 1])

    def _put(self, ends: NDArray[np.uint64], replies: NDArray[np.uint64]) -> None:
        """Those that find their place taken try the next one, all together; of several at one place the last has it."""
        import numpy as np

        self.count += len(replies)
        places = ends & np.uint64(len(self._rows) - 1)
        while len(replies):
            free = self._rows[places, 1] == 0
            self._rows[places[free], 1] = replies[free]
            there = self._rows[places, 1] == replies
            self._rows[places[there], 0] = ends[there]
            places, ends, replies = (places[~there] + 1) % len(self._rows), ends[~there], replies[~there]
