"""JSON schemas of tool arguments with references resolved and nullable types reduced to their non-null type.

Servers built on typed models send schemas full of ``$ref``s, often with every argument inside one wrapper object.
Code that makes up arguments needs the schemas in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["spelled_out"]

_DEEPEST = 12
"""Levels that are followed, because a schema may refer to itself."""


def spelled_out(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with its internal references resolved and nullable types reduced to the non-null type. A reference
    that can't be resolved accepts anything."""
    return _spelled_out(schema, schema, _DEEPEST)


def _spelled_out(schema: Any, root: Mapping[str, Any], left: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or not left:
        return {}
    found = {name: value for name, value in schema.items() if name not in ("$defs", "definitions")}
    for inner in _alone(found, root):
        found = {**_spelled_out(inner, root, left - 1), **found}
    kinds = found.get("type")
    real = [kind for kind in kinds if kind != "null"] if isinstance(kinds, list) else []
    if len(real) == 1:
        found["type"] = real[0]
    if isinstance(found.get("properties"), Mapping):
        inner = found["properties"]
        found["properties"] = {name: _spelled_out(one, root, left - 1) for name, one in inner.items()}
    if isinstance(found.get("items"), Mapping):
        found["items"] = _spelled_out(found["items"], root, left - 1)
    return found


def _alone(found: dict[str, Any], root: Mapping[str, Any]) -> list[Any]:
    """The schemas that ``found`` stands for: a reference, or the only non-null option. Their keywords are removed from
    ``found``."""
    alone = []
    reference = found.pop("$ref", None)
    if isinstance(reference, str):
        alone.append(_target(reference, root))
    for word in ("anyOf", "oneOf", "allOf"):
        options = found.get(word)
        real = [one for one in options if one != {"type": "null"}] if isinstance(options, list) else []
        if len(real) == 1 and "type" not in found:
            del found[word]
            alone.append(real[0])
    return alone


def _target(reference: str, root: Mapping[str, Any]) -> Any:
    place: Any = root
    for name in filter(None, reference.removeprefix("#").split("/")):
        place = place.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
    return place
