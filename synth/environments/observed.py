"""Observations as text, read back: pages, results, passages, the facts and relations of a graph.

An environment that shows documents as links (``synth.environments.rendering``) is understood down to the page that a
passage is about; of any other only the words count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from synth.environments.rendering import find_links, plain
from synth.environments.triples import Listed, Triple, find_listed, find_triple, shows
from synth.text.sentences import sentences

__all__ = ["Hit", "Observed", "Passage", "observe"]

_HIT = re.compile(r"\d+\. (\[.*\)) *")
_PAGE = re.compile(r"(\[.*\)).*, page \d+ of \d+$")
_IN = re.compile(r"^(?:No match|\d+ match(?:es)?) for \".*\" in (\[.*\)) \(\d+ pages?\)")
_PLACE = re.compile(r"^\d+\. page \d+, character \d+: ")
_CUT = re.compile(r"\s…\s")


@dataclass(frozen=True)
class Passage:
    """A sentence of an observation, links flattened."""

    about: str
    """The document that it stands in; empty when the observation does not say."""
    title: str
    """Title of that document."""
    text: str
    links: tuple[tuple[str, str], ...]
    """(anchor, document) of the links in it; a place in a document counts as the document."""
    fact: Triple | None = None
    """Where it is the line of a graph's fact, that fact."""
    symmetric: bool = False
    """Whether the fact reads the same from either end."""


@dataclass(frozen=True)
class Hit:
    title: str
    document: str


@dataclass(frozen=True)
class Observed:
    """What one observation shows."""

    page: str
    """The document that it is a page of, or that was searched; empty for anything else."""
    hits: tuple[Hit, ...]
    """Documents that it lists."""
    passages: tuple[Passage, ...]
    relations: tuple[Listed, ...] = ()
    """Relations that it says the thing on its page has."""


@lru_cache(maxsize=4096)
def observe(content: str) -> Observed:
    """Read one observation."""
    page = about = title = ""
    hits: list[Hit] = []
    passages: list[Passage] = []
    relations: list[Listed] = []
    shown = shows(content.partition("\n")[0])
    for number, line in enumerate(content.split("\n")):
        if shown and shown != "relations" and (stated := find_triple(line)) is not None:
            ends = tuple((end.name, end.id) for end in (stated.subject, stated.object) if end.id)
            passages.append(Passage(about, title, stated.text(), ends, stated, shown == "both"))
            continue
        if shown == "relations" and (has := find_listed(line)) is not None:
            relations.append(has)
            continue
        opened = (_PAGE.match(line) or _IN.match(line)) if number == 0 else None
        listed = None if page else _HIT.fullmatch(line)  # a page may hold lists of links of its own
        found = list(find_links((opened or listed).group(1))) if opened or listed else []  # type: ignore[union-attr]
        if len(found) == 1 or (opened and found):
            about, title = found[0].target.split("#", 1)[0], found[0].anchor
            if opened:
                page = about
            else:
                hits.append(Hit(title, about))
        elif line.strip():
            passages += _sentences(_PLACE.sub("", line.strip()), about, title)
    return Observed(page, tuple(hits), tuple(passages), tuple(relations))


def _sentences(line: str, about: str, title: str) -> Iterator[Passage]:
    for piece in _CUT.split(line):
        for part in sentences(piece, capital=True):
            links = tuple((item.anchor, item.target.split("#", 1)[0]) for item in find_links(part))
            yield Passage(about, title, plain(part).strip(" …#"), links)
