"""One hop in words: noun phrases that name the sought end, and questions for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from synth.tasks.world.grammar import (
    CLAUSE,
    NAME,
    NESTED,
    NOMINAL,
    Phrase,
    Predicate,
    mark,
    possessive,
    strip_marks,
    tidy,
)
from synth.tasks.world.registers import Core, identify, put
from synth.tasks.world.wording import Noun, Wording

__all__ = [
    "Link",
    "as_clause",
    "ask_options",
    "choose",
    "clause_phrases",
    "core_of",
    "identify",
    "noun_phrases",
    "statements",
]

T = TypeVar("T")

_ROLE = re.compile(r"the \w+(?: \w+)?(?: of the \w+)?")
"""A role that a person holds in something else: "the director", "the head coach"."""
_LONG_NAME = re.compile(r" (?:and|in) |\)$|^(?:The )?\w+s of |^The .*s$")
"""Names that take no "'s": "Lamps (1904 film)", "The Harvest and the Lanterns", "Questions of Mera"."""
_CLAUSE_WORDS = (" that ", " which ", " whose ", " where ", " who ")


@dataclass(frozen=True)
class Link:
    """A hop as the grammar sees it."""

    number: int
    """Its place in the walk."""
    wording: Wording
    sought_is_object: bool
    """Whether the sought end is the object of the wording's relation."""
    noun: Noun
    """What the sought end is."""
    known: str = ""
    """The known end as the question names it, with its article; empty when an earlier hop finds it."""
    heavy: bool = False
    """The known end is a description with a clause of its own: it goes last."""
    timed: bool = False
    """The known end is a range of dates that brings its own preposition ("in the 1870s")."""

    @property
    def kind(self) -> str:
        """Entity type or value kind of the sought end."""
        return self.noun.kind

    @property
    def person(self) -> bool:
        return self.noun.person

    @property
    def is_value(self) -> bool:
        return self.noun.is_value

    def does(self) -> tuple[Predicate, ...]:
        found = self.wording.does(sought_is_object=self.sought_is_object)
        if self.timed:
            return tuple(replace(item, prep="") for item in found if item.prep in ("in", "on") and not item.tail)
        return found

    def undergoes(self) -> tuple[Predicate, ...]:
        return self.wording.undergoes(sought_is_object=self.sought_is_object)

    def names(self) -> tuple[str, ...]:
        return self.wording.names(sought_is_object=self.sought_is_object)

    def sets(self) -> tuple[str, ...]:
        return self.wording.sets(sought_is_object=self.sought_is_object)


