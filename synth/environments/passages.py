"""The sentences of a page, as an agent that reads the observation has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from synth.environments.rendering import find_links, link, plain
from synth.text.sentences import sentences, spans

__all__ = ["End", "Link", "Passage", "Triple", "loose_passages", "passages_of"]

_GAP = re.compile(r"\s…\s")
_HEADING = re.compile(r"#+ +(.*)")


@dataclass(frozen=True)
class Link:
    anchor: str
    place: str
    """What it leads to: ``document`` or ``document#place``."""

    @property
    def document(self) -> str:
        return self.place.split("#", 1)[0]


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


@dataclass(frozen=True)
class Passage:
    """A sentence of an observation, or a fact; links flattened."""

    text: str
    links: tuple[Link, ...]
    document: str
    """The document that it stands in, or the thing that the fact is about; empty when the observation does not say."""
    title: str
    """Title of that document."""
    page: int = 0
    heading: str = ""
    """The heading that it stands under."""
    parents: tuple[str, ...] = ()
    """Lines above that are indented less: the terms that it belongs to, outermost first."""
    fact: Triple | None = None
    symmetric: bool = False
    """Whether the fact reads the same from either end."""


def passages_of(markdown: str, document: str, title: str, page: int) -> tuple[Passage, ...]:
    """The sentences of a page, in order, each under its heading."""
    found: list[Passage] = []
    heading = ""
    above: list[tuple[int, str]] = []
    for line in markdown.split("\n"):
        if not line.strip():
            continue
        mark = _HEADING.match(line)
        if mark:
            heading = plain(mark[1]).strip()
            line = mark[1]
        flat, links = _flatten(line)
        indent = len(flat) - len(flat.lstrip())
        above = [(depth, text) for depth, text in above if depth < indent]
        parents = tuple(text for _, text in above)
        for start, end in spans(flat, capital=True):
            inside = tuple(item for at, item in links if start <= at < end)
            found.append(Passage(flat[start:end].strip(), inside, document, title, page, heading, parents))
        above.append((indent, flat.strip()))
    return tuple(passage for passage in found if passage.text)


def _flatten(line: str) -> tuple[str, list[tuple[int, Link]]]:
    parts: list[str] = []
    links: list[tuple[int, Link]] = []
    at = length = 0
    for item in find_links(line):
        parts += (line[at : item.start], item.anchor)
        length += item.start - at
        links.append((length, Link(item.anchor, item.target)))
        length += len(item.anchor)
        at = item.end
    parts.append(line[at:])
    return "".join(parts), links


def loose_passages(lines: Iterable[str], document: str, title: str) -> Iterator[Passage]:
    """Sentences of text with gaps: of a snippet, or of what no environment of ours wrote."""
    for piece in (piece for line in lines for piece in _GAP.split(line.strip())):
        for part in sentences(piece, capital=True):
            links = tuple(Link(item.anchor, item.target) for item in find_links(part))
            yield Passage(plain(part).strip(" …#"), links, document, title)
