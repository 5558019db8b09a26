"""Blurred values: what they hold, how they read, how pages are read for them."""

from __future__ import annotations

from datetime import date
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.schemas.documents import ValueKind
from synth.tasks.ranges import lies_in
from synth.tasks.text import mentions, value_forms
from synth.tasks.world.obfuscate_values import Blur, blurs

YEARS = st.integers(150, 2010).map(lambda year: ("year", str(year)))
DATES = st.dates(date(500, 1, 1), date(2010, 12, 31)).map(lambda day: ("date", day.isoformat()))
NUMBERS = st.integers(10, 10**8).map(lambda number: ("number", str(number)))
QUANTITIES = st.integers(10, 10**6).map(lambda number: ("quantity", f"{number} metres"))


@settings(max_examples=300, deadline=None)
@given(st.one_of(YEARS, DATES, NUMBERS, QUANTITIES))
def test_every_range_holds_its_value_and_hides_it(value: tuple[str, str]) -> None:
    kind, text = value
    found = blurs(kind, text)
    assert found
    for blur in found:
        assert blur.holds(text), (text, blur)
        assert blur.node.kind == "range"
        assert blur.node.name == blur.words
        assert mentions(blur.words, value_forms(text, cast(ValueKind, kind))) is None
    assert len({blur.id for blur in found}) == len(found)


@settings(max_examples=100, deadline=None)
@given(YEARS)
def test_ranges_of_years_get_narrower(value: tuple[str, str]) -> None:
    sizes = []
    for blur in blurs(*value):
        low, high = blur.id.split("/")
        sizes.append(int(high) - int(low))
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("year", "1874", ["in the nineteenth century", "in the second half of the nineteenth century", "in the 1870s"]),
        ("year", "953", ["in the tenth century", "in the 950s"]),
        ("date", "1874-03-14", ["in the 1870s", "in 1874", "in March 1874"]),
        ("number", "12045", ["more than 10,000", "fewer than 20,000", "between 12,000 and 13,000"]),
        ("quantity", "412 metres", ["more than 400 metres", "less than 500 metres", "between 410 and 420 metres"]),
    ],
)
def test_words(kind: str, text: str, words: list[str]) -> None:
    found = [blur.words for blur in blurs(kind, text)]
    assert [word for word in words if word not in found] == []


def test_there_are_fewer_of_what_is_counted_and_less_of_the_rest() -> None:
    for counted, said in ((True, "fewer than 500"), (False, "less than 500")):
        assert said in [blur.words for blur in blurs("number", "412", counted=counted)]


def test_what_people_disagree_about_is_not_said() -> None:
    assert not [blur for blur in blurs("year", "1900") if "century" in blur.words]
    assert not [blur for blur in blurs("year", "1907") if "1900s" in blur.words]
    assert not any(blur.words == "more than 3,000" for blur in blurs("number", "3000"))


@pytest.mark.parametrize(("kind", "text"), [("text", "essay"), ("year", "soon"), ("number", "3"), ("quantity", "412")])
def test_what_has_no_order_is_not_blurred(kind: str, text: str) -> None:
    assert blurs(kind, text) == ()


def test_ranges_have_units_and_ends() -> None:
    decade = Blur("1870/1879", "in the 1870s", "year")
    assert [decade.holds(year) for year in ("1869", "1870", "1879", "1880")] == [False, True, True, False]
    assert decade.timed
    assert lies_in("date", "1874-03-14", "1870-01-01/1879-12-31")
    assert not lies_in("date", "1874-03-14", "1870/1879"), "years and dates are written differently"
    assert lies_in("quantity", "412 metres", "401 metres/")
    assert not lies_in("quantity", "412 pages", "401 metres/")
    assert not lies_in("text", "essay", "1870/1879")
    with pytest.raises(ValueError, match="range"):
        lies_in("year", "1874", "1870")
