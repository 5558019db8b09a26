"""The schema of the world: enough of everything, mirrored inverses, sentences that hold their slots."""

from __future__ import annotations

import re

import pytest

from synth.lexicon.names import written_value
from synth.sources.world.schema import (
    ENTITY_TYPES,
    HUB_TYPES,
    JOINTS,
    RELATIONS,
    Relation,
    article,
    with_article,
)
from synth.sources.world.vocabulary import TEXT_VALUES

SLOTS = {"s", "o", "an", "their", "them", "they", "is"}


def test_enough_types_and_relations() -> None:
    assert len(ENTITY_TYPES) >= 12
    assert sum(item.primary for item in RELATIONS.values()) >= 40
    assert {item.value_kind for item in RELATIONS.values()} == {"entity", "date", "year", "number", "quantity", "text"}
    assert {"country", "language", "award"} == HUB_TYPES


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=lambda item: item.name)
def test_relation(relation: Relation) -> None:
    assert len(set(relation.sentences)) >= 4
    # Different sentences, not one with a word changed: no two share all of their words.
    words = [frozenset(re.findall(r"[a-z]+", text.lower())) for text in relation.sentences]
    assert len(set(words)) == len(words)
    for text in relation.sentences:
        slots = set(re.findall(r"\{(\w+)\}", text))
        assert {"o"} <= slots <= SLOTS, text
        assert text.endswith("."), text
        assert text[0].isupper() or text[0] == "{", text
        assert not re.search(r"\b(a|an|the) \{o\}", text) or relation.value_kind == "text", text
    assert set(relation.subject_types) <= set(ENTITY_TYPES)
    assert (relation.unit is not None) == (relation.value_kind == "quantity")
    assert bool(relation.object_types) == (relation.value_kind == "entity")
    if relation.value_kind == "text":
        assert all(TEXT_VALUES[relation.name, kind] for kind in relation.subject_types)
    if relation.inverse is not None:
        mirror = RELATIONS[relation.inverse]
        assert mirror.inverse == relation.name
        assert set(mirror.object_types) == set(relation.subject_types)
        assert set(mirror.subject_types) == set(relation.object_types)
        assert (mirror.functional, mirror.inverse_functional) == (relation.inverse_functional, relation.functional)
        assert mirror is relation or mirror.primary != relation.primary
    else:
        assert relation.primary


def test_joints_and_leads_apply_to_one_subject() -> None:
    for joint in JOINTS:
        assert set.intersection(*(set(RELATIONS[name].subject_types) for name in joint.relations)), joint.relations
        for text in joint.page:
            assert {"{o}", "{o2}", "{s}"} <= set(re.findall(r"\{\w+\}", text)), text
    for kind, entry in ENTITY_TYPES.items():
        assert entry.opening
        assert entry.sections
        for lead in entry.opening:
            for name in lead.relations:
                assert kind in RELATIONS[name].subject_types
                assert RELATIONS[name].primary
            for text in lead.page:
                assert text.startswith("{s} "), text
                assert ("{o2}" in text) == (len(lead.relations) == 2), text


def test_sections_name_relations_of_their_type_once() -> None:
    for kind, entry in ENTITY_TYPES.items():
        names = [name for plan in entry.sections for name in plan.relations]
        assert len(names) == len(set(names)), kind
        for name in names:
            assert kind in RELATIONS[name].subject_types, (kind, name)


@pytest.mark.parametrize(
    ("kind", "name", "written"),
    [
        ("river", "River Senn", "the River Senn"),
        ("lake", "Lake Senn", "Lake Senn"),
        ("museum", "Marrow Gallery", "the Marrow Gallery"),
        ("university", "University of Keld", "the University of Keld"),
        ("university", "Keld University", "Keld University"),
        ("university", "Keld Institute", "the Keld Institute"),
        ("region", "Keld Highlands", "the Keld Highlands"),
        ("region", "Upper Keld", "Upper Keld"),
        ("country", "Republic of Orvane", "the Republic of Orvane"),
        ("book", "The Salt Harbour", "The Salt Harbour"),
        ("person", "Orrin Vale", "Orrin Vale"),
    ],
)
def test_article(kind: str, name: str, written: str) -> None:
    assert with_article(kind, name) == written
    assert written == article(kind, name) + name


@pytest.mark.parametrize(
    ("value", "kind", "written"),
    [
        ("1874-03-04", "date", "4 March 1874"),
        ("1874", "year", "1874"),
        ("1204500", "number", "1,204,500"),
        ("999", "number", "999"),
        ("1204 metres", "quantity", "1,204 metres"),
        ("230 square kilometres", "quantity", "230 square kilometres"),
        ("film director", "text", "film director"),
    ],
)
def test_written_value(value: str, kind: str, written: str) -> None:
    assert written_value(value, kind) == written  # type: ignore[arg-type]
