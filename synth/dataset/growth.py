"""A finished dataset that grows: its rows and files stay as and where they are, and new rows go into files behind them.

A larger build of the same recipe holds every row of a smaller one, but not in front: rows come by role, by budget, by
split. So each table is read several times: first the rows of the first edition, then those that were appended to it,
then the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import REPORT_FILE, file_name
from synth.dataset.reader import Dataset
from synth.errors import BuildError, DatasetError
from synth.schemas.editions import EditionReport
from synth.schemas.reports import BuildReport

__all__ = ["WRITTEN_ANEW", "Growth", "Kept", "RowsMoved"]

WRITTEN_ANEW = ("difficulty", "duplicates", "rejected")
"""Tables about all tasks of a build: difficulty is fitted to them, clusters of duplicates and rejections are of all."""

Tables = Mapping[str, Iterable[pa.RecordBatch]]


@dataclass(frozen=True)
class Kept:
    """Files that hold the first rows of a split."""

    files: tuple[Path, ...] = ()
    rows: int = 0
    rows_sha256: str = ""
    """Hash of those rows in their order."""


class RowsMoved(BuildError):
    """The larger build does not hold the rows of the smaller one."""

    def __init__(self, config: str, split: str) -> None:
        super().__init__(
            f"with more tasks the rows of {config}/{split} are not those of the dataset: it is as it was",
            where=f"{config}/{split}",
            mend="`synth build --tasks` with the larger number and another --out makes the larger dataset; what was "
            "paid is in the store",
        )


class Growth:
    """What stays of ``dataset`` in a larger build of its recipe."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def editions(self) -> tuple[EditionReport, ...]:
        """What the larger dataset says of the smaller ones."""
        report = self.dataset.report
        now = EditionReport(
            tasks=self.dataset.count("tasks"),
            tables={name: rows for name, rows in report.tables.items() if rows and name not in WRITTEN_ANEW},
            synth_version=report.synth_version,
            report_sha256=hashlib.sha256((self.dataset.path / REPORT_FILE).read_bytes()).hexdigest(),
        )
        return (*report.editions, now)

    def kept(self, config: Config) -> dict[str, Kept]:
        """Split -> what stays of it."""
        if config.name in WRITTEN_ANEW:
            return {}
        stated = self.dataset.report.rows_sha256.get(config.name, {})
        return {
            split: Kept(
                self.dataset.files(config.name, split),
                self.dataset.count(config.name, split),
                stated.get(split, ""),
            )
            for split in self.dataset.splits(config.name)
        }

    def ordered(self, tables: Callable[[], Tables]) -> dict[str, Iterator[pa.RecordBatch]]:
        """``tables`` (asked for again by edition) with the rows of the dataset in front, those of its first edition
        before those that were appended since."""
        passes = [tables() for _ in range(len(self.dataset.report.editions) + 2)]
        return {name: self._ordered(config_named(name), [one[name] for one in passes]) for name in passes[0]}

    def _ordered(self, config: Config, passes: Sequence[Iterable[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        key = _key(config)
        if key is None or config.name in WRITTEN_ANEW or not self.dataset.count(config.name):
            yield from passes[0]  # a table without a key is of the source: the same for any number of tasks
            return
        known = self._keys(config, key)
        for rows, keys in zip(passes, known, strict=False):
            for batch in rows:
                yield batch.filter(pc.is_in(batch.column(key), value_set=keys))
        there = pa.concat_arrays(known)
        for batch in passes[-1]:
            yield batch.filter(pc.invert(pc.is_in(batch.column(key), value_set=there)))

    def _keys(self, config: Config, key: str) -> list[pa.Array]:
        """Of each edition, this dataset the last, the keys of the rows that it added."""
        ends = [edition.tables.get(config.name, {}) for edition in self.dataset.report.editions]
        keys: list[list[pa.Array]] = [[] for _ in range(len(ends) + 1)]
        for split in self.dataset.splits(config.name):
            column = [batch.column(0) for batch in self.dataset.batches(config.name, split, [key])]
            whole = pa.chunked_array(column, pa.string())
            borders = [0, *(rows.get(split, 0) for rows in ends), len(whole)]
            for place, (start, end) in enumerate(pairwise(borders)):
                keys[place].extend(whole.slice(start, end - start).chunks)
        return [pa.concat_arrays(parts) if parts else pa.array([], pa.string()) for parts in keys]

    def check_copies(self, report: BuildReport) -> None:
        """The files that ``report`` states for what stays are those that the dataset's own report states.

        Raises:
            DatasetError: one is another.
        """
        before = self.dataset.report.files
        for config in CONFIGS:
            for split, kept in self.kept(config).items():
                count = report.sizes[config.name][split].files
                for number, file in enumerate(kept.files):
                    old = f"{config.name}/{file.name}"
                    if before.get(old) != report.files[f"{config.name}/{file_name(split, number, count)}"]:
                        raise DatasetError(
                            "a file is not the one that the dataset's report states",
                            where=str(file),
                            mend="`synth validate` says what is wrong with it",
                        )


def _key(config: Config) -> str | None:
    """The column that tells a row, or the task that it belongs to; None for a table of the source."""
    fields = config.row_type.model_fields
    return "id" if "id" in fields else "task_id" if "task_id" in fields else None
