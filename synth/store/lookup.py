"""Rows of a table by the value of one of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["RowsByKey"]


class _Rows(Protocol):
    @property
    def arrow(self) -> pa.Table: ...

    def row(self, number: int) -> Any: ...


class RowsByKey:
    """Finds rows by a string column, in the order of the table. Holds four bytes a row beside the column itself."""

    def __init__(self, table: _Rows, column: str) -> None:
        self._table = table
        self._keys = table.arrow.column(column)
        self._order = pc.sort_indices(self._keys).to_numpy().astype(np.uint32)

    def rows(self, key: str) -> Sequence[Any]:
        """All rows whose column is ``key``; empty when there are none."""
        low, high = 0, len(self._order)
        while low < high:
            middle = (low + high) // 2
            # Arrow sorts by UTF-8 bytes, which is Python's order by code points.
            if self._at(middle) < key:
                low = middle + 1
            else:
                high = middle
        found = []
        while low < len(self._order) and self._at(low) == key:
            found.append(int(self._order[low]))
            low += 1
        return [self._table.row(number) for number in sorted(found)]

    def one(self, key: str) -> Any:
        """The only row of that key.

        Raises:
            LookupError: there is none, or more than one.
        """
        rows = self.rows(key)
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} rows have the key {key!r}, not one")
        return rows[0]

    def _at(self, place: int) -> str:
        return str(self._keys[int(self._order[place])].as_py())
