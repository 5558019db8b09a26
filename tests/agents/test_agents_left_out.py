"""What a page says where the question has a gap, or asks in its place."""

from __future__ import annotations

import pytest

from synth.agents.scripted.reference import left_out, values_in


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
