"""What the question grammar knows about one relation: how its two ends are spoken of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from synth.lexicon.model import EntityTypeEntry, QuestionWords
from synth.tasks.world.grammar import Predicate

__all__ = ["RELATIVE", "Noun", "Wording", "noun_of", "wording_of"]

RELATIVE = re.compile(r" (?:that|which|who|whose|where) ")
"""Where a relative clause begins."""


@dataclass(frozen=True)
class Noun:
    """What things of a kind are called. Of values there are no words: they are asked for by their relation."""

    kind: str
    """Entity type or value kind."""
    heads: tuple[str, ...] = ()
    """What one is called; the first is the plain word."""
    plurals: tuple[str, ...] = ()
    """What several are called; the first is the plain word."""
    topic: str = ""
    """What an article about them is about."""
    place: bool = False
    """Whether "where" asks for one."""

    @property
    def is_value(self) -> bool:
        return not self.heads

    @property
    def person(self) -> bool:
        return self.kind == "person"


def noun_of(kind: str, entry: EntityTypeEntry) -> Noun:
    """The words of a lexicon, read."""
    return Noun(
        kind,
        (entry.noun, *entry.also),
        (entry.plural, *entry.also_plural),
        entry.topic or entry.plural,
        entry.place,
    )


@dataclass(frozen=True)
class Wording:
    """How the ends of a primary relation are spoken of."""

    relation: str
    subject_does: tuple[Predicate, ...]
    """The relation's subject is the grammatical subject: "PERSON was born | in CITY"."""
    object_does: tuple[Predicate, ...]
    """The relation's object is the grammatical subject: "CITY is the birthplace | of PERSON". Empty for values."""
    object_is: tuple[str, ...]
    """Names the object by the subject: "the birthplace of {x}"."""
    subject_is: tuple[str, ...]
    """Names the subject by the object: "the founder of {x}"."""
    object_sets: tuple[str, ...] = ()
    """Names several objects by the subject: "pupils of {x}"."""
    subject_sets: tuple[str, ...] = ()
    """Names several subjects by the object; ``{things}`` stands for their plural."""
    asks: tuple[str, ...] = ()
    """Whole questions for the object, for values: "How deep is {x}?"."""
    past: bool = True
    """Whether "Who was" (True) or "Who is" asks for the person that a noun phrase names."""

    def does(self, *, sought_is_object: bool) -> tuple[Predicate, ...]:
        """Predicates whose grammatical subject is the sought end."""
        return self.object_does if sought_is_object else self.subject_does

    def undergoes(self, *, sought_is_object: bool) -> tuple[Predicate, ...]:
        """Predicates whose grammatical subject is the known end."""
        return self.subject_does if sought_is_object else self.object_does

    def names(self, *, sought_is_object: bool) -> tuple[str, ...]:
        """Noun phrases that name the sought end by the known one."""
        return self.object_is if sought_is_object else self.subject_is

    def sets(self, *, sought_is_object: bool) -> tuple[str, ...]:
        """Noun phrases, without article, that name several sought ends by the known one."""
        return self.object_sets if sought_is_object else self.subject_sets


def wording_of(relation: str, words: QuestionWords, plurals: Mapping[str, str]) -> Wording:
    """The words of a lexicon, read; ``plurals``: singular -> plural of nouns that may stand for a set."""
    return Wording(
        relation,
        tuple(Predicate.parse(text) for text in words.subject_does),
        tuple(Predicate.parse(text) for text in words.object_does),
        words.object_is,
        words.subject_is,
        _sets(words.object_is, plurals),
        (*_sets(words.subject_is, plurals), *words.subject_sets),
        words.asks,
        past=words.tense == "past",
    )


def _sets(names: tuple[str, ...], plurals: Mapping[str, str]) -> tuple[str, ...]:
    """ "the pupil of {x}" as "pupils of {x}"; left out where a verb would have to change, too."""
    found = []
    for template in names:
        match = re.match(r"the (\w+)(.*)", template)
        if match is not None and match[1] in plurals and not RELATIVE.search(template) and "{x's}" not in template:
            found.append(f"{plurals[match[1]]}{match[2]}")
    return tuple(found)
