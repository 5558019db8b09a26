"""Facts as an agent reads them, one a line: ``- [Jane Ostry](person/ostry), author: [The Lamp](book/lamp)``.

``find_triple`` reads exactly what ``triple`` writes, so whoever judges an observation knows which fact it states, by
ids and by relation, and not only which names stand side by side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from synth.environments.rendering import find_links, link
from synth.text.dates import date_in_words

__all__ = [
    "End",
    "Heading",
    "Listed",
    "Triple",
    "find_heading",
    "find_listed",
    "find_triple",
    "heading",
    "listed",
    "shows",
    "triple",
    "written",
]

_HEADING = re.compile(r"\[.*\), (?:(relations)|.+ \((out|in|both|out and in)\)), page (\d+) of (\d+)")
_LISTED = re.compile(r"- (.+) \((out|in|both)\): ([\d,]+) facts?, (.*)")


@dataclass(frozen=True)
class End:
    """One end of a fact: a thing with its id, or a value (``id`` empty)."""

    name: str
    id: str = ""

    def markdown(self) -> str:
        return link(self.name, self.id) if self.id else " ".join(self.name.split())


@dataclass(frozen=True)
class Triple:
    """subject, relation: object."""

    subject: End
    relation: str
    object: End

    def line(self) -> str:
        """As an observation shows it."""
        return f"- {self.subject.markdown()}, {' '.join(self.relation.split())}: {self.object.markdown()}"

    def text(self) -> str:
        """As a thought quotes it: without ids."""
        return f"{self.subject.name}, {self.relation}: {self.object.name}"


def heading(thing: End, what: str, page: int, pages: int) -> str:
    """First line of a page about ``thing``: its ``relations``, or its facts by ``author (in)``."""
    return f"{thing.markdown()}, {what}, page {page} of {pages}"


@dataclass(frozen=True)
class Heading:
    """What a page says of itself."""

    thing: End
    what: str
    """``relations``, or the facts that it shows: ``author (in)``."""
    page: int
    pages: int


def find_heading(line: str) -> Heading | None:
    """What ``heading`` wrote; None for any other line."""
    match = _HEADING.fullmatch(line)
    first = next(find_links(line), None)
    if match is None or first is None or first.start:
        return None
    what = line[first.end + 2 : line.rindex(", page ")]
    return Heading(End(first.anchor, first.target), what, int(match[3]), int(match[4]))


def shows(line: str) -> str:
    """What a page begins that has ``line`` as its heading: ``relations``, or the direction of its facts (``out``,
    ``in``, ``both``, ``out and in``); empty for any other line."""
    match = _HEADING.fullmatch(line)
    return (match[1] or match[2]) if match else ""


def triple(subject: End, relation: str, object: End) -> str:
    """The line that states a fact."""
    return Triple(subject, relation, object).line()


def find_triple(line: str) -> Triple | None:
    """The fact that a line states; None when it is no such line. A relation that holds ``": "`` is read up to there
    where its object is a value."""
    if not line.startswith("- ["):
        return None
    links = list(find_links(line))
    if not links or links[0].start != 2 or not line.startswith(", ", links[0].end):
        return None
    subject = End(links[0].anchor, links[0].target)
    start = links[0].end + 2
    last = links[-1]
    if len(links) == 2 and last.end == len(line) and line.endswith(": ", start, last.start):
        return Triple(subject, line[start : last.start - 2], End(last.anchor, last.target))
    relation, colon, value = line[start:].partition(": ")
    if len(links) != 1 or not colon or not relation or not value:
        return None
    return Triple(subject, relation, End(value))


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


def listed(item: Listed) -> str:
    """The line that says that an entity has a relation."""
    count = "1 fact" if item.facts == 1 else f"{item.facts:,} facts"
    return f"- {' '.join(item.relation.split())} ({item.direction}): {count}, {', '.join(item.kinds)}"


def find_listed(line: str) -> Listed | None:
    """What a line of ``listed`` says; None for any other."""
    match = _LISTED.fullmatch(line)
    if match is None:
        return None
    kinds = tuple(kind for kind in match[4].split(", ") if kind)
    return Listed(match[1], match[2], int(match[3].replace(",", "")), kinds)


def written(value: str, kind: str) -> str:
    """A value as people write it: "14 March 1874", "1,204,500", "1,204 metres". What is not of the form that its kind
    promises (a user's own graph) stays as it is."""
    text = " ".join(value.split())
    if kind == "date" and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        try:
            return date_in_words(date.fromisoformat(text))
        except ValueError:
            return text
    number, blank, unit = text.partition(" ")
    if kind in ("number", "quantity") and re.fullmatch(r"\d+", number):
        return f"{int(number):,}{blank}{unit}"
    return text
