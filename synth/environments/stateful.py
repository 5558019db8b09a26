"""What a recipe's source and environment say together, where what is explored is also what agents act in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["STATEFUL", "stateful_options"]

STATEFUL = frozenset({"app", "mcp", "web"})
"""Sources that are explored rather than read: the environment of the same kind is made of them, and there are no
documents."""

_ABOUT = frozenset({"kind", "licence"})
"""Keys that say something about the source or the environment, and nothing to its factory."""


def stateful_options(source: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the factory of an environment of a kind of ``STATEFUL``, from a recipe's ``source`` and
    ``environment``; keys without a value are left out."""
    options = {**source, **place}
    found = {name: value for name, value in options.items() if name not in _ABOUT and value is not None}
    # In every dataset of an application the user can be asked: no recipe says it.
    return {**found, "user": True} if source.get("kind") == "app" else found
