"""A shard: a folder of Arrow tables and arrays that is there whole or not at all.

The folder is filled under a temporary name, each file synced, the manifest written last, then renamed into place.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from synth.schemas.arrow import arrow_schema, to_arrow
from synth.schemas.row import Row
from synth.store.failpoints import failpoint
from synth.store.files import (
    file_sha256,
    read_sealed_json,
    sealed,
    store_errors,
    sync_file,
    sync_folder,
    temporary_name,
)
from synth.store.tables import Part, open_arrow

__all__ = ["MANIFEST", "Manifest", "ShardWriter", "StoredFile", "check_shard", "read_manifest"]

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class StoredFile:
    name: str
    bytes: int
    sha256: str
    rows: int | None = None
    """None for arrays."""


@dataclass(frozen=True)
class Manifest:
    """What a committed folder holds, and what whoever wrote it wanted to remember (``facts``)."""

    folder: Path
    files: tuple[StoredFile, ...]
    facts: dict[str, Any]

    def part(self, table: str) -> Part:
        """All rows of ``table``."""
        return Part(self.folder / f"{table}.arrow", 0, self.rows(table))

    def rows(self, table: str) -> int:
        for file in self.files:
            if file.name == f"{table}.arrow":
                return file.rows or 0
        raise KeyError(table)

    def open(self, table: str) -> pa.Table:
        return open_arrow(self.folder / f"{table}.arrow")

    def arrays(self) -> dict[str, Path]:
        return {file.name.removesuffix(".npy"): self.folder / file.name for file in self.files if file.rows is None}

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


class ShardWriter:
    """Fills a folder that appears under its name only with ``commit``. Left without it, everything is removed.

    Raises:
        StoreError: the folder can't be written.
    """

    def __init__(self, final: Path, *, kind: Literal["shard", "view"] = "shard") -> None:
        self.final = final
        self._kind = kind
        self._files: list[StoredFile] = []
        self._committed = False
        with store_errors(final):
            self._folder = temporary_name(final)
            self._folder.mkdir()
            self._pass("created")

    def _pass(self, point: str) -> None:
        failpoint(f"store.{self._kind}.{point}")

    def table(self, name: str, row_type: type[Row], rows: Iterable[Row] | pa.Table) -> int:
        """Write a table and return how many rows it has.

        Raises:
            RowError: a row does not fit its schema.
            TypeError: an Arrow table has another schema than ``arrow_schema(row_type)``.
        """
        if isinstance(rows, pa.Table):
            schema = arrow_schema(row_type)
            if not rows.schema.equals(schema):
                raise TypeError(f"table {name}: its Arrow schema is not that of {row_type.__name__}")
            return self.arrow(name, rows.replace_schema_metadata(schema.metadata))
        return self.arrow(name, to_arrow(rows, row_type))

    def arrow(self, name: str, table: pa.Table) -> int:
        path = self._folder / f"{name}.arrow"
        with store_errors(path):
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            self._pass("table_written")
            self._add(path, table.num_rows)
        return int(table.num_rows)

    def array(self, name: str, array: np.ndarray[Any, Any]) -> None:
        path = self._folder / f"{name}.npy"
        with store_errors(path):
            np.save(path, array, allow_pickle=False)
            self._pass("array_written")
            self._add(path, None)

    def _add(self, path: Path, rows: int | None) -> None:
        sync_file(path)
        self._files.append(StoredFile(path.name, path.stat().st_size, file_sha256(path), rows))

    def commit(self, facts: dict[str, Any]) -> Manifest:
        """Write the manifest and move the folder into place. A folder that stands there already is kept instead: it
        holds the same rows, made by a worker that outlived its build."""
        body = {"facts": facts, "files": [vars(file) for file in self._files]}
        with store_errors(self.final):
            manifest = self._folder / MANIFEST
            manifest.write_bytes(sealed(body))
            sync_file(manifest)
            sync_folder(self._folder)
            self._pass("before_rename")
            try:
                os.rename(self._folder, self.final)
                self._committed = True
            except OSError:
                if check_shard(self.final) is None:
                    raise
            self._pass("after_rename")
            sync_folder(self.final.parent)
        return Manifest(self.final, tuple(self._files), facts)

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if not self._committed:
            shutil.rmtree(self._folder, ignore_errors=True)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a committed folder, or None when there is none or it is damaged."""
    body = read_sealed_json(folder / MANIFEST)
    if body is None:
        return None
    return Manifest(folder, tuple(StoredFile(**file) for file in body["files"]), body["facts"])


def check_shard(folder: Path, wanted: Sequence[str] = ()) -> Manifest | None:
    """The manifest of a folder whose files all have the size and hash that it says, or None.

    ``wanted`` names tables that must be among them.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    try:
        for file in manifest.files:
            path = folder / file.name
            if path.stat().st_size != file.bytes or file_sha256(path) != file.sha256:
                return None
    except OSError:
        return None
    names = {file.name for file in manifest.files}
    return manifest if all(f"{table}.arrow" in names for table in wanted) else None
