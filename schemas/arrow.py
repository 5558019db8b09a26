"""Rows to Arrow and back, without loss.

Each row type has one explicit Arrow schema, never inferred from rows:

    str, enums, literals        string (literals that are integers: int64)
    int, float, bool            int64, float64, bool
    tuple[T, ...]               list<T>
    a row inside a row          struct
    a union of rows             ONE struct with the fields of all of them, null where a member lacks the field; the
                                discriminator ``class_`` says which member it is
    JsonObject, JsonList        string that holds canonical JSON

No Arrow maps or unions: ``datasets.load_dataset`` takes neither. All fields are nullable in Arrow; what may really be
null is what the row type says, and reading back validates it.

Work goes column by column, so tens of thousands of rows with long texts take seconds, not minutes.
"""

from __future__ import annotations

import json
import types
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from synth.schemas.adp import Trajectory, error_lines
from synth.schemas.row import SCHEMA_VERSION, JsonColumn, Row
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "RowError",
    "RowReader",
    "arrow_schema",
    "from_arrow",
    "parquet_json_columns",
    "row_adapter",
    "schema_difference",
    "streamed",
    "to_arrow",
    "to_plain",
    "trajectory_of",
]

R = TypeVar("R", bound=Row)

_BATCH = 8_192
"""Rows per record batch: an Arrow string array holds 2 GiB at most."""


class RowError(ValueError):
    """A row that its schema refuses, or a table of another schema. One line with row number and path."""


@cache
def arrow_schema(row_type: type[Row]) -> pa.Schema:
    """The one Arrow schema of a row type. Its metadata names the table and the schema version."""
    struct = _struct(row_type)
    metadata = {"synth.table": row_type.table or row_type.__name__, "synth.schema_version": SCHEMA_VERSION}
    return pa.schema(list(struct.type), metadata=metadata)


def parquet_json_columns(row_type: type[Row]) -> tuple[str, ...]:
    """Dotted paths of the fields that hold canonical JSON (``content.kwargs``: in each item of ``content``)."""
    return tuple(_struct(row_type).json_paths(""))


def to_arrow(rows: Iterable[R], row_type: type[R]) -> pa.Table:
    """The rows, in order, as a table with ``arrow_schema(row_type)``.

    Raises:
        RowError: a text has no UTF-8 form, or an integer does not fit in 64 bits.
        TypeError: a row is of another type.
    """
    schema = arrow_schema(row_type)
    struct = _struct(row_type)
    batches: list[pa.RecordBatch] = []
    chunk: list[R] = []
    done = 0
    for row in rows:
        if type(row) is not row_type:
            raise TypeError(f"row {done + len(chunk)} is a {type(row).__name__}, not a {row_type.__name__}")
        chunk.append(row)
        if len(chunk) == _BATCH:
            batches.append(_batch(chunk, struct, schema, done))
            done += len(chunk)
            chunk = []
    if chunk:
        batches.append(_batch(chunk, struct, schema, done))
    return pa.Table.from_batches(batches, schema=schema)


def _batch(rows: list[R], struct: _Struct, schema: pa.Schema, first: int) -> pa.RecordBatch:
    try:
        return pa.RecordBatch.from_arrays(struct.columns(rows), schema=schema)
    except (UnicodeError, OverflowError, pa.ArrowInvalid) as error:
        if len(rows) > 1:  # find the row, so that the message can name it
            half = len(rows) // 2
            _batch(rows[:half], struct, schema, first)
            _batch(rows[half:], struct, schema, first + half)
        name = getattr(rows[0], "id", None)
        raise RowError(f"row {first}{f' ({name})' if name else ''}: can't be stored: {error}") from error


def from_arrow(table: pa.Table | pa.RecordBatch, row_type: type[R]) -> list[R]:
    """The rows of a table, validated. Inverse of ``to_arrow``.

    Raises:
        RowError: the table has another schema, or a row breaks a rule of its type.
    """
    return _validated(to_plain(table, row_type), row_type)


def _validated(rows: list[dict[str, Any]], row_type: type[R]) -> list[R]:
    try:
        return row_adapter(row_type).validate_python(rows)
    except ValidationError as error:
        lines = error_lines(error)
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        raise RowError(f"row {lines[0]}{more}") from None


class RowReader(Generic[R]):
    """Single rows of a table of ``row_type``, in any order: what finding its columns costs is paid once."""

    def __init__(self, table: pa.Table, row_type: type[R]) -> None:
        self._row_type, self._struct = row_type, _struct(row_type)
        self._batches = [batch.columns for batch in table.to_batches()]
        self._ends = list(accumulate(len(columns[0]) for columns in self._batches))

    def row(self, number: int) -> R:
        """Raises RowError: the row breaks a rule of its type."""
        columns = self._batches[place := bisect_right(self._ends, number)]
        at = number - (self._ends[place] - len(columns[0]))
        fields = zip(self._struct.names, self._struct.children, columns, strict=True)
        return _validated([{name: child.at(column, at) for name, child, column in fields}], self._row_type)[0]


