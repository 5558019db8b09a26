"""What an agent can ask of a collection beside searching it: pages by what they are, how many hold given words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from synth.environments.contract import ToolSchema, number_argument, text_argument
from synth.environments.shown import Count, Heading, Headings, Hit, Listing
from synth.retrieval.collections import FIELDS, belongs, field_values
from synth.schemas.documents import Document

__all__ = ["Catalogue", "DocumentTable", "headings", "page_at"]

_ON_PAGE = 20
"""Pages that one answer lists."""
_NAMED = 12
"""Values of a field that the tool names."""
_HEADINGS = 200
"""Headings that an outline shows."""


class DocumentTable(Protocol):
    @property
    def arrow(self) -> pa.Table: ...

    def __len__(self) -> int: ...

    def row(self, number: int) -> Any:
        """Row ``number`` as a ``Document``."""


class Catalogue:
    """Fields of pages, and which pages hold words."""

    def __init__(self, documents: pa.Table, holding: Callable[[str], Collection[int]] | None) -> None:
        """
        Args:
            holding: Row numbers of the pages that hold all of the words of a text; None = pages can't be counted.
        """
        self._documents = documents
        self._holding = holding

    @cached_property
    def fields(self) -> dict[str, list[str | None]]:
        """What tells pages apart -> what each page has."""
        found = {field: field_values(self._documents, field) for field in FIELDS}
        return {field: values for field, values in found.items() if len({*values} - {None}) > 1}

    def filter_tool(self) -> ToolSchema:
        """The tool that lists pages by a field."""
        about = {
            "field": {"type": "string", "enum": list(self.fields) or ["kind"], "description": "What pages have."},
            "value": text_argument(f"Its value: {self._values()}."),
            "page": number_argument("Which part of the list; the first if not given."),
        }
        return ToolSchema.of("filter", "List the pages that have a value in a field.", about, optional=("page",))

    def count_tool(self) -> ToolSchema:
        """The tool that counts pages."""
        about = {
            "words": text_argument("Words that a page must hold, all of them, in any form of upper and lower case."),
            "field": {"type": "string", "enum": list(self.fields) or ["kind"], "description": "Only pages that have"},
            "value": text_argument("this value in the field."),
        }
        words = "Count the pages that hold all of the given words."
        return ToolSchema.of("count", words, about, optional=("field", "value"))

    def _values(self) -> str:
        said = []
        for field, values in self.fields.items():
            common = Counter(value for value in values if value is not None).most_common(_NAMED + 1)
            names = ", ".join(value for value, _ in common[:_NAMED])
            said.append(f"{field}: {names}{', ...' if len(common) > _NAMED else ''}")
        return "; ".join(said) or "the kind of the pages"

    def listing(self, field: str, value: str, page: int) -> Listing | str:
        """Pages that have ``value``; words where there is no such part of the list."""
        rows = self._having(field, value)
        parts = max(1, -(-len(rows) // _ON_PAGE))
        if page > parts:
            return f"There is no part {page}: the list has {parts}."
        shown = rows[(page - 1) * _ON_PAGE : page * _ON_PAGE]
        titles, ids = self._documents.column("title"), self._documents.column("id")
        hits = tuple(Hit(str(titles[row].as_py()), str(ids[row].as_py()), "") for row in shown)
        return Listing(field, value, len(rows), page, parts, hits)

    def count(self, words: str, field: str, value: str) -> Count | str:
        """How many pages hold ``words``, or why there is no count: half a condition, or no index of words."""
        if self._holding is None:
            return "Pages can't be counted here."
        if bool(field) != bool(value):
            return "Give field and value together, or neither."
        among = range(len(self._documents)) if not field else self._having(field, value)
        return Count(words, field, value, len({*self._holding(words)} & {*among}), len(among))

    def _having(self, field: str, value: str) -> list[int]:
        values = self.fields.get(field, ())
        return [row for row, own in enumerate(values) if own is not None and belongs(own, value, field)]


def headings(document: Document, page_of: Callable[[int], int], pages: int) -> Headings:
    """The outline of a document."""
    found = [section for section in document.sections if section.heading.strip()]
    shown = tuple(
        Heading(page_of(section.start), max(1, section.level), " ".join(section.heading.split()))
        for section in found[:_HEADINGS]
    )
    return Headings(document.title, document.id, pages, len(found), shown)


def page_at(pages: Sequence[tuple[int, int]], offset: int) -> int:
    """Number, from 1, of the page that the code point ``offset`` stands on: the last one for what lies behind all."""
    return next((number for number, (_, end) in enumerate(pages, start=1) if offset < end), len(pages))
