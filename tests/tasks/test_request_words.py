"""What a new wording of a request may and may not do: every rule with words that keep it and words that break it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from synth.schemas.plans import Given, Plan, PlannedCall, UserFact
from synth.schemas.tasks import Difficulty, Walk
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import parts_in, request_rules, values_of

OTHERS = values_of(
    ["Mirela Lindqvist", "Anna", "Blue card", "Oslo", "business", "economy", "in review", "x" * 200, "of", 7, None]
)


def draft(question: str, values: Sequence[str], *, says: str | None = None, looked_up: Sequence[str] = ()) -> Draft:
    """A request whose plan takes each of ``values`` from its words."""
    arguments: dict[str, Any] = {f"a{n}": value for n, value in enumerate(values)}
    given = {f"a{n}": Given(source="question", words=value) for n, value in enumerate(values)}
    for number, value in enumerate(looked_up):
        arguments[f"id{number}"] = value
        given[f"id{number}"] = Given(source="observation", words=f"{value}: a line", call=0)
    call = PlannedCall(tool="act", arguments=arguments, changes=True, instruction="Act.", given=given)
    user = () if says is None else (UserFact(topic="it", keywords=("which",), says=says),)
    return Draft(
        question=question,
        answer="Done.",
        answer_kind="text",
        environment="app:test",
        shape="reverse",
        walk=Walk(shape="reverse", hops=()),
        gold_entities=(),
        gold_documents=(),
        difficulty=Difficulty(hops=0, constraints=1, branching=1.0, documents=0),
        split="train",
        details={"kind": "done", "plan": Plan(outcome="done", calls=(call,), user=user).model_dump(mode="json")},
    )


def judged(
    old: Sequence[tuple[str, Sequence[str]]],
    question: str,
    new: Sequence[str],
    *,
    before: str | None = None,
    **more: Any,
) -> tuple[str | None, Draft | None]:
    """What is found against ``question``, and the draft in the new words where nothing is."""
    before = before or " ".join(f"{text}." for text, _ in old)
    values = [value for _, listed in old for value in listed]
    made = draft(before, values, **more)
    parts = parts_in(before, [(text, values) for text, _ in old])
    assert len(parts) == len(old)
    words = {part.cue: said for part, said in zip(parts, new, strict=True)}
    rules = request_rules(parts, made, OTHERS)
    found = rules.problem(before, question, parts, words)
    return found, None if found is not None else rules.reworded(made, question, words)


WHO = (
    "I'm Farid Wittig, and my e-mail address is farid@letterbox.example",
    ["Farid Wittig", "farid@letterbox.example"],
)
TRIP = ("Please cancel my flight from Oslo to Bergen on 15 May", ["Oslo", "Bergen", "15 May"])
PAY = ("transfer 900 dollars from the Everyday account to the Travel pot", ["900 dollars", "Everyday", "Travel pot"])
LABEL = ('put the label "docs" on the ticket "Map view crashes"', ["docs", "Map view crashes"])

GOOD: list[tuple[list[tuple[str, list[str]]], str, list[str]]] = [
    (
        [WHO, TRIP],
        "Hello there, my name is Farid Wittig (farid@letterbox.example). On 15 May I was going to fly from Oslo to "
        "Bergen; could you call that flight off?",
        [
            "my name is Farid Wittig (farid@letterbox.example)",
            "On 15 May I was going to fly from Oslo to Bergen; could you call that flight off",
        ],
    ),
    (
        [PAY],
        "Kindly move 900 dollars to the Travel pot from the Everyday account.",
        ["move 900 dollars to the Travel pot from the Everyday account"],
    ),
    (
        [LABEL],
        "The ticket “Map view crashes” needs the label “docs” attached.",
        ["The ticket “Map view crashes” needs the label “docs” attached"],
    ),
    (
        [("What is the listed price from Oslo to Bergen in business?", ["Oslo", "Bergen"])],
        "How much does the flight from Oslo to Bergen cost in business, as listed?",
        ["How much does the flight from Oslo to Bergen cost in business, as listed"],
    ),
    (
        [TRIP, ("If that isn't possible, write to Ana Berg", ["Ana Berg"])],
        "Can you call off my flight from Oslo to Bergen on 15 May? If it isn't, get in touch with Ana Berg.",
        ["call off my flight from Oslo to Bergen on 15 May", "If it isn't, get in touch with Ana Berg"],
    ),
    (
        [("First cancel my flight on 15 May", ["15 May"]), ("then book three bags", ["three bags"])],
        "Call off my flight on 15 May, please. Once that is done, book three bags.",
        ["Call off my flight on 15 May", "book three bags"],
    ),
]


@pytest.mark.parametrize("number", range(len(GOOD)))
def test_other_words_for_the_same_are_taken(number: int) -> None:
    old, question, new = GOOD[number]
    found, made = judged(old, question, new)
    assert found is None
    assert made is not None
    assert (made.question, made.surface) == (question, "written")
    assert made.details["question_before"] != question
    plan = Plan.model_validate(made.details["plan"])
    said = [given.words for call in plan.calls for given in call.given.values()]
    assert said
    assert all(words in question for words in said), "the plan still says where its values come from"


BAD: dict[str, tuple[list[tuple[str, list[str]]], str, list[str], str]] = {
    "a value is gone": ([TRIP], "Please cancel my flight from Oslo to Bergen.", ["cancel my flight"], "'15' is gone"),
    "a value is another": (
        [TRIP],
        "Please cancel my flight from Oslo to Turin on 15 May.",
        ["cancel my flight from Oslo to Turin on 15 May"],
        "'Turin' may be a name",
    ),
    "two values changed places": (
        [TRIP],
        "Please cancel my flight from Bergen to Oslo on 15 May.",
        ["cancel my flight from Bergen to Oslo on 15 May"],
        "comes behind",
    ),
    "two values lost what told them apart": (
        [PAY],
        "Please transfer 900 dollars between Travel pot and Everyday.",
        ["transfer 900 dollars between Travel pot and Everyday"],
        "in another order",
    ),
    "a value of another row": (
        [TRIP],
        "Please cancel my business flight from Oslo to Bergen on 15 May.",
        ["cancel my business flight from Oslo to Bergen on 15 May"],
        "'business' is a value that the request does not say",
    ),
    "a value of another row at the beginning": (
        [TRIP],
        "Anna wants the flight from Oslo to Bergen on 15 May cancelled.",
        ["Anna wants the flight from Oslo to Bergen on 15 May cancelled"],
        "'anna' is a value that the request does not say",
    ),
    "a number in words is gone": (
        [("book three bags", ["three bags"])],
        "Please book bags.",
        ["book bags"],
        "'three' is gone",
    ),
    "a choice is gone": (
        [("What does the flight from Oslo cost in economy?", ["Oslo"])],
        "What does the flight from Oslo cost?",
        ["What does the flight from Oslo cost"],
        "'economy' is gone",
    ),
    "a new number": ([LABEL], 'Please put the label "docs" on both tickets "Map view crashes", 2 times.', ["x"], "'2'"),
    "turned round": ([TRIP], "Please do not cancel my flight from Oslo to Bergen on 15 May.", ["x"], "a negation"),
    "a condition is new": (
        [TRIP],
        "If that is free, please cancel my flight from Oslo to Bergen on 15 May.",
        ["cancel my flight from Oslo to Bergen on 15 May"],
        "a condition came or went",
    ),
    "a condition is gone": (
        [TRIP, ("Otherwise, write to Ana Berg", ["Ana Berg"])],
        "Please cancel my flight from Oslo to Bergen on 15 May. Write to Ana Berg.",
        ["cancel my flight from Oslo to Bergen on 15 May", "Write to Ana Berg"],
        "a condition came or went",
    ),
    "an order is gone": (
        [("First cancel my flight on 15 May", ["15 May"]), ("then book three bags", ["three bags"])],
        "Cancel my flight on 15 May and book three bags.",
        ["Cancel my flight on 15 May", "book three bags"],
        "in which order",
    ),
    "parts in another order": (
        [TRIP, LABEL],
        'Put the label "docs" on the ticket "Map view crashes". Cancel my flight from Oslo to Bergen on 15 May.',
        ["Cancel my flight from Oslo to Bergen on 15 May", 'Put the label "docs" on the ticket "Map view crashes"'],
        "stand in another order",
    ),
    "one stretch for two parts": (
        [WHO, TRIP],
        "I'm Farid Wittig, farid@letterbox.example, so cancel my flight from Oslo to Bergen on 15 May.",
        ["I'm Farid Wittig, farid@letterbox.example, so cancel my flight from Oslo to Bergen on 15 May"] * 2,
        "in those of another part",
    ),
    "a part is gone": (
        [WHO, TRIP],
        "Farid Wittig and farid@letterbox.example: the flight from Oslo to Bergen on 15 May.",
        ["Farid Wittig and farid@letterbox.example", ""],
        "nothing states",
    ),
    "something is added between": (
        [TRIP],
        "Please cancel my flight from Oslo to Bergen on 15 May. The weather is dreadful.",
        ["cancel my flight from Oslo to Bergen on 15 May"],
        "outside all parts",
    ),
    "signs that nobody types": ([TRIP], "Please cancel {flight} from Oslo to Bergen on 15 May.", ["x"], "signs"),
    "no sentence": ([TRIP], "cancel my flight from Oslo to Bergen on 15 May", ["x"], "end as a sentence"),
    "a sentence begins small": (
        [TRIP],
        "Hello. please cancel my flight from Oslo to Bergen on 15 May.",
        ["cancel my flight from Oslo to Bergen on 15 May"],
        "small letter",
    ),
    "several lines": ([TRIP], "Please cancel my flight\nfrom Oslo to Bergen on 15 May.", ["x"], "line breaks"),
    "far too long": ([TRIP], "Please cancel it." + " Thanks." * 40, ["x"], "characters"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_may_want_something_else_is_refused(name: str) -> None:
    old, question, new, said = BAD[name]
    found, _ = judged(old, question, new)
    assert found is not None
    assert said in found


def test_an_id_that_has_to_be_looked_up_is_not_told() -> None:
    question = "Please cancel my flight h8pm0d from Oslo to Bergen on 15 May."
    found, _ = judged([TRIP], question, [question.removeprefix("Please ").rstrip(".")], looked_up=["H8PM0D"])
    assert found is not None
    assert "has to be looked up" in found


def test_what_the_request_leaves_open_stays_open() -> None:
    old, says = [("pick a seat for Farid Wittig", ["Farid Wittig"])], "By the window, please."
    told = "Please choose a window seat for Farid Wittig."
    found, _ = judged(old, told, [told.removeprefix("Please ").rstrip(".")], says=says)
    assert found is not None
    assert "'window' is what the person says when asked" in found
    new = "Farid Wittig needs a seat; please pick one"
    found, made = judged(old, f"{new}.", [new], says=says)
    assert found is None
    assert made is not None
    assert Plan.model_validate(made.details["plan"]).user[0].says == says


def test_words_of_ones_own_are_followed_to_their_new_stretch() -> None:
    told = "The crew was rude, which is something for your supervisor"
    made = draft(f"{told}. Thanks.", [told])
    parts = parts_in(made.question, [(told, [])])
    new = "Somebody of the crew was rude; let your supervisor know"
    rules = request_rules(parts, made, OTHERS)
    assert rules.problem(made.question, f"{new}.", parts, {parts[0].cue: new}) is None
    plan = Plan.model_validate(rules.reworded(made, f"{new}.", {parts[0].cue: new}).details["plan"])
    assert plan.calls[0].given["a0"].words == new


def test_stretches_that_are_not_found_are_no_parts() -> None:
    assert parts_in("Please cancel it.", [("cancel my flight", [])]) == ()
    first, second = parts_in("Cancel it. Then cancel it.", [("cancel it", []), ("cancel it.", [])])
    assert (first.cue, second.cue) == ("Cancel it", "cancel it")
    (part,) = parts_in("Tell me by text message.", [("tell me by text message", ["Text message", "me", "fax"])])
    assert part.keep == ("text message",), "as the request has it; a pronoun may be put otherwise"
