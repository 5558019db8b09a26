"""The reward of responses: answers, names, groups."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reward_samples import ANSWER, BARE, BIRTHDAY, FULL, GIVEN, HALF, PARTS, WRONG

from synth.annotate.rewards import ground_truth, group_rewards, read_truth, reward
from synth.annotate.rewards.naming import named
from synth.annotate.rewards.response import OBSERVATIONS, read_response
from synth.errors import InputError
from synth.schemas.rl import GroundTruth, RubricFact, RubricItem
from synth.testing.corpus import small_tasks

# -- the formula -----------------------------------------------------------------------------------------------------


def test_a_group_is_weighed_against_its_best_rubric() -> None:
    full, half, bare, wrong = group_rewards([FULL, HALF, BARE, WRONG], BIRTHDAY)
    assert (full.rubric, half.rubric, bare.rubric) == (1.0, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert full.value == 1.0
    assert half.value == pytest.approx(0.7 + 0.3 * 2 / 3)
    assert bare.value == pytest.approx(0.7 + 0.3 * 1 / 3)
    assert (wrong.value, wrong.correct) == (0.0, False)
    assert {one.best for one in (full, half, bare, wrong)} == {1.0}


def test_the_best_of_a_group_counts_in_full() -> None:
    half, bare = group_rewards([HALF, BARE], BIRTHDAY)
    assert half.value == 1.0
    assert bare.value == pytest.approx(0.7 + 0.3 / 2)


def test_the_best_rubric_may_be_that_of_a_wrong_answer() -> None:
    names = "Korvan Works, Ilse Brandt, 30 January 1868.\nAnswer: 1 May 1900"
    assert [one.value for one in group_rewards([names, BARE], BIRTHDAY)] == [0.0, pytest.approx(0.8)]


def test_alone_the_whole_rubric_is_the_measure() -> None:
    assert reward(FULL, BIRTHDAY).value == 1.0
    assert reward(HALF, BIRTHDAY).value == pytest.approx(0.9)


def test_a_group_that_names_nothing_gets_the_outcome() -> None:
    truth = BIRTHDAY.model_copy(update={"rubric": BIRTHDAY.rubric[:2]})  # without the answer itself
    found = group_rewards([BARE, BARE, "Answer: 1 May 1900"], truth)
    assert [one.value for one in found] == [0.7, 0.7, 0.0]
    assert {one.best for one in found} == {0.0}


def test_a_task_without_rubric_is_rewarded_by_its_outcome() -> None:
    assert [one.value for one in group_rewards(["Answer: Ann Lee", "Answer: Bob"], GIVEN)] == [1.0, 0.0]


def test_an_answer_that_no_rule_can_judge_has_no_reward() -> None:
    truth = GroundTruth(question="When?", answer="the third year of her reign", answer_kind="date")
    one = reward("Answer: 12 May 1820", truth)
    assert (one.value, one.correct) == (None, None)


@pytest.mark.parametrize(
    ("details", "judged_by"),
    [
        ({}, "answer"),
        ({"goal": None}, "answer"),
        ({"goal": {"state": "s", "answer": "required"}}, "answer"),
        ({"goal": {"state": "s", "answer": "free"}}, "state"),
        ({"goal": {"state": "s"}}, "state"),
    ],
)
def test_a_task_says_whether_its_state_or_its_answer_counts(details: dict[str, Any], judged_by: str) -> None:
    truth = ground_truth(small_tasks()[1].model_copy(update={"details": details}))
    assert truth.judged_by == judged_by
    assert read_truth(truth.model_dump_json()).judged_by == judged_by
    one = reward(FULL, truth)
    assert (one.value, one.rule) == ((1.0, "exact") if judged_by == "answer" else (None, "state"))


def test_no_text_is_rewarded_for_a_state() -> None:
    truth = BIRTHDAY.model_copy(update={"judged_by": "state"})
    for one in group_rewards([FULL, WRONG, "", "x" * 100_000], truth):
        assert (one.value, one.correct, one.rule) == (None, None, "state")
        assert "/score" in one.evidence


ITEMS = tuple(
    RubricItem(
        entity=f"e{n}", kind="page", names=(f"Name{n}",), facts=(RubricFact(hop=n, statement="s", document_id="d"),)
    )
    for n in range(5)
)
TRUTH = GroundTruth(question="Who?", answer="Ann Lee", answer_kind="entity", rubric=ITEMS)
SAMPLE = st.tuples(st.sets(st.integers(0, 4)), st.booleans())


def said(names: set[int], right: bool) -> str:
    return " ".join(f"Then Name{n}." for n in sorted(names)) + f"\nAnswer: {'Ann Lee' if right else 'Bob Lee'}"


@given(st.lists(SAMPLE, min_size=1, max_size=8))
def test_rewards_are_bounded_and_zero_exactly_when_wrong(samples: list[tuple[set[int], bool]]) -> None:
    found = group_rewards([said(*sample) for sample in samples], TRUTH)
    for (_, right), one in zip(samples, found, strict=True):
        assert one.value is not None
        assert one.value == 0.0 if not right else 0.7 <= one.value <= 1.0
    rights = [one for (_, right), one in zip(samples, found, strict=True) if right]
    best = max(len(names) for names, _ in samples)
    if rights and best and any(right and len(names) == best for names, right in samples):
        assert max(one.value or 0.0 for one in rights) == 1.0


@given(st.sets(st.integers(0, 4)), st.integers(0, 4), st.lists(SAMPLE, max_size=6))
def test_naming_one_more_thing_never_lowers_the_own_reward(
    names: set[int], more: int, others: list[tuple[set[int], bool]]
) -> None:
    rest = [said(*sample) for sample in others]
    less = group_rewards([said(names, True), *rest], TRUTH)[0].value
    grown = group_rewards([said(names | {more}, True), *rest], TRUTH)[0].value
    assert less is not None
    assert grown is not None
    assert grown >= less


@given(st.permutations(range(5)), st.lists(SAMPLE, min_size=5, max_size=5))
def test_order_in_the_group_changes_nothing(order: list[int], samples: list[tuple[set[int], bool]]) -> None:
    texts = [said(*sample) for sample in samples]
    straight = group_rewards(texts, TRUTH)
    mixed = group_rewards([texts[place] for place in order], TRUTH)
    assert [straight[place] for place in order] == list(mixed)


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("an annual report", set()),
        ("Ann's report", {0}),
        ("ANN wrote it", {0}),
        ("Joanna and Hannah", set()),
        ("Ann Lee wrote it", {1}),
        ("Ann Lee and Ann wrote it", {0, 1}),
        ("Müller-Ann", {0}),
        ("The Korvan Works closed", {3}),
        ("Korvan moved; the Korvan works", {2, 3}),
        ("he works", set()),
        ("It has 12,450 people", {4}),
        ("It has 124,501 people", set()),
        ("", set()),
    ],
)
def test_names_are_whole_words_and_the_longest_counts(text: str, found: set[int]) -> None:
    names = [("Ann",), ("Ann Lee", "A. Lee"), ("Korvan",), ("the Korvan Works", "KW"), ("12450",)]
    assert named(text, names) == found


def test_an_alias_counts_as_the_thing_and_only_once() -> None:
    truth = TRUTH.model_copy(update={"rubric": (ITEMS[0].model_copy(update={"names": ("Name0", "Nought")}), ITEMS[1])})
    one = reward("Nought, that is Name0.\nAnswer: Ann Lee", truth)
    assert (one.named, one.rubric) == (("e0",), 0.5)


def test_two_things_of_one_name_are_both_named() -> None:
    assert named("the Ann", [("Ann",), ("Ann",)]) == {0, 1}


def test_the_rubric_is_what_the_walk_finds() -> None:
    assert [item.entity for item in BIRTHDAY.rubric] == ["korvan-works", "ilse-brandt", "1868-01-30"]
    assert BIRTHDAY.rubric[0].facts[0].statement == "In 1899 Arvel Torrin founded the Korvan Works, which made pumps."
    assert "January 30, 1868" in BIRTHDAY.rubric[2].names


def test_constraints_that_meet_in_one_answer_are_one_item_with_a_hop_each() -> None:
    (item,) = ground_truth(small_tasks()[3]).rubric
    assert (item.entity, [fact.hop for fact in item.facts]) == ("jon-maak", [0, 1])


# -- the final answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Mosk", "Mosk"),
        ("So it is.\nAnswer: Mosk", "Mosk"),
        ("**Answer:** Mosk", "Mosk"),
        ("Answer: Velden\nNo, wait.\nFinal answer: Mosk", "Mosk"),
        ("<think>Answer: Velden</think>\nAnswer: Mosk", "Mosk"),
        ("<think>hm</think>Mosk", "Mosk"),
        ("<answer> Mosk </answer> and more", "Mosk"),
        (r"it is \boxed{Mosk}", "Mosk"),
        ("<finish> Mosk </finish>", "Mosk"),
        ("Answers:\n- Mosk\n- Velden\n\nThat is all.", "- Mosk\n- Velden"),
        ("Answer:\n\nMosk\nwhich is a village", "Mosk"),
        ("The answer is: Mosk", "Mosk"),
        ("Answer:", None),
        ("  ", None),
        ("<think>Mosk</think>", None),
    ],
)
def test_the_final_answer_of_a_text(text: str, answer: str | None) -> None:
    assert read_response(text).answer == answer


def test_of_messages_only_the_assistants_count() -> None:
    messages = [
        {"role": "assistant", "content": "I search.", "tool_calls": [{"type": "function"}]},
        {"role": "tool", "name": "open", "content": "Korvan Works. Ilse Brandt."},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}], "reasoning_content": "Ilse Brandt?"},
    ]
    one = reward(messages, BIRTHDAY)
    assert (one.correct, one.named) == (True, ("ilse-brandt", "1868-01-30"))


def test_a_run_that_ends_with_a_tool_has_no_answer() -> None:
    messages = [{"role": "assistant", "content": ANSWER}, {"role": "tool", "content": ANSWER}]
    assert (reward(messages, BIRTHDAY).value, reward(messages, BIRTHDAY).rule) == (0.0, "no_answer")
    assert reward([], BIRTHDAY).value == 0.0


def test_what_tools_said_inside_a_text_earns_nothing() -> None:
    text = f"I open it.\n<tool_response>\nKorvan Works. Ilse Brandt.\n</tool_response>\n{ANSWER}"
    assert reward(text, BIRTHDAY, observations=OBSERVATIONS).named == ("1868-01-30",)
    assert len(reward(text, BIRTHDAY).named) == 3
    assert reward(f"<tool_response>\n{ANSWER}", BIRTHDAY, observations=OBSERVATIONS).value == 0.0


@pytest.mark.parametrize(
    ("text", "value"),
    # No rule tells "Mosk, Velden" (two answers) from "Paris, France" (one).
    [
        ("Paris or Mosk", 0.0),
        ("not Mosk", 0.0),
        ("Mosk, Velden", None),
        ("Mosk Velden Dessau Ferry", None),
        ("Mosky", 0.0),
    ],
)
def test_an_answer_is_judged_whole(text: str, value: float | None) -> None:
    truth = GroundTruth(question="Where?", answer="Mosk", answer_kind="entity")
    assert reward(f"Answer: {text}", truth).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Answer: Mosk, Velden and Dessau Ferry", 1.0),
        ("Answer: Dessau Ferry; Mosk; Velden", 1.0),
        ("Answer:\n- Velden\n- Dessau Ferry\n- Mosk", 1.0),
        ("Answer: Mosk and Velden", 0.0),
        ("Answer: Mosk, Velden, Dessau Ferry and Orl", 0.0),
    ],
)
def test_an_answer_in_parts_needs_all_of_them_and_nothing_else(text: str, value: float) -> None:
    assert reward(text, PARTS).value == value


def test_the_order_of_parts_counts_where_it_was_asked_for() -> None:
    ordered = PARTS.model_copy(update={"answer_ordered": True})
    assert reward("Answer: Mosk; Velden; Dessau Ferry", ordered).value == 1.0
    assert reward("Answer: Velden; Mosk; Dessau Ferry", ordered).value == 0.0


def test_a_page_for_an_answer_is_none() -> None:
    assert reward("Mosk, Velden and Dessau Ferry, " * 400, PARTS).rule == "too_long"


# -- wrong input -------------------------------------------------------------------------------------------------------


def test_a_truth_comes_as_object_mapping_json_or_column() -> None:
    plain = BIRTHDAY.model_dump(mode="json")
    arrays = {**plain, "rubric": np.array(plain["rubric"], dtype=object)}
    for form in (BIRTHDAY, plain, json.dumps(plain), {"style": "rule", "ground_truth": plain}, arrays):
        assert read_truth(form) == BIRTHDAY


@pytest.mark.parametrize(
    ("truth", "line"),
    [
        (None, "ground_truth: is a NoneType, not an object"),
        ("Mosk", "is not the JSON of a ground truth"),
        ({"question": "Who?", "answer": "Ann"}, "ground_truth.answer_kind: Field required"),
        ({"question": "Who?", "answer": "", "answer_kind": "text"}, "ground_truth.answer"),
        ({"question": "Who?", "answer": "A", "answer_kind": "name"}, "ground_truth.answer_kind"),
        ({"question": "Who?", "answer": "A", "answer_kind": "text", "alias": []}, "ground_truth.alias"),
    ],
)
def test_a_wrong_truth_is_one_clear_line(truth: object, line: str) -> None:
    with pytest.raises(InputError, match=line) as caught:
        reward("Answer: A", truth)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("responses", "line"),
    [
        ([], "the group is empty"),
        ("one text", "is a str, not a list"),
        ([3], r"responses\[0\]: is a int, neither a text nor a list of messages"),
        ([b"bytes"], r"responses\[0\]: is a bytes"),
        (["fine", [{"content": "no role"}]], r"responses\[1\]\[0\]: is not a message with a role"),
        ([[{"role": "assistant", "content": 3}]], r"responses\[0\]\[0\].content: is a int"),
    ],
)
def test_wrong_responses_are_one_clear_line(responses: object, line: str) -> None:
    with pytest.raises(InputError, match=line):
        group_rewards(responses, BIRTHDAY)  # type: ignore[arg-type]
