"""Messages filled to a budget: every gold document once and whole, positions true, nothing over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from synth.annotate.contexts.assemble import Assembled, Block, Shortfall, assemble
from synth.annotate.contexts.sentences import line_ends, sentence_ends, word_ends
from synth.annotate.contexts.tokens import Tokenizer, WordTokenizer
from synth.identity import derive_generator

WORDS = WordTokenizer()


def text(name: str, sentences: int, words: int) -> str:
    return " ".join(f"{name.capitalize()} " + " ".join(["word"] * words) + f" number {n}." for n in range(sentences))


def block(name: str, sentences: int, words: int = 7) -> Block[str]:
    return Block(name, name, text(name, sentences, words))


def frame(documents: str) -> str:
    return f"Read this.\n\n{documents}\n\nQuestion: which?"


def fill(
    gold: list[Block[str]], fillers: list[Block[str]], budget: int, seed: int = 1, tokenizer: Tokenizer = WORDS
) -> Assembled[str] | Shortfall:
    generator = derive_generator(seed, "test")
    return assemble(gold, fillers, frame=frame, budget=budget, tokenizer=tokenizer, generator=generator)


def whole(made: Assembled[str] | Shortfall) -> Assembled[str]:
    assert isinstance(made, Assembled), made
    return made


class Pairs(WordTokenizer):
    """Counts two pieces of a text as one token: the tokens of a whole are not the sum of those of its parts."""

    name = "pairs"

    def starts(self, text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return super().starts(text)[::2]

    def count(self, text: str) -> int:
        return len(self.starts(text))


LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 40)), min_size=1, max_size=40)


@given(
    gold=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    lengths=LENGTHS,
    budget=st.integers(500, 6000),
    seed=st.integers(0, 3),
    tokenizer=st.sampled_from([WORDS, Pairs()]),
)
@settings(max_examples=60, deadline=None)
def test_budgets_are_met_within_one_percent_for_documents_of_any_length(
    gold: list[int], lengths: list[tuple[int, int]], budget: int, seed: int, tokenizer: Tokenizer
) -> None:
    golds = [block(f"gold{n}", size) for n, size in enumerate(gold)]
    fillers = [block(f"filler{n}", *size) for n, size in enumerate(lengths)]
    there = sum(tokenizer.count(one.rendered()) + 1 for one in [*golds, *fillers])
    needed = tokenizer.count(frame("")) + sum(tokenizer.count(one.rendered()) + 1 for one in golds)
    assume(needed <= budget)
    made = fill(golds, fillers, budget, seed, tokenizer)
    if isinstance(made, Shortfall):
        assert there < budget + 10  # only where there is not enough of everything
        return
    assert 0.99 * budget <= made.tokens <= budget
    assert made.tokens == tokenizer.count(made.message)
    check_positions(made, golds, fillers, tokenizer)


def check_positions(
    made: Assembled[str], golds: list[Block[str]], fillers: list[Block[str]], tokenizer: Tokenizer
) -> None:
    texts = {one.item: one.text for one in [*golds, *fillers]}
    starts = tokenizer.starts(made.message)
    assert sorted(one.block.item for one in made.placed if one.gold) == sorted(one.item for one in golds)
    assert len({one.block.item for one in made.placed}) == len(made.placed)
    for one in made.placed:
        there = made.message[one.start : one.end]
        assert texts[one.block.item].startswith(there)
        assert (there == texts[one.block.item]) == (one.block.cut == "none")
        assert one.token_start == int((starts < one.start).sum())
        assert one.token_end == int((starts < one.end).sum())
        assert made.message.count(there) == 1
        if one.block.cut == "sentence":
            assert there.endswith(".")
    cut = [one for one in made.placed if one.block.cut != "none"]
    assert len(cut) <= 1
    assert not any(one.gold for one in cut)
    assert [one.start for one in made.placed] == sorted(one.start for one in made.placed)


def test_documents_of_many_sentences_are_cut_at_one() -> None:
    made = whole(fill([block("gold", 3)], [block(f"filler{n}", 40) for n in range(40)], 3000))
    assert [one.block.cut for one in made.placed if one.block.cut != "none"] == ["sentence"]


def test_where_no_sentence_ends_in_the_right_place_a_line_or_a_word_does() -> None:
    lines = Block("filler", "filler", "\n".join(["word " * 4] * 400))
    made = whole(fill([block("gold", 3)], [lines], 1000))
    assert {one.block.cut for one in made.placed} == {"none", "line"}
    words = Block("filler", "filler", "word " * 2000)
    made = whole(fill([block("gold", 3)], [words], 1000))
    assert {one.block.cut for one in made.placed} == {"none", "word"}


def test_fillers_come_by_rank_and_the_rest_stays_out() -> None:
    fillers = [block(f"filler{n}", 10) for n in range(100)]
    made = whole(fill([block("gold", 3)], fillers, 2000))
    taken = {one.block.item for one in made.placed if not one.gold and one.block.cut == "none"}
    assert taken == {f"filler{n}" for n in range(len(taken))}
    assert next(one.block.item for one in made.placed if one.block.cut != "none") == f"filler{len(taken)}"


def test_gold_alone_over_the_budget_is_said() -> None:
    made = fill([block("gold", 100), block("other", 100)], [], 500)
    assert isinstance(made, Shortfall)
    assert "the 2 gold documents alone would take 2,2" in made.what


def test_too_few_documents_is_said() -> None:
    made = fill([block("gold", 3)], [block("filler", 3)], 5000)
    assert isinstance(made, Shortfall)
    assert "of 5,000 tokens" in made.what


def test_without_gold_there_is_no_context() -> None:
    with pytest.raises(ValueError, match="gold"):
        fill([], [block("filler", 3)], 500)


def test_gold_documents_are_spread_over_the_message_and_stand_anywhere() -> None:
    fillers = [block(f"filler{n}", 6) for n in range(200)]
    golds = [block(f"gold{n}", 4) for n in range(4)]
    depths = np.array(
        [
            [one.token_start / made.tokens for one in made.placed if one.gold]
            for made in (whole(fill(golds, fillers, 8000, seed)) for seed in range(30))
        ]
    )
    for place in range(4):  # one gold document begins in each quarter
        assert depths[:, place].min() >= place / 4 - 0.03
        assert depths[:, place].max() <= (place + 1) / 4 + 0.03
        assert depths[:, place].std() > 0.04
    firsts = {
        next(one.block.item for one in whole(fill(golds, fillers, 8000, seed)).placed if one.gold) for seed in range(30)
    }
    assert firsts == {"gold0", "gold1", "gold2", "gold3"}  # the order of the walk tells nothing


def test_equal_seeds_give_equal_messages_and_others_do_not() -> None:
    golds, fillers = [block("gold", 3)], [block(f"filler{n}", 6) for n in range(60)]
    first, again, other = (whole(fill(golds, fillers, 2000, seed)).message for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_title_stands_above_its_text_once() -> None:
    assert Block("a", "Mosk", "# Mosk\n\nMosk is a village.").rendered().count("Mosk\n") == 1
    assert Block("a", "Mosk", "A village.").rendered() == "Mosk\n\nA village."


@pytest.mark.parametrize(
    ("sample", "sentences"),
    [
        ("One. Two.", ["One.", "One. Two."]),
        ("It cost 3.5 marks. More.", ["It cost 3.5 marks.", "It cost 3.5 marks. More."]),
        ('He said "no." Then he left.', ['He said "no."', 'He said "no." Then he left.']),
        ("no end", []),
        ("Title\n\nText goes on", ["Title"]),
        ("", []),
    ],
)
def test_ends_of_sentences(sample: str, sentences: list[str]) -> None:
    assert [sample[:end] for end in sentence_ends(sample)] == sentences


def test_ends_of_lines_and_words() -> None:
    sample = "one two\n\nthree\nfour"
    assert [sample[:end] for end in line_ends(sample)] == ["one two", "one two\n\nthree"]
    assert [sample[:end] for end in word_ends(sample)] == ["one", "one two", "one two\n\nthree"]
