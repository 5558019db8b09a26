"""English is read and written by one kit, and phrases stand in YAML."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import synth

HOUSE = Path(synth.__file__).parent
OWN = ("text", "dataset", "formats", "publish", "testing", "sources/code/shipped")
"""The kit itself, the audit with its second opinion, stand-ins, and the project that ships to be repaired."""


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"January\W+February", id="months"),
        pytest.param(r"\[:-1\]\)(?:\}| \+ \"),? (?:and|or) ", id="lists"),
        pytest.param(r"fourteen\W+fifteen\W+sixteen", id="numerals"),
        pytest.param(r"\[\.\S{0,3}!\S{0,3}\?\S{0,6}\](?:\)|\[\S+\*)?\\s\+|\(\?<=\[\.[!?]", id="sentences"),
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


def _phrase_tables(path: Path) -> Iterator[str]:
    """Constants of a module that hold several sentences with slots."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            texts = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
            said = [
                text for text in texts if isinstance(text, str) and re.fullmatch(r"[^\\]* [^\\]*\{\w+\}.*[.?!]", text)
            ]
            if len(said) > 2:
                yield f"{path.relative_to(HOUSE).as_posix()}:{node.lineno}"


@pytest.mark.parametrize("folder", ["agents", "critical", "distractors", "reverse", "sources", "tasks"])
def test_no_phrase_table_is_python(folder: str) -> None:
    assert [place for path in (HOUSE / folder).rglob("*.py") for place in _phrase_tables(path)] == []
