"""Files of runs that others wrote, object by object, and rows that wait on disk until all were seen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.errors import InputError
from synth.export.importing.contract import Importer
from synth.inputs import input_lines, open_input, parse_json, read_input
from synth.schemas.arrow import arrow_schema, to_arrow
from synth.schemas.row import Row

__all__ = ["NoJson", "Spool", "hash_of", "objects_in", "run_files"]

_BATCH = 500
_SUFFIXES = frozenset((".json", ".jsonl", ".ndjson", ".traj"))


@dataclass(frozen=True)
class NoJson:
    why: str


_MEND = "give a file of JSON Lines, or of one JSON list"


def run_files(place: Path) -> list[Path]:
    """The files to read, in their order.

    Raises:
        InputError: a folder holds none.
    """
    if not place.is_dir():
        return [place]
    found = sorted(path for path in place.rglob("*") if path.is_file() and path.suffix.lower() in _SUFFIXES)
    if not found:
        raise InputError(f"no file of the folder ends in {', '.join(sorted(_SUFFIXES))}", where=str(place), mend=_MEND)
    return found


def hash_of(files: Sequence[Path]) -> str:
    """Of one file its own; of several that of theirs."""
    hashes: list[str] = []
    for file in files:
        with open_input(file, mend=_MEND, most=None) as opened:
            hashes.append(hashlib.file_digest(opened, "sha256").hexdigest())
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def objects_in(files: Sequence[Path], importer: Importer) -> Iterator[tuple[str, Any]]:
    """(place, object) of the files, in order.

    Raises:
        InputError: one can't be read.
    """
    for file in files:
        lead = f"{file.name}: " if len(files) > 1 else ""
        read = _lines(file) if file.suffix.lower() in (".jsonl", ".ndjson", ".txt", "") else _whole(file, importer)
        for place, value in read:
            yield f"{lead}{place}", value


def _lines(file: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(input_lines(file, mend=_MEND), start=1):
        if line.strip():
            yield f"line {number}", _decoded(line)


def _whole(file: Path, importer: Importer) -> Iterator[tuple[str, Any]]:
    value = _decoded(read_input(file, mend=_MEND).decode("utf-8-sig", errors="replace"))
    values = value if isinstance(value, list) else [value]
    if importer.name in ("auto", "openhands") and values and all(_is_event(one) for one in values):
        values = [{"events": values, "id": file.stem}]
    for number, one in enumerate(values, start=1):
        yield f"object {number}", one


def _is_event(value: Any) -> bool:
    """Whether it is one event of a log that is a single run."""
    return isinstance(value, Mapping) and "source" in value and ("action" in value or "observation" in value)


def _decoded(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        return NoJson(f"no JSON: {error}")


class Spool:
    """Rows that wait on disk until all were seen."""

    def __init__(self, path: Path, row_type: type[Row]) -> None:
        self._path, self._type = path, row_type
        self._waiting: list[Row] = []
        self._writer = pa.OSFile(str(path), "wb")
        self._stream = pa.ipc.new_stream(self._writer, arrow_schema(row_type))

    def add(self, row: Row) -> None:
        self._waiting.append(row)
        if len(self._waiting) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        for batch in to_arrow(self._waiting, self._type).to_batches():
            self._stream.write_batch(batch)
        self._waiting = []

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All of them, once; nothing can be added then."""
        self._flush()
        self._stream.close()
        self._writer.close()
        with pa.OSFile(str(self._path), "rb") as source, pa.ipc.open_stream(source) as stream:
            yield from stream
