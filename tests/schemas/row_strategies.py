"""Hypothesis strategies for any row type, made from its annotations: all values that the type allows."""

from __future__ import annotations

import types
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import MinLen
from hypothesis import strategies as st
from pydantic import StringConstraints
from pydantic.fields import FieldInfo

from synth.schemas.row import JsonColumn, Row

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["", "\x00", "\U0001f9ed", "e\u0301", "a\r\nb\u2028", '"\\', "null", "{}", " "]),
)
INT64 = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, -(2**63), 2**63 - 1]))
FLOAT = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 5e-324, 1.7976931348623157e308, 0.1, 1.0]),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([2**200, -(10**60)]) | FLOAT | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def deep(levels: int) -> dict[str, Any]:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return {"root": value}


OBJECT = st.one_of(st.dictionaries(TEXT, JSON, max_size=3), st.just({}), st.just(deep(150)))


def rows_of(row_type: type[Row]) -> st.SearchStrategy[Any]:
    """Rows with every field drawn; rules beyond the types (those of ``Trajectory``) are not heeded."""
    return st.builds(
        row_type,
        **{
            name: _values(info.annotation, tuple(info.metadata), info.is_required())
            for name, info in row_type.model_fields.items()
        },
    )


def _values(annotation: Any, marks: tuple[Any, ...] = (), required: bool = True) -> st.SearchStrategy[Any]:
    if any(isinstance(mark, JsonColumn) for mark in marks):
        if get_origin(annotation) is tuple:
            return st.lists(OBJECT, max_size=2).map(tuple)
        return OBJECT
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        # Inside a type, what Field() says is not taken apart yet.
        marks = tuple(part for mark in more for part in (mark.metadata if isinstance(mark, FieldInfo) else (mark,)))
        return _values(inner, marks)
    if origin in (Union, types.UnionType):
        return st.one_of([_values(arm) for arm in get_args(annotation)])
    if annotation is type(None):
        return st.none()
    if origin is tuple:
        items = get_args(annotation)
        if items[-1] is Ellipsis:
            return st.lists(_values(items[0]), max_size=3).map(tuple)
        return st.tuples(*map(_values, items))
    if origin is Literal:
        return st.sampled_from(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Row):
        return st.deferred(lambda: rows_of(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    if annotation is str:
        for mark in marks:
            if isinstance(mark, StringConstraints) and isinstance(mark.pattern, str):
                return st.from_regex(mark.pattern, fullmatch=True)
        return TEXT.filter(bool) if any(isinstance(mark, MinLen) for mark in marks) else TEXT
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return INT64
    if annotation is float:
        return FLOAT
    raise TypeError(f"no strategy for {annotation!r}")
