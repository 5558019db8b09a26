"""A page as a parser reads it: text, and where its headings, terms and links stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from synth.schemas.documents import Section

__all__ = ["MalformedError", "Parsed", "Place", "RawLink", "sections_of", "without_spans"]


class MalformedError(ValueError):
    """The markup can't be read as a page. ``str`` says why."""


@dataclass(frozen=True)
class RawLink:
    start: int
    end: int
    href: str


@dataclass(frozen=True)
class Place:
    """A heading or term with the fragments that lead to it; level 0 = not a heading."""

    start: int
    end: int
    level: int
    kind: str
    names: tuple[str, ...]


@dataclass
class Parsed:
    """A page without its place in the source."""

    text: str
    title: str | None
    places: list[Place]
    links: list[RawLink]
    link_characters: int
    """Visible characters that stand in a link of any kind, also one that leads out of the source."""
    licence: str | None = None
    date: str | None = None
    url: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    head: str | None = None
    """What its head calls it, whatever its headings say: the name of the site often stands there alone."""


def without_spans(parsed: Parsed, gone: Sequence[tuple[int, int]]) -> Parsed:
    """The page without these spans of its text (in order, apart); places and links inside them go, others move."""
    text = parsed.text
    kept: list[str] = []
    moves: list[tuple[int, int, int]] = []
    at = length = 0
    for start, end in [*gone, (len(text), len(text))]:
        piece = text[at:start].strip("\n") if at else text[at:start].rstrip("\n")
        lead = text[at:start].find(piece) if piece else 0
        if piece:
            length += 2 if kept else 0
            moves.append((at + lead, at + lead + len(piece), length))
            kept.append(piece)
            length += len(piece)
        at = end

    def moved(start: int, end: int) -> tuple[int, int] | None:
        found = next((m for m in moves if m[0] <= start and end <= m[1]), None)
        return None if found is None else (start - found[0] + found[2], end - found[0] + found[2])

    return replace(
        parsed,
        text="\n\n".join(kept),
        places=[
            replace(place, start=span[0], end=span[1])
            for place in parsed.places
            if (span := moved(place.start, place.end)) is not None
        ],
        links=[
            replace(link, start=span[0], end=span[1])
            for link in parsed.links
            if (span := moved(link.start, link.end)) is not None
        ],
        link_characters=parsed.link_characters
        - sum(link.end - link.start for link in parsed.links if moved(link.start, link.end) is None),
    )


def sections_of(parsed: Parsed) -> tuple[Section, ...]:
    """Each heading with the text up to the next one."""
    headings = sorted((place for place in parsed.places if place.level), key=lambda place: place.start)
    sections = []
    for number, place in enumerate(headings):
        stop = headings[number + 1].start if number + 1 < len(headings) else len(parsed.text)
        start = min(place.end, stop)
        while start < stop and parsed.text[start].isspace():
            start += 1
        while stop > start and parsed.text[stop - 1].isspace():
            stop -= 1
        heading = parsed.text[place.start : place.end]
        is_title = number == 0 and heading == parsed.title
        sections.append(Section(heading=heading, level=1 if is_title else place.level, start=start, end=stop))
    return tuple(sections)
