"""Documents, entities and edges as a question writer needs them: by name, by relation, with their words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from synth.schemas.documents import Document, Edge, Entity, Evidence
from synth.schemas.row import Split
from synth.schemas.tasks import Node
from synth.tasks.docs.hubs import hub_documents
from synth.text.words import tokens

__all__ = ["Corpus", "Documents"]


_KEPT_TEXTS = 1024
"""Texts of documents that are kept decoded."""


class Documents(Protocol):
    """A finished ``documents`` table (:class:`synth.stages.contract.Table`)."""

    @property
    def arrow(self) -> pa.Table: ...

    def __len__(self) -> int: ...

    def row(self, number: int) -> Any: ...


@dataclass(frozen=True)
class _Columns:
    ids: list[str]
    titles: list[str]
    kinds: list[str]
    partitions: list[Split]
    licences: list[str | None]


class Corpus:
    """Everything that questions are made of. Read-only; texts are fetched from the table when they are needed.

    Args:
        documents: the ``documents`` table.
        entities, edges: what :func:`synth.sources.docs.graph.graph_tables` made of it.
        hub_share: pages that more than this share of all pages link to belong to no split ("hubs"), as index pages do.
    """

    def __init__(
        self, documents: Documents, entities: Sequence[Entity], edges: Sequence[Edge], *, hub_share: float
    ) -> None:
        arrow = documents.arrow
        self.documents = documents
        self._text_column = arrow["text"]
        self._texts: dict[int, str] = {}
        self.columns = _Columns(*(arrow[name].to_pylist() for name in ("id", "title", "kind", "partition", "licence")))
        self.entities = entities
        self.edges = edges
        self.out: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.into: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.by_value: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, edge in enumerate(edges):
            self.out[edge.subject][edge.relation].append(number)
            if edge.object >= 0:
                self.into[edge.object][edge.relation].append(number)
            elif edge.value is not None and edge.relation != "described_as":
                self.by_value[edge.relation, edge.value].append(number)
        self.hubs = hub_documents(
            self.columns.kinds,
            [entity.document for entity in entities],
            ((edge.relation, edge.object, edge.document) for edge in edges),
            hub_share,
        )
        """Rows of documents that no split owns."""
        self.called = Counter((entity.kind, entity.name.casefold()) for entity in entities)
        """How many things of a kind go by a name (case-folded): only the only one can be called by it."""
        names = Counter(word for entity in entities for word in set(name_words(entity.name)))
        bar = max(20, len(entities) // 100)
        self.generic = frozenset(word for word, count in names.items() if count >= bar)
        """Words that so many names contain that sharing one gives nothing away."""

    def text(self, row: int) -> str:
        found = self._texts.get(row)
        if found is None:
            if len(self._texts) >= _KEPT_TEXTS:
                self._texts.pop(next(iter(self._texts)))
            found = self._texts[row] = str(self._text_column[row].as_py())
        return found

    def document(self, row: int) -> Document:
        found = self.documents.row(row)
        assert isinstance(found, Document)
        return found

    def quote(self, edge: Edge) -> str:
        return self.text(edge.document)[edge.start : edge.end]

    def evidence(self, edge: Edge) -> Evidence:
        return Evidence(
            document_id=self.columns.ids[edge.document], start=edge.start, end=edge.end, quote=self.quote(edge)
        )

    def page_of(self, entity: int) -> int | None:
        row = self.entities[entity].document
        return row if row >= 0 else None

    def is_page(self, entity: int) -> bool:
        """Whether the entity is a whole document, and no place in one."""
        found = self.entities[entity]
        return found.document >= 0 and found.id == self.columns.ids[found.document]

    def node(self, entity: int) -> Node:
        found = self.entities[entity]
        page = self.columns.ids[found.document] if found.document >= 0 else None
        kind = "page" if self.is_page(entity) and found.kind != "module" else found.kind
        return Node(id=found.id, name=found.name, aliases=found.aliases, kind=kind, document_id=page)

    def naming(self, entity: int) -> str | None:
        """A noun phrase that names the entity in a sentence ("the pg_dump program"); None when another thing of its
        kind has the same name."""
        found = self.entities[entity]
        kind, name = found.kind, found.name
        if self.called[kind, name.casefold()] != 1:
            return None
        if kind in ("function", "coroutine", "method", "class method", "static method") and "." in name:
            return f"{name}()"
        if kind in ("chapter", "section", "appendix", "page", "part"):
            return f"the {kind} “{name}”" if not any(c in name for c in "“”") else None
        if kind == "index":
            return f"the chapter “{name}”"
        if kind == "list":
            return f"the list of {name[0].lower() + name[1:] if name[1:2].islower() else name}"
        if kind == "glossary term":
            return f"the term “{name}”"
        return f"the {name} {kind}" if len(name) < 60 else None

    def owned(self, rows: Iterable[int], split: Split) -> bool:
        """Whether every page of ``rows`` that is no hub belongs to ``split``."""
        return all(row in self.hubs or self.columns.partitions[row] == split for row in rows)

    def targets(self, entity: int, relation: str) -> set[int]:
        """Entities that ``relation`` leads to from ``entity``."""
        return {
            self.edges[number].object for number in self.out[entity].get(relation, ()) if self.edges[number].object >= 0
        }

    def sources(self, entity: int, relation: str) -> set[int]:
        """Entities from which ``relation`` leads to ``entity``."""
        return {self.edges[number].subject for number in self.into[entity].get(relation, ())}

    def values(self, entity: int, relation: str) -> set[str]:
        return {v for number in self.out[entity].get(relation, ()) if (v := self.edges[number].value) is not None}


_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")


def name_words(name: str) -> list[str]:
    """The words in a name: "FileExistsError" -> file, exists, error; "os.get_exec_path" -> os, get, exec, path."""
    found = tokens(name.replace("_", " ").replace(".", " ").replace("-", " "))
    for match in _CAMEL.finditer(name):
        if len(match.group()) > 2:
            found.append(match.group().lower())
    return list(dict.fromkeys(found))
