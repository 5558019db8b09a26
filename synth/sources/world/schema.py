"""The typed schema of the fictional world: entity types, relations, and how values and names are written.

Fictional worlds for search agents: SearchGym (arXiv 2601.14615) built about 3,600 entities with an LLM; this schema
drives a seeded generator instead, so that any size is consistent and every stated fact is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from synth.lexicon import names
from synth.lexicon.reading import world_lexicon
from synth.sources.world.relation import EntityType, Joint, Relation

__all__ = [
    "ENTITY_TYPES",
    "HUB_TYPES",
    "JOINTS",
    "PRESENT_YEAR",
    "RELATIONS",
    "EntityType",
    "Joint",
    "Relation",
    "article",
    "with_article",
]

PRESENT_YEAR = 2010
"""The year in which the encyclopedia is written: nothing is later, and the living are alive in it."""

_WORDS = world_lexicon()

ENTITY_TYPES: Mapping[str, EntityType] = MappingProxyType(
    {
        name: EntityType(name, entry.noun, entry.plural, entry.per_thousand, entry.hub)
        for name, entry in _WORDS.types.items()
    }
)
"""Every entity type by name, in the order in which a world numbers its entities."""

HUB_TYPES: frozenset[str] = frozenset(kind.name for kind in ENTITY_TYPES.values() if kind.hub)
"""Types whose entities are exempt from splits: ``partition`` of such an entity is "train", and says nothing."""


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

JOINTS: tuple[Joint, ...] = tuple(Joint(entry.relations, entry.page, entry.always) for entry in _WORDS.joint)


def article(kind: str, name: str) -> str:
    """``"the "`` when English puts the definite article before this name in running text, else ``""``."""
    return names.article(name, always=_WORDS.types[kind].article)


def with_article(kind: str, name: str) -> str:
    """The name as a sentence mentions it: "the River Senn", "Lake Senn"."""
    return names.with_article(name, always=_WORDS.types[kind].article)
