"""A finished dataset as a folder that the Hugging Face Hub, ``datasets`` and polars open as it is.

    README.md                                        the card
    report.json                                      the numbers behind it
    plots/<name>.svg                                 some of them drawn, for the card
    columns/<config>.md                              its columns, for the card
    recipe.yaml                                      what makes it again
    <config>/<split>-00000-of-000NN.parquet

The bytes depend on the rows and on nothing else: input is cut anew into row groups of a fixed number of rows, so it
does not matter how many shards it came from; there is no time or host in a file. Empty splits and empty configs have
no file (``datasets`` refuses a config without a row): the card says which.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from synth.dataset.card.calibration import targets_of
from synth.dataset.card.counts import Counts
from synth.dataset.card.rendering import beside_card, render_card
from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import CARD_FILE, REPORT_FILE, RowHash, file_name, stated_files
from synth.dataset.growth import Growth, Kept, RowsMoved
from synth.errors import StoreError
from synth.schemas.arrow import arrow_schema
from synth.schemas.reports import BuildReport, SplitSize
from synth.store.failpoints import failpoint
from synth.store.files import store_errors, sync_file, sync_folder, write_file

__all__ = ["FILE_BYTES", "Rows", "Written", "write_config", "write_dataset"]

FILE_BYTES = 256 * 1024 * 1024
"""A file is closed once it holds this many (compressed) bytes."""
_FILE_GROUPS = 128
"""... or this many row groups: of each, the Parquet writer keeps some 200 kB until the file is closed, where a table
has sixty columns."""

Rows: TypeAlias = pa.Table | Iterable[pa.RecordBatch]
"""Rows in their final order: one table, or batches of any size as they come."""


class Written(NamedTuple):
    """What was written of one split."""

    rows: int
    size: SplitSize
    rows_sha256: str
    """Hash of its rows in their order."""


def write_dataset(
    folder: Path,
    tables: Mapping[str, Rows],
    report: BuildReport,
    *,
    file_bytes: int = FILE_BYTES,
    complete: Callable[[BuildReport], BuildReport] = lambda report: report,
    growth: Growth | None = None,
) -> BuildReport:
    """Write tables, card and report into ``folder``, an empty or missing folder.

    Rows are streamed: memory holds a few row groups, one number per task, and a few per trajectory. ``report`` is
    completed with what was counted on the way (``tables``, ``sizes``, ``files``, ``rows_sha256``, and the fields that
    ``COUNTS`` names) and returned: what the card shows.

    Args:
        complete: Gets that report once every row was written, to add what it counted itself.
        growth: A finished dataset whose files stay: ``tables`` hold its rows first, and only those behind them are
            written, into files of their own.

    Raises:
        KeyError: ``tables`` names a config that does not exist.
        StoreError: the folder is not empty or can't be written.
        ValueError: a table has another schema than its row type's.
        BuildError: a row of ``growth`` is not in ``tables`` as it was.
        DatasetError: a file of ``growth`` is not what its report states.
    """
    for name in tables:
        config_named(name)
    with store_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StoreError("the folder is not empty", where=str(folder), mend="choose another folder")
    counted = Counts(targets_of(report))
    counts: dict[str, dict[str, int]] = {}
    sizes: dict[str, dict[str, SplitSize]] = {}
    hashes: dict[str, dict[str, str]] = {}
    for config in CONFIGS:
        batches = _watched(_batches(tables.get(config.name, ()), config), partial(counted.see, config.name))
        kept = growth.kept(config) if growth is not None else {}
        written = write_config(folder, config, batches, file_bytes=file_bytes, kept=kept)
        counts[config.name] = {split: done.rows for split, done in written.items()}
        sizes[config.name] = {split: done.size for split, done in written.items()}
        hashes |= {config.name: {split: done.rows_sha256 for split, done in written.items()}} if written else {}
    done = report.model_copy(
        update={
            "tables": counts,
            "sizes": sizes,
            "rows_sha256": hashes,
            **counted.stated(),
        }
    )
    done = complete(done)
    with store_errors(folder):
        for name, text in beside_card(done).items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_file(folder / name, text.encode())
        write_file(folder / CARD_FILE, render_card(done).encode())
        done = done.model_copy(update={"files": stated_files(folder)})
        if growth is not None:
            growth.check_copies(done)
        write_file(folder / REPORT_FILE, done.to_json().encode())
        sync_folder(folder)
    return done


def write_config(
    folder: Path,
    config: Config,
    batches: Iterable[pa.RecordBatch],
    *,
    file_bytes: int = FILE_BYTES,
    kept: Mapping[str, Kept] | None = None,
) -> dict[str, Written]:
    """Write one config below ``folder``; what was written of each split comes back, empty splits left out.

    Args:
        kept: Split -> files that hold its first rows already; they are copied.
    """
    before = kept or {}
    with store_errors(folder):
        writers = {
            split: _SplitWriter(folder / config.name, split, config, file_bytes, before.get(split, Kept()))
            for split in config.splits
        }
        for batch in batches:
            for split, part in _parts(batch, config):
                writers[split].add(part)
        written = {split: writer.finish() for split, writer in writers.items()}
    return {split: done for split, done in written.items() if done.rows}


def _batches(rows: Rows, config: Config) -> Iterator[pa.RecordBatch]:
    schema = arrow_schema(config.row_type)
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
        if not batch.schema.equals(schema):
            raise ValueError(f"{config.name}: a batch has another schema than {config.row_type.__name__}'s")
        if batch.num_rows:
            yield batch.replace_schema_metadata(schema.metadata)


def _watched(batches: Iterable[pa.RecordBatch], see: Callable[[pa.RecordBatch], None]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        see(batch)
        yield batch


def _parts(batch: pa.RecordBatch, config: Config) -> Iterator[tuple[str, pa.RecordBatch]]:
    if config.sole_split is not None:
        yield config.sole_split, batch
        return
    column = batch.column("split")
    if unknown := set(pc.unique(column).to_pylist()) - set(config.splits):
        raise ValueError(f"{config.name}: a row is of split {unknown.pop()!r}, not one of {', '.join(config.splits)}")
    for split in config.splits:
        part = batch.filter(pc.equal(column, split))
        if part.num_rows:
            yield split, part


class _SplitWriter:
    """Writes one split: row groups of a fixed number of rows, files cut at row groups by bytes."""

    def __init__(self, folder: Path, split: str, config: Config, file_bytes: int, kept: Kept) -> None:
        self.folder = folder
        self.split = split
        self.config = config
        self.file_bytes = file_bytes
        self.schema = arrow_schema(config.row_type)
        self.waiting: list[pa.RecordBatch] = []
        self.waiting_rows = 0
        self.rows = 0
        self.hash = RowHash()
        self.parts: list[Path] = []
        self.groups = 0
        """Row groups of the open file."""
        self.sink: pa.OSFile | None = None
        self.writer: pq.ParquetWriter | None = None
        self.kept = kept
        for file in kept.files:
            folder.mkdir(exist_ok=True)
            shutil.copyfile(file, self._part())

    def add(self, batch: pa.RecordBatch) -> None:
        if (behind := self.kept.rows - self.rows) > 0:
            known = batch.slice(0, behind)
            self.hash.add(known)
            self.rows += known.num_rows
            if self.rows == self.kept.rows:
                self._same()
            batch = batch.slice(known.num_rows)
        if not batch.num_rows:
            return
        self.waiting.append(batch)
        self.waiting_rows += batch.num_rows
        size = self.config.rows_per_group
        if self.waiting_rows < size:
            return
        table = pa.Table.from_batches(self.waiting, schema=self.schema)
        start = 0
        while table.num_rows - start >= size:
            self._group(table.slice(start, size))
            start += size
        self.waiting = table.slice(start).to_batches()
        self.waiting_rows = table.num_rows - start

    def finish(self) -> Written:
        """Close the files and give them their names."""
        if self.rows < self.kept.rows:
            self._same()
        if self.waiting_rows:
            self._group(pa.Table.from_batches(self.waiting, schema=self.schema))
        self._close()
        size = SplitSize(files=len(self.parts), bytes=0, uncompressed_bytes=0)
        for number, part in enumerate(self.parts):
            footer = pq.read_metadata(part)
            raw = sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups))
            size = SplitSize(
                files=len(self.parts),
                bytes=size.bytes + part.stat().st_size,
                uncompressed_bytes=size.uncompressed_bytes + raw,
            )
            sync_file(part)
            failpoint("dataset.file.written")
            os.replace(part, self.folder / file_name(self.split, number, len(self.parts)))
        if self.parts:
            sync_folder(self.folder)
        return Written(self.rows, size, self.hash.hexdigest())

    def _same(self) -> None:
        """The rows so far are those of the kept files."""
        if self.rows < self.kept.rows or self.hash.hexdigest() != self.kept.rows_sha256:
            raise RowsMoved(self.config.name, self.split)

    def _part(self) -> Path:
        """The next file, under the name that it has until all are there."""
        self.parts.append(self.folder / f".part-{self.split}-{len(self.parts):05d}")
        return self.parts[-1]

    def _group(self, table: pa.Table) -> None:
        if self.writer is None or self.sink is None:
            self.folder.mkdir(exist_ok=True)
            self.sink = pa.OSFile(str(self._part()), "wb")
            self.writer = pq.ParquetWriter(
                self.sink,
                self.schema,
                compression="zstd",
                compression_level=6,
                write_page_index=True,
                use_content_defined_chunking=True,
            )
        # One contiguous chunk per column: page borders would otherwise follow the borders of the input's chunks.
        whole = table.combine_chunks()
        self.writer.write_table(whole, row_group_size=self.config.rows_per_group)
        for batch in whole.to_batches():
            self.hash.add(batch)
        self.rows += table.num_rows
        self.groups += 1
        if self.sink.tell() >= self.file_bytes or self.groups == _FILE_GROUPS:
            self._close()

    def _close(self) -> None:
        if self.writer is not None and self.sink is not None:
            self.writer.close()
            self.sink.close()
            self.writer = self.sink = None
            self.groups = 0
