"""Changing texts of a table, however deep they stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from synth.identity import canonical_json
from synth.schemas.arrow import arrow_schema, parquet_json_columns
from synth.schemas.row import Row

__all__ = ["TextChange", "changed"]

TextChange: TypeAlias = Callable[[Any, str], Any]
"""Gets a text, or an object within a row, and the name of its field; gives what is to stand there. An object comes
after what it holds."""

_NAMES = (
    "id",
    "name",
    "names",
    "title",
    "heading",
    "aliases",
    "target",
    "path",
    "url",
    "fragment",
    "provenance",
    "call",
)
"""Fields of ids, of names and of where things are: they tie rows together, and are no passages."""
_IDS = ("gold_entities", "gold_documents", "subject", "object", "true_object", "stated_object")


def changed(batch: pa.RecordBatch, row_type: type[Row], change: TextChange) -> pa.RecordBatch:
    """``batch`` with ``change`` of every text; JSON columns are opened, and closed in their canonical form."""
    json_paths = frozenset(parquet_json_columns(row_type))
    schema = arrow_schema(row_type)
    columns = []
    for field, array in zip(schema, batch.columns, strict=True):
        if not _kept(field.name) and _has_text(field.type):
            values = [_value(value, field.name, field.name, json_paths, change) for value in array.to_pylist()]
            array = pa.array(values, field.type)
        columns.append(array)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _value(value: Any, path: str, name: str, json_paths: frozenset[str], change: TextChange) -> Any:
    if isinstance(value, str):
        return canonical_json(_plain(json.loads(value), name, change)) if path in json_paths else change(value, name)
    if isinstance(value, list):
        return [_value(item, path, name, json_paths, change) for item in value]
    if isinstance(value, Mapping):
        held = {
            key: inner if _kept(key) else _value(inner, f"{path}.{key}", key, json_paths, change)
            for key, inner in value.items()
        }
        return change(held, name)
    return value


def _plain(value: Any, name: str, change: TextChange) -> Any:
    """The same within JSON, where a name of a field is the writer's own: only ids are left as they are."""
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, list):
        return [_plain(item, name, change) for item in value]
    if isinstance(value, dict):
        return change({key: inner if _is_id(key) else _plain(inner, key, change) for key, inner in value.items()}, name)
    return value


def _kept(name: str) -> bool:
    return name in _NAMES or name in _IDS or _is_id(name)


def _is_id(name: str) -> bool:
    return name in ("id", "call") or name.endswith(("_id", "_ids"))


def _has_text(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _has_text(kind.value_type)
    if pa.types.is_struct(kind):
        return any(_has_text(field.type) for field in kind)
    return bool(pa.types.is_string(kind))
