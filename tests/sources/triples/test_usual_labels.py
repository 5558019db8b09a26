"""Relations that go by a usual name are worded as people speak of them, others by their form."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from synth.lexicon.reading import usual_labels
from synth.sources.facts.graph import open_facts
from synth.sources.facts.labels import nature_of, word_relation
from synth.sources.facts.tables import TablesConfig
from synth.sources.facts.words import RelationShape, derive_relation
from synth.tasks.world.grammar import Predicate
from synth.tasks.world.words import Words


@pytest.mark.parametrize(
    ("label", "subject", "value", "page", "does"),
    [
        ("author", "book", "entity", "{s} was written by {o}.", "was written | by"),
        ("director", "film", "entity", "{s} was directed by {o}.", "was directed | by"),
        ("director", "museum", "entity", "The director of {s} is {o}.", "has | _ as its director"),
        ("dateOfBirth", "person", "date", "{s} was born on {o}.", "was born | on"),
        ("place of birth", "person", "entity", "{s} was born in {o}.", "was born | in"),
        ("death_date", "poet", "date", "{s} died on {o}.", "died~die | on"),
        ("year built", "bridge", "year", "{s} was built in {o}.", "was built | in"),
        ("year built", "bridge", "text", "The year built of {s} is {o}.", "has | _ as its year built"),
        ("inception", "city", "year", "{s} was founded in {o}.", "was founded | in"),
        ("status", "city", "text", "The status of {s} is {o}.", "has | _ as its status"),
    ],
)
def test_a_usual_label_has_usual_words(label: str, subject: str, value: Any, page: str, does: str) -> None:
    shape = RelationShape(label, (subject,), ("thing",) if value == "entity" else (), value)
    entry = word_relation(shape, nature_of(subject, [label]))
    assert entry.page == (page,)
    assert does in entry.question.subject_does


def test_only_what_is_somewhere_is_in_a_city() -> None:
    shape = RelationShape("city", ("hotel",), ("city",))
    assert "is | in" in word_relation(shape, nature_of("hotel", ["city"])).question.subject_does
    assert "is | in" in word_relation(shape, nature_of("event", ["city", "lat", "latitude"])).question.subject_does
    assert word_relation(shape, nature_of("order", ["city", "total"])) == derive_relation(shape)
    assert word_relation(shape, nature_of("person", ["city", "latitude"])) == derive_relation(shape)


def test_people_are_known_by_what_is_said_of_them() -> None:
    assert nature_of("patient", ["age", "gender"]) == {"person"}
    assert nature_of("church", ["age"]) == {"place"}
    shape = RelationShape("age", ("patient",), (), "number")
    assert word_relation(shape, {"person"}).question.asks[0] == "How old is {x}?"
    assert word_relation(shape) == derive_relation(shape)


def test_every_entry_can_be_said_and_is_reached() -> None:
    usual = usual_labels()
    for entry in usual.known:
        for spec in (*entry.question.subject_does, *entry.question.object_does):
            Predicate.parse(spec)
    for one, other in combinations(usual.known, 2):  # the first that fits is taken: a later one must be able to fit
        hidden = set(one.labels) & set(other.labels) and set(other.value) <= set(one.value)
        assert not (hidden and one.subject in (None, other.subject)), (one.labels, other.labels)
    labels = [label for names in usual.alike.values() for label in names]
    assert len(labels) == len(set(labels))
    assert not set(labels) & set(usual.alike)


def test_words_of_a_table_are_read_as_questions(tmp_path: Path) -> None:
    file = tmp_path / "airports.csv"
    rows = [f"Airport {name},Vell,{at}.5,{height}" for name, at, height in (("A", 1, 40), ("B", 2, 35), ("C", 3, 10))]
    file.write_text("name,city,lat,elev\n" + "\n".join(rows) + "\n")
    lexicon = open_facts(TablesConfig(path=str(file))).lexicon
    words = Words(lexicon)
    assert words.measures["latitude"].most == ("[lies] furthest north",)
    assert "[lies] lower" in words.measures["elevation"].less
    assert lexicon.relations["city"].question.subject_does == ("is | in", "is located | in")