def choose(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of ``options``, uniformly. Raises ValueError when there is none."""
    return options[int(rng.integers(len(options)))]


def _fill(template: str, known: Phrase) -> str | None:
    """The template with its slot filled, or None when the phrase is too heavy for the place of the slot."""
    if "{x's}" in template:
        plain = known.weight == NAME and not _LONG_NAME.search(strip_marks(known.text))
        return template.replace("{x's}", possessive(known.text)) if plain else None
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
    return predicate.auxiliary and any(f" {head} " in f" {words} " for words in (predicate.middle, predicate.tail))


def clause_phrases(link: Link, known: Phrase, head: str) -> list[Phrase]:
    """In words, without the article: "city where X was born", "person who founded X"."""
    if known.weight >= CLAUSE:
        return []  # two clauses inside one another are as much as one sentence bears, and the question is the first
    pronouns = ("who",) if link.person else ("that", "which")
    found = []
    for predicate in link.does():
        if _echoes(predicate, head) or predicate.clausal:
            continue  # "the city that is where X died" is the city where X died
        if link.names() and head in link.noun.heads[:1] and _ROLE.fullmatch(predicate.middle) and predicate.auxiliary:
            continue  # "the person who was the director of X" is the director of X
        found += [Phrase(f"{head} {pronoun} {predicate.finite(known.text)}", CLAUSE) for pronoun in pronouns]
        if predicate.participle:
            found.append(Phrase(f"{head} {predicate.finite(known.text, elided=True)}", CLAUSE))
    for predicate in link.undergoes():
        if predicate.tail.startswith("among") or (predicate.tail and predicate.base == "have"):
            continue  # "the person whom the station had on its staff"
        strand = known.weight == NAME
        for gap in predicate.gaps(known.text, person=link.person, place=link.noun.place, strand=strand):
            found.append(Phrase(f"{head} {gap}", CLAUSE))
    return found


def noun_phrases(link: Link, known: Phrase, head: str) -> list[list[Phrase]]:
    """Definite descriptions of the sought end, by way of wording (nominal, clause); ways without any are left out."""
    clauses = [Phrase(mark(link.number, f"the {item.text}"), item.weight) for item in clause_phrases(link, known, head)]
    return [way for way in (nominal_phrases(link, known), clauses) if way]


def statements(link: Link, known: Phrase, sought: str) -> list[str]:
    """Finite clauses whose subject is the known end and whose object is ``sought``: "X was born in a city"."""
    heavy = len(sought.split()) > 4
    predicates = link.undergoes()
    if any(not predicate.tail for predicate in predicates):  # not "the book has someone as its author"
        predicates = tuple(predicate for predicate in predicates if not predicate.tail)
    return [
        tidy(f"{known.text} {predicate.finite(sought, heavy=heavy)}")
        for predicate in predicates
        if known.weight <= NOMINAL
        and predicate.fits(heavy)
        and not predicate.prep.endswith("a(n)")
        and not predicate.clausal
        and not any(word[:5] == link.kind[:5] for word in predicate.middle.split())  # not "was awarded an award"
    ]


def _said(link: Link, known: str, heavy: bool, head: str) -> list[Predicate]:
    """Predicates over the known end, without one that its description says already where there are others. A heavy one
    stands best at the end: "has as its mayor the person who ..." is the last resort."""
    found = [p for p in link.does() if p.fits(heavy) and not _echoes(p, head)]
    found = [p for p in found if not (heavy and p.said_in(known))] or found
    return [p for p in found if not (heavy and (p.tail or p.clausal))] or found


def core_of(link: Link, known: Phrase, head: str) -> Core:
    """What is asked of one hop: as a question, as a clause and as a noun phrase, all marked."""
    if link.is_value:
        asks = [text for template in link.wording.asks if (text := _fill(template, known)) is not None]
        clauses = [
            text
            for template in link.wording.asks
            if (told := as_clause(template)) and (text := _fill(told, known)) is not None
        ]
        return Core(
            link.noun,
            direct=tuple(mark(link.number, text[0].lower() + text[1:].rstrip("?")) for text in asks),
            clause=tuple(mark(link.number, text) for text in clauses),
            phrase=tuple(phrase.text for phrase in nominal_phrases(link, known)),
        )
    wh = "who" if link.person else f"which {head}"
    whom = "whom" if link.person else f"which {head}"
    heavy = known.weight > NOMINAL
    finite = [
        (predicate.clausal, mark(link.number, f"{wh} {predicate.finite(known.text, heavy=heavy)}"))
        for predicate in _said(link, known.text, heavy, head)
    ]
    direct = [text for clausal, text in finite if not clausal]  # "which region is where it lies": only if nothing else
    clauses = list(direct)
    if not heavy:
        for predicate in link.undergoes():
            if predicate.tail.startswith("among"):
                continue  # "which region does Sarn count among its regions"
            ways = {"person": link.person, "strand": known.weight == NAME}
            direct += [mark(link.number, text) for text in predicate.questions(whom, known.text, **ways)]
            clauses += [mark(link.number, text) for text in predicate.clauses(whom, known.text, **ways)]
    direct, clauses = (found or [text for _, text in finite] for found in (direct, clauses))
    nominal = [phrase.text for phrase in nominal_phrases(link, known)]
    if link.person:
        verb = "was" if link.wording.past else "is"
        direct += [f"who {verb} {text}" for text in nominal]
        clauses += [f"who {text} {verb}" for text in nominal if not heavy]
    else:
        for text in nominal:
            words = f" {strip_marks(text)} "
            if f" {head} " not in words:
                direct.append(f"which {head} is {text}")
            elif words.startswith(f" the {head} of "):
                direct.append(f"what is {text}")
                clauses.append(f"what {text} is")
    described = tuple(phrase.text for way in noun_phrases(link, known, head) for phrase in way)
    return Core(link.noun, head, tuple(direct), tuple(clauses), described)


def ask_options(link: Link, known: Phrase, head: str) -> dict[str, list[str]]:
    """Questions for the sought end, by family, marked, without capital. Families without any are left out."""
    core = core_of(link, known, head)
    families = put(core)
    if not link.is_value and known.weight == NAME:  # not "this region contains the city where the twin of ..."
        heavy = known.weight > NOMINAL
        said = [p.finite(known.text, heavy=heavy) for p in _said(link, known.text, heavy, head)]
        families["quiz"] = [
            f"{mark(link.number, f'this {head} {text}')}. {ending}?"
            for text in said
            for ending in identify(link.person, head)
        ]
    return {name: options for name, options in families.items() if options}


_INVERTED = re.compile(r"(?P<wh>.+?) (?P<verb>was|is|has|did|does) (?P<x>\{x\})(?: (?P<rest>.+))?")
_PAST = {
    "die": "died", "pass": "passed", "do": "did", "appear": "appeared", "gain": "gained", "come": "came",
    "follow": "followed",
}  # fmt: skip


def as_clause(ask: str) -> str | None:
    """A question about a value as part of a sentence: "How long is {x}?" -> "how long {x} is"; None where that takes
    more than moving the verb."""
    text = ask.rstrip("?")
    text = text[0].lower() + text[1:]
    match = _INVERTED.fullmatch(text)
    if match is None:
        subject_first = not re.search(r" (?:is|was|has|did|does|can) ", text) and text.endswith("{x}")
        return text if subject_first else None
    verb, rest = match["verb"], match["rest"] or ""
    if verb in ("did", "does"):
        base, _, after = rest.partition(" ")
        if verb == "did" and base not in _PAST:
            return None
        third = "has" if base == "have" else base + ("es" if base.endswith(("s", "ch", "sh", "o")) else "s")
        verb, rest = (_PAST[base] if verb == "did" else third), after
    return f"{match['wh']} {{x}} {verb} {rest}".strip()
