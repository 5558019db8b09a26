"""English is read and written by one kit, and phrases stand in YAML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import synth

HOUSE = Path(synth.__file__).parent
OWN = ("text", "exporters", "tasks/audit", "testing")
"""The kit itself, the audit with its second opinion, and stand-ins."""


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"January\W+February", id="months"),
        pytest.param(r"\[:-1\]\)(?:\}| \+ \"),? (?:and|or) ", id="lists"),
        pytest.param(r"fourteen\W+fifteen\W+sixteen", id="numerals"),
        pytest.param(r"\"st\", (?:2: )?\"nd\"|in \"?'?aeio|1: \"st\"", id="inflection"),
    ],
)
def test_only_the_kit_has_it(pattern: str) -> None:
    found = [
        path.relative_to(HOUSE).as_posix()
        for path in HOUSE.rglob("*.py")
        if not path.relative_to(HOUSE).as_posix().startswith(OWN) and re.search(pattern, path.read_text("utf-8"))
    ]
    assert found == []
