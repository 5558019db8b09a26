"""Cutting long observations: exactly as far as it must be, never what the agent wrote."""

from __future__ import annotations

import pytest
from critical_samples import run_pair
from exporter_samples import trajectory
from format_samples import ABOUT, ANSWER, QUESTION, called, run_of, seen
from hypothesis import given
from hypothesis import strategies as st

from synth.annotate.contexts.tokens import WordTokenizer
from synth.export.contract import Inexpressible, Run, StepOf, Why
from synth.export.items import Cutter
from synth.identity import canonical_json
from synth.registry import find
from synth.schemas.adp import TextObservation
from synth.schemas.preferences import PreferenceRow

COUNT = WordTokenizer().count
TEXT = "Ada lives in Mosk. "


def long_run(*words: int) -> Run:
    content = [QUESTION]
    for number, count in enumerate(words):
        content += [called(number), seen(number, TEXT * count)]
    return run_of((*content, ANSWER))


def size(run: Run) -> int:
    (record,) = find("formats", "trl-sft").convert(run, ABOUT, 0)
    return COUNT(canonical_json(record["tools"])) + sum(
        COUNT(message["content"]) + COUNT(message.get("reasoning_content", "")) for message in record["messages"]
    )


@given(st.lists(st.integers(1, 200), min_size=1, max_size=5), st.integers(250, 3_000))
def test_it_fits_and_loses_no_more_than_it_must(words: list[int], limit: int) -> None:
    run = long_run(*words)
    try:
        made, cut = Cutter(WordTokenizer(), limit)(run)
    except Inexpressible as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        assert refusal.why is Why.TOO_LONG
        assert limit < 1_000
        return
    assert isinstance(made, Run)
    assert size(made) <= limit
    marks = 0
    for before, after in zip(run.row.content, made.row.content, strict=True):
        if before == after:
            continue
        assert isinstance(before, TextObservation)
        assert isinstance(after, TextObservation)
        kept, _, mark = after.content.rpartition("\n")
        assert before.content.startswith(kept)
        assert mark.startswith("[cut here: ")
        assert f"of {len(before.content):,} characters" in mark
        marks += 1
    assert marks == cut == made.cut
    if not cut:
        assert made == run


def test_the_longest_are_cut_first() -> None:
    made, cut = Cutter(WordTokenizer(), 700)(long_run(5, 200, 10))
    assert cut == 1
    assert isinstance(made, Run)
    assert made.row.content[2] == long_run(5).row.content[2]


def test_a_step_is_cut_with_what_came_before_it() -> None:
    run = long_run(200, 200)
    assert run.steps is not None
    before = Run(run.row.model_copy(update={"content": run.row.content[:4]}), run.steps)
    made, cut = Cutter(WordTokenizer(), 500)(StepOf(before, run.steps[1]))
    assert cut == 1
    assert isinstance(made, StepOf)
    assert made.step == run.steps[1]
    assert len(find("formats", "kto").convert(made, ABOUT, cut)[0]["prompt"]) == 4


def test_both_sides_of_a_pair_are_cut_alike() -> None:
    pair = run_pair(trajectory(1, "teacher"), trajectory(1, "policy"))
    longer = tuple(
        item.model_copy(update={"content": TEXT * 100}) if isinstance(item, TextObservation) else item
        for item in pair.chosen
    )
    made, cut = Cutter(WordTokenizer(), 600)(pair.model_copy(update={"chosen": longer, "rejected": longer}))
    assert isinstance(made, PreferenceRow)
    assert made.chosen == made.rejected
    assert cut == 4


def test_what_can_not_be_cut_is_refused() -> None:
    with pytest.raises(Inexpressible, match="too_long"):
        Cutter(WordTokenizer(), 60)(long_run(1))
