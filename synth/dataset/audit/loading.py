"""Rows of a dataset as the deep audit takes them in: file by file, those that parse, with their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from synth.dataset.audit.facts import Entity, Facts, value_key
from synth.dataset.audit.findings import Place
from synth.dataset.reader import Dataset
from synth.schemas.arrow import RowError, from_arrow, row_adapter, to_plain
from synth.schemas.row import Row

__all__ = ["facts_of", "raw", "rows"]


def rows(dataset: Dataset, config: str, row_type: type[Row]) -> Iterator[tuple[Place, Any]]:
    """Rows of all splits. What does not parse is left to the plain validation, which names it."""
    for label, first, batch in raw(dataset, config):
        try:
            for place, row in enumerate(from_arrow(batch, row_type)):
                yield (label, first + place), row
        except RowError:
            for place in range(batch.num_rows):
                try:
                    parsed = row_adapter(row_type).validate_python(to_plain(batch.slice(place, 1), row_type))
                except (RowError, ValidationError):
                    continue
                yield (label, first + place), parsed[0]


def raw(
    dataset: Dataset, config: str, columns: list[str] | None = None, size: int = 500
) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """(file, number of the first row, batch); a file that can't be read, or lacks a column, is left out."""
    for path in dataset.files(config):
        first = 0
        try:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=size, columns=columns):
                if columns is not None and batch.schema.names != columns:
                    break
                yield f"{config}/{path.name}", first, batch
                first += batch.num_rows
        except (pa.ArrowException, OSError):
            continue


def facts_of(dataset: Dataset) -> Facts:
    """All entities and facts of the dataset."""
    facts = Facts()
    names = ["id", "name", "kind", "aliases", "document_id", "partition"]
    for _, _, batch in raw(dataset, "entities", names, 10_000):
        columns = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        facts.add_entities(
            Entity(id_, name, kind, tuple(aliases or ()), page, split)
            for id_, name, kind, aliases, page, split in columns
        )
    names = ["subject", "relation", "inverse", "object", "value", "value_kind"]
    for _, _, batch in raw(dataset, "facts", names, 10_000):
        columns = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        facts.add_facts(
            (subject, relation, target if target is not None else value_key(value or ""), kind, inverse)
            for subject, relation, inverse, target, value, kind in columns
        )
    facts.freeze()
    return facts
