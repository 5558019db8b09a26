"""What nothing was measured for is null with a reason, and a right answer is looked for as an answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from synth.agents.imported import import_trajectory
from synth.annotate.labels import StepLabel, label
from synth.registry import find
from synth.schemas.adp import dump
from synth.schemas.arrow import trajectory_of
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task, Walk
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

GIVEN = small_tasks()[0].model_copy(
    update={"walk": Walk(shape="given", hops=()), "question": "Who wrote the Atlas?", "answer": "Jon Maak"}
)
PAGES = ("Works: the Atlas. <b>Jon Maak</b> wrote it in 1702.", "Ada Torrin printed it.")


def openai(last: str, *pages: str, question: str = GIVEN.question) -> dict[str, list[dict[str, object]]]:
    """A run as chat lines record it."""
    messages: list[dict[str, object]] = [{"role": "user", "content": question}]
    for number, page in enumerate(pages):
        function = {"name": "browse", "arguments": f'{{"page": {number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "I look it up.", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": page})
    return {"messages": [*messages, {"role": "assistant", "content": last}]}


def sharegpt(last: str, *pages: str, question: str = GIVEN.question) -> dict[str, object]:
    turns = [{"from": "human", "value": question}]
    for number, page in enumerate(pages):
        turns.append({"from": "function_call", "value": f'{{"name": "browse", "arguments": {{"page": {number}}}}}'})
        turns.append({"from": "observation", "value": page})
    return {"conversations": [*turns, {"from": "gpt", "value": last}]}


FOREIGN = {"openai": openai, "sharegpt": sharegpt}


def imported(form: str, last: str, *pages: str, task: Task = GIVEN, correct: bool | None = None) -> TrajectoryRow:
    read = find("importers", form).read(FOREIGN[form](last, *pages, question=task.question))
    if correct is not None:
        read = read.model_copy(update={"details": {**read.details, "correct": correct}})
    return import_trajectory(read, task, provenance=PROVENANCE)


def reasons(labels: Sequence[StepLabel]) -> list[LabelReason]:
    return [step.label_reason for step in labels]


ASIDE = "The printer Ada Torrin of Nemira kept a shop by the river."
MORE = "Binders, sellers and collectors praised those maps for centuries."
STEPS: dict[str, tuple[str, tuple[str, ...], list[tuple[int | None, LabelReason, str]]]] = {
    "shows the answer": ("Jon Maak", (PAGES[0],), [(1, LabelReason.PROGRESS, "a result states 'jon maak'")]),
    "shows words of the question": (
        "Ada Torrin",
        ("This Atlas holds ninety maps.",),
        [(1, LabelReason.PROGRESS, "has atlas of the question")],
    ),
    "nothing new": (
        "Jon Maak",
        (ASIDE, ASIDE),
        [(1, LabelReason.PROGRESS, "words that none had"), (-1, LabelReason.REDUNDANT, "a result with 0 of")],
    ),
    "little new, then little new again": (
        "Jon Maak",
        (MORE, f"{MORE} Indeed, twice.", f"{MORE} Again, thrice."),
        [(1, LabelReason.PROGRESS, ""), (0, LabelReason.REDUNDANT, ""), (-1, LabelReason.REDUNDANT, "as in step 1")],
    ),
    "a call that the tool does not take": (
        "Jon Maak",
        ('{"error": "missing query"}',),
        [(-1, LabelReason.INVALID_CALL, "missing query")],
    ),
    "brings nothing": ("Jon Maak", ("Error: timed out",), [(0, LabelReason.TOOL_FAILURE, "Error: timed out")]),
    "after a step that brought nothing, in a run that ends wrong": (
        "Ada Torrin",
        (ASIDE, ASIDE, MORE),
        [
            (0, LabelReason.NEUTRAL, "leads nowhere"),
            (-1, LabelReason.REDUNDANT, ""),
            (-1, LabelReason.PROPAGATED, "step 1 had"),
        ],
    ),
    "leads nowhere twice, in a run that ends wrong": (
        "Ada Torrin",
        (ASIDE, MORE),
        [(0, LabelReason.NEUTRAL, "leads nowhere"), (-1, LabelReason.REDUNDANT, "as step 0")],
    ),
    "the same, but it shows the answer": (
        "Ada Torrin",
        (ASIDE, ASIDE, PAGES[0]),
        [(0, LabelReason.NEUTRAL, ""), (-1, LabelReason.REDUNDANT, ""), (1, LabelReason.PROGRESS, "'jon maak'")],
    ),
    "back to what results named, after harm": (
        "Ada Torrin",
        (ASIDE, ASIDE, "Of page 2, the printer kept nothing."),
        [(0, LabelReason.NEUTRAL, ""), (-1, LabelReason.REDUNDANT, ""), (-1, LabelReason.PROPAGATED, "step 1 had")],
    ),
    "the same, in a run that ends right": (
        "<answer>Jon Maak</answer>",
        (ASIDE, ASIDE, MORE),
        [(1, LabelReason.PROGRESS, ""), (-1, LabelReason.REDUNDANT, ""), (1, LabelReason.PROGRESS, "")],
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_without_a_walk_a_step_is_measured_by_what_its_results_add(case: str) -> None:
    last, pages, wanted = STEPS[case]
    *looked, _ = label(imported("openai", last, *pages), GIVEN)
    assert [(step.label, step.label_reason) for step in looked] == [(sign, reason) for sign, reason, _ in wanted]
    for step, (_, _, words) in zip(looked, wanted, strict=True):
        assert words in step.label_detail
        assert (step.information_gain, step.progress, step.gold_match) == (None, None, None)


def test_words_on_the_way_have_no_label() -> None:
    value = openai("Jon Maak", *PAGES)
    words: list[dict[str, object]] = [
        {"role": "assistant", "content": "Of which century?"},
        {"role": "user", "content": "Any."},
    ]
    value = {"messages": [*value["messages"][:1], *words, *value["messages"][1:]]}
    row = import_trajectory(find("importers", "openai").read(value), GIVEN, provenance=PROVENANCE)
    first, *_, end = label(row, GIVEN)
    assert (first.label, first.label_reason, end.label) == (None, LabelReason.UNMEASURED, 1)


def test_words_that_should_have_been_a_call_harm() -> None:
    value = openai("Jon Maak", *PAGES)
    words: list[dict[str, object]] = [
        {"role": "assistant", "content": "<tool_call>the Atlas</tool_call>"},
        {"role": "user", "content": "No effective tool call detected. Please call a tool."},
    ]
    value = {"messages": [*value["messages"][:1], *words, *value["messages"][1:]]}
    row = import_trajectory(find("importers", "openai").read(value), GIVEN, provenance=PROVENANCE)
    first = label(row, GIVEN)[0]
    assert (first.label, first.label_reason, first.first_error) == (-1, LabelReason.INVALID_CALL, True)


def test_an_answer_without_a_verdict_has_no_label() -> None:
    row = imported("openai", "I counted them: Jon Maak is one of several.", *PAGES)
    assert row.verdict.correct is None
    end = label(row, GIVEN)[-1]
    assert (end.label, end.label_reason) == (None, LabelReason.UNMEASURED)
    assert "not judged" in end.label_detail
    assert end.train is False


def test_a_call_that_is_wrong_by_itself_is_measured() -> None:
    row = imported("openai", "Ada Torrin", "No such page.", "No such page.")
    row = row.model_copy(update={"details": {"tool_errors": {"c0": "bad_arguments"}}})
    first, second, end = label(row, GIVEN)
    assert (first.label, first.first_error) == (-1, True)
    assert (second.label, second.first_error) == (0, False), "an error before it was found"
    assert end.first_error is False


def test_turns_of_a_run_that_succeeded_may_be_targets() -> None:
    labels = label(imported("openai", "Jon Maak", *PAGES), GIVEN)
    assert [step.train for step in labels] == [True] * 3
    assert "did no harm" in labels[0].train_reason


LAST_MESSAGES = (
    "Jon Maak",
    "The answer is Jon Maak.",
    "I read two pages.\n\nAnswer: Jon Maak",
    "Ada Torrin printed it, so it was not her. <answer>Jon Maak</answer>",
    "So it must be \\boxed{Jon Maak}",
    "**Final answer:** Jon Maak",
)


@pytest.mark.parametrize("form", sorted(FOREIGN))
@pytest.mark.parametrize("last", LAST_MESSAGES)
def test_a_right_answer_is_looked_for_as_an_answer_not_as_a_whole_message(form: str, last: str) -> None:
    row = imported(form, last, *PAGES)
    assert row.verdict.correct is True
    end = label(row, GIVEN)[-1]
    assert (end.label, end.label_reason) == (1, LabelReason.SUPPORTED_ANSWER)
    assert "hop" not in end.label_detail, "the question has no walk"
    unread = label(imported(form, last, PAGES[1]), GIVEN)[-1]
    assert (unread.label, unread.label_reason) == (1, LabelReason.PROGRESS), "by its verdict"
    known = label(imported(form, last), GIVEN)[-1]
    assert (known.label, known.label_reason) == (1, LabelReason.PROGRESS), "nothing says that it had to be read"


def test_a_lead_is_followed_up_where_a_query_names_what_an_earlier_result_did() -> None:
    value = openai("Ada Torrin", ASIDE, "Nemira lies where two rivers meet.")
    function = value["messages"][3]["tool_calls"][0]["function"]  # type: ignore[index]
    function["arguments"] = '{"queries": ["Nemira"]}'
    row = import_trajectory(find("importers", "openai").read(value), GIVEN, provenance=PROVENANCE)
    assert "follows up nemira" in label(row, GIVEN)[1].label_detail


def test_a_chatty_message_that_its_recorder_calls_right_is_read_by_the_gold_answer() -> None:
    row = imported("openai", "It was Maak who wrote it, as the first page says.", *PAGES, correct=True)
    assert label(row, GIVEN)[-1].label_reason is LabelReason.SUPPORTED_ANSWER


@pytest.mark.parametrize(("gold", "kind"), [("3", "number"), ("yes", "text")])
def test_what_need_not_stand_anywhere_word_for_word_is_not_called_unread(gold: str, kind: str) -> None:
    task = GIVEN.model_copy(update={"answer": gold, "answer_kind": kind})
    end = label(imported("openai", gold, *PAGES, task=task), task)[-1]
    assert (end.label, end.label_reason) == (1, LabelReason.PROGRESS), "by its verdict"


def test_an_imported_answer_is_the_one_that_is_judged() -> None:
    row = imported("openai", "I am sure. <answer>Jon Maak</answer>", *PAGES)
    assert row.answer == "Jon Maak"
    assert dump(trajectory_of(row))["content"][-1]["content"] == "I am sure. <answer>Jon Maak</answer>"
