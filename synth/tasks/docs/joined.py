"""Questions that no page answers alone: what one page says leads to what another does, or two pages are asked at once.

``via``     a value of what another page speaks of: "What is the default of the option that limits ...?"
``within``  a part, like ones of other pages, of what another page speaks of: "Which method of the class that ... ?"
``nested``  what a sentence says of a thing, which goes by what another page says of it: "Which function frees the list
            that the function that ... returns?"; other sentences say the rest of it of other things
``pair``    two things of one kind, each found on a page of its own

A thing is spoken of *elsewhere* where a page other than its own says what tells it from all others, and its own page
does not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from synth.schemas.documents import Edge, ValueKind
from synth.schemas.rejections import Reason
from synth.schemas.row import Split
from synth.schemas.tasks import AnswerPart, Hop, Node
from synth.tasks.docs.checks import Failure
from synth.tasks.docs.families import Item, Items
from synth.tasks.docs.wording import statement_question
from synth.tasks.docs.writer import Writer, around, value_node
from synth.tasks.draft import Draft
from synth.tasks.text import mentions
from synth.text.lists import listed
from synth.text.subjects import is_identifier

__all__ = ["JOINED", "Joined"]

JOINED = ("via", "within", "nested", "pair")
_WHOLE = (
    r"(?=[,.;:?)]|$| (?:of|for|to|in|on|with|from|by|at|as|and|or|that|which|when|if|is|are|has|have|had|can|must|was|"
    r"were|does|into|before|after|while|until|without)\b)"
)
"""Behind a name that is no part of a longer one: "the CLI connection" is another thing than the CLI."""
_HINT = 0.5
"""Share of a description's words with which another sentence says nearly the same."""
_LONGEST = 130
"""Characters of what is said of a thing that a question has more to say of."""
_SHORT = 95
"""Those of one thing of two."""


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
            asked = statement_question(said)
            if home is None or asked is None or len(asked[1]) > _LONGEST:
                continue
            kind = self._words.noun(home) or said.kind
            if kind and (asked[0].startswith("Which ") or asked[0] == f"What {asked[1]}?"):
                self._spoken[home].append(_Spoken(number, kind, f"that {asked[1]}"))
        for entity, (number, clause) in self._items.all_said():
            found = corpus.entities[entity]
            home = self._home(found.name, found.document)
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
                        yield Item(
                            "within", (each.edge, part), str(part), corpus.entities[corpus.edges[part].subject].kind
                        )
        yield from self._nested()
        yield from self._pairs()

    def _nested(self) -> Iterator[Item]:
        """A sentence that names a thing that another page describes."""
        corpus = self._corpus
        inner: dict[str, list[int]] = defaultdict(list)
        for thing, (number, _) in self._items.all_said():
            inner[corpus.entities[thing].name].append(number)
        for number, said in self._items.spoken.items():
            if said.kind:
                inner[said.name].append(number)
        usable = {name: numbers for name, numbers in inner.items() if is_identifier(name) or " " in name}
        longest = max((name.count(" ") for name in usable), default=0)
        for number, words in self._outer():
            row = corpus.edges[number].document
            found = words.split()
            for size in range(min(longest, 2) + 1):
                for at in range(len(found) - size):
                    name = " ".join(found[at : at + size + 1]).strip("\"'(),.;:").removesuffix("()")
                    for one in usable.get(name, ())[:3]:
                        if corpus.edges[one].document != row:
                            yield Item("nested", (one, number), str(number), name)

    def _outer(self) -> Iterator[tuple[int, str]]:
        for number, said in self._items.spoken.items():
            if statement_question(said) is not None:
                yield number, said.rest
        for _, (number, clause) in self._items.all_said():
            yield number, clause

    def _pairs(self) -> Iterator[Item]:
        """Each thing with another of its kind on another page of its split."""
        corpus = self._corpus
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for entity, (number, clause) in self._items.all_said():
            found = corpus.entities[entity]
            if len(clause) <= _SHORT and found.kind != "term":
                groups[corpus.columns.partitions[found.document], found.kind].append(number)
        for number, said in self._items.spoken.items():
            asked = statement_question(said)
            if said.kind and asked is not None and len(asked[1]) <= _SHORT:
                groups[corpus.columns.partitions[corpus.edges[number].document], said.kind].append(number)
        for (_, kind), numbers in sorted(groups.items()):
            mixed = sorted(numbers, key=lambda number: (number * 2654435761) % (1 << 32))
            while len(mixed) > 1:
                one = mixed.pop()
                row = corpus.edges[one].document
                other = next((number for number in mixed[::-1] if corpus.edges[number].document != row), None)
                if other is not None:
                    mixed.remove(other)
                    yield Item("pair", (one, other), str(one), kind)

    # Their drafts.

    def draft(self, item: Item, split: Split, generator: np.random.Generator) -> Draft | Failure:
        one, other = (self._corpus.edges[number] for number in item.edges)
        if item.family == "pair":
            return self._pair(one, other, item, split)
        if item.family == "nested":
            return self._inside(one, other, item, split)
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

    def _inside(self, inner: Edge, outer: Edge, item: Item, split: Split) -> Draft | Failure:
        found = self._described(inner)
        if isinstance(found, Failure):
            return found
        phrase, told = found
        thing = told.target
        asked = self._question(outer)
        if isinstance(asked, Failure):
            return asked
        question, words, target, names = asked
        called = rf"{re.escape(thing.name)}(?:\(\))?(?: {re.escape(thing.kind)}\b)?"
        named = re.compile(rf"(?<!\ban )(?<!\ba )(?<!\bnew )(?:\b[Tt]he )?(?<![\w.$-]){called}(?![\w-]){_WHOLE}")
        if len(named.findall(question)) != 1 or len(phrase) > _LONGEST:
            return Failure(Reason.UNNATURAL, "the sentence does not name the thing once")
        own = (outer.document, outer.start, outer.end)
        if (rival := self._writer.judge.rival(words, own, names)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"the same is said elsewhere: {rival!r}")
        bare = named.sub(" ", words)
        if self._writer.judge.rival(bare, own, names, share=_HINT) is None:
            return Failure(Reason.SHORTCUT, "nothing else does the like: what it does it with is not needed")
        question = named.sub(lambda _: phrase, question)
        hop = Hop(
            source=told.target,
            target=target,
            relation=outer.relation,
            forward=False,
            needs=(0,),
            evidence=self._corpus.evidence(outer),
            cue=around(question, phrase),
        )
        return self._writer.finish(item, question, [told, hop], split)

    def _described(self, edge: Edge) -> tuple[str, Hop] | Failure:
        """What can stand for the name of a thing, and the hop from there to it."""
        if edge.relation != "states":
            found = self._writer.thing(edge)
            if isinstance(found, Failure):
                return found
            if "“" in found[0]:
                return Failure(Reason.UNNATURAL, "it takes the name of a page to say which thing is meant")
            phrase = f"the {found[0]} {found[1]}"
            return phrase, self._writer.told(edge, edge.subject, phrase, found[1])
        asked = self._question(edge)
        if isinstance(asked, Failure):
            return asked
        phrase = _phrase(asked[0], asked[1])
        if not phrase:
            return Failure(Reason.UNNATURAL, "the sentence does not say what the thing is")
        return phrase, self._writer.said_there(edge, asked[2], phrase, asked[1])

    def _question(self, outer: Edge) -> tuple[str, str, Node, tuple[str, ...]] | Failure:
        """(question, what it says, what it asks for, its names)"""
        if outer.relation == "states":
            said = self._words.spoken_of(self._corpus.quote(outer))
            asked = None if said is None else statement_question(said)
            if asked is None or outer.value is None:
                return Failure(Reason.UNNATURAL, "the sentence makes no question")
            return asked[0], asked[1], value_node(outer.value, outer.value_kind), (outer.value,)
        noun, clause = self._words.noun(outer.subject), self._items.clause(outer.subject)
        does = said_of(clause)
        if self._words.is_local(outer.subject):
            return Failure(Reason.NOT_UNIQUE, "what is asked for belongs to its page")
        return f"Which {noun} {does}?", does, self._corpus.node(outer.subject), self._writer.names(outer.subject)

    def _one_of_two(self, edge: Edge) -> tuple[str, Hop] | Failure:
        """The question for a thing, and the hop to it."""
        if edge.relation == "states":
            asked = self._question(edge)
            if isinstance(asked, Failure):
                return asked
            return asked[0], self._writer.said_there(edge, asked[2], asked[1], asked[1])
        found = self._writer.thing(edge)
        if isinstance(found, Failure):
            return found
        said = said_of(found[1])
        place = found[0].removeprefix(self._words.noun(edge.subject) or "").strip()
        return f"Which {found[0]} {said}?", self._writer.told(edge, edge.subject, f"{place} {said}".strip(), said)

    def _pair(self, one: Edge, other: Edge, item: Item, split: Split) -> Draft | Failure:
        hops, asked = [], []
        for edge, far in ((one, other), (other, one)):
            found = self._one_of_two(edge)
            if isinstance(found, Failure):
                return found
            place = (edge.document, edge.start, edge.end)
            if self._writer.judge.rival(found[1].source.name, place, (), within=far.document) is not None:
                return Failure(Reason.SHORTCUT, "one page says both")
            asked.append(found[0])
            hops.append(found[1])
        kind = re.match(r"Which [a-z]+ ", asked[0])
        second = asked[1][0].lower() + asked[1][1:]
        if kind is not None and asked[1].startswith(kind.group()):
            second = f"which one {asked[1][kind.end() :]}"
        question = f"{asked[0][:-1]}, and {second}"
        parts = tuple(
            AnswerPart(answer=hop.target.name, aliases=hop.target.aliases, kind=_kind(hop.target)) for hop in hops
        )
        draft = self._writer.finish(item, question, hops, split, shape="parallel")
        if isinstance(draft, Failure):
            return draft
        names = listed([part.answer for part in parts])
        return draft.model_copy(
            update={"answer": names, "answer_aliases": (), "answer_parts": parts, "answer_ordered": True}
        )


def _phrase(question: str, cue: str) -> str:
    """A question for a thing as a phrase for it: "Which tool counts ...?" -> "the tool that counts ..."."""
    head = question.removesuffix(f"{cue}?").strip()
    if head.startswith("Which "):
        return f"the {head[6:]} that {cue}"
    return f"the {cue}" if head == "What is the name of the" else cue if head == "What do you call" else ""


def said_of(clause: str) -> str:
    """What stands behind a noun as a predicate: "that returns ..." -> "returns ..."."""
    return clause.removeprefix("that ") if clause.startswith("that ") else f"is {clause}"


def _kind(target: Node) -> ValueKind:
    return "entity" if target.document_id is not None else "text"