def streamed(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    """The values of ``columns``, row by row, a batch at a time: a million texts never stand in memory at once."""
    for batch in table.select(list(columns)).to_batches(max_chunksize=1024):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def to_plain(table: pa.Table | pa.RecordBatch, row_type: type[Row]) -> list[dict[str, Any]]:
    """The rows as plain objects: JSON decoded, unions reduced to the fields of the member that ``class_`` names.

    A field that another member owns stays when it is not null, so that validation refuses it by name.

    Raises:
        RowError: the table has another schema, or a JSON column holds no JSON.
    """
    schema = arrow_schema(row_type)
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not table.schema.equals(schema):
        if table.schema.names != schema.names:
            raise RowError(schema_difference(table.schema, schema))
        try:
            table = table.cast(schema)  # polars and datasets write other string types
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise RowError(schema_difference(table.schema, schema)) from error
    struct = _struct(row_type)
    rows: list[dict[str, Any]] = []
    for batch in table.to_batches():
        columns = [child.read(array) for child, array in zip(struct.children, batch.columns, strict=True)]
        rows.extend(dict(zip(struct.names, values, strict=True)) for values in zip(*columns, strict=True))
    return rows


def schema_difference(found: pa.Schema, wanted: pa.Schema) -> str:
    """In words, the first way in which two schemas differ."""
    missing = [name for name in wanted.names if name not in found.names]
    extra = [name for name in found.names if name not in wanted.names]
    if missing or extra:
        parts = [f"lacks column {missing[0]}"] if missing else []
        parts += [f"has an unknown column {extra[0]}"] if extra else []
        return f"the table {' and '.join(parts)}"
    if found.names != wanted.names:
        return f"the columns stand in another order: {', '.join(found.names)}"
    name = next(field.name for field in wanted if field.type != found.field(field.name).type)
    return f"column {name} is {found.field(name).type}, not {wanted.field(name).type}"


def trajectory_of(row: TrajectoryRow) -> Trajectory:
    """The ADP trajectory of a row, rebuilt from its ADP columns alone.

    Raises:
        pydantic.ValidationError: it breaks a rule of the protocol.
    """
    return Trajectory(**{name: getattr(row, name) for name in Trajectory.model_fields})


# --- one node per field type -----------------------------------------------------------------------------------------


class _Node(ABC):
    """How values of one type become an Arrow array, and come back."""

    type: pa.DataType

    @abstractmethod
    def build(self, values: list[Any]) -> pa.Array: ...

    @abstractmethod
    def read(self, array: pa.Array) -> list[Any]: ...

    def at(self, array: pa.Array, place: int) -> Any:
        """One of the values that ``read`` gives."""
        return self.read(array.slice(place, 1))[0]

    def json_paths(self, path: str) -> Iterator[str]:
        return iter(())


class _Leaf(_Node):
    def __init__(self, type_: pa.DataType) -> None:
        self.type = type_

    def build(self, values: list[Any]) -> pa.Array:
        return pa.array(values, self.type)

    def read(self, array: pa.Array) -> list[Any]:
        return array.to_pylist()  # type: ignore[no-any-return]

    def at(self, array: pa.Array, place: int) -> Any:
        return array[place].as_py()


class _Json(_Node):
    type = pa.string()

    def build(self, values: list[Any]) -> pa.Array:
        return pa.array([None if value is None else _ENCODER.encode(value) for value in values], self.type)

    def read(self, array: pa.Array) -> list[Any]:
        texts = array.to_pylist()
        try:
            return [None if text is None else json.loads(text) for text in texts]
        except json.JSONDecodeError as error:
            raise RowError(f"a JSON column holds text that is no JSON: {error}") from None

    def json_paths(self, path: str) -> Iterator[str]:
        yield path


# As ``synth.identity.canonical_json`` (a test compares them), which this layer may not import.
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class _List(_Node):
    def __init__(self, item: _Node) -> None:
        self.item = item
        self.type = pa.list_(item.type)

    def build(self, values: list[Any]) -> pa.Array:
        lengths = np.fromiter((0 if value is None else len(value) for value in values), np.int64, len(values))
        offsets = np.zeros(len(values) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        if offsets[-1] > np.iinfo(np.int32).max:
            raise OverflowError("more than 2^31 list items in one batch")
        flat = self.item.build([item for value in values if value is not None for item in value])
        absent = [value is None for value in values]
        mask = pa.array(absent) if any(absent) else None
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat, type=self.type, mask=mask)

    def read(self, array: pa.Array) -> list[Any]:
        offsets = array.offsets.to_pylist()
        first, last = offsets[0], offsets[-1]
        # Most lists of a row are empty, and rows are often read one by one: what an item is made of is not looked at.
        items = self.item.read(array.values.slice(first, last - first)) if last > first else []
        values: list[Any] = [items[start - first : stop - first] for start, stop in pairwise(offsets)]
        if array.null_count:
            present = array.is_valid().to_pylist()
            values = [value if valid else None for value, valid in zip(values, present, strict=True)]
        return values

    def at(self, array: pa.Array, place: int) -> Any:
        items = array[place].values
        return None if items is None else self.item.read(items) if len(items) else []

    def json_paths(self, path: str) -> Iterator[str]:
        return self.item.json_paths(path)


class _Struct(_Node):
    """A row type, or a union of row types told apart by ``class_``."""

    def __init__(self, members: Sequence[type[Row]]) -> None:
        fields: dict[str, _Node] = {}
        self.members: dict[str, frozenset[str]] = {}
        for member in members:
            names = frozenset(member.model_fields)
            if len(members) > 1:
                (tag,) = get_args(member.model_fields["class_"].annotation)
                self.members[tag] = names
            for name, info in member.model_fields.items():
                node = _node(info.annotation, tuple(info.metadata))
                if name not in fields:
                    fields[name] = node
                elif fields[name].type != node.type:
                    raise TypeError(f"{name} has two Arrow types in a union: {fields[name].type} and {node.type}")
        self.names = tuple(fields)
        self.children = tuple(fields.values())
        self.type = pa.struct([pa.field(name, node.type) for name, node in fields.items()])

    def columns(self, rows: Sequence[Any]) -> list[pa.Array]:
        if self.members:
            fields = [value.__dict__ for value in rows]
            return [
                child.build([values.get(name) for values in fields])
                for name, child in zip(self.names, self.children, strict=True)
            ]
        return [
            child.build(list(map(attrgetter(name), rows)))
            for name, child in zip(self.names, self.children, strict=True)
        ]

    def build(self, values: list[Any]) -> pa.Array:
        absent = [value is None for value in values]
        if not any(absent):
            return pa.StructArray.from_arrays(self.columns(values), fields=list(self.type))
        # Columns are built from the values that are there, then spread out: an absent struct is null in every child.
        mask = np.array(absent)
        places = pa.array(np.cumsum(~mask) - 1, mask=mask)
        columns = [column.take(places) for column in self.columns([value for value in values if value is not None])]
        return pa.StructArray.from_arrays(columns, fields=list(self.type), mask=pa.array(absent))

    def read(self, array: pa.Array) -> list[Any]:
        columns = [child.read(array.field(place)) for place, child in enumerate(self.children)]
        values: list[Any] = [dict(zip(self.names, fields, strict=True)) for fields in zip(*columns, strict=True)]
        if self.members:
            values = [self._reduced(value) for value in values]
        if array.null_count:
            values = [
                value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)
            ]
        return values

    def _reduced(self, value: dict[str, Any]) -> dict[str, Any]:
        own = self.members.get(value["class_"], frozenset())
        return {name: item for name, item in value.items() if item is not None or name in own}

    def json_paths(self, path: str) -> Iterator[str]:
        for name, child in zip(self.names, self.children, strict=True):
            yield from child.json_paths(f"{path}.{name}" if path else name)


