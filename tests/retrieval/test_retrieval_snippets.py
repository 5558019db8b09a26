"""The passage shown for a query: bounded, whole words, and never poorer than any window of its guaranteed width."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.retrieval.snippets import Passage, best_passage, heavy_terms
from synth.retrieval.tokens import tokenize

FILLER = "The town lies on a plain. Its people trade in salt and wool. "


def passage_of(text: str, query: str, *, max_chars: int = 300, weight: Callable[[str], float] | None = None) -> Passage:
    return best_passage(text, heavy_terms(query, weight), max_chars=max_chars)


def shown(text: str, query: str, **options: object) -> str:
    passage = passage_of(text, query, **options)  # type: ignore[arg-type]
    return text[passage.start : passage.end]


def test_the_sentence_that_answers_is_shown_whole() -> None:
    fact = "Velmora was founded in 1204 by Tarn Osk."
    text = FILLER * 20 + fact + " " + FILLER * 20
    found = shown(text, "who founded Velmora", max_chars=120)
    assert found.startswith(fact)
    assert found.endswith((".", "!", "?"))


def test_a_sentence_is_shown_from_its_beginning() -> None:
    fact = "In 1204 its harbour was deepened by Tarn Osk."
    assert shown(FILLER * 9 + fact + " " + FILLER * 9, "Osk", max_chars=150).startswith(fact)


def test_more_tokens_win_over_earlier_ones() -> None:
    text = "Velmora is a port. " + FILLER * 10 + "Tarn founded Velmora. " + FILLER * 10
    assert "Tarn founded Velmora." in shown(text, "Tarn Velmora", max_chars=80)
    assert shown(text, "Velmora", max_chars=80).startswith("Velmora is a port.")


def test_rare_words_weigh_more() -> None:
    text = "It is in the east of the land. " + FILLER * 10 + "Osk lived here. " + FILLER * 5
    weights = {"osk": 9.0, "east": 1.0, "land": 1.0, "of": 0.1, "the": 0.1}
    assert "east" in shown(text, "the east of the land Osk", max_chars=60)
    assert "Osk" in shown(text, "the east of the land Osk", max_chars=60, weight=lambda token: weights.get(token, 0.0))


def test_a_text_without_the_query_gives_its_beginning() -> None:
    text = "\n\n" + FILLER * 10
    passage = passage_of(text, "unknown", max_chars=70)
    assert (passage.start, passage.tokens) == (2, 0)
    assert text[2 : passage.end] == FILLER.strip()
    assert passage_of("short", "unknown") == Passage(0, 5, 0)
    assert passage_of("", "x") == Passage(0, 0, 0)
    assert passage_of(" \n ", "x").end == passage_of(" \n ", "x").start


def test_one_endless_word() -> None:
    passage = passage_of("x" * 1000, "y", max_chars=50)
    assert passage == Passage(0, 50, 0)
    assert passage_of("x" * 1000 + " y", "y", max_chars=50).tokens == 1


def test_words_are_matched_whole_and_in_any_case() -> None:
    text = "Velmorax. " + FILLER * 5 + "VELMORA stands."
    passage = passage_of(text, "velmora", max_chars=40)
    assert text[passage.start : passage.end] == "VELMORA stands."
    assert "東京" in shown("あいう。" * 50 + "東京都です。", "東京", max_chars=30)
    assert "Ankara" in shown("\u0130zmir. " * 40 + "Ankara is not \u0130zmir.", "ankara", max_chars=40)


@pytest.mark.parametrize("size", [19, 0, -3])
def test_too_small_a_window_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="at least 20"):
        passage_of("text", "query", max_chars=size)


text_strategy = st.lists(
    st.sampled_from(["alpha", "beta", "Gamma", "delta.", "the", "os.path", "1987,", "x" * 30, ".\n", "End!", "ça"]),
    max_size=80,
).map(" ".join)


@settings(max_examples=300)
@given(
    text_strategy,
    st.sampled_from(["alpha beta", "gamma os.path 1987", "the", "zeta", "ça end alpha delta"]),
    st.integers(20, 120),
)
def test_passages_are_bounded_and_as_rich_as_any_window(text: str, query: str, size: int) -> None:
    passage = passage_of(text, query, max_chars=size)
    assert 0 <= passage.start <= passage.end <= len(text)
    assert passage.end - passage.start <= size
    assert passage == passage_of(text, query, max_chars=size)
    tokens = set(tokenize(query))
    hits = [
        (match.start(), match.end(), token)
        for token in tokens
        for match in re.finditer(rf"(?<![^\W_]){re.escape(token)}(?![^\W_])", text.lower())
    ]
    width = size - size // 3
    richest = max(
        (len({t for s, e, t in hits if begin <= s and e <= begin + width}) for begin, _, _ in hits), default=0
    )
    assert passage.tokens >= richest
