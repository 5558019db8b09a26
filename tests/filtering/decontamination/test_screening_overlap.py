"""Overlap by words in a row, against a plain comparison of all windows; and texts as words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.filtering.decontamination.overlap import Overlaps
from synth.filtering.decontamination.words import NUMBER, words_of

WORDS = st.lists(st.sampled_from("abc"), max_size=14)


def plainly(texts: Sequence[Sequence[str]], words: Sequence[str], ngram: int, shortest: int) -> int | None:
    """Number of the first text that overlaps, by comparing every window with every window."""
    for number, text in enumerate(texts):
        need = min(ngram, len(text), len(words))
        if need < shortest:
            continue
        theirs = {tuple(text[at : at + need]) for at in range(len(text) - need + 1)}
        if any(tuple(words[at : at + need]) in theirs for at in range(len(words) - need + 1)):
            return number
    return None


@given(st.lists(WORDS, max_size=5), WORDS, st.integers(1, 4), st.integers(0, 4))
def test_it_finds_what_comparing_all_windows_finds(
    texts: list[list[str]], words: list[str], shortest: int, more: int
) -> None:
    ngram = shortest + more
    found = Overlaps(texts, ngram=ngram, shortest=shortest, distinct=0).find(words)
    assert (None if found is None else found.text) == plainly(texts, words, ngram, shortest)
    if found is not None:
        shared, text = words[found.start : found.stop], texts[found.text]
        places = [at for at in range(len(text)) if text[at : at + len(shared)] == shared]
        assert places
        assert found.whole == (len(shared) in (len(words), len(text)))


def test_the_whole_run_is_told() -> None:
    known = [["x"] * 3, "the quick brown fox jumps over the lazy dog".split()]
    overlaps = Overlaps(known, ngram=4, shortest=3, distinct=1)
    found = overlaps.find("a quick brown fox jumps over a dog".split())
    assert found is not None
    assert (found.text, found.start, found.stop, found.whole) == (1, 1, 6, False)


def test_runs_that_are_mostly_numbers_say_nothing() -> None:
    row = "# a # b # a # b # a # b # a".split()
    assert Overlaps([row], ngram=13, shortest=8).find(row) is None
    assert Overlaps([row], ngram=13, shortest=8, distinct=2).find(row) is not None


def test_nothing_known_and_nothing_asked() -> None:
    assert Overlaps([], ngram=13, shortest=8).find(["a"] * 20) is None
    assert Overlaps([["a"] * 20, []], ngram=13, shortest=8, distinct=1).find([]) is None
    with pytest.raises(ValueError, match="shortest"):
        Overlaps([], ngram=5, shortest=6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Don't re-case the Café's menu!", "DONT RE CASE the cafés MENU"),
        ("ＦＵＬＬ width №5", "full width no5"),
        ("Straße", "STRASSE"),
        ("Nordholm's mill can't", "Nordholm s mill can t"),
        ("Nordholm’s mill can‘t", "NORDHOLMS mill cant"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("in 1987", "in 1,988.5"),
        ("twenty-one men", "3 men"),
        ("the 21st of May", "the 2nd of may"),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
    ],
)
def test_what_makes_no_difference(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


def test_what_makes_one() -> None:
    assert words_of("in 1987", mask_numbers=False) != words_of("in 1988", mask_numbers=False)
    assert words_of("1980s")[0] == "#s"
    assert words_of("東京タワー 1958年") == [*"東京タワー", NUMBER, "年"]
    assert words_of("re_case") == ["re", "case"]
    assert words_of("?!") == []


@given(st.text(max_size=40))
def test_words_of_words_are_those_words(text: str) -> None:
    for mask in (True, False):
        words = words_of(text, mask_numbers=mask)
        assert all(words)
        again = words_of(" ".join(words).replace(NUMBER, "7"), mask_numbers=mask)
        assert again == words or not mask
