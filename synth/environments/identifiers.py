"""Row numbers of ids, by binary search: what environments over tables look things up with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Identifiers"]


class Identifiers:
    """Row number of an id: 4 bytes per row beside the column itself. Ids are distinct."""

    def __init__(self, ids: pa.ChunkedArray) -> None:
        self._ids = ids
        self._order = pc.sort_indices(ids).to_numpy().astype(np.uint32)

    def row(self, identifier: str) -> int | None:
        """The row of ``identifier``; None when there is none."""
        low, high = 0, len(self._order)
        while low < high:
            middle = (low + high) // 2
            # Arrow sorts by UTF-8 bytes, which is Python's order by code points.
            if self._ids[int(self._order[middle])].as_py() < identifier:
                low = middle + 1
            else:
                high = middle
        if low == len(self._order):
            return None
        row = int(self._order[low])
        return row if self._ids[row].as_py() == identifier else None
