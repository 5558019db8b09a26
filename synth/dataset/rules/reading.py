"""The files of a dataset as ``validate`` reads them: names, Arrow schemas, and rows that parse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from synth.dataset.configs import CONFIGS, Config
from synth.dataset.files import DataFile, Problems, data_files
from synth.dataset.reader import same_kind
from synth.schemas.adp import error_lines
from synth.schemas.arrow import RowError, arrow_schema, row_adapter, to_arrow, to_plain
from synth.schemas.row import SCHEMA_VERSION, Row

__all__ = ["Portion", "layout", "parsed", "portions"]

_BATCH = 200


@dataclass(frozen=True)
class Portion:
    """Some rows of a file."""

    file: DataFile
    first: int
    """Number of the first of them."""
    batch: pa.RecordBatch
    rows: Sequence[tuple[int, Any]]
    """Those that parse, with their numbers."""


def layout(folder: Path, found: Problems) -> list[DataFile]:
    """Names and numbering; what comes back are the files whose rows can be looked at."""
    files, strange = data_files(folder)
    for path in strange:
        found.add(
            str(path.relative_to(folder)), None, "not a dataset file (expected config/split-00000-of-000NN.parquet)"
        )
    known = {config.name: config for config in CONFIGS}
    usable: list[DataFile] = []
    groups: dict[tuple[str, str], list[DataFile]] = {}
    for file in files:
        if file.config not in known:
            found.add(file.label, None, f"unknown config {file.config!r}; known: {', '.join(known)}")
        elif file.split not in known[file.config].splits:
            wanted = ", ".join(known[file.config].splits)
            found.add(file.label, None, f"{file.config} has no split {file.split!r}, only {wanted}")
        else:
            groups.setdefault((file.config, file.split), []).append(file)
            usable.append(file)
    for group in groups.values():
        numbers, totals = [file.number for file in group], {file.count for file in group}
        if totals != {len(group)} or numbers != list(range(len(group))):
            found.add(group[0].label, None, f"{len(group)} files of this split are here, but their names say otherwise")
    return usable


def portions(files: Sequence[DataFile], config: Config, found: Problems) -> Iterator[Portion]:
    """A table, file by file."""
    for file in files:
        first = 0
        for batch in _batches(file, config, found) if file.config == config.name else ():
            yield Portion(file, first, batch, tuple(parsed(batch, config.row_type, file, first, found)))
            first += batch.num_rows


def _batches(file: DataFile, config: Config, found: Problems) -> Iterator[pa.RecordBatch]:
    """Batches of a file that has the right schema; none otherwise."""
    wanted = arrow_schema(config.row_type)
    try:
        opened = pq.ParquetFile(file.path)
        schema, footer = opened.schema_arrow, opened.metadata
        if not schema.equals(wanted):
            found.add(file.label, None, f"the Arrow schema is not that of {config.name}: {_difference(schema, wanted)}")
            if not _as_wide(schema, wanted):
                return
        stated = (schema.metadata or {}).get(b"synth.schema_version", b"").decode()
        if stated != SCHEMA_VERSION:
            found.add(file.label, None, f"schema version is {stated or 'not stated'}, not {SCHEMA_VERSION}")
        if footer.num_rows == 0:
            found.add(file.label, None, "has no rows; an empty split must have no file")
        for group in range(footer.num_row_groups):
            about = footer.row_group(group)
            if about.num_rows > config.rows_per_group:
                found.add(file.label, None, f"row group {group} holds {about.num_rows:,} rows, too many for a viewer")
            if not about.column(0).has_offset_index:
                found.add(file.label, None, f"row group {group} has no page index")
        for batch in opened.iter_batches(batch_size=min(_BATCH, 4 * config.rows_per_group)):
            yield batch if batch.schema.equals(wanted) else batch.cast(wanted)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        found.add(file.label, None, f"can't be read as Parquet: {error}")


def _as_wide(schema: pa.Schema, wanted: pa.Schema) -> bool:
    """Whether they differ in how strings and lists are laid out alone, as other tools write them."""
    if schema.names != wanted.names:
        return False
    return all(same_kind(one.type, other.type) for one, other in zip(schema, wanted, strict=True))


def _difference(schema: pa.Schema, wanted: pa.Schema) -> str:
    for name in wanted.names:
        if name not in schema.names:
            return f"column {name} is missing"
        if schema.field(name).type != wanted.field(name).type:
            return f"column {name} is {schema.field(name).type}, not {wanted.field(name).type}"
    extra = [name for name in schema.names if name not in wanted.names]
    return f"column {extra[0]} is unknown" if extra else "columns stand in another order"


def parsed(
    batch: pa.RecordBatch, row_type: type[Row], file: DataFile, first: int, found: Problems
) -> Iterator[tuple[int, Any]]:
    """Rows that parse and that come out as the very values that the file holds."""
    try:
        rows = row_adapter(row_type).validate_python(to_plain(batch, row_type))
        same = to_arrow(rows, row_type).equals(pa.Table.from_batches([batch]))
    except (ValidationError, RowError) as error:
        if batch.num_rows > 1:  # one by one, so that each problem names its row
            for place in range(batch.num_rows):
                yield from parsed(batch.slice(place, 1), row_type, file, first + place, found)
            return
        lines = error_lines(error) if isinstance(error, ValidationError) else [str(error)]
        for line in lines:
            found.add(file.label, first, line.removeprefix("[0]."))
        return
    if not same:
        if batch.num_rows > 1:
            for place in range(batch.num_rows):
                yield from parsed(batch.slice(place, 1), row_type, file, first + place, found)
            return
        back = to_arrow(rows, row_type)
        names = [name for name in back.schema.names if back[name].combine_chunks() != batch.column(name)]
        found.add(file.label, first, f"{names[0]} does not round-trip (is its JSON canonical?)")
    for place, row in enumerate(rows):
        yield first + place, row
