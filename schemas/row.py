"""The base of every row: frozen, typed, unknown fields refused."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["SCHEMA_VERSION", "Json", "JsonColumn", "JsonObject", "JsonScalar", "Row", "Split"]

SCHEMA_VERSION = "1.0.0"
"""Version of our own tables. A test fails when a table's JSON Schema changes and this does not."""

Split = Literal["train", "validation", "test"]

JsonScalar = str | int | float | bool | None
Json = Any
"""A value that canonical JSON can hold: null, bool, int, finite float, str, list, object with string keys."""


class JsonColumn:
    """Marks a field that Parquet stores as a canonical JSON string.

    Arrow merges structs that have different keys, so free-form objects (tool arguments, tool schemas, details)
    would come back with keys that the writer never wrote.
    """


JsonObject = Annotated[dict[str, Json], JsonColumn()]


class Row(BaseModel):
    """One row of a table, or a struct inside one."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True)

    table: ClassVar[str | None] = None
    """Name of the table (a Hub config, or a table of the store) whose rows these are; None for structs."""


NonEmpty = Annotated[str, Field(min_length=1)]
