"""The typed schema of the fictional world: entity types, relations, and how values and names are written.

Fictional worlds for search agents: SearchGym (arXiv 2601.14615) built about 3,600 entities with an LLM; this schema
drives a seeded generator instead, so that any size is consistent and every stated fact is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from synth.lexicon import names
from synth.lexicon.model import EntityTypeEntry, JointEntry
from synth.lexicon.reading import world_lexicon
from synth.schemas.documents import ValueKind

__all__ = [
    "ENTITY_TYPES",
    "HUB_TYPES",
    "JOINTS",
    "PRESENT_YEAR",
    "RELATIONS",
    "Relation",
    "article",
    "with_article",
]

PRESENT_YEAR = 2010
"""The year in which the encyclopedia is written: nothing is later, and the living are alive in it."""

_WORDS = world_lexicon()

ENTITY_TYPES: Mapping[str, EntityTypeEntry] = MappingProxyType(_WORDS.types)
"""Every entity type by name, in the order in which a world numbers its entities."""

HUB_TYPES: frozenset[str] = frozenset(name for name, kind in ENTITY_TYPES.items() if kind.hub)
"""Types whose entities are exempt from splits: ``partition`` of such an entity is "train", and says nothing."""


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


def _relations() -> Iterator[Relation]:
    """Every relation, its inverse reading behind it."""
    for name, entry in _WORDS.relations.items():
        inverse = name if entry.symmetric else entry.inverse.name if entry.inverse else None
        relation = Relation(
            name=name,
            subject_types=entry.subject,
            object_types=entry.object,
            value_kind=entry.value,
            unit=entry.unit,
            inverse=inverse,
            functional=entry.functional,
            inverse_functional=entry.inverse_functional,
            primary=True,
            sentences=entry.page,
            note=entry.note,
        )
        yield relation
        if entry.inverse is not None:
            yield replace(
                relation,
                name=entry.inverse.name,
                subject_types=entry.object,
                object_types=entry.subject,
                inverse=name,
                functional=entry.inverse_functional,
                inverse_functional=entry.functional,
                primary=False,
                sentences=entry.inverse.page,
                note="",
            )


RELATIONS: Mapping[str, Relation] = MappingProxyType({item.name: item for item in _relations()})
"""Every relation by name, inverse readings (``primary=False``) included."""

JOINTS: tuple[JointEntry, ...] = _WORDS.joint


def article(kind: str, name: str) -> str:
    """``"the "`` when English puts the definite article before this name in running text, else ``""``."""
    return names.article(name, always=_WORDS.types[kind].article)


def with_article(kind: str, name: str) -> str:
    """The name as a sentence mentions it: "the River Senn", "Lake Senn"."""
    return names.with_article(name, always=_WORDS.types[kind].article)
