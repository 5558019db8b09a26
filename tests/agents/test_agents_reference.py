"""What a page says where the question has a gap, or asks in its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from synth.agents.scripted.nouns import sought_kind
from synth.agents.scripted.options import about, names, subject, term
from synth.agents.scripted.pages.entries import entries_with, told_in
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.reference import left_out, looks_like, values_in
from synth.agents.scripted.seen import SeenDocument
from synth.environments.passages import passages_of
from synth.schemas.documents import ValueKind

QUESTION = (
    "More than one class is found in the pool module. "
    "Which of them is mentioned in the documentation of the lake module?"
)


@pytest.mark.parametrize(
    ("question", "cue", "kind"),
    [
        (QUESTION, "found in the pool module", "class"),
        ("Which exception is raised by the function that opens a lake?", "Which exception is raised by", "exception"),
        (
            "Name the module whose “See also” notes point to the lake module.",
            "whose “See also” notes point to",
            "module",
        ),
        ("It is provided by one of the modules in the documentation.", "is provided by one of the modules", "module"),
        ("Who founded the company that built Korvan Bridge?", "Who founded", ""),
    ],
)
def test_the_kind_that_is_sought(question: str, cue: str, kind: str) -> None:
    assert sought_kind(question, cue) == kind


@pytest.mark.parametrize(
    ("text", "place", "kind", "alike"),
    [
        ("pool", "lib/pool.html#module-pool", "module", True),
        ("pool — Things in pools", "lib/pool.html", "module", True),
        ("Module API", "lib/pool.html#module-api", "module", False),
        ("pool.run()", "lib/pool.html#pool.run", "function", True),
        ("pool.Thing", "lib/pool.html#pool.Thing", "class", True),
        ("pool.HAS_WATER", "lib/pool.html#pool.HAS_WATER", "class", False),
        ("Availability", "lib/intro.html#availability", "class", False),
        ("PoolError", "lib/pool.html#pool.PoolError", "exception", True),
        ("PoolError", "lib/pool.html#pool.PoolError", "class", False),
        ("Korvan Works", "company/korvan-works", "", None),
    ],
)
def test_how_things_are_written(text: str, place: str, kind: str, alike: bool | None) -> None:
    assert looks_like(text, place, kind) is alike


def test_values_of_the_sort_that_is_asked_for() -> None:
    assert values_in("New in version 3.11.", "In which version was") == ["3.11"]
    assert values_in("Source code: Lib/pool/thing.py", "In which file is the source code of") == ["Lib/pool/thing.py"]
    assert values_in("Availability: Unix, Windows.", "On which platforms is") == ["Unix, Windows"]
    assert values_in("pool.run(size=WIDE, deep=3)", "Which default does the size parameter have") == ["WIDE", "3"]
    assert values_in("New in version 3.11.", "Who wrote") == []


PAGE = """# Pool

Introduction to [pools](ref). It is short.

