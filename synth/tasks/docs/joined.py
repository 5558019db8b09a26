"""Questions that no page answers alone: what one page says leads to what another does, or two pages are asked at once.

``via``     a value of what another page speaks of: "What is the default of the option that limits ...?"
``within``  a part, like ones of other pages, of what another page speaks of: "Which method of the class that ... ?"
``pair``    two things of one kind that have to do with the same, each on a page of its own

A thing is spoken of *elsewhere* where a page other than its own says what tells it from all others, and its own page
does not.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from synth.schemas.documents import Edge
from synth.schemas.rejections import Reason
from synth.schemas.row import Split
from synth.schemas.tasks import AnswerPart, Hop
from synth.tasks.docs.checks import Failure
from synth.tasks.docs.families import Item, Items
from synth.tasks.docs.sentences import stems
from synth.tasks.docs.spoken import statement_question
from synth.tasks.docs.writer import Writer, around
from synth.tasks.draft import Draft
from synth.tasks.text import mentions
from synth.text.lists import listed

__all__ = ["JOINED", "Joined"]

JOINED = ("via", "within", "pair")
_HINT = 0.5
"""Share of a description's words with which another sentence says nearly the same."""
_LONGEST = 130
"""Characters of what is said of a thing that a question has more to say of."""
_SHORT = 95
"""Those of one thing of two."""
_UNMISTAKABLE = re.compile(r"^\w.*(?:_|\w\.\w|[a-z][A-Z])")
"""Names by which two pages mean the same option, setting or value: "max_connections", "PriorityWeightAge"."""
_SHARED = 2
"""Words that what is said of two things must have in common for both to be asked at once."""
_ALIKE = 0.4
"""Share of the words of the shorter one: a question for two things that have little to do with each other is two."""
_READABLE = 210
"""Characters of a question for two things."""
_COMMON = 0.1
"""Share of a kind's descriptions above which a word says nothing of what they have to do with."""


@dataclass(frozen=True)
class _Spoken:
    """What a page says of a thing of another page."""

    edge: int
    noun: str
    clause: str
    """Behind the noun: "that limits ..."."""

    @property
    def phrase(self) -> str:
        return f"the {self.noun} {self.clause}"


