"""Models whose fields are described by the string below each. The strings are read on demand.

Pydantic can read those strings itself (``use_attribute_docstrings``), at every start of every process; that was a
fifth of the time until a command began to work.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic_core import CoreSchema

__all__ = ["Described", "description_of"]


class Described(BaseModel):
    """A frozen model without unknown fields. The string below a field is its description in the JSON schema."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, field in cls.model_fields.items():
            text = description_of(cls, name)
            shown = properties.get(field.alias or name)
            if text is not None and shown is not None:
                shown.setdefault("description", text)
        return schema


def description_of(model: type[BaseModel], name: str) -> str | None:
    """What the class that declares the field says of it: the ``description`` of its Field, or the string below it."""
    if (given := model.model_fields[name].description) is not None:
        return given
    for owner in model.__mro__:
        if name in inspect.get_annotations(owner):
            return _strings_of_module(owner.__module__).get(owner.__qualname__, {}).get(name)
    return None


@cache
def _strings_of_module(module: str) -> Mapping[str, Mapping[str, str]]:
    """The strings below the fields of each class of a module, by the class's qualified name."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError, SyntaxError):  # no source: typed at a prompt, or compiled
        return {}
    return {name: dict(_strings(node)) for name, node in _classes(tree, "")}


def _classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            yield from _classes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(child, f"{prefix}{child.name}.<locals>.")
        else:
            yield from _classes(child, prefix)


def _strings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
