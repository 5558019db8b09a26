"""Tables read from files: CSV, TSV, JSON, JSONL, Parquet, SQLite, or a folder of them; every cell as text."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import quote

import polars as pl

from synth.errors import InputError
from synth.inputs import open_input
from synth.sources.files import refusal
from synth.text.inflection import singular

__all__ = ["MEND", "SQLITE", "Cells", "Table", "read_files", "table_files"]

Cells = list[tuple[str, ...]]
"""For each row the values in a column: none, one, or the members of a list."""
MEND = "give tables with --source: CSV, TSV, JSON, JSONL, Parquet or SQLite, or a folder of them"
SQLITE = (".sqlite", ".sqlite3", ".db")
_FRAMES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_JSON = ".json"
_UNTELLING = ("data", "json", "files", "dataset")
"""Folders that are not called as what is in them."""
_OWN = ("name", "id", "code", "type", "kind", "value", "label", "title", "key", "url", "date", "x", "y")
"""Keys of an object that say nothing without its own."""
_CODED = 3
"""Keys of so many characters are codes, as of languages: "fr translation"."""
_LATLNG = re.compile(r"(?i:(?<![a-z])(?:lat_?(?:lng|lon|long)|latitude_?longitude)$)")
_QUOTED = r'^\s+"(.*)"\s*$'
_NEARLY_ALL = 0.9
_DIGITS = 12
"""Behind more of them there is no measurement."""
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


def read_files(files: Sequence[Path]) -> list[Table]:
    """The tables of these files. Files of one JSON object each are the rows of one table, which is called as their
    folder. Raises InputError: one can't be read, in one line."""
    tables: list[Table] = []
    single: list[dict[str, Any]] = []
    for file in files:
        open_input(file, mend=MEND).close()
        try:
            if file.suffix.lower() != _JSON:
                tables += _database(file) if file.suffix.lower() in SQLITE else [_frame(file)]
                continue
            held = _held(file)
            found = dict(_arrays(file.stem, held))
            if not found and isinstance(held, dict) and len(files) > 1:
                single.append(held)
            elif not found:
                raise ValueError("it holds no rows: an array of objects, or an object with such arrays")
            tables += [_of_rows(name, rows) for name, rows in found.items()]
        except (pl.exceptions.PolarsError, sqlite3.Error, OSError, ValueError) as error:
            what = " ".join(str(error).split())[:160]
            raise InputError(f"{file.name} can't be read: {what}", where="source.path", mend=MEND) from None
    if single:
        folder = files[0].resolve().parent
        tables.append(_of_rows(folder.parent.name if folder.name in _UNTELLING else folder.name, single))
    return tables


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
        # A blank behind the separator makes the quotes part of the cell: `Usain Bolt, "JAM"`.
        frame = frame.with_columns(pl.all().str.replace(_QUOTED, "$1"))
        frame.columns = [re.sub(_QUOTED, r"\1", name) for name in frame.columns]
    # A float of 32 bits has seven digits that mean something; as text they are all that is left of it.
    narrow = [column.cast(pl.String) if column.dtype == pl.Float32 else column for column in frame]
    return _of_columns(file.stem, {name: column.to_list() for name, column in zip(frame.columns, narrow, strict=True)})


def _held(file: Path) -> Any:
    with open_input(file, mend=MEND) as opened:
        return json.loads(opened.read().decode("utf-8-sig"))


def _arrays(stem: str, held: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The tables of a JSON file and their names: an array of objects, an object of such arrays, or an object whose
    values are the rows."""
    arrays = {name: rows for name, rows in held.items() if _are_rows(rows)} if isinstance(held, dict) else {}
    values = list(held.values()) if isinstance(held, dict) else held
    if _are_rows(values):
        yield stem, values
    else:
        for name, rows in arrays.items():
            yield name if len(arrays) > 1 else stem, rows


def _of_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    keys = dict.fromkeys(key for row in rows for key in row)
    return _of_columns(name, {key: [row.get(key) for row in rows] for key in keys})


def _of_columns(name: str, columns: Mapping[str, list[Any]]) -> Table:
    cells = {heading.strip(): _cells(values) for heading, values in _coordinates(_opened(columns)).items()}
    return Table(name, {heading: each for heading, each in cells.items() if heading and any(each)})


def _opened(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Columns of objects as a column for each of their keys."""
    found: dict[str, list[Any]] = {}
    for column, values in columns.items():
        objects = [value for value in values if isinstance(value, dict)]
        if not objects:
            found[column] = values
            continue
        inner = dict.fromkeys(key for each in objects for key in each)
        parts = {key: [each.get(key) if isinstance(each, dict) else None for each in values] for key in inner}
        for key, each in _opened(parts).items():
            found[_heading(column, key, each, taken=key in columns or key in found)] = each
    return found


def _heading(column: str, key: str, values: Sequence[Any], *, taken: bool) -> str:
    """What a key of a column's objects is called: "gold medals" where they are counted, "fr translation", else the key
    alone where it says enough, as "capital", and else behind the column, as "home team name"."""
    one = singular(column)
    if one != column and all(value is None or isinstance(value, int) for value in values):
        return f"{key} {column}"
    if len(key) <= _CODED:
        return f"{key} {one}"
    return f"{column} {key}" if taken or key.lower() in _OWN else key


def _coordinates(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Columns of two numbers each, "latlng", as latitude and longitude."""
    found: dict[str, list[Any]] = {}
    for column, values in columns.items():
        said = _LATLNG.search(column)
        told = [value for value in values if value is not None]
        pairs = sum(_is_pair(value) for value in told)
        if said is None or not told or pairs < _NEARLY_ALL * len(told):
            found[column] = values
            continue
        of = column[: said.start()].strip(" _-")
        for place, name in enumerate(("latitude", "longitude")):
            found[f"{of} {name}".strip()] = [value[place] if _is_pair(value) else None for value in values]
    return found


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(number, int | float) for number in value)


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
    return _plain_numbers(cells)


_FLOAT = re.compile(r"-?\d+(?:\.(\d+))?(?:[eE][-+]\d{1,2})?")


def _plain_numbers(cells: Cells) -> Cells:
    """Numbers as people write them, where a program wrote them: "17.0" beside "0.9167" as "17", "8.99E-05" as
    "0.0000899". Digits stay where all have as many: "2.0" beside "2.2"."""
    found = [_FLOAT.fullmatch(text) for each in cells for text in each]
    digits = {len(match[1] or "") for match in found if match is not None}
    parts = {match[1] for match in found if match is not None and match[1]}
    even = len(digits) == 1 and parts != {"0"} and max(digits) <= _DIGITS
    powers = any("e" in text.lower() for each in cells for text in each)
    by_hand = any(part.endswith("0") and part != "0" for part in parts)  # "3.10" is a version, or a price
    if None in found or (not powers and (digits <= {0} or even or by_hand)):
        return cells
    return [tuple(_plain(text) for text in each) for each in cells]


def _plain(text: str) -> str:
    written = format(Decimal(f"{float(text):.12g}"), "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


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
