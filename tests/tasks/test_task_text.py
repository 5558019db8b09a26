"""Mentions are whole words; values are found however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.tasks.text import distinctive_words, generic_words, gives_away, mentions, value_forms
from synth.text.words import content_words, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tarn Vale's house", ["tarn", "vale", "house"]),
        ("12,045 people and 1,204.5 km", ["12045", "people", "and", "1204.5", "km"]),
        ("O’Rell’s json.dumps", ["o'rell", "json", "dumps"]),
        ("Ærø — café", ["ærø", "cafe"]),
        ("python3.11 3.11", ["python3", "11", "3.11"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("an annual event", "Ann", False),
        ("Ann's event", "Ann", True),
        ("Tarn  Vale's brother", "tarn vale", True),
        ("the vale of Tarn", "Tarn Vale", False),
        ("the Silent Harbour", "The Silent Harbour", True),
        ("12045 inhabitants", "12,045", True),
        ("in 18505", "1850", False),
    ],
)
def test_mentions_by_whole_words(text: str, name: str, found: bool) -> None:
    assert (mentions(text, [name]) is not None) is found


@given(st.lists(st.text("abcdefg", min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_any_run_of_words_is_mentioned(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    stop = data.draw(st.integers(start + 1, len(words)))
    run = words[start:stop]
    if len(run) > 1 and run[0] == "a":
        run = run[1:]
    assert mentions(" ".join(words), [" ".join(run)])


def test_generic_words_need_many_names() -> None:
    names = [f"University of {chr(97 + i) * 3}" for i in range(20)] + ["Vale Park"]
    assert generic_words(names) == {"university", "of"}
    assert generic_words(names, least=30) == frozenset()


@pytest.mark.parametrize(
    ("name", "person", "expected"),
    [
        ("Ann Vale", True, ("vale",)),
        ("Vale", True, ("vale",)),
        ("River Senn", False, ("senn",)),
        ("University of Orrin Vale", False, ("orrin", "vale")),
        ("The 1850 Prize", False, ("prize",)),
    ],
)
def test_distinctive_words(name: str, person: bool, expected: tuple[str, ...]) -> None:
    assert distinctive_words(name, {"river", "university"}, person=person) == expected


@pytest.mark.parametrize(
    ("question", "word", "found"),
    [
        ("the Vale Prize", "vale", "vale"),
        ("the Orrinian poets", "orrin", "orrin"),
        ("a valedictory speech", "vale", None),
        ("the Valedictorians", "vale", None),
    ],
)
def test_gives_away(question: str, word: str, found: str | None) -> None:
    assert gives_away(question, [word]) == found


def test_forms_of_a_date() -> None:
    forms = value_forms("1850-03-12", "date")
    assert {"12 March 1850", "March 12, 1850", "1850-03-12"} <= set(forms)
    assert value_forms("not a date", "date") == ("not a date",)
    assert value_forms("12045", "number", "12,045") == ("12,045", "12045")


def test_content_words_keep_order_and_drop_repeats() -> None:
    assert content_words("The mayor of the city of the Mayor's river") == ["mayor", "city", "river"]
