"""Tables read from files: CSV, TSV, JSON, JSONL, Parquet, SQLite, or a folder of them; every cell as text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import quote

import polars as pl

from synth.errors import InputError
from synth.inputs import open_input
from synth.sources.files import refusal

__all__ = ["MEND", "SQLITE", "Cells", "Table", "read_file", "table_files"]

Cells = list[tuple[str, ...]]
"""For each row the values in a column: none, one, or the members of a list."""
MEND = "give tables with --source: CSV, TSV, JSON, JSONL, Parquet or SQLite, or a folder of them"
SQLITE = (".sqlite", ".sqlite3", ".db")
_FRAMES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_JSON = ".json"
_MISSING = frozenset(("", "null", "none", "nan", "n/a", "\\n", "-", "–", "—", "?"))


@dataclass(frozen=True)
class Table:
    """One table as it stands in its file."""

    name: str
    columns: Mapping[str, Cells]
    key: tuple[str, ...] = ()
    """Columns of the declared primary key."""
    references: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Column -> (table, column) of a declared foreign key."""

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def table_files(path: str) -> list[Path]:
    """The files behind a path. Raises InputError: there are none."""
    if not path:
        raise InputError("no file was given", where="source.path", mend=MEND)
    place = Path(path).expanduser()
    kinds = (*_FRAMES, *SQLITE)
    known = ", ".join((*kinds, _JSON))
    if not place.is_dir():
        open_input(place, mend=MEND).close()
        if place.suffix.lower() not in (*kinds, _JSON):
            raise InputError(f"{place.name} ends in none of {known}", where="source.path", mend="rename or convert it")
        return [place]
    files = [file for file in sorted(place.iterdir()) if refusal(str(place), file.name) is None]
    found = [file for file in files if file.suffix.lower() in kinds]
    # Beside other tables JSON is mostly about them: "datapackage.json".
    found = found or [file for file in files if file.suffix.lower() == _JSON]
    if not found:
        raise InputError(f"{place} holds no file that ends in {known}", where="source.path", mend=MEND)
    return found


def read_file(file: Path) -> list[Table]:
    """The tables of a file. Raises InputError: it can't be read, in one line."""
    open_input(file, mend=MEND).close()
    try:
        suffix = file.suffix.lower()
        if suffix == _JSON:
            return list(_json(file))
        return list(_database(file)) if suffix in SQLITE else [_frame(file)]
    except (pl.exceptions.PolarsError, sqlite3.Error, OSError, ValueError) as error:
        what = " ".join(str(error).split())[:160]
        raise InputError(f"{file.name} can't be read: {what}", where="source.path", mend=MEND) from None


def _frame(file: Path) -> Table:
    suffix = file.suffix.lower()
    if suffix == ".parquet":
        frame = pl.read_parquet(file)
    elif suffix in (".jsonl", ".ndjson"):
        frame = pl.read_ndjson(file, infer_schema_length=None)
    else:
        with open_input(file, mend=MEND) as lines:
            first = lines.readline().decode("utf-8-sig", "replace")
        separator = max(",;\t|" if suffix == ".csv" else "\t", key=first.count)
        frame = pl.read_csv(file, separator=separator, infer_schema=False)
    # A float of 32 bits has seven digits that mean something; as text they are all that is left of it.
    narrow = [column.cast(pl.String) if column.dtype == pl.Float32 else column for column in frame]
    columns = {name.strip(): _cells(column.to_list()) for name, column in zip(frame.columns, narrow, strict=True)}
    return Table(file.stem, {name: cells for name, cells in columns.items() if name and any(cells)})


def _json(file: Path) -> Iterator[Table]:
    """An array of objects, an object of such arrays, or an object whose values are the rows."""
    with open_input(file, mend=MEND) as opened:
        held = json.loads(opened.read().decode("utf-8-sig"))
    if isinstance(held, dict):
        arrays = {name: rows for name, rows in held.items() if _are_rows(rows)}
        values = list(held.values())
        tables = {file.stem: values} if _are_rows(values) else arrays
    else:
        tables = {"": held} if _are_rows(held) else {}
    if not tables:
        raise ValueError("it holds no rows: an array of objects, or an object with such arrays")
    for name, rows in tables.items():
        keys = dict.fromkeys(key for row in rows for key in row)
        columns = {key.strip(): _cells([row.get(key) for row in rows]) for key in keys}
        named = name if len(tables) > 1 else file.stem
        yield Table(named, {key: cells for key, cells in columns.items() if key and any(cells)})


def _are_rows(held: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(held, list) and bool(held) and all(isinstance(row, dict) for row in held)


def _database(file: Path) -> Iterator[Table]:
    with open_input(file, mend=MEND) as opened:
        if not opened.read(16).startswith(b"SQLite format 3"):
            raise ValueError("it is not a SQLite database")
    database = sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro&immutable=1", uri=True)
    try:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in sorted(name for name in names if not name.startswith("sqlite_")):
            quoted = '"' + name.replace('"', '""') + '"'
            about = database.execute(f"PRAGMA table_info({quoted})").fetchall()
            rows = database.execute(f"SELECT * FROM {quoted}").fetchall()
            cells = zip(*rows, strict=True) if rows else ((),) * len(about)
            columns = {column[1]: _cells(values) for column, values in zip(about, cells, strict=True)}
            keys = database.execute(f"PRAGMA foreign_key_list({quoted})").fetchall()
            several = {key[0] for key in keys if key[1]}  # of several columns: no single one leads anywhere
            yield Table(
                name,
                {column: each for column, each in columns.items() if any(each)},
                key=tuple(column[1] for column in sorted(about, key=lambda item: item[5]) if column[5]),
                references={key[3]: (key[2], key[4] or "") for key in keys if key[0] not in several},
            )
    finally:
        database.close()


def _cells(values: Any) -> Cells:
    cells = [
        tuple(text for one in value if (text := _text(one)))
        if isinstance(value, list | tuple)
        else ((text,) if (text := _text(value)) else ())
        for value in values
    ]
    told = [text for each in cells for text in each if text != "NA"]
    if len(told) < sum(map(len, cells)) and not all(len(text) == 2 and text.isalpha() for text in told):
        cells = [tuple(text for text in each if text != "NA") for each in cells]  # Namibia is told by its neighbours
    return cells


def _text(value: Any) -> str:
    """A cell as a person writes it; empty if the cell is missing or not text."""
    if value is None or isinstance(value, bytes | dict):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else format(Decimal(f"{value:.12g}"), "f")
    text = " ".join(str(value).split())
    return "" if text.lower() in _MISSING else text.removesuffix(" 00:00:00").removesuffix("T00:00:00")
