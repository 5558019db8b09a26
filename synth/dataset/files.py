"""The files of a dataset folder: names, what a report states of them, and what ``validate`` finds wrong with them.

A report states size and hash of each file, and a hash of every split's rows in their order: rewriting a file with
another tool changes its bytes and keeps its rows; swapping two rows changes both.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.schemas.reports import FileReport

__all__ = [
    "CARD_FILE",
    "COLUMNS",
    "MIX_FILE",
    "PLOTS",
    "RECIPE_FILE",
    "REPORT_FILE",
    "DataFile",
    "Problem",
    "Problems",
    "RowHash",
    "card_files",
    "check_files",
    "data_files",
    "file_name",
    "is_ours",
    "split_hashes",
    "stated_files",
]

CARD_FILE = "README.md"
REPORT_FILE = "report.json"
MIX_FILE = "mix.json"
"""What stands for the report in a mix; a new mix may replace a folder that holds it."""
RECIPE_FILE = "recipe.yaml"
PLOTS = "plots"
"""Folder of the card's plots."""
COLUMNS = "columns"
"""Folder of the card's lists of columns, a page per config."""

_BESIDE = {PLOTS: re.compile(r"[a-z_]+\.svg"), COLUMNS: re.compile(r"[a-z_]+\.md")}
"""Folders of what the card shows -> names that stand in them."""
_NAME = re.compile(r"(?P<split>\w+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet")


@dataclass(frozen=True, order=True)
class DataFile:
    config: str
    split: str
    number: int
    count: int
    path: Path

    @property
    def label(self) -> str:
        """The path inside the dataset folder."""
        return f"{self.config}/{self.path.name}"


def file_name(split: str, number: int, count: int) -> str:
    return f"{split}-{number:05d}-of-{count:05d}.parquet"


def data_files(folder: Path) -> tuple[list[DataFile], list[Path]]:
    """The Parquet files of a dataset in order, and what should not stand among or beside them."""
    known: list[DataFile] = []
    strange = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix == ".parquet")
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        for path in sorted(place.iterdir()):
            match = _NAME.fullmatch(path.name)
            if place.name in _BESIDE and path.is_file() and _BESIDE[place.name].fullmatch(path.name):
                continue
            if match and path.is_file():
                number, count = int(match["number"]), int(match["count"])
                known.append(DataFile(place.name, match["split"], number, count, path))
            else:
                strange.append(path)
    return sorted(known), strange


def is_ours(name: str) -> bool:
    """Whether a path inside a dataset folder is one that a dataset may write: report, card, what the card shows,
    or rows of a config."""
    if name in (CARD_FILE, REPORT_FILE, RECIPE_FILE):
        return True
    config, _, rest = name.partition("/")
    if config in _BESIDE:
        return bool(_BESIDE[config].fullmatch(rest))
    return bool(re.fullmatch(r"[a-z_]+", config) and _NAME.fullmatch(rest))


def card_files(folder: Path) -> dict[str, Path]:
    """What the card shows and stands beside it, by its path inside the dataset folder: plots, lists of columns, the
    recipe."""
    places = ((name, shape, folder / name) for name, shape in _BESIDE.items())
    found = {
        f"{name}/{path.name}": path
        for name, shape, place in places
        if place.is_dir()
        for path in place.iterdir()
        if shape.fullmatch(path.name)
    }
    if (folder / RECIPE_FILE).is_file():
        found[RECIPE_FILE] = folder / RECIPE_FILE
    return dict(sorted(found.items()))


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


_CHUNK = 1 << 20

SplitHashes = dict[str, dict[str, str]]
"""Config -> split -> hash of its rows in their order."""


