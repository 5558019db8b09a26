"""The base of every row: frozen, typed, unknown fields refused."""

from __future__ import annotations

import math
import types
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from pydantic import AfterValidator, ConfigDict, Field

from synth.schemas.described import Described

__all__ = [
    "SCHEMA_VERSION",
    "Json",
    "JsonColumn",
    "JsonList",
    "JsonObject",
    "Key",
    "Ref",
    "Row",
    "Split",
    "row_types_of",
]

SCHEMA_VERSION = "1.25.0"
"""Version of our own tables. A test fails when a table's JSON Schema changes and this does not."""

Split = Literal["train", "validation", "test"]

Json = Any
"""A value that canonical JSON can hold: null, bool, int, finite float, str, list, object with string keys."""

_MAX_DEPTH = 200
_MAX_INT_BITS = 13_000
"""Python refuses to read back an integer of more than 4,300 digits."""


class JsonColumn:
    """Marks a field that Parquet stores as a canonical JSON string.

    Arrow merges structs that have different keys, so free-form objects (tool arguments, tool schemas, details)
    would come back with keys that the writer never wrote.
    """


class Key:
    """Marks a column whose value no two rows of a table share."""


@dataclass(frozen=True)
class Ref:
    """Marks a column that holds the id of a row of another table, or of several in a list."""

    table: str
    """Name of that table."""
    inherits: tuple[str, ...] = ()
    """Columns of the same name in which both rows agree."""


def _json(value: Any, depth: int = 0) -> Any:
    """A copy of ``value`` in plain JSON types, so that what Parquet gives back is equal to what went in.

    Raises:
        ValueError: something in it has no JSON form.
    """
    kind = type(value)
    if value is None or kind is bool or kind is str:
        if kind is str and not value.isascii():
            _encodable(value)
        return value
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested deeper than {_MAX_DEPTH} levels")
    if kind is dict:
        return {_key(key): _json(item, depth + 1) for key, item in value.items()}
    if kind is list:
        return [_json(item, depth + 1) for item in value]
    if isinstance(value, str):
        return _json(str.__str__(value), depth)
    if isinstance(value, int):
        if value.bit_length() > _MAX_INT_BITS:
            raise ValueError("an integer of more than 3,900 digits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value!r} has no JSON form")
        return float(value)
    if isinstance(value, dict):
        return {_key(key): _json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, depth + 1) for item in value]
    raise ValueError(f"a value of type {kind.__name__} has no JSON form")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"key {key!r} is not a string")
    return key if type(key) is str and key.isascii() else str(_json(key))


def _encodable(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate has no UTF-8 form") from None


def _json_items(value: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    return tuple(_json(item) for item in value)


JsonObject = Annotated[dict[str, Json], AfterValidator(_json), JsonColumn()]
JsonList = Annotated[tuple[dict[str, Json], ...], AfterValidator(_json_items), JsonColumn()]
"""Free-form objects in order, all in one JSON string."""


class Row(Described):
    """One row of a table, or a struct inside one."""

    model_config = ConfigDict(validate_default=True, allow_inf_nan=False)

    table: ClassVar[str | None] = None
    """Name of the table (a Hub config, or a table of the store) whose rows these are; None for structs."""
    unique_together: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Columns whose values together no two rows of the table share, beside those marked as :class:`Key`."""


NonEmpty = Annotated[str, Field(min_length=1)]


def row_types_of(annotation: Any) -> list[type[Row]]:
    """The row types that a field's annotation holds, whatever is wrapped around them."""
    if isinstance(annotation, type) and issubclass(annotation, Row):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple):
        return [row_type for arm in get_args(annotation) for row_type in row_types_of(arm)]
    return []
