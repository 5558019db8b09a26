"""What an observation shows, typed. Each environment writes it as text and reads that text back: see ``pages`` and
``triples``; nothing else looks into the text of an observation for its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from synth.environments.passages import End, Link, Passage, Triple, loose_passages, passages_of
from synth.environments.rendering import find_links, link

__all__ = [
    "Count",
    "Facts",
    "Heading",
    "Headings",
    "Hit",
    "Hits",
    "Listed",
    "Listing",
    "Match",
    "Matches",
    "Page",
    "Relations",
    "Result",
    "Rows",
    "Shown",
    "Text",
    "listing",
    "read_hits",
]

_HIT = re.compile(r"\d+\. (\[.*\)) *")


@dataclass(frozen=True)
class Listed:
    """A relation that an entity has: in which direction, how many facts, and the kinds of thing at their far ends."""

    relation: str
    direction: str
    """``out``: the entity is the subject; ``in``: it is the object; ``both``: the relation is symmetric."""
    facts: int
    kinds: tuple[str, ...]

    @property
    def label(self) -> str:
        """As an observation writes it, and a thought quotes it: ``author (in)``."""
        return f"{self.relation} ({self.direction})"


@dataclass(frozen=True)
class Hit:
    """A result: a document or an entity."""

    title: str
    document: str
    text: str
    """What stands below the title: a snippet, or what kind of thing it is."""


@dataclass(frozen=True)
class Match:
    """A place where a text was found."""

    page: int
    character: int
    text: str
    """The line around it, links as markdown."""


class Shown:
    """What one observation shows. Each kind of observation is a subclass."""

    @property
    def about(self) -> str:
        """The document that it is a page of or was searched, the entity whose facts it lists; empty for anything
        else."""
        return ""

    @property
    def passages(self) -> tuple[Passage, ...]:
        return ()

    @property
    def results(self) -> tuple[Hit, ...]:
        """Documents and entities that it lists."""
        return ()

    @property
    def relations(self) -> tuple[Listed, ...]:
        """Relations that it says the entity has."""
        return ()


@dataclass(frozen=True)
class Hits(Shown):
    query: str
    hits: tuple[Hit, ...]

    @property
    def results(self) -> tuple[Hit, ...]:
        return self.hits

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(
            passage
            for hit in self.hits
            for passage in loose_passages(hit.text.split("\n"), hit.document.split("#", 1)[0], hit.title)
        )


@dataclass(frozen=True)
class Page(Shown):
    """A page of a document."""

    title: str
    document: str
    page: int
    pages: int
    text: str
    """Markdown: headings, links."""

    @property
    def about(self) -> str:
        return self.document.split("#", 1)[0]

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return passages_of(self.text, self.about, self.title, self.page)


@dataclass(frozen=True)
class Matches(Shown):
    """The places of a text in a document."""

    pattern: str
    title: str
    document: str
    pages: int
    """How many the document has."""
    total: int
    """How many matches there are; more than ``found`` where only the first are shown."""
    found: tuple[Match, ...] = ()

    @property
    def about(self) -> str:
        return self.document.split("#", 1)[0]

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(
            passage for match in self.found for passage in passages_of(match.text, self.about, self.title, match.page)
        )


@dataclass(frozen=True)
class Heading:
    """A heading of a document, and the page that it stands on."""

    page: int
    level: int
    text: str


@dataclass(frozen=True)
class Headings(Shown):
    """The outline of a document."""

    title: str
    document: str
    pages: int
    total: int
    """How many headings there are; more than ``found`` where only the first are shown."""
    found: tuple[Heading, ...] = ()

    @property
    def about(self) -> str:
        return self.document.split("#", 1)[0]

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(Passage(found.text, (), self.about, self.title, found.page, found.text) for found in self.found)


@dataclass(frozen=True)
class Listing(Shown):
    """Documents that have a value in a field."""

    field: str
    value: str
    total: int
    page: int
    pages: int
    hits: tuple[Hit, ...]

    @property
    def results(self) -> tuple[Hit, ...]:
        return self.hits


@dataclass(frozen=True)
class Count(Shown):
    """How many documents hold words."""

    words: str
    field: str
    """With ``value`` says which documents were looked at; empty for all."""
    value: str
    number: int
    of: int

    @property
    def passages(self) -> tuple[Passage, ...]:
        return (Passage(f"{self.number} of {self.of} pages hold {self.words}.", (), "", ""),)


@dataclass(frozen=True)
class Result(Shown):
    """What a calculator gives."""

    expression: str
    value: str

    @property
    def passages(self) -> tuple[Passage, ...]:
        return (Passage(f"{self.expression} = {self.value}", (), "", ""),)


@dataclass(frozen=True)
class Rows(Shown):
    """What a query of tables gives."""

    sql: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    """How many there are; more than ``rows`` where only the first are shown."""

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(Passage(" | ".join(row), (), "", "") for row in self.rows)


@dataclass(frozen=True)
class Relations(Shown):
    """The relations of an entity."""

    thing: End
    description: str
    """What kind of thing it is, and by which names it goes."""
    total: int
    page: int
    pages: int
    listed: tuple[Listed, ...]

    @property
    def about(self) -> str:
        return self.thing.id

    @property
    def relations(self) -> tuple[Listed, ...]:
        return self.listed

    @property
    def passages(self) -> tuple[Passage, ...]:
        return (Passage(self.description, (), self.thing.id, self.thing.name),)


@dataclass(frozen=True)
class Facts(Shown):
    """Facts of an entity by one relation."""

    thing: End
    relation: str
    way: str
    """``out``, ``in``, ``both``, or ``out and in``."""
    total: int
    page: int
    pages: int
    facts: tuple[Triple, ...]

    @property
    def about(self) -> str:
        return self.thing.id

    @property
    def label(self) -> str:
        return f"{self.relation} ({self.way})"

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(
            Passage(
                fact.text(),
                tuple(Link(end.name, end.id) for end in (fact.subject, fact.object) if end.id),
                self.thing.id,
                self.thing.name,
                self.page,
                self.label,
                fact=fact,
                symmetric=self.way == "both",
            )
            for fact in self.facts
        )


@dataclass(frozen=True)
class Text(Shown):
    """Anything else: only its words count, and the numbered links of a list."""

    text: str

    @cached_property
    def results(self) -> tuple[Hit, ...]:
        return read_hits(self.text.split("\n"))

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        lines = self.text.split("\n")
        first = next((number for number, line in enumerate(lines) if _result(line) is not None), len(lines))
        return (*loose_passages(lines[:first], "", ""), *Hits("", self.results).passages)


def listing(hits: Iterable[Hit]) -> Iterator[str]:
    """The lines of numbered results."""
    for number, hit in enumerate(hits, start=1):
        yield f"{number}. {link(hit.title, hit.document)}\n   {hit.text}"


def read_hits(lines: Iterable[str]) -> tuple[Hit, ...]:
    """What ``listing`` wrote; lines between two results belong to the first."""
    found: list[tuple[Link, list[str]]] = []
    for line in lines:
        item = _result(line)
        if item is not None:
            found.append((item, []))
        elif found:
            found[-1][1].append(line.removeprefix("   "))
    return tuple(Hit(item.anchor, item.place, "\n".join(below)) for item, below in found)


def _result(line: str) -> Link | None:
    match = _HIT.fullmatch(line)
    found = list(find_links(match[1])) if match else []
    return Link(found[0].anchor, found[0].target) if len(found) == 1 else None
