"""Values as quantities: order, ranges, differences; what a year can not decide is undecided."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.tasks.values import Measure, difference, in_range, parse_measure, parse_range, plain_number, total

DATES = st.dates(date(800, 1, 1), date(2010, 12, 31))


def measure(kind: str, text: str) -> Measure:
    found = parse_measure(kind, text)
    assert found is not None
    return found


@given(DATES, DATES)
def test_dates_are_ordered_as_days_and_years_as_all_their_days(left: date, right: date) -> None:
    one, two = measure("date", left.isoformat()), measure("date", right.isoformat())
    assert one.before(two) == (None if left == right else left < right)
    year = measure("year", str(right.year))
    assert one.before(year) == (None if left.year == right.year else left.year < right.year)
    assert one.year == left.year


@given(DATES, DATES)
def test_between_two_dates_lie_the_completed_years(left: date, right: date) -> None:
    early, late = sorted((left, right))
    found = difference(measure("date", left.isoformat()), measure("date", right.isoformat()))
    assert found is not None
    years, unit = found
    assert unit == "years"
    completed = sum(
        1 for n in range(1, 1300) if (early.year + n, early.month, early.day) <= (late.year, late.month, late.day)
    )
    assert years == completed


def test_what_can_not_be_told_is_none() -> None:
    day, year = measure("date", "1874-05-03"), measure("year", "1874")
    assert difference(day, year) is None
    assert difference(measure("quantity", "3 metres"), measure("quantity", "3 kilometres")) is None
    assert total([measure("quantity", "3 metres"), measure("number", "4")]) is None
    assert total([year, year]) is None
    assert parse_measure("text", "painter") is None
    assert parse_measure("date", "soon") is None
    assert parse_measure("quantity", "3") is None
    assert parse_measure("number", "inf") is None
    with pytest.raises(ValueError, match="no order"):
        measure("number", "4").before(day)


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (("year", "1874"), ("year", "1870"), ("year", "1879"), True),
        (("year", "1870"), ("year", "1870"), None, True),
        (("year", "1869"), ("year", "1870"), None, False),
        (("date", "1879-12-31"), ("year", "1870"), ("year", "1879"), True),
        (("date", "1880-01-01"), None, ("year", "1879"), False),
        (("year", "1874"), ("date", "1874-05-03"), None, None),
        (("year", "1875"), ("date", "1874-05-03"), None, True),
        (("quantity", "12 metres"), ("quantity", "10 metres"), ("quantity", "12 metres"), True),
        (("number", "9"), ("number", "10"), None, False),
    ],
)
def test_ranges_hold_their_ends(
    value: tuple[str, str], low: tuple[str, str] | None, high: tuple[str, str] | None, verdict: bool | None
) -> None:
    ends = [measure(*end) if end else None for end in (low, high)]
    assert in_range(measure(*value), *ends) is verdict


def test_a_range_of_another_unit_is_an_error() -> None:
    with pytest.raises(ValueError, match="can not lie"):
        in_range(measure("quantity", "3 metres"), measure("quantity", "2 kilometres"), None)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=5))
def test_sums_and_differences_are_arithmetic(numbers: list[int]) -> None:
    values = [measure("quantity", f"{number} metres") for number in numbers]
    assert total(values) == (sum(numbers), "metres")
    assert difference(values[0], values[-1]) == (abs(numbers[0] - numbers[-1]), "metres")


def test_numbers_are_written_plainly() -> None:
    assert plain_number(37) == "37"
    assert plain_number(37, "years") == "37 years"
    assert total([measure("number", "0.5"), measure("number", "0.25")]) == (0.75, "")


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 0.5))
def test_apart_means_by_more_than_the_margin(left: int, right: int, margin: float) -> None:
    one, two = measure("number", str(left)), measure("number", str(right))
    assert one.apart(two, margin) == two.apart(one, margin)
    assert one.apart(two, margin) == (left != right and abs(left - right) > margin * max(left, right))


@pytest.mark.parametrize("text", ["/", "1870", ""])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a range"):
        parse_range(text)


def test_years_are_apart_by_one() -> None:
    assert measure("year", "1874").apart(measure("year", "1875"), 0.5)
    assert not measure("year", "1874").apart(measure("date", "1874-02-01"), 0.0)
