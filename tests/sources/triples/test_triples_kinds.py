"""What the things of a file are where no fact says it: read off the relations that they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from synth.lexicon.reading import kinds_by_facts
from synth.sources.facts.graph import open_facts
from synth.sources.facts.triples import TriplesConfig

FACTS = """subject,relation,object
Ada Lum,date of birth,1931-02-01
Ada Lum,author of,The Long Field
Bo Ek,author of,The Short Field
The Long Field,directed by,Cy Dahl
Norland,capital,Nor
Norland,currency,Norland crown
Norland,area (km2),"12,345"
Norland,shares border with,Sudland
Sudland,shares border with,Norland
Sudland,area (km2),999
Estmark,province of,Norland
Estmark,population,"70,000"
Sudland,province of,Norland
Sudland,currency,Norland crown
Sudland,capital,Sud
Nor,mayor,Bo Ek
Nor,capital of,Norland
Odd,belongs to,Estmark
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "facts.csv"
    path.write_text(FACTS)
    return path


def kinds(file: Path, **config: str) -> Mapping[str, str]:
    graph = open_facts(TriplesConfig(path=str(file), **config))
    return dict(zip(graph.names, graph.kinds, strict=True))


def test_relations_give_away_what_their_ends_are(file: Path) -> None:
    found = kinds(file)
    assert found["Ada Lum"] == "person", "a date of birth says more than what she wrote"
    assert found["Bo Ek"] == "author"
    assert found["Cy Dahl"] == "person", "only a person directs a film"
    assert found["Norland"] == "country"
    assert found["Estmark"] == "province", "and a population makes it a place, which says less"
    assert found["Sudland"] == "country", "two relations of countries outweigh one name"
    assert found["Nor"] == "capital", "one relation of cities does not"
    assert found["Odd"] == "thing", "nothing is made up"


def test_the_users_word_is_taken_for_all_that_has_no_type(file: Path) -> None:
    assert {kinds(file, untyped="place")[name] for name in ("Ada Lum", "Norland", "Estmark")} == {"place"}


def test_a_unit_in_brackets_goes_behind_the_numbers(file: Path) -> None:
    graph = open_facts(TriplesConfig(path=str(file)))
    assert "area" in graph.lexicon.relations
    at = graph.names.index("Norland")
    assert ("area", "12345 km²") in graph.facts[at]


def test_a_label_stands_for_one_kind_and_is_plain() -> None:
    for end in ("subject", "object"):
        labels = list(kinds_by_facts(end))
        assert labels == [label.lower() for label in labels]
        assert all("_" not in label and label == label.strip() for label in labels)
