"""One hop in words: noun phrases that name the sought end, and questions for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from synth.sources.world.schema import ENTITY_TYPES
from synth.tasks.world.grammar import CLAUSE, NAME, NESTED, NOMINAL, Phrase, Predicate, mark, possessive, tidy
from synth.tasks.world.wording import Wording

__all__ = ["HEADS", "Link", "ask_options", "choose", "noun_phrases", "statements"]

T = TypeVar("T")

HEADS: dict[str, tuple[str, ...]] = {
    **{kind.name: (kind.noun,) for kind in ENTITY_TYPES.values()},
    "company": ("company", "firm"),
    "newspaper": ("newspaper", "paper"),
    "laboratory": ("laboratory", "research laboratory"),
    "artwork": ("artwork", "work of art"),
    "film": ("film", "movie"),
    "award": ("award", "prize"),
}
"""What a sought entity of a kind is called; the first is the plain word."""

_PLACES = frozenset("country region city university laboratory museum stadium newspaper company lake".split())
_CLAUSE_WORDS = (" that ", " which ", " whose ", " where ", " who ")


@dataclass(frozen=True)
class Link:
    """A hop as the grammar sees it."""

    number: int
    """Its place in the walk."""
    wording: Wording
    sought_is_object: bool
    """Whether the sought end is the object of the wording's relation."""
    kind: str
    """Entity type or value kind of the sought end."""
    known: str = ""
    """The known end as the question names it, with its article; empty when an earlier hop finds it."""

    @property
    def person(self) -> bool:
        return self.kind == "person"

    @property
    def is_value(self) -> bool:
        return self.kind not in ENTITY_TYPES

    def does(self) -> tuple[Predicate, ...]:
        return self.wording.does(sought_is_object=self.sought_is_object)

    def undergoes(self) -> tuple[Predicate, ...]:
        return self.wording.undergoes(sought_is_object=self.sought_is_object)

    def names(self) -> tuple[str, ...]:
        return self.wording.names(sought_is_object=self.sought_is_object)