_LEAVES: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def _node(annotation: Any, metadata: tuple[Any, ...] = ()) -> _Node:
    if any(isinstance(mark, JsonColumn) for mark in metadata):
        return _Json()
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *marks = get_args(annotation)
        return _node(inner, tuple(marks))
    if origin in (Union, types.UnionType):
        arms = [arm for arm in get_args(annotation) if arm is not type(None)]
        if len(arms) == 1:
            return _node(arms[0])
        return _Struct(arms)
    if origin is tuple:
        items = [item for item in get_args(annotation) if item is not Ellipsis]
        if len(set(items)) == 1:
            return _List(_node(items[0]))
    if origin is Literal and len(kinds := {type(value) for value in get_args(annotation)}) == 1:
        (kind,) = kinds
        if kind in (str, int):
            return _Leaf(_LEAVES[kind])
    if isinstance(annotation, type):
        if issubclass(annotation, Row):
            return _Struct([annotation])
        if issubclass(annotation, Enum) and issubclass(annotation, str):
            return _Leaf(pa.string())
        if annotation in _LEAVES:
            return _Leaf(_LEAVES[annotation])
    raise TypeError(f"{annotation!r} has no Arrow type; give it a row type, or mark it as JsonObject")


@cache
def _struct(row_type: type[Row]) -> _Struct:
    return _Struct([row_type])


@cache
def row_adapter(row_type: type[R]) -> TypeAdapter[list[R]]:
    """Validates lists of plain objects (``to_plain``) as rows. Made once per row type: that costs milliseconds."""
    return TypeAdapter(list[row_type])  # type: ignore[valid-type]
