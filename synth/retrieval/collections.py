"""What pages can be told apart by (kind, folder, year, licence), and collections that are divided by it.

An agent searches each collection with a tool of its own (HierSearch, MARAG-R1).
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, StringConstraints, model_validator

from synth.errors import InputError
from synth.schemas.described import Described
from synth.schemas.documents import DISTRACTOR

__all__ = ["FIELDS", "Collections", "Divided", "belongs", "field_values"]

PageField = Literal["kind", "folder", "year", "licence"]
FIELDS: tuple[PageField, ...] = ("kind", "folder", "year", "licence")
_SHOWN = 8
"""Values that an error names."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class Collections(Described):
    """Pages in several collections, each with a search tool of its own: ``search_<name>``."""

    by: PageField = "folder"
    """What divides the pages: their ``kind``, the ``folder`` of their path (one below it belongs to it), the ``year``
    of their date, or their ``licence``."""
    of: dict[Name, tuple[str, ...]]
    """Name of each collection -> the values that belong to it; ``[]`` for one of them: all that are left."""
    spanned: int = Field(default=1, ge=1)
    """Tasks whose evidence lies in fewer collections are rejected (``one_collection``)."""

    @model_validator(mode="after")
    def _several(self) -> Collections:
        if len(self.of) < 2:
            raise ValueError("of must name at least two collections")
        if sum(not values for values in self.of.values()) > 1:
            raise ValueError("of: only one collection can hold all that are left")
        given = [value for values in self.of.values() for value in values]
        twice = next((value for value, count in Counter(given).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"of: {twice!r} is in two collections")
        if self.spanned > len(self.of):
            raise ValueError(f"spanned is {self.spanned}, and there are {len(self.of)} collections")
        return self


class Divided:
    """The pages of a table in their collections."""

    def __init__(self, wanted: Collections, documents: pa.Table) -> None:
        """
        Raises:
            InputError: a collection has no page; the line says which values there are.
        """
        self.wanted = wanted
        values = field_values(documents, wanted.by)
        names = list(wanted.of)
        rest = next((number for number, name in enumerate(names) if not wanted.of[name]), -1)
        known = {value: self._number(value, rest) for value in dict.fromkeys(values)}
        self._number_of = np.array([known[value] for value in values], dtype=np.int32)
        self._ids = documents.column("id")
        for number, name in enumerate(names):
            if not (self._number_of == number).any():
                common = Counter(value for value in values if value is not None).most_common(_SHOWN)
                there = ", ".join(f"{value} ({count})" for value, count in common) or "none"
                raise InputError(
                    f"no page is in the collection {name}",
                    where="environment.collections",
                    mend=f"pages have by {wanted.by}: {there}",
                )

    def _number(self, value: str | None, rest: int) -> int:
        for number, values in enumerate(self.wanted.of.values()):
            if value is not None and any(belongs(value, one, self.wanted.by) for one in values):
                return number
        return rest

    def rows(self, name: str) -> NDArray[np.bool_]:
        """Of each page whether it is in the collection: ``(n,) bool``."""
        found: NDArray[np.bool_] = self._number_of == list(self.wanted.of).index(name)
        return found

    def held(self, documents: tuple[str, ...]) -> dict[str, str]:
        """Id of each of ``documents`` -> its collection; those in none are left out."""
        rows = {name: row for row, name in enumerate(self._ids.to_pylist())} if not self._rows else self._rows
        self._rows = rows
        names = list(self.wanted.of)
        found = {name: int(self._number_of[rows[name]]) for name in documents if name in rows}
        return {name: names[number] for name, number in found.items() if number >= 0}

    _rows: Mapping[str, int] = {}


def field_values(documents: pa.Table, field: str) -> list[str | None]:
    """What each page has as ``field``; None where it has none."""
    if field in ("kind", "licence"):
        found: list[Any] = documents.column(field).to_pylist()
        return [None if value == DISTRACTOR else value for value in found]
    if field == "year":
        return [date[:4] if date else None for date in documents.column("date").to_pylist()]
    return [posixpath.dirname(path) or None if path else None for path in documents.column("path").to_pylist()]


def belongs(value: str, wanted: str, field: str) -> bool:
    """Whether a page of ``value`` is among those of ``wanted``: a folder holds what is below it."""
    return value == wanted or (field == "folder" and value.startswith(f"{wanted.rstrip('/')}/"))
