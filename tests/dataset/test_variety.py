"""Figures of variety: equal thoughts are all alike, names and numbers aside; other words are not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from synth.dataset.card.variety import Variety, distinct, masked, self_bleu
from synth.schemas.reports import VarietyReport

WORDS = [f"word{letter}{other}" for letter in "abcdefgh" for other in "stuvwxyz"]


def test_names_numbers_and_quotations_are_masked() -> None:
    one = masked('I open Anna Berg. It says "born in 1874" at 12 Main Street.')
    other = masked('I open Carl von Dorn. It says "founded" at 3 High Street.')
    assert one == ["i", "open", "…", ".", "it", "says", "…", "at", "…", "."]
    assert masked("I open Carl Dorn.") == one[:4]
    assert other[:4] != one[:4]  # "von" is a word


def test_the_same_words_are_all_alike() -> None:
    thoughts = [masked(f"I look at the page of {name} and read it.") for name in ("Anna", "Carl Dorn", "Keld")]
    assert self_bleu(thoughts) == pytest.approx(1.0)
    assert distinct(thoughts * 20) < 0.1


def test_other_words_are_not_alike() -> None:
    generator = np.random.default_rng(3)
    thoughts = [list(generator.permutation(WORDS)[:20]) for _ in range(12)]
    assert self_bleu(thoughts) < 0.2
    assert distinct(thoughts) > 0.95


def test_bleu_is_that_of_its_definition() -> None:
    """Two thoughts: of "a b c d e" four words, three pairs, two triples and one run of four stand in the other."""
    one, other = list("abcde"), list("abcdx")
    wanted = (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert self_bleu([one, other]) == pytest.approx(wanted)


def test_figures_do_not_depend_on_the_order_of_the_rows() -> None:
    generator = np.random.default_rng(4)
    texts = [" ".join(generator.choice(WORDS, 9)) for _ in range(700)]

    def reports(order: list[str], size: int) -> tuple[VarietyReport, ...]:
        variety = Variety()
        for at in range(0, len(order), size):
            content = [[{"reasoning_content": text}, {"reasoning_content": None}] for text in order[at : at + size]]
            roles = ["teacher"] * len(content)
            variety.see(pa.RecordBatch.from_pydict({"role": roles, "content": content}))
        return variety.reports()

    (one,) = reports(texts, 50)
    assert one.thoughts == 700
    assert (one,) == reports(texts[::-1], 7)


def test_nothing_to_compare_is_zero() -> None:
    assert self_bleu([]) == distinct([]) == 0.0
    assert self_bleu([["a"], ["b"]]) == 0.0
