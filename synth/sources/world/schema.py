"""The typed schema of the fictional world: entity types, relations, and how values and names are written.

Fictional worlds for search agents: SearchGym (arXiv 2601.14615) built about 3,600 entities with an LLM; this schema
drives a seeded generator instead, so that any size is consistent and every stated fact is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from synth.schemas.documents import ValueKind
from synth.sources.world import (
    relations_institutions,
    relations_people,
    relations_places,
    relations_structures,
    relations_works,
)
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
    "indefinite",
    "with_article",
    "written_value",
]

PRESENT_YEAR = 2010
"""The year in which the encyclopedia is written: nothing is later, and the living are alive in it."""

ENTITY_TYPES: Mapping[str, EntityType] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            EntityType("country", "country", "countries", 0, hub=True),
            EntityType("language", "language", "languages", 0, hub=True),
            EntityType("award", "award", "awards", 0, hub=True),
            EntityType("region", "region", "regions", 0),
            EntityType("city", "city", "cities", 80),
            EntityType("river", "river", "rivers", 35),
            EntityType("mountain", "mountain", "mountains", 35),
            EntityType("lake", "lake", "lakes", 30),
            EntityType("species", "species", "species", 30),
            EntityType("person", "person", "people", 400),
            EntityType("university", "university", "universities", 30),
            EntityType("company", "company", "companies", 50),
            EntityType("laboratory", "laboratory", "laboratories", 25),
            EntityType("newspaper", "newspaper", "newspapers", 25),
            EntityType("museum", "museum", "museums", 30),
            EntityType("team", "team", "teams", 25),
            EntityType("stadium", "stadium", "stadiums", 25),
            EntityType("bridge", "bridge", "bridges", 30),
            EntityType("festival", "festival", "festivals", 25),
            EntityType("book", "book", "books", 60),
            EntityType("film", "film", "films", 40),
            EntityType("artwork", "artwork", "artworks", 25),
        )
    }
)
"""Every entity type by name, in the order in which a world numbers its entities."""

HUB_TYPES: frozenset[str] = frozenset(kind.name for kind in ENTITY_TYPES.values() if kind.hub)
"""Types whose entities are exempt from splits: ``partition`` of such an entity is "train", and says nothing."""

_DECLARED = (
    *relations_places.RELATIONS,
    *relations_people.RELATIONS,
    *relations_institutions.RELATIONS,
    *relations_structures.RELATIONS,
    *relations_works.RELATIONS,
)


def _mirrored(declared: tuple[Relation, ...]) -> dict[str, Relation]:
    primary = {item.name: item for item in declared if item.primary}
    mirror = {item.inverse: item for item in primary.values() if item.inverse}
    return {
        item.name: item
        if item.primary
        else replace(
            item,
            functional=mirror[item.name].inverse_functional,
            inverse_functional=mirror[item.name].functional,
        )
        for item in declared
    }


RELATIONS: Mapping[str, Relation] = MappingProxyType(_mirrored(_DECLARED))
"""Every relation by name, inverse readings (``primary=False``) included."""

JOINTS: tuple[Joint, ...] = (
    *relations_places.JOINTS,
    *relations_people.JOINTS,
    *relations_institutions.JOINTS,
    *relations_structures.JOINTS,
    *relations_works.JOINTS,
)

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_ARTICLE_TYPES = frozenset({"river", "museum", "laboratory", "newspaper", "bridge", "festival", "award", "species"})
_ARTICLE_PATTERN = re.compile(
    r"^(University|Republic|Kingdom|Academy) of |(Institute|Academy|Company|Highlands|Islands)$"
)


def article(kind: str, name: str) -> str:
    """``"the "`` when English puts the definite article before this name in running text, else ``""``."""
    if name.startswith("The "):
        return ""
    return "the " if kind in _ARTICLE_TYPES or _ARTICLE_PATTERN.search(name) else ""


def indefinite(words: str) -> str:
    """``"an"`` or ``"a"``, as it is said: an actor, a one-act play."""
    return "an" if words[0].lower() in "aeiou" and not words.lower().startswith("one") else "a"


def with_article(kind: str, name: str) -> str:
    """The name as a sentence mentions it: "the River Senn", "Lake Senn"."""
    return article(kind, name) + name


def written_value(value: str, kind: ValueKind) -> str:
    """How pages write an edge's value: "14 March 1874", "1874", "1,204,500", "1,204 metres".

    ``value`` is as ``Edge.value`` stores it: ISO date, plain decimal number, number with unit, or text.
    """
    if kind == "date":
        year, month, day = value.split("-")
        return f"{int(day)} {_MONTHS[int(month) - 1]} {int(year)}"
    if kind == "number":
        return f"{int(value):,}"
    if kind == "quantity":
        number, _, unit = value.partition(" ")
        return f"{int(number):,} {unit}"
    return value
