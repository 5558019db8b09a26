"""Finished tables on disk, memory-mapped."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.errors import StoreError
from synth.schemas.arrow import RowReader, arrow_schema, from_arrow, schema_difference
from synth.schemas.row import Row
from synth.store.files import store_errors

__all__ = ["Part", "RowsByKey", "StoredInputs", "StoredTable", "open_arrow"]

_BATCH = 256
"""Rows that iteration turns into objects at once."""


@dataclass(frozen=True)
class Part:
    """Rows ``start`` to ``stop - 1`` of one Arrow file."""

    path: Path
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def open_arrow(path: Path) -> pa.Table:
    """The table in an Arrow IPC file, memory-mapped: nothing is read until it is used.

    Raises:
        StoreError: the file is missing or is not an Arrow file.
    """
    with store_errors(path):
        try:
            return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        except pa.ArrowInvalid as error:
            raise StoreError(
                "this file of the store is damaged", where=str(path), mend="run the same command again"
            ) from error


class StoredTable:
    """Rows of one type from parts of files, in order. Files are opened when first read; it pickles as its parts."""

    def __init__(self, row_type: type[Row], parts: Sequence[Part]) -> None:
        self.row_type = row_type
        self.parts = tuple(part for part in parts if len(part))
        self._ends: list[int] = []
        total = 0
        for part in self.parts:
            total += len(part)
            self._ends.append(total)
        self._open: dict[Path, pa.Table] = {}
        self._readers: dict[Path, RowReader[Any]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (StoredTable, (self.row_type, self.parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _slice(self, part: Part) -> pa.Table:
        return self._table(part).slice(part.start, len(part))

    def _table(self, part: Part) -> pa.Table:
        table = self._open.get(part.path)
        if table is None:
            table = open_arrow(part.path)
            wanted = arrow_schema(self.row_type)
            if not table.schema.equals(wanted):
                what = schema_difference(table.schema, wanted)
                mend = "another version of synth wrote it: give another --store"
                raise StoreError(what, where=str(part.path), mend=mend)
            self._open[part.path] = table
        return table

    @property
    def arrow(self) -> pa.Table:
        """All rows as one chunked table with ``arrow_schema(row_type)``; no row is copied."""
        schema = arrow_schema(self.row_type)
        if not self.parts:
            return schema.empty_table()
        return pa.concat_tables([self._slice(part) for part in self.parts]).replace_schema_metadata(schema.metadata)

    def row(self, number: int) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        place = bisect.bisect_right(self._ends, number)
        part = self.parts[place]
        reader = self._readers.get(part.path)
        if reader is None:
            reader = self._readers[part.path] = RowReader(self._table(part), self.row_type)
        return reader.row(part.start + number - (self._ends[place] - len(part)))

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Any]:
        for piece in self.pieces(start, stop):
            for offset in range(0, len(piece), _BATCH):
                yield from from_arrow(piece.slice(offset, _BATCH), self.row_type)

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[pa.Table]:
        """The Arrow tables that make up rows ``start`` to ``stop - 1``, one per part."""
        stop = len(self) if stop is None else min(stop, len(self))
        place = bisect.bisect_right(self._ends, start)
        while start < stop:
            part = self.parts[place]
            first = self._ends[place] - len(part)
            yield self._slice(part).slice(start - first, min(stop, self._ends[place]) - start)
            start = self._ends[place]
            place += 1

    def head(self, rows: int) -> StoredTable:
        """The first ``rows`` rows."""
        parts: list[Part] = []
        for part in self.parts:
            if rows <= 0:
                break
            parts.append(Part(part.path, part.start, min(part.stop, part.start + rows)))
            rows -= len(part)
        return StoredTable(self.row_type, parts)


class _Rows(Protocol):
    @property
    def arrow(self) -> pa.Table: ...

    def row(self, number: int) -> Any: ...

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Any]: ...


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
        found.sort()
        if len(found) > 1 and found[-1] - found[0] + 1 == len(found):  # side by side, as a stage writes them: read once
            return list(self._table.rows(found[0], found[-1] + 1))
        return [self._table.row(number) for number in found]

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


@dataclass(frozen=True)
class StoredInputs:
    """What one stage run reads, by the names that it uses. Small when pickled: paths, not rows."""

    tables: Mapping[str, StoredTable]
    array_files: Mapping[str, Mapping[str, Path]]

    def __contains__(self, name: str) -> bool:
        return name in self.tables or name in self.array_files

    def table(self, name: str) -> StoredTable:
        try:
            return self.tables[name]
        except KeyError:
            raise KeyError(f"the stage does not list {name!r} in its reads as a table: {sorted(self.tables)}") from None

    def gathered(self, name: str) -> list[StoredTable]:
        return [table for key, table in self.tables.items() if key.partition("@")[0] == name]

    def arrays(self, name: str) -> Mapping[str, np.ndarray[Any, Any]]:
        try:
            files = self.array_files[name]
        except KeyError:
            raise KeyError(
                f"the stage does not list {name!r} in its reads as arrays: {sorted(self.array_files)}"
            ) from None
        return {key: open_array(path) for key, path in files.items()}


def open_array(path: Path) -> np.ndarray[Any, Any]:
    """An array of the store, memory-mapped read-only."""
    with store_errors(path):
        try:
            array: np.ndarray[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise StoreError(
                "this file of the store is damaged", where=str(path), mend="run the same command again"
            ) from error
        return array
