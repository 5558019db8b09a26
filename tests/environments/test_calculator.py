"""The calculator: exact sums over quantities as pages write them, and nothing but sums."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.environments.calculator import calculate, calculated
from synth.environments.contract import ToolCall


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1,200 km - 350 km", "850 km"),
        ("12 t + 3.5 t + 1 t", "16.5 t"),
        ("(3 + 4) / 2", "3.5"),
        ("0.1 + 0.2", "0.3"),
        ("2 × 3 − 10", "-4"),
        ("years from 30 January 1868 to 29 January 1902", "33 years"),
        ("years from 1900 to 1901", "1 year"),
    ],
)
def test_sums(expression: str, result: str) -> None:
    assert calculate(expression) == result


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**6))
def test_sums_are_exact(a: int, b: int, c: int) -> None:
    assert calculate(f"({a:,} + {b}) * {c}") == f"{(a + b) * c:,}"
    assert Fraction(calculate(f"{a * c} / {c}").replace(",", "")) == a


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("3 km + 4 m", "The units differ: km, m."),
        ("3 km + 4", "The units differ: km, none."),
        ("5 km * 2", "added and subtracted only"),
        ("4 / 0", "divided by zero"),
        ("2**9", "no sum"),
        ("__import__('os').getcwd()", "no sum"),
        ("(" * 300, "no sum"),
        ("9" * 350 + " / 7", "too large"),
        ("years from 1950 to 1900", "comes before"),
        ("years from then to 1900", "no date: then"),
    ],
)
def test_what_is_no_sum_is_said_in_one_line(expression: str, words: str) -> None:
    answered = calculated(ToolCall(id="call", name="calculate", arguments={"expression": expression}))
    assert answered.error == "bad_arguments"
    assert words in answered.content
    assert "\n" not in answered.content
