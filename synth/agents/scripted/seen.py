"""What an agent has seen: results, pages, facts and failures, as the observations alone show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.agents.contract import History, Step
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.observed import observe
from synth.environments.passages import Link, Passage, Triple
from synth.environments.shown import Facts, Headings, Hit, Hits, Listed, Matches, Page, Relations, Result

__all__ = ["Failure", "Fan", "Far", "Find", "Search", "Seen", "SeenDocument"]


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
    missing: bool
    """Whether the call was right and what it asked for is not there."""


@dataclass
class SeenDocument:
    document: str
    title: str
    total: int
    pages: dict[int, tuple[Passage, ...]] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)
    """When it was read or searched."""
    last: int = 1
    """The page that was read last."""
    found: dict[str, Passage] = field(default_factory=dict)
    """Passages that ``find`` showed, by text."""

    def sentences(self) -> Iterator[Passage]:
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


@dataclass(frozen=True)
class Far:
    """The far end of a fact of ``entity``."""

    name: str
    id: str
    """Empty for a value."""
    fact: Triple

    def text(self) -> str:
        """The fact as a thought quotes it."""
        return self.fact.text()


@dataclass
class Fan:
    """Facts of one entity by one relation, as far as they were read."""

    entity: str
    label: str
    total: int
    """Pages."""
    pages: dict[int, tuple[Triple, ...]] = field(default_factory=dict)
    turn: int = 0
    """When it was read last."""

    def ends(self) -> list[Far]:
        """The far ends, in the order in which they were shown."""
        facts = [fact for number in sorted(self.pages) for fact in self.pages[number]]
        found = (fact.object if fact.subject.id == self.entity else fact.subject for fact in facts)
        return [Far(end.name, end.id, fact) for end, fact in zip(found, facts, strict=True)]

    @property
    def unread(self) -> int | None:
        """The first page that was not read."""
        return next((number for number in range(1, self.total + 1) if number not in self.pages), None)


class Seen:
    """Everything that the observations of a history show. Of a graph, entities are documents and facts sentences."""

    def __init__(self, history: History = ()) -> None:
        self.searches: list[Search] = []
        self.documents: dict[str, SeenDocument] = {}
        self.finds: list[Find] = []
        self.failures: list[Failure] = []
        self.results: dict[str, str] = {}
        """Expression -> what the calculator gave."""
        self.outlines: dict[str, Headings] = {}
        """Document -> its outline."""
        self.current: str | None = None
        self.opened: set[str] = set()
        """What was asked for: ids of documents and places."""
        self.turns = 0
        self.thoughts: list[str] = []
        """What was thought, turn by turn."""
        self.listed: dict[str, dict[str, Listed]] = {}
        """Entity -> label -> relation that it has, in the order of the observation."""
        self.more: dict[str, int | None] = {}
        """Entity -> the next page of its relations; None where all were read."""
        self.fans: dict[tuple[str, str], Fan] = {}
        """(entity, label) -> the facts."""
        self.missing: set[tuple[str, str]] = set()
        """(entity, relation) that it was found not to have."""
        for step in history:
            self.take(step)

    def take(self, step: Step) -> None:
        """Add the next step."""
        for call, result in zip(step.turn.calls, step.results, strict=False):
            self._take(self.turns, call, result)
        self.thoughts.append(step.turn.thought or "")
        self.turns += 1

    def _take(self, turn: int, call: ToolCall, result: ToolResult) -> None:
        if result.error:
            self.failures.append(Failure(turn, call, result.content, result.error == "not_found"))
            if result.error == "not_found" and "relation" in call.arguments:
                self.missing.add((str(call.arguments["entity"]), str(call.arguments["relation"])))
            return
        shown = observe(result.content)
        match shown:
            case Hits(query, hits):
                self.searches.append(Search(turn, query, call.arguments.get("k"), hits))
            case Page(title, document, page, pages):
                self._read(turn, document, title, pages, page, shown.passages)
                self.opened.add(str(call.arguments["document"]))
            case Matches():
                places = tuple((found.page, found.character) for found in shown.found)
                searched = self.documents[shown.document]
                searched.turns.append(turn)
                for sentence in shown.passages:
                    searched.found.setdefault(sentence.text, sentence)
                self.finds.append(Find(turn, shown.pattern, shown.document, shown.total, places))
            case Result(expression, value):
                self.results[expression] = value
            case Headings(_, document):
                self.outlines[document] = shown
            case Relations(thing):
                self._read(turn, thing.id, thing.name, 1)
                self.listed.setdefault(thing.id, {}).update({item.label: item for item in shown.listed})
                self.more[thing.id] = shown.page + 1 if shown.page < shown.pages else None
            case Facts(thing):
                about = self._read(turn, thing.id, thing.name, 1)
                about.pages[len(about.pages) + 1] = shown.passages
                key = thing.id, shown.label
                fan = self.fans.setdefault(key, Fan(*key, shown.pages))
                fan.pages[shown.page], fan.turn = shown.facts, turn

    def _read(
        self, turn: int, name: str, title: str, pages: int, page: int = 0, passages: tuple[Passage, ...] = ()
    ) -> SeenDocument:
        document = self.documents.setdefault(name, SeenDocument(name, title, pages))
        document.turns.append(turn)
        self.current = name
        if page:
            document.pages[page], document.last = passages, page
        else:
            self.opened.add(name)
        return document

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

    def links(self) -> Iterator[tuple[Passage, Link]]:
        """Links of all pages, the newest page first."""
        for document in sorted(self.documents.values(), key=lambda item: -item.turns[-1]):
            for sentence in document.sentences():
                for item in sentence.links:
                    yield sentence, item
