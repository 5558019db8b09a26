"""What the manual's reader is said to have: facts, tables, pages, runs. Small, made anew for each page."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from synth.testing.corpus import small_documents, small_tasks

__all__ = ["MATERIAL", "give", "manual_pages"]

TESTS = Path(__file__).resolve().parents[1]
GUIDES = TESTS.parent / "docs" / "guides"
OF_THE_MANUAL = ("documents", "search", "questions", "models", "critical-steps", "facts", "operations")
"""Pages of ours that stand for the reader's own: enough for questions over two of them."""


def manual_pages(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in OF_THE_MANUAL:
        shutil.copy(GUIDES / f"{name}.md", folder)


def _facts(folder: Path) -> None:
    shutil.copy(TESTS / "sources" / "triples" / "countries.tsv", folder / "facts.tsv")


def _countries(folder: Path) -> None:
    shutil.copy(TESTS / "sources" / "triples" / "countries.csv", folder / "countries.csv")


def _films(folder: Path) -> None:
    """Films and who directed them, the keys declared."""
    people = ["Ada Lum", "Bo Vance", "Cleo Marsh", "Dan Orr", "Eve Stroud", "Finn Teal", "Gil Hart", "Hana Voss"]
    first, second = ("Silent", "Golden", "Northern", "Broken", "Distant"), ("Harbour", "Meadow", "Signal", "Winter")
    films = [f"{one} {two}" for one in first for two in second]
    with sqlite3.connect(folder / "films.sqlite") as database:
        database.execute("CREATE TABLE directors (id INTEGER PRIMARY KEY, name TEXT, birth_year INTEGER)")
        database.execute(
            "CREATE TABLE films (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, minutes INTEGER, genre TEXT, "
            "director_id INTEGER REFERENCES directors (id))"
        )
        born = [(number, name, 1930 + 7 * number) for number, name in enumerate(people, 1)]
        database.executemany("INSERT INTO directors VALUES (?, ?, ?)", born)
        rows = [
            (n, title, 1960 + 3 * n, 80 + 7 * n % 61, ("drama", "comedy", "western")[n % 3], 1 + n % len(people))
            for n, title in enumerate(films, 1)
        ]
        database.executemany("INSERT INTO films VALUES (?, ?, ?, ?, ?, ?)", rows)
    database.close()


def _folder(folder: Path) -> None:
    """Trips, who guides them and where they go: the recipe of the guide says what their columns are."""
    (folder / "folder").mkdir()
    places = [["name", "region", "height_m", "founded"]]
    places += [
        [name, ("North", "South")[n % 2], str(200 + 37 * n), str(1700 + 11 * n)] for n, name in enumerate(_TOWNS)
    ]
    people = [["name", "birth_year", "town", "language"]]
    people += [
        [name, str(1950 + 3 * n), _TOWNS[n % 6], ("Dutch", "Welsh", "Czech")[n % 3]] for n, name in enumerate(_GUIDES)
    ]
    trips = [["who", "where", "year", "days", "guide", "checksum"]]
    for n in range(24):
        who, where = ("Ann", "Ben", "Col", "Dee")[n % 4], _TOWNS[n // 4]
        trips.append([who, where, str(1990 + n), str(3 + n * 5 % 17), _GUIDES[n * 5 % 8], f"{n * 7919:06x}"])
    for name, rows in (("places", places), ("people", people), ("trips", trips)):
        with (folder / "folder" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)


_TOWNS = ("Lum", "Orrin", "Veyport", "Tarnholm", "Eskdale", "Wyeford")
_GUIDES = ("Ash Lowe", "Birk Mann", "Cade Roth", "Dorn Hale", "Elm Frost", "Fir Stone", "Gale Webb", "Holt Pike")


def _pages(folder: Path) -> None:
    """Documents as rows, and questions about them."""
    rows = [{"id": one.id, "title": one.title, "text": one.text} for one in small_documents()]
    _lines(folder / "pages.jsonl", rows)
    _lines(folder / "questions.jsonl", [{"question": one.question, "answer": one.answer} for one in small_tasks()])


def _lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _runs(folder: Path) -> None:
    """The logs of the script of the manual (own_runs.py), a third of them right, and their questions."""
    sys.path.insert(0, str(GUIDES))
    try:
        own_runs = importlib.import_module("own_runs")
    finally:
        sys.path.remove(str(GUIDES))
    logs = []
    for order in range(12):
        log = own_runs.log(order)
        if order % 3 == 0:  # the right shelf
            shelf, asked = own_runs.SHELVES[0], own_runs.ASKED.format(order)
            log["messages"][1]["tool_calls"][0]["function"]["arguments"] = json.dumps({"shelf": shelf})
            log["messages"][2]["content"] = own_runs.shown(asked, shelf)
            log["messages"][3]["content"] = str(100 + 7 * order)
        logs.append(log)
    _lines(folder / "runs.jsonl", logs)
    (folder / "runs").mkdir()
    shutil.copy(folder / "runs.jsonl", folder / "runs")
    questions = [{"question": own_runs.ASKED.format(order), "answer": str(100 + 7 * order)} for order in range(12)]
    _lines(folder / "questions.jsonl", questions)


def _desk(folder: Path) -> None:
    shutil.copy(TESTS / "environments" / "nursery.yaml", folder / "desk.yaml")


def _benchmark(folder: Path) -> None:
    for name in ("gaia.jsonl", "held-out.jsonl"):
        _lines(folder / name, [{"question": "Who was the first to sail around Cape Nowhere?", "answer": "Nobody"}])


def _beside(folder: Path) -> None:
    """The scripts and recipes that stand beside the guides."""
    for path in (*GUIDES.glob("*.py"), *GUIDES.glob("*.yaml")):
        shutil.copy(path, folder)


MATERIAL: dict[str, Callable[[Path], None]] = {
    "facts.tsv": _facts,
    "countries.csv": _countries,
    "films.sqlite": _films,
    "folder": _folder,
    "pages.jsonl": _pages,
    "runs.jsonl": _runs,
    "desk.yaml": _desk,
    "gaia.jsonl": _benchmark,
    "guides": _beside,
}


def give(names: str, folder: Path) -> None:
    for name in names.split():
        MATERIAL[name](folder)
