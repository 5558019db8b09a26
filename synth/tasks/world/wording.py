"""What the question grammar knows about one relation: how its two ends are spoken of."""

from __future__ import annotations

from dataclasses import dataclass

from synth.lexicon.model import QuestionWords
from synth.tasks.world.grammar import Predicate

__all__ = ["Wording", "wording_of"]


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


def wording_of(relation: str, words: QuestionWords) -> Wording:
    """The words of a lexicon, read."""
    return Wording(
        relation,
        tuple(Predicate.parse(text) for text in words.subject_does),
        tuple(Predicate.parse(text) for text in words.object_does),
        words.object_is,
        words.subject_is,
        words.asks,
        past=words.tense == "past",
    )
