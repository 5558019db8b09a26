from __future__ import annotations

import pytest

from synth.agents.scripted.reference import looks_like, sought_kind, values_in

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
