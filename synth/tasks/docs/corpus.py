"""Documents, entities and edges as a question writer needs them: by name, by relation, with their words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from synth.schemas.documents import Document, Edge, Entity, Evidence
from synth.schemas.row import Split
from synth.schemas.tasks import Node
from synth.tasks.docs.hubs import hub_documents
from synth.text.articles import counted_nouns
from synth.text.shell_lines import code_commands
from synth.text.words import FUNCTION_WORDS, tokens

__all__ = ["Corpus", "Documents"]


_KEPT_TEXTS = 1024
"""Texts of documents that are kept decoded."""
_SAMPLED, _MANY_PAGES, _SOME_PAGES = 2000, 12, 3
_EVERYWHERE, _OFTEN = 0.35, 0.15
_FEW_PAGES, _MOST, _OFTEN_NAMED = 5, 0.7, 20
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z]\w+\b")
_LEAST_TEXT = 200
_ENGLISH = 0.1
_ENOUGH_TEXT, _MUCH_TEXT = 4000, 100_000
_INSIDE = re.compile(r"(?<=[a-z,] )[A-Za-z][a-z]+\b")
_LEGAL = re.compile(r"(?:.* )?(?:licen[cs]es?|copying|copyrights?|legal(?: notice)?)", re.IGNORECASE)
_GRANTS = re.compile(r"\b(?:permission is (?:hereby )?granted|without warranty|copyright holders?)\b", re.IGNORECASE)
_OF_CHANGES = re.compile(
    r"(?:.* )?(?:change ?logs?|release notes?|what.s new\b.*|changes(?: (?:in|since|from|between) .*)?"
    r"|release announcements?|(?:version|release|revision|project)? ?history|news|releases?)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?![\w.]*\w)")
_MANY_VERSIONS = 6
_STOPS = (".", "!", "?", "。")


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
        for number, edge in enumerate(edges):
            self.out[edge.subject][edge.relation].append(number)
        self.hubs = hub_documents(
            self.columns.kinds,
            [entity.document for entity in entities],
            ((edge.relation, edge.object, edge.document) for edge in edges),
            hub_share,
        )
        """Rows of documents that no split owns."""
        self.called = Counter((entity.kind, entity.name.casefold()) for entity in entities)
        """How many things of a kind go by a name (case-folded): only the only one can be called by it alone."""
        self._names = Counter(
            name for entity in entities for name in {each.casefold() for each in (entity.name, *entity.aliases)}
        )
        self.ends = Counter((entity.kind, entity.name.replace("::", ".").rpartition(".")[2]) for entity in entities)
        """How many things of a kind have a name that ends so: "Database" of "Xapian::Database"."""
        self.on_page = Counter((entity.document, entity.name.casefold()) for entity in entities)
        """How many things of a page go by a name."""
        self.titled = Counter(
            title for row, title in enumerate(self.columns.titles) if len(self.text(row)) >= _LEAST_TEXT
        )
        """Titles of pages that say something: "This page has moved" is no other page of the name."""
        self.pages = {
            entity.document: entity.ordinal
            for entity in entities
            if entity.document >= 0 and self.is_page(entity.ordinal)
        }
        """Row of a document -> the entity that it is as a whole."""
        self.page_named = Counter(entities[page].name.casefold() for page in self.pages.values())
        told = [_is_english(self.text(row)) for row in range(len(self.columns.ids))]
        self.english = frozenset(row for row, english in enumerate(told) if english is not False and self._says(row))
        """Rows of documents whose sentences the grammar of questions can take apart, and that are no licence."""
        few = told.count(True) < _ENGLISH * len(told)
        self.asked = frozenset(range(len(self.columns.ids))) if few else self.english
        """Rows of documents whose things have names for questions: of a manual in many languages those in English."""
        self.row_of = {name: row for row, name in enumerate(self.columns.ids)}

    def text(self, row: int) -> str:
        found = self._texts.get(row)
        if found is None:
            if len(self._texts) >= _KEPT_TEXTS:
                self._texts.pop(next(iter(self._texts)))
            found = self._texts[row] = str(self._text_column[row].as_py())
        return found

    def _says(self, row: int) -> bool:
        """Whether a page is worth asking about. Licence texts are not, nor are lists of what versions changed, whose
        sentences say what was wrong as well as what is."""
        title = self.columns.titles[row]
        stem = re.sub(r"[-_]+", " ", self.columns.ids[row].rpartition("/")[2].partition(".")[0])
        if _OF_CHANGES.fullmatch(title) or _OF_CHANGES.fullmatch(stem):
            return len(_VERSION.findall(self.text(row))) < _MANY_VERSIONS
        return _LEGAL.fullmatch(self.columns.titles[row]) is None or _GRANTS.search(self.text(row)) is None

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

    @cached_property
    def commands(self) -> frozenset[str]:
        """The commands of two words that lines of code begin with."""
        rows = range(len(self.columns.ids))
        return frozenset(command for row in rows for command in code_commands(self.text(row)))

    @cached_property
    def counted(self) -> tuple[frozenset[str], frozenset[str]]:
        """Nouns that the pages count ("a postbox"), and words that they write without an article."""
        return counted_nouns(self.text(row) for row in range(len(self.columns.ids)))

    @cached_property
    def _share(self) -> dict[str, float]:
        """Word -> share of the pages that have it, by some thousand pages. A few long pages, as the books of a project,
        share too many words: there the titles tell."""
        rows = range(0, len(self.columns.ids), max(1, len(self.columns.ids) // _SAMPLED))
        texts = map(self.text, rows) if len(rows) >= _MANY_PAGES else map(self.columns.titles.__getitem__, rows)
        found = Counter(word for text in texts for word in set(tokens(text)))
        # A single book is about what its title names; of two books nothing can be said.
        enough = len(rows) == 1 or len(rows) >= _SOME_PAGES
        return {word: count / len(rows) for word, count in found.items()} if enough else {}

    @cached_property
    def _inside(self) -> Counter[str]:
        """Words as they are written inside sentences, by some thousand pages."""
        rows = range(0, len(self.columns.ids), max(1, len(self.columns.ids) // _SAMPLED))
        return Counter(word for row in rows for word in _INSIDE.findall(self.text(row)))

    def is_common(self, name: str) -> bool:
        """Whether a word with a capital is written without one inside sentences: it opened the sentence."""
        return self._inside[name.lower()] > 4 * self._inside[name]

    def is_proper(self, name: str) -> bool:
        """Whether a word has its capital inside sentences, too, or is no plain word and names a page or thing."""
        with_capital, without = self._inside[name], self._inside[name.lower()]
        return with_capital > without or (not without and bool(self.goes_by(name)))

    @cached_property
    def near(self) -> dict[int, set[int]]:
        """Row of a document -> those that link to it or that it links to, and its own."""
        found = {row: {row} for row in range(len(self.columns.ids))}
        for edge in self.edges:
            target = self.entities[edge.object].document if edge.object >= 0 else -1
            if target >= 0 and not {edge.document, target} & self.hubs:
                found[edge.document].add(target)
                found[target].add(edge.document)
        return found

    def is_everywhere(self, name: str) -> bool:
        """Whether all pages are about what goes by a name: the program, the language, the library."""
        return name in self._on_all or all(self._share.get(word, 0) >= _EVERYWHERE for word in tokens(name))

    def is_word_of_many_pages(self, name: str) -> bool:
        """Whether many pages have the words of a name, so that which one is meant depends on the page: the rows of a
        game, where each page is about another game."""
        many = len(self.columns.ids) >= _MANY_PAGES
        return many and all(self._share.get(word, 0) >= _OFTEN for word in tokens(name))

    @cached_property
    def _on_all(self) -> set[str]:
        """Proper names that most of a few pages hold, as a small manual holds its program's."""
        rows = range(len(self.columns.ids))
        if len(rows) < _FEW_PAGES:
            named = Counter(name for row in rows for name in _PROPER.findall(self.text(row)))
            return {name for name, count in named.items() if count >= _OFTEN_NAMED and not self.is_common(name)}
        if len(rows) >= _MANY_PAGES:
            return set()
        found = Counter(name for row in rows for name in set(_PROPER.findall(self.text(row))))
        return {name for name, count in found.items() if count >= _MOST * len(rows) and not self.is_common(name)}

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found = defaultdict(list)
        for entity in self.entities:
            found[entity.name.casefold()].append(entity.ordinal)
        return found

    def goes_by(self, name: str) -> Sequence[int]:
        """The things that go by a name."""
        return self._by_name.get(name.casefold(), ())

    @cached_property
    def _by_last(self) -> dict[str, list[int]]:
        found = defaultdict(list)
        for entity in self.entities:
            found[entity.name.replace("::", ".").rpartition(".")[2].casefold()].append(entity.ordinal)
        return found

    def goes_last_by(self, name: str) -> Sequence[int]:
        """The things whose name is, or ends in, another: "GitPoller" of "changes.gitpoller.GitPoller"."""
        return self._by_last.get(name.casefold(), ())

    def alone_but_on(self, name: str, row: int) -> bool:
        """Whether a page aside one thing alone goes by a name or alias."""
        here = sum(self.entities[entity].document == row for entity in self.goes_by(name))
        return self._names[name.casefold()] - here < 2

    def alone(self, name: str) -> bool:
        """Whether one thing alone goes by a name or alias."""
        return self._names[name.casefold()] < 2

    def is_page(self, entity: int) -> bool:
        """Whether the entity is a whole document, and no place in one."""
        found = self.entities[entity]
        return found.document >= 0 and found.id == self.columns.ids[found.document]

    def node(self, entity: int) -> Node:
        found = self.entities[entity]
        page = self.columns.ids[found.document] if found.document >= 0 else None
        return Node(id=found.id, name=found.name, aliases=found.aliases, kind=found.kind, document_id=page)


def _is_english(text: str) -> bool | None:
    """By its sentences, where there are some: a reference begins with signatures. None: it is too short to tell."""
    lines = (line for line in text[:_MUCH_TEXT].splitlines() if line.endswith(_STOPS) and line.count(" ") > 2)
    prose = " ".join(line for line in lines if "|" not in line)[:_ENOUGH_TEXT]
    sample = prose if len(prose) > _LEAST_TEXT else text[:_ENOUGH_TEXT]
    found = [word for word in tokens(sample) if word.isalpha()]
    return None if len(found) < 20 else sum(word in FUNCTION_WORDS for word in found) >= 0.12 * len(found)
