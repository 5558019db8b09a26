"""Open a finished dataset: rows as their row types, tables as Arrow, lazy frames of polars.

dataset = load("out/world-search")
for task in dataset.rows("tasks", "train"): ...
dataset.scan("trajectories").filter(pl.col("success")).select("task_id", "turns").collect()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import CARD_FILE, MIX_FILE, REPORT_FILE, DataFile, data_files
from synth.dataset.html import dataset_html
from synth.errors import DatasetError, InputError
from synth.inputs import parse_json
from synth.schemas.adp import error_lines
from synth.schemas.arrow import RowError, arrow_schema, from_arrow
from synth.schemas.mixes import MixReport
from synth.schemas.reports import BuildReport
from synth.schemas.row import SCHEMA_VERSION, Row
from synth.store.remote import local_dataset

if TYPE_CHECKING:
    import polars as pl

    from synth.dataset.plots import Plots

__all__ = ["Dataset", "batches_in", "load", "same_kind"]

S = TypeVar("S", BuildReport, MixReport)


def load(folder: str | Path) -> Dataset:
    """The dataset in ``folder``. Nothing is read yet but file names and the version that its report states. One in
    storage elsewhere is copied to the user's cache first.

    Raises:
        InputError: there is no such folder, or no dataset in it.
        DatasetError: it was written with another schema.
    """
    path = local_dataset(folder)
    if not path.is_dir():
        raise InputError(
            "there is no such folder", where=str(folder), mend="give the folder that `synth build` printed"
        )
    names = {config.name for config in CONFIGS}
    try:
        files = [file for file in data_files(path)[0] if file.config in names]
    except OSError as error:
        raise InputError(f"the folder can't be read: {error.strerror}", where=str(folder)) from error
    if not files and not (path / REPORT_FILE).is_file():
        raise InputError(
            "this folder holds no dataset", where=str(folder), mend="give the folder that `synth build` printed"
        )
    for name in (MIX_FILE, REPORT_FILE):
        _check_schema(path / name)
    return Dataset(path, tuple(files))


def _check_schema(path: Path) -> None:
    """A report that can't be read states no version: an error of those that need it."""
    try:
        stated = parse_json(path.read_text("utf-8"))
    except (OSError, ValueError):
        return
    version = stated.get("schema_version", SCHEMA_VERSION) if isinstance(stated, dict) else SCHEMA_VERSION
    if version != SCHEMA_VERSION:
        what = f"it was written with schema {str(version)[:40]}, and this version of synth reads {SCHEMA_VERSION}"
        raise DatasetError(what, where=str(path), mend="build it again")


