"""What an agent has seen: results, pages and failures, read from the text of the observations alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from synth.agents.contract import History, Step
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.rendering import find_links, plain
from synth.text.sentences import spans

__all__ = [
    "Failure",
    "Find",
    "Hit",
    "PageLink",
    "Search",
    "Seen",
    "SeenDocument",
    "Sentence",
    "hits_of",
    "sentences_of",
]

_HIT = re.compile(r"^(\d+)\. (\[.*)\n   (.*)$", re.M)
_HEAD = re.compile(r"\A(\[.*\)), page (\d+) of (\d+)\n\n", re.S)
_FOOT = re.compile(r"\n\n\(The document goes on: page \d+ of \d+\.\)\Z")
_FOUND = re.compile(r"\A(\d+) match(?:es)? for \"(.*)\" in (\[.*\)) \(\d+ pages?\):", re.S)
_MATCH = re.compile(r"^\d+\. page (\d+), character (\d+): (.*)$", re.M)
_NOT_FOUND = re.compile(r"\ANo match for \"(.*)\" in (\[.*\)) \(\d+ pages?\)\.", re.S)


@dataclass(frozen=True)
class PageLink:
    anchor: str
    place: str
    """What the link leads to: ``document`` or ``document#place``."""

    @property
    def document(self) -> str:
        return self.place.split("#", 1)[0]


@dataclass(frozen=True)
class Sentence:
    """A sentence on a page, links flattened."""

    text: str
    links: tuple[PageLink, ...]
    document: str
    page: int
    heading: str
    parents: tuple[str, ...] = ()
    """Lines above that are indented less: the terms that it belongs to, outermost first."""


@dataclass(frozen=True)
class Hit:
    title: str
    document: str
    snippet: str


@dataclass(frozen=True)
class Search:
    turn: int
    query: str
    k: int | None
    hits: tuple[Hit, ...]


@dataclass(frozen=True)
class Find:
    turn: int
    pattern: str
    document: str
    matches: int
    places: tuple[tuple[int, int], ...] = ()
    """(page, character) of the matches shown."""

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(page for page, _ in self.places))


@dataclass(frozen=True)
class Failure:
    turn: int
    call: ToolCall
    words: str


@dataclass
class SeenDocument:
    document: str
    title: str
    total: int
    pages: dict[int, tuple[Sentence, ...]] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)
    """When it was read or searched."""
    last: int = 1
    """The page that was read last."""
    found: dict[str, Sentence] = field(default_factory=dict)
    """Passages that ``find`` showed, by text."""

    def sentences(self) -> Iterator[Sentence]:
        """What was read of it, page by page, then what ``find`` showed of other pages."""
        for number in sorted(self.pages):
            yield from self.pages[number]
        for sentence in self.found.values():
            if sentence.page not in self.pages:
                yield sentence

    @property
    def unread(self) -> int | None:
        """The next page that was not read yet: behind the one that was read last, else from the beginning."""
        order = (*range(self.last, self.total + 1), *range(1, self.last))
        return next((number for number in order if number not in self.pages), None)


@lru_cache(maxsize=1024)
def sentences_of(markdown: str, document: str, page: int) -> tuple[Sentence, ...]:
    """The sentences of an opened page, in order, each under its heading."""
    found: list[Sentence] = []
    heading = ""
    above: list[tuple[int, str]] = []
    for line in markdown.split("\n"):
        if not line.strip():
            continue
        mark = re.match(r"#+ +(.*)", line)
        if mark:
            heading = plain(mark.group(1)).strip()
            line = mark.group(1)
        flat, links = _flatten(line)
        indent = len(flat) - len(flat.lstrip())
        above = [(depth, text) for depth, text in above if depth < indent]
        parents = tuple(text for _, text in above)
        for start, end in spans(flat, capital=True):
            inside = tuple(PageLink(anchor, target) for at, anchor, target in links if start <= at < end)
            found.append(Sentence(flat[start:end].strip(), inside, document, page, heading, parents))
        above.append((indent, flat.strip()))
    return tuple(sentence for sentence in found if sentence.text)


