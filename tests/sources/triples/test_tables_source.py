"""Tables that the user gives: what is read off headings and cells, and the facts that come of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth.errors import InputError
from synth.recipe.requests import settings_of
from synth.sources.facts.columns import Use, heading, plain_cells, use_of, with_unit
from synth.sources.facts.graph import FactGraph, open_facts
from synth.sources.facts.tables import TablesConfig
from synth.text.inflection import singular

TOWNS = {
    "name": ["Orrin", "Vell", "Tarn", "Osk"],
    "country": ["Lurn", "Lurn", "Dorm", "Dorm"],
    "area_km2": ["12.5", "7", "90", "41"],
    "inhabitants": ["1200", "800", "NA", "2400"],
    "twin": ["Tarn", "", "Orrin", "-"],
    "rivers": ["Senn; Olt", "Senn", "", "Olt"],
    "walled": ["yes", "no", "yes", "no"],
}


def opened(path: Path, **keys: Any) -> FactGraph:
    return open_facts(TablesConfig(path=str(path), **keys))


def stated(graph: FactGraph) -> set[tuple[str, str, str]]:
    return {
        (graph.ids[at], relation, graph.ids[found] if isinstance(found, int) else found)
        for at, facts in enumerate(graph.facts)
        for relation, found in facts
    }


def written(folder: Path, suffix: str) -> Path:
    file = folder / f"towns{suffix}"
    frame = pl.DataFrame(TOWNS)
    if suffix in (".csv", ".tsv"):
        frame.write_csv(file, separator="," if suffix == ".csv" else "\t")
    elif suffix == ".jsonl":
        rows = [dict(zip(TOWNS, row, strict=True)) for row in zip(*TOWNS.values(), strict=True)]
        file.write_text("".join(json.dumps({**row, "rivers": row["rivers"].split("; ")}) + "\n" for row in rows))
    elif suffix == ".json":
        file.write_text(json.dumps([dict(zip(TOWNS, row, strict=True)) for row in zip(*TOWNS.values(), strict=True)]))
    elif suffix == ".parquet":
        numbers = [pl.col("area_km2").cast(pl.Float64), pl.col("inhabitants").cast(pl.Int64, strict=False)]
        frame.with_columns(*numbers, pl.col("walled") == "yes", pl.col("rivers").str.split("; ")).write_parquet(file)
    else:
        with sqlite3.connect(file) as database:
            database.execute(f"CREATE TABLE towns ({', '.join(TOWNS)})")
            marks = ", ".join("?" * len(TOWNS))
            database.executemany(f"INSERT INTO towns VALUES ({marks})", list(zip(*TOWNS.values(), strict=True)))
    return file


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet", ".sqlite"])
def test_every_format_states_the_same(tmp_path: Path, suffix: str) -> None:
    graph = opened(written(tmp_path, suffix))
    assert stated(graph) == {
        ("Orrin", "country", "Lurn"), ("Vell", "country", "Lurn"), ("Tarn", "country", "Dorm"),
        ("Osk", "country", "Dorm"), ("Orrin", "area", "12.5 km²"), ("Vell", "area", "7 km²"),
        ("Tarn", "area", "90 km²"), ("Osk", "area", "41 km²"), ("Orrin", "number_of_inhabitants", "1200"),
        ("Vell", "number_of_inhabitants", "800"), ("Osk", "number_of_inhabitants", "2400"), ("Orrin", "twin", "Tarn"),
        ("Tarn", "twin", "Orrin"), ("Orrin", "river", "Senn"), ("Orrin", "river", "Olt"), ("Vell", "river", "Senn"),
        ("Osk", "river", "Olt"),
    }  # fmt: skip
    assert dict(zip(graph.ids, graph.kinds, strict=True)) == {
        **dict.fromkeys(TOWNS["name"], "town"),
        **dict.fromkeys(("Lurn", "Dorm"), "country"),
        **dict.fromkeys(("Senn", "Olt"), "river"),
    }
    documents, _, _ = graph.tables(0)
    pages = dict(zip(documents["title"].to_pylist(), documents["text"].to_pylist(), strict=True))
    assert pages["Vell"] == (
        "Vell is a town. The country of Vell is Lurn. The area of Vell is 7 km². The number of inhabitants of Vell is "
        "800. A river of Vell is Senn.\n\nWalled: no."
    )
    assert set(documents["source"].to_pylist()) == {"tables"}


@pytest.mark.parametrize(
    ("held", "kinds"),
    [
        ({"LU": {"name": "Lurn", "area": 4}, "DO": {"name": "Dorm", "area": 5}}, {"Lurn": "town", "Dorm": "town"}),
        (
            {"made": "today", "lakes": [{"name": "Olt", "area": 4}], "hills": [{"name": "Senn", "area": 5}]},
            {"Olt": "lake", "Senn": "hill"},
        ),
        (
            {"made": "today", "lakes": [{"name": "Olt", "area": 4}, {"name": "Senn", "area": 5}]},
            {"Olt": "town", "Senn": "town"},
        ),
    ],
)
def test_json_holds_rows_in_arrays_or_as_values(tmp_path: Path, held: Any, kinds: dict[str, str]) -> None:
    (tmp_path / "towns.json").write_text(json.dumps(held))
    graph = opened(tmp_path)
    assert dict(zip(graph.ids, graph.kinds, strict=True)) == kinds


def test_json_beside_other_tables_is_about_them(tmp_path: Path) -> None:
    written(tmp_path, ".csv")
    (tmp_path / "datapackage.json").write_text('{"resources": [{"name": "towns", "path": "towns.csv"}]}')
    assert opened(tmp_path).ids == opened(tmp_path / "towns.csv").ids


def test_rows_without_names_go_by_their_codes(tmp_path: Path) -> None:
    """Models are called by numbers here, which must not make things of the numbers elsewhere."""
    file = tmp_path / "planes.csv"
    file.write_text("tailnum,model,seats\nN101A,150,150\nN102B,150,4\nN103C,172N,150\nN104D,172N,2\n")
    graph = opened(file)
    assert {"N101A", "N104D"} <= set(graph.ids)
    assert dict(zip(graph.ids, graph.kinds, strict=True))["N101A"] == "plane"
    assert graph.lexicon.relations["number_of_seats"].value == "number"
    assert graph.lexicon.relations["model"].object == ("model",)


def test_places_and_rows_of_one_name_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "airports.csv"
    file.write_text(
        "icao,name,city,state\nKAA1,Field,Tonopah,Nevada\nKAA2,Field,Tonopah,Arizona\nKAA3,Strip,Orrin,Nevada\n"
        "KAA4,Lane,Orrin,Nevada\nKAA5,Field,Tonopah,Nevada\nKAA6,Mead,Orrin,Nevada\nKAA7,Hill,Orrin,Nevada\n"
    )
    found = {(name, value) for name, relation, value in stated(opened(file)) if relation == "city"}
    assert found == {
        ("Field (Nevada, KAA1)", "Tonopah (Nevada)"), ("Field (Arizona)", "Tonopah (Arizona)"),
        ("Strip", "Orrin"), ("Lane", "Orrin"), ("Mead", "Orrin"), ("Hill", "Orrin"),
        ("Field (Nevada, KAA5)", "Tonopah (Nevada)"),
    }  # fmt: skip


def database(folder: Path) -> Path:
    file = folder / "films.db"
    with sqlite3.connect(file) as connection:
        connection.executescript("""
            CREATE TABLE people (person_id INTEGER PRIMARY KEY, name TEXT, born TEXT);
            CREATE TABLE films (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, director_id INTEGER
                                REFERENCES people (person_id));
            CREATE TABLE film_actors (film_id INTEGER REFERENCES films, actor_id INTEGER REFERENCES people);
            CREATE TABLE budgets (film_id INTEGER UNIQUE REFERENCES films (id), budget INTEGER);
            CREATE TABLE shots (film_id INTEGER REFERENCES films (id), start INTEGER, stop INTEGER);
            INSERT INTO people VALUES (1, 'Ann Orr', '1950-02-03'), (2, 'Bo Tarn', '1961-04-05'),
                                      (3, 'Cy Vell', '1970-06-07');
            INSERT INTO films VALUES (1, 'Dusk', 1990, 1), (2, 'Dawn', 1995, 1), (3, 'Dusk', 2001, 2);
            INSERT INTO film_actors VALUES (1, 2), (1, 3), (3, 3);
            INSERT INTO budgets VALUES (1, 500), (3, 900);
            INSERT INTO shots VALUES (1, 0, 4), (1, 4, 9);
        """)
    connection.close()
    return file


def test_keys_of_a_database_are_edges_and_tables_without_names_say_more_about_others(tmp_path: Path) -> None:
    graph = opened(database(tmp_path))
    assert {fact for fact in stated(graph) if fact[1] in ("director", "actor", "budget")} == {
        ("Dusk (1990)", "director", "Ann Orr"),
        ("Dawn", "director", "Ann Orr"),
        ("Dusk (2001)", "director", "Bo Tarn"),
        ("Dusk (1990)", "actor", "Bo Tarn"),
        ("Dusk (1990)", "actor", "Cy Vell"),
        ("Dusk (2001)", "actor", "Cy Vell"),
        ("Dusk (1990)", "budget", "500"),
        ("Dusk (2001)", "budget", "900"),
    }
    assert set(graph.kinds) == {"person", "film"}
    assert {"id", "person_id", "film_id"}.isdisjoint(graph.lexicon.relations)
    assert [row.detail for row in graph.rejected] == ["shots: no column names its rows"]


def test_tables_of_a_folder_lead_to_each_other_by_keys_and_names(tmp_path: Path) -> None:
    (tmp_path / "countries.csv").write_text(
        'code,name,capital,neighbours\nLU,Lurn,Orrin,"DO,PE"\nDO,Dorm,Tarn,"LU,PE"\nPE,Perr,Osk,"LU,DO"\n'
    )
    (tmp_path / "cities.csv").write_text("city,countrycode\nOrrin,LU\nTarn,DO\nOsk,PE\nVell,LU\n")
    (tmp_path / "rainfall.tsv").write_text("city\train_mm\nOrrin\t600\nTarn\t450\n")
    facts = stated(opened(tmp_path, tables={"countries": {"references": {"neighbours": "countries"}}}))
    assert {("Lurn", "capital", "Orrin"), ("Vell", "country", "Lurn"), ("Orrin", "rain", "600 mm")} <= facts
    assert {found for subject, relation, found in facts if (subject, relation) == ("Lurn", "neighbours")} == {
        "Dorm",
        "Perr",
    }


@pytest.mark.parametrize(
    ("column", "cells", "use"),
    [
        ("continent", ["Asia", "Asia", "Europe", "Asia", "Europe"], Use.THING),
        ("capital", ["Vienna", "Rome", "Paris"], Use.THING),
        ("class", ["suv", "suv", "van", "suv"], Use.THING),
        ("iso3", ["AUT", "ITA", "FRA"], Use.TEXT),
        ("numeric", ["040", "380", "250"], Use.TEXT),
        ("population", ["8,900,000", "5"], Use.MEASURE),
        ("opened", ["2001-02-03", "1999-12-31"], Use.MEASURE),
        ("official_name", ["Republic of Austria", "Italian Republic"], Use.ALIAS),
        ("landlocked", ["True", "False"], Use.REMARK),
        ("homepage", ["https://a.example", "https://b.example"], Use.REMARK),
        ("description", ["Small.", "Large."], Use.REMARK),
        ("about", ["A long text that goes on and on about the thing, as prose does, word by word"], Use.REMARK),
        ("geonameid", ["1", "2"], Use.KEY),
    ],
)
def test_a_column_is_understood_by_its_heading_and_its_cells(column: str, cells: list[str], use: Use) -> None:
    assert use_of(column, [(cell,) for cell in cells]) is use


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("area_km2", ["1"], ("area", "km²")),
        ("areakm2", ["1"], ("area", "km²")),
        ("Area (sq mi)", ["1"], ("area", "square miles")),
        ("Weight_in_lbs", ["1"], ("weight", "pounds")),
        ("height_m", ["1"], ("height", "metres")),
        ("share (%)", ["1"], ("share", "percent")),
        ("price_per_kg", ["1"], ("price per kg", "")),
        ("Cylinders", ["8"], ("number of cylinders", "")),
        ("calories", ["8.5"], ("calories", "")),
    ],
)
def test_units_and_counts_are_read_from_headings(column: str, cells: list[str], said: tuple[str, str]) -> None:
    assert with_unit(column, [(cell,) for cell in cells]) == said


def test_headings_lists_and_singulars_are_plain() -> None:
    assert [heading(text) for text in ("currencycode", "GDP per capita", "iso3", "officialLanguage")] == [
        "currency code",
        "GDP per capita",
        "three-letter ISO code",
        "official language",
    ]
    assert plain_cells("languages", [("de, it",), ("it",), ("de",), ("fr, de",)])[0] == ("de", "it")
    assert plain_cells("seat", [("Washington, D.C.",), ("Albany, N.Y.",), ("Rome",)])[0] == ("Washington, D.C.",)
    assert plain_cells("year", [("1970-01-01",), ("1971-01-01",)]) == [("1970",), ("1971",)]
    words = ("countries", "people", "series", "classes", "works of art", "class")
    assert [singular(word) for word in words] == ["country", "person", "series", "class", "work of art", "class"]


def test_what_is_known_of_a_table_overrules_what_is_read_off_it(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("who,where,when\nAnn,Rome,2001\nAnn,Oslo,2002\nBo,Rome,2003\n")
    keys = {"kind": "voyage", "name": ("who", "where"), "leave_out": ("when",)}
    graph = opened(tmp_path / "trips.csv", tables={"trips": {**keys, "leave_out": ()}})
    assert stated(graph) == {("Ann Rome", "when", "2001"), ("Ann Oslo", "when", "2002"), ("Bo Rome", "when", "2003")}
    assert set(graph.kinds) == {"voyage"}
    with pytest.raises(InputError, match="holds no fact: its rows have names and nothing else"):
        opened(tmp_path / "trips.csv", tables={"trips": keys})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("towns.xlsx", "x", "ends in none of .csv"),
        ("towns.csv", "", "can't be read"),
        ("towns.csv", "name,area\nOrrin,1,2,3\n", "can't be read"),
        ("towns.csv", "year,month\n2001,1\n2001,2\n", "no column names its rows. Say what names a row"),
        (
            "towns.csv",
            "year,month\n" + "2001,1\n" * 9,
            "Nothing tells the rows of towns apart: give it a column of names",
        ),
        ("towns.json", '{"name": "towns", "version": 2}', "it holds no rows: an array of objects"),
        ("towns.json", "[1, 2]", "it holds no rows: an array of objects"),
        ("towns.parquet", "no parquet", "can't be read"),
        ("towns.sqlite", "no database", "towns.sqlite can't be read: it is not a SQLite database"),
        ("towns.db", "SQLite format 3\0" + "x" * 200, "can't be read"),
        ("readme.txt", "", "holds no file that ends in"),
        (None, "", "does not exist"),
        ("", "", "no file was given"),
    ],
)
def test_tables_that_are_none_are_one_line(tmp_path: Path, name: str | None, text: str, said: str) -> None:
    file = tmp_path / (name or "missing.csv")
    if name:
        file.write_text(text)
    path = "" if name == "" else str(tmp_path if name == "readme.txt" else file)
    with pytest.raises(InputError) as error:
        open_facts(TablesConfig(path=path))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_keys_for_what_is_not_there_name_what_is(tmp_path: Path) -> None:
    file = written(tmp_path, ".csv")
    with pytest.raises(InputError, match="no table is called 'cities': towns"):
        opened(file, tables={"cities": {}})
    with pytest.raises(InputError, match="towns has no column 'size'; it has name, country"):
        opened(file, tables={"towns": {"leave_out": ("size",)}})


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.csv", "subject,relation,object\na,b,c\n", "triples"),
        ("a.tsv", "Orrin\tcapital\tTarn\nVell\tcapital\tOsk\n", "triples"),
        ("a.csv", "name,continent,area\nOrrin,Lurn,1\nVell,Lurn,2\n", "tables"),
        ("a.tsv", "name\tarea\nOrrin\t1\n", "tables"),
        ("a.jsonl", '{"s": "a", "p": "b", "o": "c"}\n', "triples"),
        ("a.jsonl", '{"name": "Orrin", "area": 1}\n', "tables"),
        ("a.json", '[\n{"id": "Q1", "claims": {}},\n{"id": "Q2", "claims": {}}\n]\n', "triples"),
        ("a.json", '[\n  {\n    "name": "Orrin"\n  }\n]\n', "tables"),
        ("a.json", '[{"name": "Orrin", "area": 1}]', "tables"),
        ("a.nt", "", "triples"),
        ("a.sqlite", "", "tables"),
        ("", "", "tables"),
    ],
)
def test_the_short_way_tells_triples_from_tables(tmp_path: Path, name: str, text: str, kind: str) -> None:
    if name:
        (tmp_path / name).write_text(text)
    options: dict[str, Any] = {"tasks": None, "tasks_file": None, "seed": None, "settings": {}}
    assert settings_of(dataset="graph-search", source=tmp_path / name, **options)["source.kind"] == kind