class Dataset:
    """A finished dataset on disk. Reads on demand and keeps nothing."""

    def __init__(self, path: Path, files: tuple[DataFile, ...]) -> None:
        self.path = path
        self._files = files

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{config} ({', '.join(f'{split} {self.count(config, split)}' for split in self.splits(config))})"
            for config in self.configs
        )
        return f"Dataset({str(self.path)!r}: {inside})"

    def _repr_html_(self) -> str:
        tables = {
            config: {split: self.count(config, split) for split in self.splits(config)} for config in self.configs
        }
        return dataset_html(str(self.path), tables)

    def plot(self, *names: str) -> Plots:
        """Plots as SVG, which a notebook shows: ``plot()`` all, ``plot("yields", "success")`` those. What there is
        depends on the dataset (``list(dataset.plot())``); ``.write(folder)`` writes files.

        Raises:
            InputError: there is no plot of that name, or the dataset has no numbers for it.
            DatasetError: the report or a file can't be read.
        """
        from synth.dataset.plots import dataset_plots

        return dataset_plots(self, names)

    @property
    def redacted(self) -> bool:
        """Whether this is an edition in which references stand for text that is not ours to give."""
        try:
            return self.report.redacted is not None
        except DatasetError:
            return False  # a mixture has no report, and validation names a damaged one

    @cached_property
    def report(self) -> BuildReport:
        """What the build reported.

        Raises:
            DatasetError: ``report.json`` is missing or damaged.
        """
        return self._stated(REPORT_FILE, BuildReport)

    @cached_property
    def mix(self) -> MixReport | None:
        """What the mix is made of; None where the folder is not a mix.

        Raises:
            DatasetError: ``mix.json`` is damaged.
        """
        return self._stated(MIX_FILE, MixReport) if (self.path / MIX_FILE).is_file() else None

    def _stated(self, name: str, kind: type[S]) -> S:
        path = self.path / name
        try:
            return kind.model_validate_json(path.read_bytes())
        except OSError as error:
            raise DatasetError(f"the report can't be read: {error.strerror}", where=str(path)) from error
        except ValidationError as error:
            raise DatasetError(error_lines(error)[0], where=str(path)) from None

    @property
    def card(self) -> str:
        """The text of the card."""
        return (self.path / CARD_FILE).read_text(encoding="utf-8")

    @property
    def configs(self) -> tuple[str, ...]:
        """Configs that have rows."""
        present = {file.config for file in self._files}
        return tuple(config.name for config in CONFIGS if config.name in present)

    def splits(self, config: str) -> tuple[str, ...]:
        """Splits of ``config`` that have rows, in the order train, validation, test."""
        about = self._config(config)
        present = {file.split for file in self._files if file.config == config}
        return tuple(split for split in about.splits if split in present)

    def files(self, config: str, split: str | None = None) -> tuple[Path, ...]:
        """Parquet files in the order of their rows; none for an empty config."""
        self._config(config)
        order = self.splits(config) if split is None else (split,)
        return tuple(
            file.path for name in order for file in self._files if file.config == config and file.split == name
        )

    def count(self, config: str, split: str | None = None) -> int:
        """Number of rows, from the footers."""
        return sum(int(_opened(path).metadata.num_rows) for path in self.files(config, split))

    def batches(
        self, config: str, split: str | None = None, columns: Sequence[str] | None = None, size: int = 1_000
    ) -> Iterator[pa.RecordBatch]:
        """Record batches in order: memory holds one row group.

        Raises:
            DatasetError: a file is not a Parquet file, is damaged, or lacks a column of that name and type.
        """
        for path in self.files(config, split):
            self._check_columns(config, path, columns)
            yield from batches_in(path, columns, size)

    def table(self, config: str, split: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows as one Arrow table (with the row type's schema, also when there are none)."""
        schema = arrow_schema(self._config(config).row_type)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)
        batches = list(self.batches(config, split, columns))
        return pa.Table.from_batches(batches, schema=batches[0].schema if batches else schema)

    def rows(self, config: str, split: str | None = None) -> Iterator[Any]:
        """Rows in order, as the row type of the config (``Task``, ``TrajectoryRow``, ``StepRow``, ...).

        Raises:
            DatasetError: a row or a file breaks its schema.
        """
        row_type = self._config(config).row_type
        done = 0
        for batch in self.batches(config, split, size=100):
            yield from self._decoded(batch, row_type, done)
            done += batch.num_rows

    def _decoded(self, batch: pa.RecordBatch, row_type: type[Row], first: int) -> list[Any]:
        try:
            return from_arrow(batch, row_type)
        except RowError as error:
            where = f"{self.path}: rows from {first} of {row_type.table}"
            raise DatasetError(str(error), where=where, mend=_MEND) from None
        except UnicodeDecodeError as error:
            raise DatasetError(f"{row_type.table} holds text that is not UTF-8", where=str(self.path)) from error

    def _check_columns(self, config: str, path: Path, columns: Sequence[str] | None) -> None:
        schema, wanted = _opened(path).schema_arrow, arrow_schema(self._config(config).row_type)
        for name in wanted.names if columns is None else columns:
            if name not in schema.names:
                raise DatasetError(f"{config} lacks column {name}", where=str(path), mend=_MEND)
            kind = schema.field(name).type
            if name in wanted.names and not same_kind(kind, wanted.field(name).type):
                what = f"column {name} of {config} is {kind}, not {wanted.field(name).type}"
                raise DatasetError(what, where=str(path), mend=_MEND)

    def find(self, config: str, id_: str) -> Any | None:
        """The row whose ``id`` (``row_id`` for rejections) is ``id_``; None when there is none."""
        row_type = self._config(config).row_type
        key = "id" if "id" in row_type.model_fields else "row_id"
        for path in self.files(config):
            self._check_columns(config, path, [key])
            place = 0
            for batch in batches_in(path, [key], 10_000):
                found = batch.column(0).index(pa.scalar(id_)).as_py()
                if found >= 0:
                    return self._decoded(_row_of(path, place + found), row_type, place + found)[0]
                place += batch.num_rows
        return None

    def where(self, config: str, column: str, value: str) -> Iterator[Any]:
        """The rows whose text column ``column`` is ``value``, in order: ``where("steps", "trajectory_id", id)``.

        Only that column is read of the row groups that hold no such row.

        Raises:
            InputError: the config has no such column.
            DatasetError: a row or a file breaks its schema.
        """
        yield from self.among(config, column, [value])

    def among(self, config: str, column: str, values: Sequence[str]) -> Iterator[Any]:
        """The rows whose text column ``column`` is one of ``values``, in order; reads and raises as :meth:`where`."""
        row_type = self._config(config).row_type
        if arrow_schema(row_type).get_field_index(column) < 0:
            raise InputError(f"{config} has no column {column!r}")
        wanted = pa.array(values, pa.string())
        for path in self.files(config):
            file, place = _opened(path), 0
            for group in range(file.metadata.num_row_groups):
                try:
                    keys = file.read_row_group(group, columns=[column]).column(0)
                    found = pc.indices_nonzero(pc.is_in(keys, value_set=wanted))
                    rows = file.read_row_group(group).take(found) if len(found) else None
                except (pa.ArrowException, OSError) as error:
                    raise DatasetError(f"damaged: {error}", where=str(path)) from error
                for batch in rows.to_batches() if rows is not None else ():
                    yield from self._decoded(batch, row_type, place)
                place += len(keys)

    def scan(self, config: str, split: str | None = None) -> pl.LazyFrame:
        """A lazy frame of polars; JSON columns are strings in it (``str.json_decode`` opens them)."""
        import polars as pl

        files = self.files(config, split)
        if not files:
            return pl.LazyFrame(pl.from_arrow(self.table(config, split)))
        return pl.scan_parquet(list(files))

    def _config(self, name: str) -> Config:
        try:
            return config_named(name)
        except KeyError as error:
            raise InputError(str(error.args[0])) from None


_MEND = "`synth validate` lists everything"


def batches_in(path: Path, columns: Sequence[str] | None = None, size: int = 1_000) -> Iterator[pa.RecordBatch]:
    """Record batches of a Parquet file.

    Raises:
        DatasetError: it is none, or is damaged.
    """
    file = _opened(path)
    try:
        yield from file.iter_batches(batch_size=size, columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"damaged: {error}", where=str(path)) from error


def same_kind(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether two types differ in how strings and lists are laid out alone, as other tools write them."""
    return bool(_plain(kind) == _plain(wanted))


def _plain(kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return [(field.name, _plain(field.type)) for field in kind]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_plain(kind.value_type)]
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return kind


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"no Parquet file that can be read: {error}", where=str(path)) from error


def _row_of(path: Path, number: int) -> pa.RecordBatch:
    """Row ``number`` of a file; reads its row group only."""
    file = _opened(path)
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if number < rows:
            return file.read_row_group(group).slice(number, 1).combine_chunks().to_batches()[0]
        number -= rows
    raise IndexError(f"row {number} of {path}")