def choose(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of ``options``, uniformly. Raises ValueError when there is none."""
    return options[int(rng.integers(len(options)))]


def _fill(template: str, known: Phrase) -> str | None:
    """The template with its slot filled, or None when the phrase is too heavy for the place of the slot."""
    if "{x's}" in template:
        return template.replace("{x's}", possessive(known.text)) if known.weight == NAME else None
    final = template.rstrip("?").endswith("{x}")
    if known.weight > NOMINAL and not final:
        return None
    return template.replace("{x}", known.text)


def _around(weight: int) -> int:
    """Weight of a clause around a phrase of ``weight``."""
    return CLAUSE if weight <= NOMINAL else NESTED


def nominal_phrases(link: Link, known: Phrase) -> list[Phrase]:
    """In words: "the capital of X", "X's capital"."""
    found = []
    for template in link.names():
        text = _fill(template, known)
        if text is None or known.weight == NESTED:
            continue
        clause = any(word in template for word in _CLAUSE_WORDS)
        weight = _around(known.weight) if clause or known.weight > NAME else NOMINAL
        found.append(Phrase(mark(link.number, text), weight))
    return found


def _echoes(predicate: Predicate, head: str) -> bool:
    """Whether the predicate says the head again: "the company that is the parent company of"."""
    return predicate.auxiliary and head in predicate.middle.split()


def clause_phrases(link: Link, known: Phrase, head: str) -> list[Phrase]:
    """In words, without the article: "city where X was born", "person who founded X"."""
    if known.weight == NESTED:
        return []
    pronouns = ("who",) if link.person else ("that", "which")
    found = []
    heavy = known.weight > NOMINAL
    for predicate in link.does():
        if not predicate.fits(heavy) or _echoes(predicate, head):
            continue
        for pronoun in pronouns[: 1 if heavy else 2]:
            text = f"{head} {pronoun} {predicate.finite(known.text, heavy=heavy)}"
            found.append(Phrase(text, _around(known.weight)))
    if known.weight <= NOMINAL:
        for predicate in link.undergoes():
            for gap in predicate.gaps(known.text, person=link.person, place=link.kind in _PLACES):
                found.append(Phrase(f"{head} {gap}", CLAUSE))
    return found


def noun_phrases(link: Link, known: Phrase, head: str) -> list[list[Phrase]]:
    """Definite descriptions of the sought end, by way of wording (nominal, clause); ways without any are left out."""
    clauses = [Phrase(mark(link.number, f"the {item.text}"), item.weight) for item in clause_phrases(link, known, head)]
    return [way for way in (nominal_phrases(link, known), clauses) if way]


def statements(link: Link, known: Phrase, sought: str) -> list[str]:
    """Finite clauses whose subject is the known end and whose object is ``sought``: "X was born in a city"."""
    heavy = len(sought.split()) > 4
    return [
        tidy(f"{known.text} {predicate.finite(sought, heavy=heavy)}")
        for predicate in link.undergoes()
        if known.weight <= NOMINAL and predicate.fits(heavy) and not predicate.prep.endswith("a(n)")
    ]


def ask_options(link: Link, known: Phrase, head: str) -> dict[str, list[str]]:
    """Questions for the sought end, by family, marked, without capital. Families without any are left out."""
    if link.is_value:
        return _ask_value(link, known)
    wh = "who" if link.person else f"which {head}"
    whom = "whom" if link.person else f"which {head}"
    families: dict[str, list[str]] = {}

    heavy = known.weight > NOMINAL
    finite = [p.finite(known.text, heavy=heavy) for p in link.does() if p.fits(heavy) and not _echoes(p, head)]
    families["subject"] = [mark(link.number, f"{wh} {text}") + "?" for text in finite]
    families["indirect"] = [
        f"{opening} {mark(link.number, f'{wh} {text}')}?"
        for text in finite
        for opening in ("can you tell me", "do you know", "could you tell me")
    ]
    families["quiz"] = [
        f"{mark(link.number, f'this {head} {text}')}. {ending}?"
        for text in finite
        for ending in identify(link.person, head)
    ]
    if known.weight <= NOMINAL:
        families["inverted"] = [
            mark(link.number, text) + "?"
            for predicate in link.undergoes()
            for text in predicate.questions(whom, known.text, person=link.person)
        ]
    nominal = [phrase.text for phrase in nominal_phrases(link, known)]
    if link.person:
        verb = "was" if link.wording.past else "is"
        families["nominal"] = [f"who {verb} {text}?" for text in nominal]
    else:
        families["nominal"] = [f"which {head} is {text}?" for text in nominal if f" {head} " not in text]
    described = [phrase.text for way in noun_phrases(link, known, head) for phrase in way]
    families["name"] = [f"what is the name of {text}?" for text in described]
    families["request"] = [f"{opening} {text}?" for text in described for opening in ("can you name", "could you name")]
    families["looking"] = [
        f"{opening} {text}. {ending}?"
        for text in described
        for opening in ("I am looking for", "I'm trying to find", "I would like to identify")
        for ending in identify(link.person, head)
    ]
    return {name: options for name, options in families.items() if options}


def identify(person: bool, head: str) -> tuple[str, ...]:
    """Questions that ask what a thing or person just described is called, without question mark."""
    if person:
        return ("Who is it", "What is this person's name", "Who is meant")
    return ("What is it called", "What is its name", f"Which {head} is it")


def _ask_value(link: Link, known: Phrase) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    asks = [text for template in link.wording.asks if (text := _fill(template, known)) is not None]
    families["direct"] = [mark(link.number, text[0].lower() + text[1:].rstrip("?")) + "?" for text in asks]
    nominal = [phrase.text for phrase in nominal_phrases(link, known)]
    families["what"] = [f"what is {text}?" for text in nominal if " in which " not in text]
    families["indirect"] = [
        f"{opening} {text}?"
        for text in nominal
        for opening in ("can you tell me", "do you know", "could you tell me", "can you give me")
    ]
    families["looking"] = [
        f"{opening} {text}. {ending}?"
        for text in nominal
        for opening, ending in (
            ("I am looking for", "What is it"),
            ("I'm trying to find out", "What is it"),
            ("I would like to know", "Can you tell me"),
        )
    ]
    return {name: options for name, options in families.items() if options}
