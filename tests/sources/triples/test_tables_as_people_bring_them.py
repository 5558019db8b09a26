"""Tables as they come out of other programs: objects within objects, a file an object, floats, names of files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.errors import BuildError, InputError
from synth.sources.facts.columns import Use, use_of
from synth.sources.facts.labels import word_relation
from synth.sources.facts.table_files import read_files
from synth.sources.facts.tables import TablesConfig, read_tables
from synth.sources.facts.words import RelationShape, derive_relation, plural_of
from synth.tasks.world.grammar import CLAUSE, Phrase, strip_marks
from synth.tasks.world.links import Link
from synth.tasks.world.plurals import set_phrases
from synth.tasks.world.wording import Noun, wording_of
from synth.text.inflection import singular


def _read(tmp_path: Path, rows: list[Mapping[str, Any]], name: str = "towns") -> dict[str, list[str]]:
    """Column -> cells of a JSON file of rows."""
    file = tmp_path / f"{name}.json"
    file.write_text(json.dumps(rows))
    (table,) = read_files([file])
    return {column: [" + ".join(cell) for cell in cells] for column, cells in table.columns.items()}


def test_objects_within_rows_are_columns(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any]] = [
        {
            "name": "Orrin",
            "mayor": {"name": "Ida Holm", "party": "Green"},
            "medals": {"gold": 2, "silver": 1},
            "translations": {"fr": "Orrine", "pt-BR": None},
            "latlng": [47.5, -3.0],
        },
        {"name": "Selby", "mayor": {"name": "Per Lund", "party": "Blue"}, "medals": {"gold": 0, "silver": 4}},
    ]
    assert _read(tmp_path, rows) == {
        "name": ["Orrin", "Selby"],
        "mayor name": ["Ida Holm", "Per Lund"],
        "party": ["Green", "Blue"],
        "gold medals": ["2", "0"],
        "silver medals": ["1", "4"],
        "fr translation": ["Orrine", ""],
        "latitude": ["47.5", ""],
        "longitude": ["-3", ""],
    }


def test_one_odd_pair_keeps_no_column_of_coordinates_together(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any]] = [{"name": f"T{number}", "capital_latlng": [number, -3.5]} for number in range(30)]
    read = _read(tmp_path, [*rows, {"name": "Odd", "capital_latlng": [[1, 2], [3, 4]]}])
    assert [name for name in read if name != "name"] == ["capital latitude", "capital longitude"]
    assert read["capital latitude"][-2:] == ["29", ""]


def test_files_of_one_object_are_rows_of_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "towns" / "data"
    folder.mkdir(parents=True)
    for number, name in enumerate(("Orrin", "Selby", "Veld")):
        (folder / f"{name.lower()}.json").write_text(json.dumps({"name": name, "area": 10 + number}))
    read = read_tables(TablesConfig(path=str(folder)))
    assert read.facts == [("Orrin", "area", "10"), ("Selby", "area", "11"), ("Veld", "area", "12")]
    assert set(read.types.values()) == {"town"}  # "data" says nothing
    (folder / "more.json").write_text("[1, 2]")
    with pytest.raises(InputError, match=r"more\.json can't be read: it holds no rows"):
        read_tables(TablesConfig(path=str(folder)))


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["17.0", "0.9167", "45.0"], ["17", "0.9167", "45"]),
        (["17.0", "9.0"], ["17", "9"]),
        (["8.99E-05", "1.55"], ["0.0000899", "1.55"]),
        (["14.890999999999998", "2.5"], ["14.891", "2.5"]),
        (["2.0", "2.2"], ["2.0", "2.2"]),
        (["3.9", "3.10"], ["3.9", "3.10"]),
        (["1994", "9"], ["1994", "9"]),
        (["17.0", "unknown"], ["17.0", "unknown"]),
    ],
)
def test_numbers_stand_as_people_write_them(tmp_path: Path, cells: list[str], read: list[str]) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("name,figure\n" + "".join(f"T{number},{cell}\n" for number, cell in enumerate(cells)))
    (table,) = read_files([file])
    assert [cell for (cell,) in table.columns["figure"]] == read


def test_quotes_behind_a_blank_are_no_part_of_a_cell(tmp_path: Path) -> None:
    file = tmp_path / "runners.csv"
    file.write_text('name, "medal", motto\n"Ida Holm", "GOLD", say "go"\nPer Lund,"SILVER",none given\n')
    (table,) = read_files([file])
    assert table.columns == {
        "name": [("Ida Holm",), ("Per Lund",)],
        "medal": [("GOLD",), ("SILVER",)],
        "motto": [('say "go"',), ("none given",)],
    }


def test_numbers_that_name_nothing_are_not_proposed(tmp_path: Path) -> None:
    file = tmp_path / "colleges.csv"
    file.write_text("apps,enroll\n1660,721\n2186,512\n")
    with pytest.raises(InputError, match="Nothing tells the rows of colleges apart: give it a column of names"):
        read_tables(TablesConfig(path=str(file)))


@pytest.mark.parametrize(
    ("file", "columns", "names", "kind"),
    [
        ("titanic_all", "name,sex,age", ["Allen, Miss Elisabeth", "Allison, Mr Hudson", "Astor, Mrs John"], "person"),
        ("titanic_all", "name,sex,age", ["Iris", "Bianca", "Atlantic"], "titanic"),
        ("staff", "name,occupation", ["Ida Holm", "Per Lund", "Eva Berg"], "person"),
        ("employee", "name,occupation", ["Ida Holm", "Per Lund", "Eva Berg"], "employee"),
        ("patients", "name,date of birth", ["Ida Holm", "Per Lund", "Eva Berg"], "patient"),
        ("bridges-2024", "name,year", ["Old Bridge", "New Bridge", "Long Bridge"], "bridge"),
        ("data", "name,year", ["Old Bridge", "New Bridge", "Long Bridge"], "entry"),
    ],
)
def test_rows_are_not_called_as_their_file(
    tmp_path: Path, file: str, columns: str, names: list[str], kind: str
) -> None:
    path = tmp_path / f"{file}.csv"
    more = columns.count(",")
    rows = "".join(f'"{name}"' + f",{number}" * more + "\n" for number, name in enumerate(names))
    path.write_text(f"{columns}\n{rows}")
    types = read_tables(TablesConfig(path=str(path))).types
    assert {types[name] for name in names} == {kind}


def test_what_tells_nothing_apart_is_not_asked_of() -> None:
    assert use_of("status", [("open",)] * 30) is Use.REMARK
    assert use_of("status", [("open",)] * 29 + [("shut",)]) is Use.THING
    assert use_of("readings", [("1", "2"), ("3", "4")]) is Use.REMARK


def test_people_in_one_cell_are_several_and_keep_one_name(tmp_path: Path) -> None:
    file = tmp_path / "films.csv"
    file.write_text(
        "name,director,writer,studio\n"
        'Old Bridge,Ida Holm,"Ida Holm, Per Lund","Holm, Ida"\n'
        'New Bridge,"Eva Berg, Jo van Dyk",Per Lund,"Berg, Eva"\n'
        'Long Bridge,"Per Lund, Eva Berg","Eva Berg, Anna O\'Hara, Per Lund","Lund, Per"\n'
    )
    read = read_tables(TablesConfig(path=str(file)))
    found = {(subject, relation, told) for subject, relation, told in read.facts if subject == "Long Bridge"}
    assert {told for _, relation, told in found if relation == "writer"} == {"Eva Berg", "Anna O'Hara", "Per Lund"}
    assert {told for _, relation, told in found if relation == "studio"} == {"Lund, Per"}
    assert read.types["Per Lund"] == read.types["Jo van Dyk"] == "person"


def test_hours_beside_names_of_time_zones_are_an_offset(tmp_path: Path) -> None:
    file = tmp_path / "airports.csv"
    zones = ["America/Chicago", "America/New_York"] * 3
    lines = [f"Field {'ABCDEF'[number]},{-5 - number % 2},{zone}" for number, zone in enumerate(zones)]
    file.write_text("\n".join(["name,tz,tzone", *lines]))
    assert {relation for _, relation, _ in read_tables(TablesConfig(path=str(file))).facts} == {
        "UTC offset",
        "time zone",
    }


def test_what_many_share_is_a_property() -> None:
    shape = RelationShape("model", ("plane",), ("model",), crowded=True)
    words = derive_relation(shape).question
    assert words.object_does == ()
    link = Link(0, wording_of("model", words, {}), sought_is_object=False, noun=Noun("plane", ("plane",), ("planes",)))
    assert strip_marks(set_phrases(link, Phrase("A319-115"), "planes")[0]) == "planes whose model is A319-115"
    assert not any(
        "whose" in text for text in set_phrases(link, Phrase("the model that Orrin built", CLAUSE), "planes")
    )
    assert derive_relation(RelationShape("capital", ("country",), ("city",))).question.object_does == (
        "is the capital | of",
    )


def test_nothing_is_in_its_provinces() -> None:
    shape = RelationShape("province", ("country",), ("province",), functional=False, usual=False)
    assert word_relation(shape, {"place"}) == derive_relation(shape)


@pytest.mark.parametrize(("one", "many"), [("bacterium", "bacteria"), ("wolf", "wolves"), ("aircraft", "aircraft")])
def test_irregular_nouns(one: str, many: str) -> None:
    assert plural_of(one) == many
    assert singular(many) == one


def test_names_and_codes_alone_are_said_to_be_too_little(tmp_path: Path) -> None:
    file = tmp_path / "regions.csv"
    file.write_text("name,code\n" + "".join(f"Land {chr(65 + n)}{chr(97 + n)},L{n}\n" for n in range(20)))
    with pytest.raises(BuildError, match=r"no_walk\. Give a source whose things have more to compare"):
        synth.build("graph-search", source=file, tasks=5, out=tmp_path / "out", store=tmp_path / "s", progress="quiet")