def _flatten(line: str) -> tuple[str, list[tuple[int, str, str]]]:
    parts: list[str] = []
    links: list[tuple[int, str, str]] = []
    at = length = 0
    for item in find_links(line):
        parts += (line[at : item.start], item.anchor)
        length += item.start - at
        links.append((length, item.anchor, item.target))
        length += len(item.anchor)
        at = item.end
    parts.append(line[at:])
    return "".join(parts), links


class Seen:
    """Everything that the observations of a history show."""

    def __init__(self, history: History = ()) -> None:
        self.searches: list[Search] = []
        self.documents: dict[str, SeenDocument] = {}
        self.finds: list[Find] = []
        self.failures: list[Failure] = []
        self.current: str | None = None
        self.opened: set[str] = set()
        """What was asked for: ids of documents and places."""
        self.turns = 0
        for step in history:
            self.take(step)

    def take(self, step: Step) -> None:
        """Add the next step."""
        for call, result in zip(step.turn.calls, step.results, strict=False):
            self._take(self.turns, call, result)
        self.turns += 1

    def _take(self, turn: int, call: ToolCall, result: ToolResult) -> None:
        text = result.content
        if result.error:
            self.failures.append(Failure(turn, call, text))
        elif call.name == "search":
            self.searches.append(Search(turn, str(call.arguments["query"]), call.arguments.get("k"), hits_of(text)))
        elif call.name == "open" and (head := _HEAD.match(text)):
            page_link = next(find_links(head.group(1)))
            number, total = int(head.group(2)), int(head.group(3))
            seen = self.documents.setdefault(page_link.target, SeenDocument(page_link.target, page_link.anchor, total))
            body = _FOOT.sub("", text[head.end() :])
            seen.last = number
            self.opened.add(str(call.arguments["document"]))
            seen.pages[number] = sentences_of(body, page_link.target, number)
            seen.turns.append(turn)
            self.current = page_link.target
        elif call.name == "find":
            self._take_find(turn, text)

    def _take_find(self, turn: int, text: str) -> None:
        missing = _NOT_FOUND.match(text)
        if missing:
            self._add_find(Find(turn, missing.group(1), next(find_links(missing.group(2))).target, 0))
        head = _FOUND.match(text)
        if head is None:
            return
        document = next(find_links(head.group(3))).target
        places: list[tuple[int, int]] = []
        for match in _MATCH.finditer(text):
            places.append((int(match.group(1)), int(match.group(2))))
            for sentence in sentences_of(match.group(3), document, places[-1][0]):
                self.documents[document].found.setdefault(sentence.text, sentence)
        self._add_find(Find(turn, head.group(2), document, int(head.group(1)), tuple(places)))

    def _add_find(self, find: Find) -> None:
        self.finds.append(find)
        self.documents[find.document].turns.append(find.turn)

    @property
    def last_failure(self) -> Failure | None:
        """What went wrong in the turn before, if anything did."""
        last = self.failures[-1] if self.failures else None
        return last if last is not None and last.turn == self.turns - 1 else None

    def hits(self) -> Iterator[Hit]:
        """Hits of all searches, the newest search first, each document once."""
        known: set[str] = set()
        for search in reversed(self.searches):
            for hit in search.hits:
                if hit.document not in known:
                    known.add(hit.document)
                    yield hit

    def links(self) -> Iterator[tuple[Sentence, PageLink]]:
        """Links of all pages, the newest page first."""
        for document in sorted(self.documents.values(), key=lambda item: -item.turns[-1]):
            for sentence in document.sentences():
                for item in sentence.links:
                    yield sentence, item


@lru_cache(maxsize=1024)
def hits_of(text: str) -> tuple[Hit, ...]:
    """The numbered results of a search, each with the line below it."""
    found: list[Hit] = []
    for match in _HIT.finditer(text):
        item = next(find_links(match.group(2)), None)
        if item is not None:
            found.append(Hit(item.anchor, item.target, match.group(3).strip()))
    return tuple(found)