class Joined:
    """Candidates over two pages and their drafts, of one corpus."""

    def __init__(self, writer: Writer, items: Items) -> None:
        self._writer, self._items = writer, items
        self._corpus, self._words = writer.corpus, writer.words
        self._spoken: dict[int, list[_Spoken]] = defaultdict(list)
        """Thing -> what other pages say of it."""
        self._parts: dict[int, list[int]] = defaultdict(list)
        """Row of a page -> descriptions of what it defines."""
        for entity, (number, _) in items.all_said():
            if not self._corpus.is_page(entity):
                self._parts[self._corpus.entities[entity].document].append(number)
        self._find()

    # What there is.

    def _find(self) -> None:
        corpus = self._corpus
        for number, said in self._items.spoken.items():
            edge = corpus.edges[number]
            home = self._home(said.name, edge.document)
            if home is not None and self._words.is_local(home) and not (said.kind or _UNMISTAKABLE.search(said.name)):
                continue  # "A node is a point": no parameter of another page that is called "node"
            asked = statement_question(said)
            if home is None or asked is None or len(asked[1]) > _LONGEST or "," in asked[1]:
                continue
            kind = (self._words.noun(home) and said.kind) or self._words.noun(home) or said.kind
            if kind and (asked[0].startswith("Which ") or asked[0] == f"What {asked[1]}?"):
                self._spoken[home].append(_Spoken(number, kind, f"that {asked[1]}"))
        for entity, (number, clause) in self._items.all_said():
            found = corpus.entities[entity]
            home = self._home(found.name, found.document)
            if home is not None and self._words.is_local(home) and not _UNMISTAKABLE.search(found.name):
                continue  # git-daemon's --group is not git-shortlog's
            if home is not None and len(clause) <= _LONGEST and (noun := self._words.noun(home)):
                self._spoken[home].append(_Spoken(number, noun, clause))

    def _home(self, name: str, row: int) -> int | None:
        """The one thing of another page that goes by a name, which no third page has."""
        found = [entity for entity in self._corpus.goes_by(name) if self._corpus.entities[entity].document != row]
        usable = len(found) == 1 and self._corpus.entities[found[0]].document >= 0
        return found[0] if usable and self._corpus.alone_but_on(name, row) else None

    def items(self) -> Iterator[Item]:
        corpus = self._corpus
        for home, spoken in self._spoken.items():
            found = corpus.entities[home]
            for each in spoken:
                for value in self._items.values(home):
                    edge = corpus.edges[value]
                    if edge.document != corpus.edges[each.edge].document:
                        yield Item("via", (each.edge, value), edge.value or found.id, edge.relation)
                if corpus.is_page(home):
                    for part in self._parts.get(found.document, ()):
                        yield Item("within", (each.edge, part), str(part), found.id)
        yield from self._pairs()

    def _pairs(self) -> Iterator[Item]:
        """Each thing with the one of its kind, on another page of its split, of which the most alike is said."""
        corpus = self._corpus
        groups: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(dict)
        for entity, (number, clause) in self._items.all_said():
            found = corpus.entities[entity]
            if len(clause) <= _SHORT and "," not in clause and found.kind != "term":
                groups[corpus.columns.partitions[found.document], found.kind][number] = stems(clause)
        for (_, kind), said in sorted(groups.items()):
            held: dict[str, list[int]] = defaultdict(list)
            for number, words in said.items():
                for word in words:
                    held[word].append(number)
            most = max(3, _COMMON * len(said))
            left = set(said)
            for one, words in said.items():
                if one not in left:
                    continue
                alike: Counter[int] = Counter()
                shared: dict[int, float] = defaultdict(float)
                for word in sorted(words):
                    if len(held[word]) <= most:
                        for other in held[word]:
                            alike[other] += 1
                            shared[other] += math.log(1 + len(said) / len(held[word]))
                fits = [
                    other
                    for other, count in alike.items()
                    if count >= _SHARED
                    and count >= _ALIKE * min(len(words), len(said[other]))
                    and other in left
                    and said[other] != words
                    and corpus.edges[other].document != corpus.edges[one].document
                ]
                if fits:
                    other = max(fits, key=lambda number: (shared[number], -number))
                    left -= {one, other}
                    yield Item("pair", (one, other), str(one), kind)

    # Their drafts.

    def draft(self, item: Item, split: Split, generator: np.random.Generator) -> Draft | Failure:
        one, other = (self._corpus.edges[number] for number in item.edges)
        if item.family == "pair":
            return self._pair(one, other, item, split)
        if "term" in (self._corpus.entities[one.subject].kind, self._corpus.entities[other.subject].kind):
            return Failure(Reason.UNNATURAL, "a term has no parts and no value, and is part of nothing")
        home = other.subject if item.family == "via" else self._corpus.pages[other.document]
        spoken = next(each for each in self._spoken[home] if each.edge == item.edges[0])
        if (failure := self._told_elsewhere(home, spoken)) is not None:
            return failure
        told = self._writer.told(one, home, spoken.phrase, spoken.clause)
        if item.family == "within":
            return self._within(told, spoken, other, item, split)
        if mentions(self._corpus.text(one.document), (other.value or "",)) and other.value_kind == "text":
            return Failure(Reason.SHORTCUT, "the page that speaks of the thing has its value, too")
        question = self._writer.asked(other.relation, spoken.phrase, generator)
        if question is None:
            return Failure(Reason.UNNATURAL, "no words for the value")
        hops = [told, self._writer.step(other, told.target, around(question, spoken.phrase), (0,))]
        return self._writer.finish(item, question, hops, split)

    def _told_elsewhere(self, home: int, spoken: _Spoken) -> Failure | None:
        """None where the words tell the thing from all others, and its own page does not say them."""
        edge = self._corpus.edges[spoken.edge]
        names, row = self._writer.names(home), self._corpus.entities[home].document
        own = (edge.document, edge.start, edge.end)
        if (rival := self._writer.judge.rival(spoken.clause, own, names)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"the same is said elsewhere: {rival!r}")
        if self._writer.judge.rival(spoken.clause, own, (), within=row, share=_HINT) is not None:
            return Failure(Reason.SHORTCUT, "the thing's own page says that of it, too")
        return None

    def _within(self, told: Hop, spoken: _Spoken, part: Edge, item: Item, split: Split) -> Draft | Failure:
        """A part by what is said of it on a page that the question describes; other pages say it of parts of theirs."""
        entity, row = part.subject, part.document
        noun, clause = self._words.noun(entity), self._items.clause(entity)
        if noun == spoken.noun:
            return Failure(Reason.UNNATURAL, f"a {noun} of a {noun}")
        own, names = (row, part.start, part.end), self._writer.names(entity)
        if self._writer.judge.rival(clause, own, names, within=row) is not None:
            return Failure(Reason.NOT_UNIQUE, "the page says the same of something else")
        if self._items.also_said(entity, clause, row) is not None:
            return Failure(Reason.NOT_UNIQUE, "the same is said of another part")
        if self._writer.judge.rival(clause, own, (), outside=row, share=_HINT) is None:
            return Failure(Reason.SHORTCUT, "the part alone tells its page")
        cue = said_of(clause)
        question = f"Which {noun} of {spoken.phrase} {cue}?"
        if spoken.clause.count(" ") > 9:
            question = f"Think of {spoken.phrase}. Which of its {noun}s {cue}?"
        hop = Hop(
            source=told.target,
            target=self._corpus.node(entity),
            relation="part_of",
            forward=False,
            needs=(0,),
            evidence=self._corpus.evidence(part),
            cue=cue,
        )
        return self._writer.finish(item, question, [told, hop], split)

    def _pair(self, one: Edge, other: Edge, item: Item, split: Split) -> Draft | Failure:
        writer, hops, asked, places = self._writer, [], [], list[str]()
        for edge, far in ((one, other), (other, one)):
            found = writer.thing(edge)
            if isinstance(found, Failure):
                return found
            place = found[0].removeprefix(self._words.noun(edge.subject) or "").strip()
            own = (edge.document, edge.start, edge.end)
            places.append(place)
            if not place and writer.judge.rival(found[1], own, (), within=far.document) is not None:
                return Failure(Reason.SHORTCUT, "one page says both")
            cue = f"{place} {said_of(found[1])}".strip()
            asked.append(cue)
            hops.append(writer.told(edge, edge.subject, cue, found[1]))
        names = [hop.target.name for hop in hops]
        if names[0] == names[1]:
            return Failure(Reason.UNNATURAL, "both go by one name")
        if places[0] and not places[1]:
            return Failure(Reason.UNNATURAL, "the second one would be sought where the first one is")
        question = f"Which {self._words.noun(one.subject)} {asked[0]}, and which one {asked[1]}?"
        if len(question) > _READABLE:
            return Failure(Reason.UNNATURAL, f"{len(question)} characters")
        draft = writer.finish(item, question, hops, split, shape="parallel")
        if isinstance(draft, Failure):
            return draft
        parts = tuple(AnswerPart(answer=hop.target.name, aliases=hop.target.aliases, kind="entity") for hop in hops)
        return draft.model_copy(
            update={"answer": listed(names), "answer_aliases": (), "answer_parts": parts, "answer_ordered": True}
        )


def said_of(clause: str) -> str:
    """What stands behind a noun as a predicate: "that returns ..." -> "returns ..."."""
    return clause.removeprefix("that ") if clause.startswith("that ") else f"is {clause}"
