"""What a lexicon says of a relation and of a type of entity. Words only: how English bends them is code elsewhere.

Slots of a sentence on a page: ``{s}`` subject, ``{s}'s`` its possessive, ``{o}`` object (a name with its article, a
list "A, B and C" where the relation is not functional, or a value as written), ``{an}`` the indefinite article that
fits ``{o}``, ``{their}`` / ``{them}`` / ``{they}`` pronouns of the subject, ``{is}`` is or was. Sentences that state
several facts have ``{o2}`` and ``{o3}``. Noun phrases of a question have ``{x}``, the end that is known, or ``{x's}``.
A predicate is written ``finite~base middle | preposition tail``; :mod:`synth.tasks.world.grammar` reads it.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from pydantic import Field, model_validator

from synth.schemas.described import Described
from synth.schemas.distractors import CueKind, WrittenKind, WrittenLevel
from synth.schemas.documents import ValueKind

__all__ = [
    "Comparison",
    "DocumentRelation",
    "DocumentWords",
    "EntityTypeEntry",
    "Event",
    "Filler",
    "FramedComparison",
    "InSize",
    "InTime",
    "InverseEntry",
    "JointEntry",
    "KnownLabel",
    "Lexicon",
    "MisleadingFrame",
    "MisleadingKind",
    "MisleadingWords",
    "QuestionWords",
    "RelationEntry",
    "SectionEntry",
    "UsualLabels",
]


class QuestionWords(Described):
    """How a question speaks of the two ends of a relation. A symmetric one is written with ``does`` and ``is``, which
    hold for both."""

    subject_does: tuple[str, ...] = ()
    """Predicates whose grammatical subject is the relation's subject: "was born | in"."""
    object_does: tuple[str, ...] = ()
    """Predicates whose grammatical subject is the relation's object: "is the birthplace | of". Empty for values."""
    object_is: tuple[str, ...] = ()
    """Names the object by the subject: "the birthplace of {x}"."""
    subject_is: tuple[str, ...] = ()
    """Names the subject by the object: "the founder of {x}"."""
    subject_sets: tuple[str, ...] = ()
    """Names several subjects by their object, without article: "{things} whose model is {x}"; ``{things}`` is their
    plural."""
    asks: tuple[str, ...] = ()
    """Whole questions for a value: "How deep is {x}?"."""
    tense: Literal["past", "present"] = "past"
    """Whether "Who was" or "Who is" asks for the person that a noun phrase names."""

    @model_validator(mode="before")
    @classmethod
    def _both_ends(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        rest = {key: texts for key, texts in value.items() if key not in ("does", "is")}
        for key in ("does", "is"):
            if key in value:
                rest |= {f"subject_{key}": value[key], f"object_{key}": value[key]}
        return rest


class Event(Described):
    """A dated event as a verb."""

    finite: str
    """ "came out"."""
    base: str
    """ "come out"."""


class InTime(Described):
    """How a question orders things by a date or year."""

    noun: str
    event: str
    """The event as a noun phrase: "the release of {x}"."""
    happens: tuple[Event, ...] = Field(min_length=1)
    older: tuple[str, str] | None = None
    """Comparative and superlative of the earlier, where things have an age."""
    younger: tuple[str, str] | None = None


class Comparison(Described):
    """A question for a difference or sum, and the same as part of a sentence. Slots: ``{a}``, ``{b}``, ``{unit}``; in
    frames ``{adjective}``, ``{noun}``, ``{things}`` too."""

    question: str
    clause: str


class FramedComparison(Described):
    """A comparison in a frame of ``frames.yaml``."""

    frame: Literal["longer", "more", "combined", "altogether"]
    adjective: str = ""
    """For ``longer``: "deeper"."""
    things: str = ""
    """For ``more`` and ``altogether``, what is counted: "pages"."""


class InSize(Described):
    """How a question orders things by a number or quantity."""

    noun: str
    more: tuple[str, ...]
    less: tuple[str, ...]
    most: tuple[str, ...]
    least: tuple[str, ...]
    most_of: tuple[str, ...] = ()
    """Before "of the rivers": "longest"."""
    least_of: tuple[str, ...] = ()
    exceeds: FramedComparison | tuple[Comparison, ...] = ()
    """How much larger one is: in a frame, or in words of its own."""
    together: FramedComparison | tuple[Comparison, ...] = ()
    """The sum of two."""


class InverseEntry(Described):
    """The relation read from its object: ``author`` -> ``wrote``."""

    name: str
    page: tuple[str, ...] = Field(min_length=1)


class RelationEntry(Described):
    """All that is said of one relation, seen from its subject."""

    subject: tuple[str, ...] = Field(min_length=1)
    """Types of the subject."""
    object: tuple[str, ...] = ()
    """Types of the object; empty when it is a value."""
    value: ValueKind = "entity"
    unit: str | None = None
    """Unit of a quantity, plural, as written: ``metres``."""
    functional: bool = True
    """At most one object per subject."""
    inverse_functional: bool = False
    """At most one subject per object."""
    symmetric: bool = False
    crowd: Literal["closed", "open"] | None = None
    """Many subjects belong to one object by nature: "the person who died in X" names nobody. ``open``: nobody could
    list them all, either."""
    note: str = ""
    """What the source guarantees about dates and quantities."""
    page: tuple[str, ...] = Field(min_length=1)
    """Sentences of a page that state the fact."""
    inverse: InverseEntry | None = None
    question: QuestionWords
    in_time: InTime | None = None
    in_size: InSize | None = None

    @model_validator(mode="after")
    def _ends(self) -> RelationEntry:
        if (self.value == "entity") != bool(self.object):
            raise ValueError("an entity needs object types, and a value has none")
        if self.symmetric and self.inverse is not None:
            raise ValueError("a symmetric relation is its own inverse")
        return self


class JointEntry(Described):
    """Sentences that state two or more facts of one subject at once: slots ``{o}``, ``{o2}``, ``{o3}`` in order."""

    relations: tuple[str, ...] = Field(min_length=1)
    page: tuple[str, ...] = Field(min_length=1)
    always: bool = False
    """Stated together whenever both hold; else on half of the pages."""


class SectionEntry(Described):
    """One section of a page: a heading is drawn, and the relations that apply are stated."""

    headings: tuple[str, ...] = Field(min_length=1)
    relations: tuple[str, ...] = ()
    in_order: bool = False
    """Stated in this order, as in a life."""


class Filler(Described):
    """A sentence that states no fact and contradicts none: no other entity, date or quantity stands in it."""

    text: str
    after_death: bool = False
    """Not said of the living."""


class EntityTypeEntry(Described):
    """What entities of a type are called, and how a page about one is laid out."""

    noun: str
    """What follows "a" or "the" in prose."""
    plural: str
    also: tuple[str, ...] = ()
    """Other nouns that a question may use."""
    also_plural: tuple[str, ...] = ()
    topic: str = ""
    """What an article about them is about, where that is not the plural: "notable people"."""
    per_thousand: int = Field(default=0, ge=0)
    """Share of a generated world's entities, of those that are not hubs; 0 for hubs and regions."""
    article: bool = False
    """Whether names of the kind take "the": "the River Senn"."""
    place: bool = False
    """Whether "where" asks for one."""
    hub: bool = False
    """Everything links to it, so no split owns it."""
    opening: tuple[JointEntry, ...] = ()
    """Sentences that say what the entity is; each begins with ``{s}``."""
    sections: tuple[SectionEntry, ...] = ()
    """Genre, medium and such are stated in the opening, or else in the first section."""
    filler_section: int = Field(default=0, ge=0)
    """The section, from 0, whose topic filler suits best."""
    fillers: tuple[Filler, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _plain_fillers(cls, value: object) -> object:
        if isinstance(value, dict) and "fillers" in value:
            texts = [{"text": item} if isinstance(item, str) else item for item in value["fillers"]]
            return {**value, "fillers": texts}
        return value


class Lexicon(Described):
    """The words of one source. A file may hold any part; the parts of all files are joined."""

    types: dict[str, EntityTypeEntry] = {}
    relations: dict[str, RelationEntry] = {}
    joint: tuple[JointEntry, ...] = ()
    plurals: dict[str, str] = {}
    """Of nouns that name an end of a relation and no type: ``pupil: pupils``."""


class KnownLabel(Described):
    """What replaces the words that are derived from a usual label."""

    labels: tuple[str, ...] = Field(min_length=1)
    value: tuple[ValueKind, ...] = Field(min_length=1)
    subject: Literal["person", "place"] | None = None
    """Only for subjects that are people, or that are somewhere."""
    page: tuple[str, ...] = ()
    question: QuestionWords = QuestionWords()
    """Keys that are given replace those derived."""
    in_size: InSize | None = None


class _AgentOf(Described):
    participle: str
    kinds: tuple[str, ...]


class _Agents(Described):
    any: dict[str, str]
    of: dict[str, _AgentOf]


class UsualLabels(Described):
    """Words of relations that go by a usual name; ``labels.yaml`` explains the keys."""

    alike: dict[str, tuple[str, ...]]
    agents: _Agents
    located: frozenset[str]
    places: frozenset[str]
    roles: frozenset[str]
    people: frozenset[str]
    settled: frozenset[str]
    wider: tuple[str, ...]
    known: tuple[KnownLabel, ...]

    def event(self, label: str, value: ValueKind) -> str | None:
        """The label under which an event is worded: with a preposition where it leads to a place."""
        placed = value == "entity"
        if not placed and value not in ("date", "year"):
            return None
        alike = (name for name, labels in self.alike.items() if label in labels)
        return next((name for name in alike if name.endswith(" in") == placed), None)

    def participle(self, noun: str, subject: tuple[str, ...]) -> str | None:
        """What an agent has done to the subject: "written" for an author."""
        found = self.agents.of.get(noun)
        if found is not None:
            return found.participle if set(subject) <= set(found.kinds) else None
        return self.agents.any.get(noun)

    def known_as(self, label: str, value: ValueKind, subject: Set[str]) -> KnownLabel | None:
        """The first entry that fits a subject that is a "person", a "place", both or neither."""
        return next(
            (
                entry
                for entry in self.known
                if label in entry.labels
                and value in entry.value
                and (entry.subject is None or entry.subject in subject)
            ),
            None,
        )


class DocumentRelation(Described):
    """What documents of any maker state of things."""

    question: QuestionWords
    in_size: InSize | None = None


class DocumentWords(Described):
    """Words of questions about documents; ``documents.yaml`` explains the slots."""

    relations: dict[str, DocumentRelation]
    """Relations that most documentation has; others are worded by their labels."""
    other: tuple[str, ...]
    """Questions for a value under any other label."""
    identify: tuple[str, ...]
    """Questions for what is described."""
    gaps: tuple[str, ...]
    """Questions for what is left out of a sentence."""
    untitled: tuple[str, ...]
    """The same where the page has no title of its own."""


class MisleadingFrame(Described):
    """How a page of one kind is worded."""

    title: str
    heading: str
    """Of the section with the sentences behind the first; the first is the opening."""
    sentences: tuple[str, ...] = Field(min_length=2)
    upheld: str = ""
    """What stands in place of the cue where the statement is true; empty where the same can be said of both."""

    def told(self, *, holds: bool) -> tuple[str, ...]:
        """The sentences of a page whose statement is true, or false."""
        upheld = self.upheld if holds else ""
        return tuple(f"!{upheld}" if upheld and text.startswith("!") else text for text in self.sentences)

    @model_validator(mode="after")
    def _can_be_found_out(self) -> MisleadingFrame:
        if sum(text.startswith("!") for text in self.sentences) != 1:
            raise ValueError("exactly one sentence begins with '!': the cue by which a reader can find out")
        if sum("{claim}" in text for text in self.sentences) != 1:
            raise ValueError("exactly one sentence holds {claim}")
        return self


class MisleadingKind(Described):
    level: WrittenLevel
    cue: CueKind
    frames: tuple[MisleadingFrame, ...] = Field(min_length=1)


class _Remarks(Described):
    things: tuple[str, ...]
    people: tuple[str, ...]


class MisleadingWords(Described):
    """What written pages say around a statement, false or true; ``misleading.yaml`` explains the slots."""

    kinds: dict[WrittenKind, MisleadingKind]
    documents: dict[WrittenKind, MisleadingKind]
    """The same beside documents of any maker, whose false statement is a sentence or a section of theirs."""
    namesakes: dict[str, str]
    """Type -> what a thing of the same name is: of a type that no question asks for, so it is never a second answer."""
    namesake: dict[Literal["person", "thing"], str]
    """How a page about a namesake says that it speaks of that; a kind that is missing needs no words."""
    itself: dict[Literal["person", "thing"], str]
    """How it says that it speaks of the other one."""
    remarks: _Remarks
    """What else is said of namesakes. Nothing here is a fact of the graph."""
    time_varying: frozenset[str]
    """Relations whose object may have been another in an earlier year: only these have stale values."""
