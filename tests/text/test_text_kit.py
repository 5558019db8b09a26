"""The kit's words, lists, inflection, numbers and dates."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.text.dates import DATE, date_in_words, parse_date
from synth.text.inflection import article, imperative, ordinal, plural, third_person
from synth.text.lists import listed
from synth.text.numbers import NUMBER, NUMERALS, number_words, parse_quantity, ungrouped
from synth.text.words import fold, same_words, words, words_of


@given(st.dates())
def test_a_date_in_words_is_read_back(day: date) -> None:
    said = date_in_words(day)
    if day.year > 99:
        assert parse_date(said) == (day.year, day.month, day.day)
    if day.year > 999:
        assert DATE.fullmatch(said)


@given(st.integers(min_value=0, max_value=10**12))
def test_digit_groups_make_no_difference(number: int) -> None:
    assert ungrouped(f"{number:,}") == str(number)
    assert NUMBER.fullmatch(f"{number:,}")
    found = parse_quantity(f"{number:,} km")
    assert found is not None
    assert (found.number, found.unit) == (number, "km")


def test_numerals_are_read_back() -> None:
    assert [number_words(f"{word} rivers") for word in NUMERALS] == [(n, "rivers") for n in range(len(NUMERALS))]


@given(st.lists(st.from_regex(r"[A-Z][a-z]{0,8}", fullmatch=True), min_size=1, max_size=5))
def test_a_list_holds_its_items_in_order(items: list[str]) -> None:
    assert listed(items).replace(" and ", ", ").split(", ") == items
    assert listed(items, "or", comma=True).replace(", or ", ", ").split(", ") == items


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (listed([]), ""),
        (listed(["A", "B"]), "A and B"),
        (listed(["A", "B", "C"], "or"), "A, B or C"),
        (listed(["A", "B", "C"], comma=True), "A, B, and C"),
        (plural("class"), "classes"),
        (plural("city"), "cities"),
        (plural("day"), "days"),
        (plural("switch"), "switches"),
        (third_person("go"), "goes"),
        (third_person("echo"), "echoes"),
        (ordinal(11), "11th"),
        (ordinal(112), "112th"),
        (ordinal(23), "23rd"),
    ],
)
def test_forms(said: str, expected: str) -> None:
    assert said == expected


@pytest.mark.parametrize("noun", ["actor", "SQL command", "umbrella", "XML file"])
def test_an(noun: str) -> None:
    assert article(noun) == "an"


@pytest.mark.parametrize("noun", ["city", "university", "one-act play", "European", "utility", "GUI", ""])
def test_a(noun: str) -> None:
    assert article(noun) == "a"


@pytest.mark.parametrize("verb", ["create", "pass", "copy", "match", "fix", "return", "do"])
def test_the_imperative_undoes_the_third_person(verb: str) -> None:
    assert imperative(third_person(verb)) == verb


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert words(fold(text)) == fold(text).split() or any(c in text for c in "'’,.")


def test_words_as_a_reader_compares_them() -> None:
    assert words("Tarn Vale’s 12,045 os_path; 1.5 O'Rell") == ["tarn", "vale", "12045", "os_path", "1.5", "o'rell"]
    assert words_of("the Dog") in words_of("he saw the dog's bone")
    assert same_words("The Vale", "vale")
    assert not same_words("the", "a")
