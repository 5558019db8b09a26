"""What the question grammar knows about one relation: how its two ends are spoken of.

All strings are lists separated by ``;``. Predicates are in the notation of
:class:`synth.tasks.world.grammar.Predicate`; noun phrases have the slot ``{x}`` (the known end) or ``{x's}`` (its
possessive).
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.tasks.world.grammar import Predicate

__all__ = ["Wording", "entity", "value"]


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


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _predicates(text: str) -> tuple[Predicate, ...]:
    return tuple(Predicate.parse(part) for part in _split(text))


def entity(
    relation: str,
    *,
    subject_does: str,
    object_does: str,
    object_is: str = "",
    subject_is: str = "",
    past: bool = True,
) -> Wording:
    """Wording of a relation between entities."""
    return Wording(
        relation, _predicates(subject_does), _predicates(object_does), _split(object_is), _split(subject_is), past=past
    )


def symmetric(relation: str, *, does: str, names: str, past: bool = True) -> Wording:
    """Wording of a relation that reads the same from both ends."""
    return entity(relation, subject_does=does, object_does=does, object_is=names, subject_is=names, past=past)


def value(relation: str, *, subject_does: str, object_is: str, asks: str) -> Wording:
    """Wording of a relation whose object is a value."""
    return Wording(relation, _predicates(subject_does), (), _split(object_is), (), _split(asks))
