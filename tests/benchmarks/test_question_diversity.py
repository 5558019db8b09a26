"""Figures of diversity against counting by hand and against BLEU written the slow way."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from question_diversity import distinct, measure, measure_texts, self_bleu, skeleton, words

TEXTS = st.lists(st.lists(st.sampled_from("a b c d e".split()), min_size=1, max_size=9), min_size=2, max_size=6)


def slow_bleu(text: list[str], references: list[list[str]]) -> float:
    logs = []
    for n in range(1, 5):
        grams = Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))
        if not grams:
            continue
        tables = [Counter(tuple(r[i : i + n]) for i in range(len(r) - n + 1)) for r in references]
        matched = sum(min(count, max(table[gram] for table in tables)) for gram, count in grams.items())
        logs.append(math.log(max(matched, 0.1 if matched == 0 else matched) / sum(grams.values())))
    closest = min((abs(len(r) - len(text)), len(r)) for r in references)[1]
    penalty = 1.0 if len(text) > closest else math.exp(1 - closest / len(text))
    return penalty * math.exp(sum(logs) / len(logs))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_self_bleu_is_bleu_against_all_others(texts: list[list[str]]) -> None:
    slow = [slow_bleu(text, texts[:i] + texts[i + 1 :]) for i, text in enumerate(texts)]
    assert self_bleu(texts) == pytest.approx(sum(slow) / len(slow))


def test_self_bleu_at_its_ends() -> None:
    assert self_bleu([["which", "river", "is", "it"]] * 3) == pytest.approx(1.0)
    assert self_bleu([["a", "b", "c", "d"], ["e", "f", "g", "h"]]) < 0.1
    assert self_bleu([["alone"]]) == 0.0


def test_distinct_counts_ngrams() -> None:
    texts = [["who", "sang"], ["who", "danced"]]
    assert distinct(texts, 1) == 3 / 4
    assert distinct(texts, 2) == 1.0
    assert distinct(texts, 3) == 0.0


def test_skeletons_lose_names_as_whole_words_only() -> None:
    text = "Who founded The Orrin Courier's rival in Orrin, not Orrington?"
    assert skeleton(text, ["Orrin Courier", "Orrin", ""]) == "Who founded The _'s rival in _, not Orrington?"
    assert skeleton("Who sang?", []) == "Who sang?"
    assert words("Who's there?") == ["who's", "there", "?"]


def test_no_tasks_no_figures() -> None:
    with pytest.raises(ValueError, match="no questions"):
        measure([])


def test_figures_are_of_skeletons_and_families() -> None:
    texts = [("Who founded Orrin?", ["Orrin"], "plain"), ("Who founded Molde?", ["Molde"], "plain")]
    figures = measure_texts([*texts, ("Name the founder of Tarn.", ["Tarn"], "command")])
    assert (figures.questions, figures.skeletons, figures.families) == (3, 2, 2)
    assert figures.top_skeleton == figures.top_family == pytest.approx(2 / 3)
    assert figures.distinct_1 == 9 / 14
