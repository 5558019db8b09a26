"""``synth scan``: personal data and secrets in a finished dataset, column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from synth.dataset.files import CARD_FILE, REPORT_FILE, data_files
from synth.dataset.reader import batches_in, load
from synth.schemas.row import Row
from synth.sources.private import PrivateKind, find_private

__all__ = ["Held", "Scan", "scan"]

_BATCH = 500


class Held(Row):
    """What one column holds of one kind."""

    config: str
    """Name of the config, or of a file beside the tables."""
    column: str
    """Dotted path, through lists and structs; empty for a file."""
    kind: PrivateKind
    rows: int
    """Rows that hold some (lines, for a file)."""
    file: str
    """Where the first of them stands. What stands there is not repeated here."""
    row: int
    """Its number in that file, from 0."""


class Scan(Row):
    """What was found, and in how much."""

    held: tuple[Held, ...]
    """By config, column and kind."""
    rows: int
    """Rows that were looked at."""


def scan(folder: str | Path) -> Scan:
    """Look at every text of every table, at the card and at the report. Rows stream.

    Raises:
        InputError: there is no dataset in the folder.
        DatasetError: a file is damaged.
    """
    dataset = load(folder)
    first: dict[tuple[str, str, PrivateKind], tuple[str, int]] = {}
    rows: Counter[tuple[str, str, PrivateKind]] = Counter()
    total = 0
    files, _ = data_files(dataset.path)
    for file in files:
        at = 0
        for batch in batches_in(file.path, size=_BATCH):
            seen: dict[tuple[str, str, PrivateKind], set[int]] = {}
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                for column, row, text in _texts(name, array):
                    for one in find_private(text):
                        seen.setdefault((file.config, column, one.kind), set()).add(row)
            for key, places in seen.items():
                first.setdefault(key, (file.label, at + min(places)))
                rows[key] += len(places)
            at += batch.num_rows
        total += at
    for name in (CARD_FILE, REPORT_FILE):
        path = dataset.path / name
        for number, line in enumerate(path.read_text("utf-8", errors="replace").split("\n") if path.is_file() else ()):
            for kind in {one.kind for one in find_private(line)}:
                first.setdefault((name, "", kind), (name, number))
                rows[name, "", kind] += 1
    held = (
        Held(config=key[0], column=key[1], kind=key[2], rows=rows[key], file=first[key][0], row=first[key][1])
        for key in sorted(rows)
    )
    return Scan(held=tuple(held), rows=total)


def _texts(path: str, array: pa.Array) -> Iterator[tuple[str, int, str]]:
    """Dotted path, row and text of every string in a column, however deep it stands."""
    yield from _leaves(path, array, list(range(len(array))))


def _leaves(path: str, array: pa.Array, owners: list[int]) -> Iterator[tuple[str, int, str]]:
    """``owners``: the row that each element belongs to."""
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        for row, text in zip(owners, array.to_pylist(), strict=True):
            if text:
                yield path, row, text
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        lengths = array.value_lengths().fill_null(0).to_pylist()
        inner = [row for row, length in zip(owners, lengths, strict=True) for _ in range(length)]
        yield from _leaves(path, array.flatten(), inner)
    elif pa.types.is_struct(array.type):
        for field, values in zip(array.type, array.flatten(), strict=True):
            yield from _leaves(f"{path}.{field.name}", values, owners)