class pool.Thing(size, *, name=None)
    A thing in a pool. Return a new one.

    Note:
        Things are cheap.

    run(value)
        Run it. Raises [Trouble](errors#pool.Trouble).

        New in version 3.4.

pool.sleep(delay)
    Sleep for delay seconds.
"""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("class pool.Thing(size, *, name=None)", "pool.Thing"),
        ("pool.sleep(delay)", "pool.sleep"),
        ("PYTHONHOME", "PYTHONHOME"),
        ("-x db_args", "-x"),
        ("-f, --file name of the file", "--file"),
        ("--all: every file.", None),
        ("Note:", None),
        ("A thing in a pool.", None),
        ("This is a whole sentence about nothing", None),
        ("", None),
    ],
)
def test_terms(line: str, name: str | None) -> None:
    assert term(line) == name


def test_what_stands_under_an_entry() -> None:
    sentences = passages_of(PAGE, "ref", "", 1)
    thing = [sentence.text for sentence in about(sentences, "pool.Thing")]
    assert thing[0].startswith("class pool.Thing")
    assert thing[1:] == [
        "A thing in a pool.",
        "Return a new one.",
        "Note:",
        "Things are cheap.",
        "run(value)",
        "Run it.",
        "Raises Trouble.",
        "New in version 3.4.",
    ]
    assert [sentence.text for sentence in about(sentences, "Thing.run()")] == thing[5:]
    assert [sentence.text for sentence in about(sentences, "sleep")][-1] == "Sleep for delay seconds."
    assert about(sentences, "Introduction") == []
    assert about(sentences, "Pool") == []


def test_what_a_sentence_is_about() -> None:
    sentences = {sentence.text: sentence for sentence in passages_of(PAGE, "ref", "", 1)}
    assert subject(sentences["New in version 3.4."], "Pool") == ["run", "pool.Thing", "Pool"]
    assert subject(sentences["It is short."], "Pool") == ["Pool"]
    marked = replace(sentences["It is short."], heading="◆trim_wick()")
    assert subject(marked, "Pool") == ["trim_wick", "Pool"]


def test_names_of_code() -> None:
    assert names("Thing.run()", "pool.Thing.run")
    assert names("run()", "pool.Thing.run")
    assert not names("un()", "pool.Thing.run")
    assert not names("3.4", "10.3.4")
    assert names("The Korvan Works", "Korvan Works")


@pytest.mark.parametrize(
    ("text", "cue", "value"),
    [
        (
            "Every kite of the old school needs 40 metres of cord.",
            "Every kite of the old school needs ____ of cord.",
            "40 metres",
        ),
        (
            "The permissions of the folder are kept in kite.conf by the keeper.",
            "The permissions of the folder are kept in which file by the keeper",
            "kite.conf",
        ),
        ("The permissions of the folder are kept in kite.conf.", "What is the default of the tail option", None),
        ("Kites need cord.", "Kites need ____.", None),
    ],
)
def test_left_out(text: str, cue: str, value: str | None) -> None:
    assert left_out(text, cue) == value


@pytest.mark.parametrize(
    ("text", "cue", "values"),
    [
        ("- Default: red", "What is the default of the colour setting", ["red"]),
        ("Source File: | kite.c", "What is the source file of the kite module", ["kite.c"]),
        ("- Type: Boolean", "What is the default of the colour setting", []),
    ],
)
def test_fields(text: str, cue: str, values: list[str]) -> None:
    assert values_in(text, cue) == values


MANUAL = """# Pumps

## PumpRate Directive

Description: | How fast the pump runs

Default: | 35

Status: | Core

## PumpLag Directive

Default: | 40

Status: | Extension

## All at a glance

Setting | Default | Unit
pump-window | 90 | minutes
pump-retries | 18 | tries
"""


@pytest.fixture
def manual() -> SeenDocument:
    return SeenDocument("pumps.html", "Pumps", 1, {1: passages_of(MANUAL, "pumps.html", "Pumps", 1)})


@pytest.mark.parametrize(
    ("cue", "kind", "name", "told"),
    [
        ("Which status does the PumpLag directive have", "text", "PumpLag", ["Extension"]),
        ("the default of the PumpRate directive", "number", "PumpRate", ["35"]),
        ("the default of the pump-window setting", "number", "pump-window", ["90"]),
        ("the unit of the pump-retries setting", "text", "pump-retries", ["tries"]),
        ("the colour of the pump-retries setting", "text", "pump-retries", []),
        ("Which directive is the default of", "entity", "PumpRate", []),
    ],
)
def test_a_value_is_read_off_the_entry_and_the_row_of_its_name(
    manual: SeenDocument, cue: str, kind: ValueKind, name: str, told: list[str]
) -> None:
    entry = about(manual.sentences(), name)
    assert [value for sentence in entry for value in told_in(sentence, cue, kind, manual)] == told


@pytest.mark.parametrize(
    ("cue", "value", "entry"),
    [
        ("has status Extension", "Extension", ["PumpLag"]),
        ("defaults to 35", "35", ["PumpRate"]),
        ("has tries as its unit", "tries", ["pump-retries"]),
        ("has tries as its colour", "tries", []),
    ],
)
def test_an_entry_is_found_by_a_value_that_stands_under_it(
    manual: SeenDocument, cue: str, value: str, entry: list[str]
) -> None:
    clue = Clue(cue, None, value, 0, value=True)
    assert [option.text for option in entries_with([clue], manual, {}, lambda: 0.0, 0.12)] == entry
