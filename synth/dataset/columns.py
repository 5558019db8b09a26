"""What each column is, from the docstrings of the row types: for the card and for people."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

import pyarrow as pa

from synth.schemas.arrow import arrow_schema, parquet_json_columns
from synth.schemas.row import Row, row_types_of

__all__ = ["Column", "columns"]


@dataclass(frozen=True)
class Column:
    path: str
    """``content[].kwargs``: ``[]`` stands for each item of a list."""
    type: str
    """``string``, ``int64``, ``double``, ``bool``, ``struct``, ``list of string``, ``JSON``, ..."""
    text: str
    """One line; empty when the field's name says it all."""
    values: tuple[tuple[str, str], ...] = ()
    """What an enum may be, and what that means (empty where the code does not say)."""


@cache
def columns(row_type: type[Row]) -> tuple[Column, ...]:
    """All columns of a table, depth first, nested ones under their path."""
    found: list[Column] = []
    _walk([row_type], pa.struct(list(arrow_schema(row_type))), "", "", frozenset(parquet_json_columns(row_type)), found)
    return tuple(found)


def _walk(
    members: list[type[Row]], struct: pa.StructType, path: str, dotted: str, json: frozenset[str], found: list[Column]
) -> None:
    for field in struct:
        infos = [member.model_fields[field.name] for member in members if field.name in member.model_fields]
        place, key = f"{path}{field.name}", f"{dotted}{field.name}"
        inner = field.type
        while pa.types.is_list(inner):
            inner = inner.value_type
        children = row_types_of(infos[0].annotation) if pa.types.is_struct(inner) else []
        texts = [_line(info.description) for info in infos if info.description]
        if not texts and len(children) == 1:
            texts = [_line(inspect.getdoc(children[0]) or "").split(". ")[0]]
        if field.name == "class_":
            texts = [
                "Which of these the item is: " + ", ".join(f"`{m.model_fields['class_'].default}`" for m in members)
            ]
        name = "JSON" if key in json else _type_name(field.type)
        kinds = [kind for info in infos for kind in _enums(info.annotation)]
        values = tuple(pair for kind in dict.fromkeys(kinds) for pair in _members(kind))
        found.append(Column(place, name, " / ".join(dict.fromkeys(texts)), values))
        if pa.types.is_struct(inner):
            step = "[]." if pa.types.is_list(field.type) else "."
            _walk(children, inner, place + step, key + ".", json, found)


def _enums(annotation: Any) -> list[type[Enum]]:
    """The enums that a field's annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple):
        return [kind for arm in get_args(annotation) for kind in _enums(arm)]
    return []


@cache
def _members(kind: type[Enum]) -> tuple[tuple[str, str], ...]:
    """Value and docstring of each member: the string that stands below it in the source."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    said: dict[str, str] = {}
    for node, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(node, ast.Assign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            (target,) = node.targets
            if isinstance(target, ast.Name):
                said[target.id] = str(below.value.value)
    sentences = {member: getattr(member, "sentence", said.get(member.name)) for member in kind}
    return tuple((str(member.value), _line(text)) for member, text in sentences.items())


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct"
    return str(kind)


def _line(text: str | None) -> str:
    """A docstring as a line of the card: in the files, None is null."""
    return re.sub(r"\bNone\b", "null", " ".join((text or "").split()).replace("``", "`"))
