"""What an agent in a graph has seen, read from the text of the observations alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.agents.contract import History
from synth.agents.scripted.seen import Failure, PageLink, Search, Seen, SeenDocument, Sentence, hits_of
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.triples import Heading, Listed, Triple, find_heading, find_listed, find_triple

__all__ = ["Fan", "Far", "GraphSeen"]


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


class GraphSeen(Seen):
    """Everything that the observations of a history show. Entities are its documents, their facts the sentences."""

    def __init__(self, history: History = ()) -> None:
        self.listed: dict[str, dict[str, Listed]] = {}
        """Entity -> label -> relation that it has, in the order of the observation."""
        self.more: dict[str, int | None] = {}
        """Entity -> the next page of its relations; None where all were read."""
        self.fans: dict[tuple[str, str], Fan] = {}
        """(entity, label) -> the facts."""
        self.missing: set[tuple[str, str]] = set()
        """(entity, relation) that it was found not to have."""
        super().__init__(history)

    def _take(self, turn: int, call: ToolCall, result: ToolResult) -> None:
        lines = result.content.split("\n")
        head = find_heading(lines[0])
        if result.error:
            self.failures.append(Failure(turn, call, result.content))
            if call.name == "get_triples" and result.error == "not_found":
                self.missing.add((str(call.arguments["entity"]), str(call.arguments["relation"])))
        elif call.name == "find_entity":
            name, k = str(call.arguments["name"]), call.arguments.get("k")
            self.searches.append(Search(turn, name, k, hits_of(result.content)))
        elif head is not None and head.what == "relations":
            self._open(turn, head)
            found = self.listed.setdefault(head.thing.id, {})
            found.update({item.label: item for item in map(find_listed, lines) if item is not None})
            self.more[head.thing.id] = head.page + 1 if head.page < head.pages else None
        elif head is not None:
            document = self._open(turn, head)
            facts = tuple(fact for fact in map(find_triple, lines) if fact is not None)
            fan = self.fans.setdefault((head.thing.id, head.what), Fan(head.thing.id, head.what, head.pages))
            fan.pages[head.page], fan.turn = facts, turn
            document.pages[len(document.pages) + 1] = tuple(_sentence(fact, head) for fact in facts)

    def _open(self, turn: int, head: Heading) -> SeenDocument:
        thing = head.thing
        document = self.documents.setdefault(thing.id, SeenDocument(thing.id, thing.name, 1))
        document.turns.append(turn)
        self.opened.add(thing.id)
        self.current = thing.id
        return document


def _sentence(fact: Triple, head: Heading) -> Sentence:
    links = tuple(PageLink(end.name, end.id) for end in (fact.subject, fact.object) if end.id)
    return Sentence(fact.text(), links, head.thing.id, head.page, head.what)
