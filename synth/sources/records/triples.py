"""Triples that come with a document: found in its text, or refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from synth.schemas.arrow import arrow_schema, from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity, ValueKind
from synth.schemas.rejections import Reason
from synth.schemas.row import NonEmpty, Row
from synth.sources.docs.graph import graph_tables as document_graph
from synth.text.sentences import spans

__all__ = ["Triple", "TripleError", "graph_tables", "locate"]

_ISO = re.compile(r"\d{4}-\d\d-\d\d$")
_YEAR = re.compile(r"[12]\d{3}$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?$")


class Triple(Row):
    """A fact that a document states, with the place where it does."""

    table: ClassVar[str | None] = "triples"

    document_id: NonEmpty
    subject: NonEmpty
    relation: NonEmpty
    object: NonEmpty
    start: int
    """Span of the quote or sentence, in code points of the document's text."""
    end: int


class TripleError(ValueError):
    """A triple that can't be used."""

    def __init__(self, reason: Reason, what: str) -> None:
        super().__init__(what)
        self.reason = reason


def locate(document: Document, item: Mapping[str, Any]) -> Triple:
    """The triple with its span in the document.

    Raises:
        TripleError: a part is missing, or neither the quote nor a sentence that names both ends is in the text.
    """
    parts = {}
    for name in ("subject", "relation", "object"):
        value = item.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            raise TripleError(Reason.MALFORMED, f"the triple has no {name}")
        parts[name] = " ".join(value.split())
    quote = item.get("quote")
    if quote is not None:
        place = document.text.find(quote) if isinstance(quote, str) and quote.strip() else -1
        if place < 0:
            raise TripleError(Reason.NO_EVIDENCE, f"the quote of {parts['relation']!r} is not in the text")
        start, end = place, place + len(quote)
    else:
        span = _stating(document, parts["subject"], parts["object"])
        if span is None:
            ends = f"{parts['subject'][:60]!r} and {parts['object'][:60]!r}"
            raise TripleError(Reason.NO_EVIDENCE, f"no sentence of the text names both {ends}")
        start, end = span
    return Triple(document_id=document.id, start=start, end=end, **parts)


def _stating(document: Document, subject: str, value: str) -> tuple[int, int] | None:
    """The first sentence that names both ends; the document's own subject may be left to its title."""
    about = subject.casefold() in (document.title.casefold(), *(alias.casefold() for alias in document.aliases))
    ends = [_whole(value)] if about else [_whole(subject), _whole(value)]
    for match in re.finditer(r"[^\n]+", document.text):
        for start, end in spans(document.text, *match.span()):
            if all(pattern.search(document.text, start, end) for pattern in ends):
                return start, end
    return None


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def graph_tables(documents: pa.Table, triples: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Entities and edges of ``documents`` (rows of ``Document``) and of ``triples`` (rows of ``Triple``).

    An end of a triple is the page that has it as its title or alias, else a thing of its own that only its name tells
    from others (kind ``thing``, no page). Objects that are ISO dates, years or plain numbers are values.
    """
    entities, edges = document_graph(documents)
    names: dict[str, int] = {}
    rows = from_arrow(entities, Entity)
    pages = frozenset(documents["id"].to_pylist())
    for entity in rows:
        if entity.id in pages:
            for name in (entity.name, *entity.aliases):
                names.setdefault(name.casefold(), entity.ordinal)
    numbers = {name: row for row, name in enumerate(documents["id"].to_pylist())}
    partitions = documents["partition"].to_pylist()
    new_entities: list[Entity] = []
    new_edges: list[Edge] = []

    def node(name: str, document: int) -> int:
        known = names.get(name.casefold())
        if known is None:
            known = names[name.casefold()] = len(rows) + len(new_entities)
            new_entities.append(
                Entity(
                    ordinal=known,
                    id=f"thing:{name.casefold()}",
                    name=name,
                    kind="thing",
                    document=-1,
                    partition=partitions[document],
                )
            )
        return known

    for triple in from_arrow(triples, Triple):
        document = numbers[triple.document_id]
        kind = _value_kind(triple.object)
        new_edges.append(
            Edge(
                subject=node(triple.subject, document),
                relation=triple.relation,
                object=node(triple.object, document) if kind == "entity" else -1,
                value=None if kind == "entity" else triple.object,
                value_kind=kind,
                document=document,
                start=triple.start,
                end=triple.end,
            )
        )
    if not new_edges:
        return entities, edges
    more = to_arrow(new_entities, Entity) if new_entities else arrow_schema(Entity).empty_table()
    return pa.concat_tables([entities, more]), pa.concat_tables([edges, to_arrow(new_edges, Edge)])


def _value_kind(text: str) -> ValueKind:
    if _ISO.match(text):
        return "date"
    if _YEAR.match(text):
        return "year"
    return "number" if _NUMBER.match(text) else "entity"
