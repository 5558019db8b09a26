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
from synth.text.sentences import begins, borders, line_borders, sentences, spans
from synth.text.words import fold, same_words, tokens, words, words_of


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


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Vale met J. Orrin. They left.", ["Dr. Vale met J. Orrin.", "They left."]),
        ("See no. 5 and Fig. 2. Is it? No. It is not!", ["See no. 5 and Fig. 2.", "Is it?", "No.", "It is not!"]),
        ("9. Classes. Then 10. Errors.", ["9. Classes.", "Then 10.", "Errors."]),
        ("It is (one. Two) here. [A. B](c) is a link. End", ["It is (one. Two) here.", "[A. B](c) is a link.", "End"]),
        ("One line\nAnother. Line", ["One line", "Another.", "Line"]),
        ("Es dreht sich, z. B. am 3. Oktober. Über ihm.", ["Es dreht sich, z. B. am 3. Oktober.", "Über ihm."]),
        ("Le père, p. ex., dort. Écoutez ! Oui.", ["Le père, p. ex., dort.", "Écoutez !", "Oui."]),
        ("茶壶产于宜兴。水太热！“好。”他说", ["茶壶产于宜兴。", "水太热！", "“好。”", "他说"]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_chinese_is_matched_by_its_characters() -> None:
    assert words("紫砂壶 1.5") == ["紫", "砂", "壶", "1.5"]
    assert words_of("紫砂壶") in words_of("最有名的紫砂壶产于宜兴。")
    assert words_of("砂宜") not in words_of("最有名的紫砂壶产于宜兴。")
    assert tokens("Größe, élève, 茶壶") == ["grosse", "eleve", "茶", "壶"]


def test_what_may_follow_a_sentence() -> None:
    text = "A name. id holds it: so. Yes"
    assert sentences(text) == ["A name.", "id holds it: so.", "Yes"]
    assert sentences(text, capital=True) == ["A name. id holds it: so.", "Yes"]
    assert sentences(text, clauses=True) == ["A name.", "id holds it:", "so.", "Yes"]


@given(st.text(alphabet="aB .!?:()\n“”1e.g.", max_size=80), st.booleans(), st.booleans())
def test_sentences_leave_out_white_space_only(text: str, capital: bool, clauses: bool) -> None:
    said = "".join(sentences(text, capital=capital, clauses=clauses))
    assert "".join(said.split()) == "".join(text.split())


@given(st.text(alphabet="aB .!?()\n“”", max_size=80))
def test_a_sentence_begins_behind_every_border(text: str) -> None:
    for end, begin in borders(text):
        assert text[end:begin].isspace()
        assert text[begin - 1].isspace()
    assert all(end < begin for end, begin in line_borders(text))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans(text))


def test_a_capital_at_the_beginning_says_nothing() -> None:
    text = "So. He said: “It is Vale.” - Then"
    assert [word for word in ("So", "He", "It", "Vale", "Then") if begins(text, text.index(word))] == [
        "So",
        "He",
        "It",
        "Then",
    ]