class RowHash:
    """Hash of rows in their order, the same however they are cut into batches, row groups and files.

    Each leaf column feeds two streams: which values are there and how long they are, and the values themselves.
    """

    def __init__(self) -> None:
        self._streams: dict[str, Any] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            self._column(name, column)

    def hexdigest(self) -> str:
        said = {name: stream.hexdigest() for name, stream in sorted(self._streams.items())}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def _column(self, path: str, column: pa.Array) -> None:
        self._feed(f"{path}?", _bytes(column.is_valid()))
        there = column.drop_null() if column.null_count else column
        if pa.types.is_struct(column.type):
            for field, child in zip(column.type, there.flatten(), strict=True):
                self._column(f"{path}.{field.name}", child)
        elif pa.types.is_list(column.type):
            self._feed(f"{path}#", _numbers(pc.list_value_length(there)))
            self._column(f"{path}[]", there.flatten())
        elif pa.types.is_string(column.type):
            self._feed(f"{path}#", _numbers(pc.binary_length(there)))
            self._feed(path, _text(there))
        else:
            self._feed(path, _bytes(there) if pa.types.is_boolean(column.type) else _numbers(there))

    def _feed(self, name: str, data: Any) -> None:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = hashlib.sha256()
        stream.update(data)


def _bytes(flags: pa.Array) -> Any:
    return np.ascontiguousarray(flags.to_numpy(zero_copy_only=False)).astype(np.uint8).data


def _numbers(values: pa.Array) -> Any:
    plain = values.to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(plain.astype("<f8" if plain.dtype.kind == "f" else "<i8")).data


def _text(values: pa.Array) -> Any:
    """The bytes of strings without a null, one behind the other."""
    _, offsets, data = values.buffers()
    if data is None or not len(values):
        return b""
    ends = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])]


def split_hashes(hashes: Mapping[tuple[str, str], RowHash]) -> SplitHashes:
    """As a report states them."""
    said: SplitHashes = {}
    for (config, split), rows in hashes.items():
        said.setdefault(config, {})[split] = rows.hexdigest()
    return said


def stated_files(folder: Path, names: Iterable[str] | None = None) -> dict[str, FileReport]:
    """Size and hash of the files of the dataset in ``folder`` by their paths inside it; not of the report itself."""
    paths = _ours(folder) if names is None else names
    return {name: _stated(folder / name) for name in paths}


def _ours(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name != REPORT_FILE and is_ours(name) and path.is_file():
            yield name


def _stated(path: Path) -> FileReport:
    size, content = 0, hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            size += len(block)
            content.update(block)
    return FileReport(bytes=size, sha256=content.hexdigest())


def check_files(
    folder: Path, files: Mapping[str, FileReport], rows: SplitHashes, found_rows: SplitHashes, found: Problems
) -> None:
    """Every file against what the report states of it: one problem for a file that is missing, changed or too many,
    and one for a split whose rows are others, or stand in another order.

    Args:
        rows: Hashes of rows, as stated.
        found_rows: The same of the rows that the files hold.
    """
    there = set(_ours(folder))
    for name in sorted(there - set(files)):
        found.add(name, None, "not listed in the report; remove it, or it will be read as part of the dataset")
    for name in sorted(set(files) - there):
        found.add(name, None, "listed in the report, but missing")
    for name in sorted(there & set(files)):
        wanted = files[name]
        try:
            held = _stated(folder / name)
        except OSError as error:
            found.add(name, None, f"can't be read: {error.strerror}")
            continue
        if held == wanted or name == CARD_FILE:  # its prose may be edited; the card check reads its numbers
            continue
        what = (
            f"sha256 {held.sha256[:16]}, {held.bytes:,} bytes; the report says {wanted.sha256[:16]}, {wanted.bytes:,}"
        )
        config, _, file = name.partition("/")
        split = file.partition("-")[0]
        if name.endswith(".parquet") and (stated := rows.get(config, {}).get(split)) is not None:
            same = stated == found_rows.get(config, {}).get(split)
            what += f": rewritten, with the same rows of {config}/{split}" if same else ""
        found.add(name, None, what)
    for config, splits in sorted(rows.items()):
        for split in sorted(set(splits) | set(found_rows.get(config, {}))):
            if splits.get(split) != found_rows.get(config, {}).get(split):
                what = f"the rows of {config}/{split} differ from the build's, or are in another order"
                found.add(_first(there, config, split), None, what)
    for config in sorted(set(found_rows) - set(rows)):
        found.add(config, None, f"rows: the report has no hash of the rows of {config}")


def _first(there: Iterable[str], config: str, split: str) -> str:
    """The file that a problem of the split is told of."""
    return min((name for name in there if name.startswith(f"{config}/{split}-")), default=f"{config}/{split}")
