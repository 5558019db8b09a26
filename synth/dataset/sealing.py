"""What a report states of its dataset's files: size and hash of each, and a hash of every split's rows in their order.

Two hashes, since two things may happen to a file. Whoever writes it again with another tool changes its bytes and keeps
its rows; a swap of two rows changes both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.files import CARD_FILE, REPORT_FILE, is_ours
from synth.dataset.problems import Problems
from synth.schemas.reports import FileReport

__all__ = ["RowHash", "check_files", "split_hashes", "stated_files"]

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
        found.add(name, None, "the report does not name this file: take it out, or it is read as part of the dataset")
    for name in sorted(set(files) - there):
        found.add(name, None, "the report names this file, and it is missing")
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
            what += f": written anew, the rows of {config}/{split} are the same" if same else ""
        found.add(name, None, what)
    for config, splits in sorted(rows.items()):
        for split in sorted(set(splits) | set(found_rows.get(config, {}))):
            if splits.get(split) != found_rows.get(config, {}).get(split):
                what = f"the rows of {config}/{split} are not those of the build, or stand in another order"
                found.add(_first(there, config, split), None, what)
    for config in sorted(set(found_rows) - set(rows)):
        found.add(config, None, f"rows: the report has no hash of the rows of {config}")


def _first(there: Iterable[str], config: str, split: str) -> str:
    """The file that a problem of the split is told of."""
    return min((name for name in there if name.startswith(f"{config}/{split}-")), default=f"{config}/{split}")
