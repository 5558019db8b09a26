from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import computations, holds
from synth.environments.contract import ToolCall, ToolResult

SEEN = (
    "Ilse Brandt, Jon Maak and the firm Salt and Iron were there. Ilse Brandt was born on 30 January 1868, Jon Maak on "
    "2 March 1902. Salt and Iron dates from 1834. The Orl is 412 metres deep, the Senn 1,204 metres. It has 3 mills."
)
PROMPT = Prompt(system="You look things up.", question="How many are there?", tools=())
LOOKED = Step(
    turn=Turn(calls=(ToolCall(id="c", name="search", arguments={"query": "there"}),)),
    results=(ToolResult(call_id="c", name="search", content=SEEN),),
)


def problems(thought: str, answer: str, *, computed: bool = True) -> list[str]:
    history = (LOOKED, Step(turn=Turn(thought=thought, answer=answer)))
    return [item.text for item in ungrounded(PROMPT, history, computed=computed)]


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ("Counting Ilse Brandt and Jon Maak gives 2.", "2"),
        ("Counting Ilse Brandt, Jon Maak and Salt and Iron gives 3.", "3"),
        ("From 30 January 1868 to 2 March 1902 makes 34 full years.", "34 years"),
        ("From 1834 to 30 January 1868 that is long. 1,204 metres - 412 metres = 792 metres.", "792 metres"),
        ("Together: 412 metres + 1,204 metres = 1,616 metres.", "1,616 metres"),
        ("1868 - 1834 = 34.", "34"),
    ],
)
def test_what_is_recomputed_is_grounded(thought: str, answer: str) -> None:
    assert problems(thought, answer) == []


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ("Counting Ilse Brandt and Jon Maak gives 3.", "3"),
        ("Counting Ilse Brandt and Ilse Brandt gives 2.", "2"),
        ("Counting Ilse Brandt and Per Holm gives 2.", "2"),
        ("From 30 January 1868 to 2 March 1902 makes 35 full years.", "35"),
        ("From 2 March 1902 to 30 January 1868 makes 34 full years.", "34"),
        ("1,204 metres - 412 metres = 793 metres.", "793 metres"),
        ("1,204 metres - 400 metres = 804 metres.", "804 metres"),
        ("412 metres + 1,204 metres = 1,616 feet.", "1,616 feet"),
        ("412 metres + 1,204 metres - 412 metres = 1,204 metres.", "7"),
        ("I find that there are 3.", "3"),
        ("There are many.", "17"),
    ],
)
def test_anything_else_is_not(thought: str, answer: str) -> None:
    assert problems(thought, answer)


def test_a_number_that_was_seen_is_no_result() -> None:
    """ "It has 3 mills" does not ground the answer to a question of how many there are."""
    assert problems("So it is 3.", "3", computed=False) == []
    assert problems("So it is 3.", "3") == ["3"]


def test_a_result_may_be_used_later() -> None:
    first = Step(turn=Turn(thought="Counting Ilse Brandt and Jon Maak gives 2.", calls=LOOKED.turn.calls), results=())
    last = Step(turn=Turn(thought="So the number is 2.", answer="2"))
    assert ungrounded(PROMPT, (LOOKED, first, last), computed=True) == []
    assert ungrounded(PROMPT, (LOOKED, first, last), start=2, computed=True) == []


@given(st.integers(0, 99_999), st.integers(0, 99_999), st.integers(-3, 3))
def test_sums_hold_exactly_when_they_are_right(a: int, b: int, off: int) -> None:
    (made,) = computations(f"Now {a:,} + {b:,} = {a + b + abs(off):,}.")
    assert holds(made, lambda operand: True) is (off == 0)
    high, low = max(a, b), min(a, b)
    (made,) = computations(f"{high:,} - {low:,} = {high - low + abs(off):,}")
    assert holds(made, lambda operand: True) is (off == 0)
    assert not holds(made, lambda operand: False)
