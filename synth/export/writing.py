"""Records as files: Parquet, JSON lines, or a file of JSON lines per record. The bytes depend on the records alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.files import file_name
from synth.export.contract import JSON, Format, Record

__all__ = ["Writer", "json_line", "open_writer"]

ROWS_PER_GROUP = 500
FILE_BYTES = 256 * 1024 * 1024
"""A Parquet file is closed once it holds this many bytes; lines are one file per split, as their readers expect."""


def json_line(value: Any) -> str:
    """One line of JSON, keys in the order in which they were set."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


class Writer(Protocol):
    """Writes the records of one split. Nothing is there until the first record comes."""

    def add(self, record: Record) -> None: ...

    def close(self) -> None:
        """Finish the files; may be called twice."""


def open_writer(format_: Format, folder: Path, split: str) -> Writer:
    """Writes below ``folder``, an existing folder."""
    if format_.layout == "parquet":
        return _Parquet(folder, split, format_.columns or {})
    if format_.layout == "sessions":
        return _Sessions(folder / split)
    lines = _Lines(folder / f"{split}.jsonl")
    return lines if format_.layout == "jsonl" else _Pictured(lines, folder / "images")


class _Parquet:
    def __init__(self, folder: Path, split: str, columns: Mapping[str, pa.DataType]) -> None:
        self._folder, self._split = folder, split
        self._schema = pa.schema(list(columns.items()))
        self._waiting: list[Record] = []
        self._parts: list[Path] = []
        self._sink: pa.OSFile | None = None
        self._writer: pq.ParquetWriter | None = None

    def add(self, record: Record) -> None:
        self._waiting.append(record)
        if len(self._waiting) == ROWS_PER_GROUP:
            self._group()

    def close(self) -> None:
        if self._waiting:
            self._group()
        self._end()
        for number, part in enumerate(self._parts):
            os.replace(part, self._folder / file_name(self._split, number, len(self._parts)))
        self._parts = []

    def _group(self) -> None:
        if self._writer is None:
            part = self._folder / f".part-{self._split}-{len(self._parts):05d}"
            self._parts.append(part)
            self._sink = pa.OSFile(str(part), "wb")
            self._writer = pq.ParquetWriter(
                self._sink,
                self._schema,
                compression="zstd",
                compression_level=6,
                write_page_index=True,
                use_content_defined_chunking=True,
            )
        columns = [_array([record[field.name] for record in self._waiting], field.type) for field in self._schema]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), row_group_size=ROWS_PER_GROUP)
        self._waiting = []
        if self._sink is not None and self._sink.tell() >= FILE_BYTES:
            self._end()

    def _end(self) -> None:
        if self._writer is not None and self._sink is not None:
            self._writer.close()
            self._sink.close()
            self._writer = self._sink = None


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """JSON columns hold texts; all else is as Arrow makes it."""
    if kind == JSON:
        return pa.ExtensionArray.from_storage(JSON, pa.array([_json(value) for value in values], pa.string()))
    if pa.types.is_list(kind) and kind.value_type == JSON:
        flat = _array([item for value in values for item in value], JSON)
        offsets = [0]
        for value in values:
            offsets.append(offsets[-1] + len(value))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat, type=kind)
    return pa.array(values, kind)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class _Lines:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def add(self, record: Record) -> None:
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            self._file = open(self._path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
        self._file.write(json_line(record))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _Pictured:
    def __init__(self, lines: _Lines, folder: Path) -> None:
        self._lines, self._folder = lines, folder

    def add(self, record: Record) -> None:
        self._lines.add({**record, "images": [self._file(picture) for picture in record["images"]]})

    def close(self) -> None:
        self._lines.close()

    def _file(self, picture: bytes) -> str:
        self._folder.mkdir(exist_ok=True)
        path = self._folder / f"{hashlib.sha256(picture).hexdigest()[:32]}.png"
        if not path.exists():
            path.write_bytes(picture)
        return f"{self._folder.name}/{path.name}"


class _Sessions:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, record: Record) -> None:
        self._folder.mkdir(exist_ok=True)
        text = "".join(json_line(line) for line in record["lines"])
        (self._folder / f"{_safe(record['name'])}.jsonl").write_text(text, encoding="utf-8", newline="\n")

    def close(self) -> None:
        return


def _safe(name: str) -> str:
    """A file name that is another one for every other id."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        return name
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)[:60].strip('.-')}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
