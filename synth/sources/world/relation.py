"""What a relation of the fictional world is, and the sentences that state it."""

from __future__ import annotations

from dataclasses import dataclass

from synth.schemas.documents import ValueKind

__all__ = ["EntityType", "Joint", "Relation"]


@dataclass(frozen=True)
class EntityType:
    """A kind of entity. ``noun`` is what follows "a" or "the" in prose: "the *newspaper*"."""

    name: str
    noun: str
    plural: str
    share: float
    """Share of the world's entities, in parts per thousand of those that are not hubs; 0 for hubs and regions."""
    hub: bool = False
    """Everything links to it, so no split owns it (METHODS 9: declared, exempt and listed)."""


@dataclass(frozen=True)
class Relation:
    """One edge type, seen from its subject.

    Slots of a sentence: ``{s}`` subject, ``{s}'s`` its possessive, ``{o}`` object (an entity's name with its article,
    a list "A, B and C" where the relation is not functional, or a value as written), ``{an}`` the indefinite article
    that fits ``{o}``, ``{their}`` / ``{them}`` / ``{they}`` pronouns of the subject, ``{is}`` is or was.
    """

    name: str
    subject_types: tuple[str, ...]
    object_types: tuple[str, ...]
    """Empty when the object is a value. Only inverse readings have more than one."""
    value_kind: ValueKind
    unit: str | None
    """Unit of a quantity, plural, as written: ``metres``."""
    inverse: str | None
    """Name of the relation that reads the same fact from its object. Its own name when symmetric."""
    functional: bool
    """At most one object per subject."""
    inverse_functional: bool
    """At most one subject per object."""
    primary: bool
    """True: every such fact stands on its subject's page. False: the inverse reading of a primary fact, which the
    object's page states for some facts only (a city names a few of its natives)."""
    sentences: tuple[str, ...]
    note: str = ""
    """What the generator guarantees about dates and quantities."""


@dataclass(frozen=True)
class Joint:
    """Sentences that state two or more facts of one subject at once: slots ``{o}``, ``{o2}``, ``{o3}`` in order."""

    relations: tuple[str, ...]
    sentences: tuple[str, ...]
    always: bool = False
    """Told together whenever both hold; else for half of the pages."""
