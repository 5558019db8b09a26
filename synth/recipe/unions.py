"""Unions of recipe keys, one branch for each entry of a table of the registry: what an installed package adds is named
in a recipe as ours is."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, create_model

from synth.registry import find, names

__all__ = ["union_of"]


def union_of(table: str, default: str | None = None) -> Any:
    """The keys of every entry of ``table``, told apart by ``kind``; ``default`` is meant where none is named."""
    branches = tuple(Annotated[_keys(table, name), Tag(name)] for name in names(table))

    def kind(value: Any) -> str | None:
        found = value.get("kind", default) if isinstance(value, dict) else getattr(value, "kind", default)
        return None if found is None else str(found)

    return Annotated[
        Union[branches],  # noqa: UP007
        Discriminator(
            kind,
            custom_error_type="kind",
            custom_error_message=f"there is no such kind; choose one of {', '.join(names(table))}",
        ),
    ]


def _keys(table: str, name: str) -> type[BaseModel]:
    entry = find(table, name)
    keys: type[BaseModel] | None = entry if isinstance(entry, type) else entry.keys
    if keys is not None:
        return keys
    kind: Any = Literal[name]
    return create_model(f"{name.title()}Keys", __config__=ConfigDict(frozen=True, extra="forbid"), kind=(kind, ...))
