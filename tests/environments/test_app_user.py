"""The person who wrote the request, and requests in a definition."""

from __future__ import annotations

from typing import Any

import pytest
from app_tools import LIBRARY, opened, task

from synth.environments.app.definition import Definition
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.app.user import ASK_USER, answer_of
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.exploration.app.explorer import app_explorer
from synth.exploration.app.users import PERSONAS
from synth.lexicon.reading import phrases
from synth.schemas.plans import UserFact

FACTS = [
    {"topic": "the seat", "keywords": ["seat", "row"], "says": "Seat 14C."},
    {"topic": "the payment", "keywords": ["pay", "card"], "says": "My voucher."},
]


CONFIRM = {"tool": "get_reservation", "amount": "Paid: ", "words": ["{amount}?"]}


def _asked(question: Any, **arguments: Any) -> tuple[str, str | None]:
    environment = open_app(application="airline", user=True)
    episode = environment.reset(task(plan={"outcome": "refused", "calls": [], "user": FACTS}))
    before = episode.state_hash()
    result = episode.step(ToolCall(id="1", name=ASK_USER, arguments={"question": question, **arguments}))
    assert episode.state_hash() == before
    episode.close()
    return result.content, result.error


def test_the_user_answers_by_the_words_of_the_question() -> None:
    assert _asked("Which seat, in which row?") == ("Seat 14C.", None)
    assert _asked("Would you like to pay by card or voucher?") == ("My voucher.", None)
    assert _asked("What is your shoe size?")[0] in phrases("users")["unknown_plain"]
    assert _asked("Shall I go ahead?")[0] in phrases("users")["confirmed_plain"]


def test_personas_answer_in_their_own_words_and_a_changed_mind_is_told_to_who_asks_for_leave() -> None:
    facts = tuple(UserFact.model_validate(fact) for fact in FACTS)
    for question, intent in (("What is your shoe size?", "unknown"), ("Shall I go ahead?", "confirmed")):
        for persona in PERSONAS:
            assert answer_of(facts, question, persona) in phrases("users")[f"{intent}_{persona}"]
            assert answer_of(facts, "Which seat?", persona) == "Seat 14C."
    changed = (facts[0], facts[1].model_copy(update={"says": "My voucher. And not that trip.", "changes": True}))
    assert answer_of(changed, "Shall I go ahead?", "terse") == "My voucher. And not that trip."


def test_the_user_agrees_to_the_sum_that_is_named_and_to_no_other() -> None:
    leave = {"topic": "the charge of $1,045.00", "keywords": ["charge"], "says": "Yes, $1,045.00 is fine."}
    leave |= {"amount": "$1,045.00", "before": 3, "asks": ["That is $1,045.00. Shall I go ahead?"]}
    facts = tuple(UserFact.model_validate(fact) for fact in [*FACTS, leave])
    for said in ("$1,045.00", "$1045", "$1045.00"):
        assert answer_of(facts, f"It comes to {said} on your card. May I?") == "Yes, $1,045.00 is fine."
    for other in ("$1,045.50", "$10,450.00", "$045.00"):
        assert answer_of(facts, f"It comes to {other}. Shall I go ahead?") in phrases("users")["confirmed_plain"]
    assert answer_of(facts, "How do I charge it, to your card?") == "My voucher."
    twice = {**leave, "says": "$1,045.00, OK.", "before": 5, "asks": ["Two bags cost $1,045.00. Shall I go ahead?"]}
    both = (*facts, UserFact.model_validate(twice))
    assert answer_of(both, "Two bags on A1B2C3 cost $1,045.00, do you agree?") == "$1,045.00, OK."
    assert answer_of(both, "That is $1,045.00. Shall I go ahead?") == "Yes, $1,045.00 is fine."
    with pytest.raises(ValueError, match="an amount comes with"):
        UserFact.model_validate({**leave, "asks": []})


def test_wrong_questions_are_told() -> None:
    for arguments in ({"question": " "}, {"question": 7}, {"question": "x" * 601}, {"question": "Why?", "to": "me"}):
        words, error = _asked(**arguments)
        assert error == "bad_arguments"
        assert "one question" in words


def test_there_is_a_user_only_where_one_is_wanted() -> None:
    episode = opened("airline").reset(task(plan={"outcome": "refused", "calls": [], "user": FACTS}))
    result = episode.step(ToolCall(id="1", name=ASK_USER, arguments={"question": "Which seat?"}))
    assert result.error == "unknown_tool"
    assert ASK_USER not in [tool.name for tool in opened("airline").tools()]
    episode.close()


def test_a_rule_can_be_left_out_and_nothing_else_changes() -> None:
    environment = opened("airline")
    other = environment.without("cancel_right")
    assert other.world(0).digest == environment.world(0).digest
    assert "cancel_right" not in {rule.name for rule in other.rules.all}
    with pytest.raises(ValueError, match="no rule 'nonsense'"):
        environment.without("nonsense")


def test_tasks_need_requests() -> None:
    with pytest.raises(InputError, match="has no `requests`"):
        app_explorer(environment=open_app(application=LIBRARY))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tool": "fly_away"}, "no tool that writes 'fly_away'"),
        ({"do": ["cancel {rezervation}"]}, "no column 'rezervation'"),
        ({"do": ["cancel {reservation_id:loud}"]}, "no form 'loud'"),
        ({"do": ["cancel <this"]}, "opens or closes nothing"),
        ({"do": [], "say": []}, "no words for it"),
        ({"refused_by": {"nonsense": []}}, "no rule 'nonsense'"),
        ({"refused_by": {"cancel_right": [{"tool": "cancel_reservation"}]}}, "no reading tool 'cancel_reservation'"),
        ({"instead": {"nonsense": []}}, "no ask 'nonsense'"),
        (
            {"refused_by": {"cancel_right": [{"tool": "list_airports", "shows": ["{shoe}"]}]}},
            r"cancel_right.0.shows.0: there is no column 'shoe'",
        ),
        ({"confirm": {**CONFIRM, "tool": "cancel_reservation"}}, "no reading tool 'cancel_reservation'"),
        ({"confirm": {**CONFIRM, "tool": "get_flight"}}, "no argument of the ask's tool 'flight_id'"),
        ({"confirm": {**CONFIRM, "words": ["{sum}"]}}, "no column 'sum'"),
        ({"confirm": {**CONFIRM, "decides": ["nonsense"]}}, "no rule 'nonsense'"),
        ({"from": "SELECT shoe_size FROM reservations"}, "no such column: shoe_size"),
        ({"from": "SELECT customer_id FROM customers"}, "no column for the argument 'reservation_id'"),
    ],
)
def test_mistakes_in_requests_are_found_at_load(change: dict[str, Any], problem: str) -> None:
    data = opened("airline").definition.model_dump(by_alias=True, exclude_defaults=True)
    data["requests"]["asks"]["cancel_reservation"].update(change)
    with pytest.raises(InputError, match=problem):
        AppEnvironment(Definition.model_validate(data))
