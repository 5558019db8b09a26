"""Which lines of what was read an agent that carries out a plan quotes: those that say what it says they say."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
from tool_tasks import bags, opened

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.said import says
from synth.agents.grounding.weighed import brief, comparisons, is_compared
from synth.agents.plan_view import Made, PlanView, plan_of
from synth.agents.scripted.phrases import PHRASES, TEMPLATES
from synth.agents.scripted.tool_agent.details import as_it_stands, details_of, marks_of, only_called, today_in
from synth.agents.scripted.tool_agent.narration import answer_line, is_clause, shown_values
from synth.agents.scripted.tool_agent.turn_builder import TurnBuilder
from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.identity import derive_generator
from synth.schemas.plans import UserFact

TASK = bags(opened("airline"), 0)
PAGE = "PAY-40: Login\nReporter: Hilde Mensah (U6568)\nAssignee: nobody\n"
WATCH, ASSIGN = "watch_issue", "assign_issue"


def step(tool: str, content: str, **arguments: str) -> Step:
    call = ToolCall(id="c", name=tool, arguments=arguments)
    return Step(turn=Turn(calls=(call,)), results=(ToolResult(call_id="c", name=tool, content=content),))


def builder(*history: Step, seed: int = 7) -> TurnBuilder:
    schema = {"type": "object", "properties": {"issue": {"type": "string"}}, "required": ["issue"]}
    tools = tuple(ToolSchema(name=name, description="-", parameters=schema) for name in (WATCH, ASSIGN, "get_issue"))
    prompt = Prompt(system="", question="It is about Hilde Mensah and PAY-40.", tools=tools)
    view = PlanView(plan_of(TASK), prompt.question, (WATCH, ASSIGN), history)
    return TurnBuilder(TASK, prompt, history, derive_generator(seed, "lines"), view)


def all_done(view: PlanView) -> None:
    """As if every call of the plan had been made."""
    done = cast("dict[int, Any]", view.done)
    done |= dict.fromkeys(range(len(view.plan.calls)), Made(*view.made[0]))


@pytest.mark.parametrize(("tool", "tells"), [(WATCH, False), (ASSIGN, True)])
def test_a_look_again_is_at_what_shows_the_change(tool: str, tells: bool) -> None:
    """The page of an issue has a line for who is assigned to it, and none for who watches it."""
    before = step("get_issue", PAGE, issue="PAY-40")
    changed = step(tool, "PAY-40: Hilde Mensah.", issue="PAY-40", member_id="U6568")
    turn = builder(before, changed).check()
    assert (turn is not None) is tells


def test_nothing_is_looked_at_again_that_was_not_seen_before() -> None:
    changed = step(ASSIGN, "PAY-40: Hilde Mensah.", issue="PAY-40", member_id="U6568")
    assert builder(step("get_issue", "WEB-1 blocks PAY-40", issue="WEB-1"), changed).check() is None


@pytest.mark.parametrize("seen", [PAGE, "It blocks PAY-40."])
def test_a_line_that_stood_there_shows_no_change(seen: str) -> None:
    """Neither one that is as before, nor one of a page that was not seen before."""
    before = step("get_issue", seen, issue="PAY-40" if seen == PAGE else "WEB-1")
    changed = step(ASSIGN, "PAY-40: Hilde Mensah.", issue="PAY-40", member_id="U6568")
    again = step("get_issue", PAGE, issue="PAY-40")
    done = builder(before, changed, again)
    all_done(done.view)
    done.react(())
    assert "Reporter" not in done.thoughts.text()
    told = builder(before, changed, step("get_issue", PAGE.replace("nobody", "Hilde Mensah (U6568)"), issue="PAY-40"))
    all_done(told.view)
    told.react(())
    assert ("Assignee: Hilde Mensah (U6568)" in told.thoughts.text()) is (seen == PAGE)


def test_an_answer_is_read_off_the_line_that_is_called_after_it() -> None:
    page = ToolResult(call_id="c", name="get_issue", content="Reporter: Priya Rossi (U1)\nAssignee: Priya Rossi (U1)")
    assert answer_line("Who is the issue assigned to?", "Priya Rossi", [page]) == "Assignee: Priya Rossi (U1)"
    assert answer_line("Who reported the issue?", "Priya Rossi", [page]) == "Reporter: Priya Rossi (U1)"


def test_what_two_lines_have_tells_neither_from_the_other() -> None:
    meant, other = "L1RZ3N: LIS to CPH, departs 2031-05-15", "E6JF8R: VIE to OSL, departs 2031-05-15"
    asked = "I'd rather fly on May 15: can the way back of my Copenhagen booking be moved?"
    both = ToolResult(call_id="c", name="list_reservations", content=f"{meant}\n{other}")
    assert marks_of(asked, meant, [both]) == []
    alone = ToolResult(call_id="c", name="list_reservations", content=f"{meant}\n{other[:-2]}16")
    assert marks_of(asked, meant, [alone]) == ["May 15"]


def test_who_asks_does_not_know_what_is_answered() -> None:
    fact = UserFact(topic="who should work on it", says="To Hilde Mensah, please.", keywords=("who",))
    asking = builder(step("get_issue", PAGE, issue="PAY-40"))
    asking.task = TASK.model_copy(update={"question": "Assign PAY-40 to somebody else."})
    asking.plan = asking.plan.model_copy(update={"user": (fact,)})
    assert asking.gives_away("Reporter: Hilde Mensah (U6568)")
    assert not asking.gives_away("PAY-40: Login")


def test_a_number_of_things_is_no_sentence() -> None:
    assert not is_clause("6 accounts")
    assert is_clause("Ann Bo has 2 orders")


def test_a_detail_is_a_whole_name_and_no_part_of_another() -> None:
    budget = "Kindly set the budget for Public transport to $125."
    assert details_of(budget, "K028: Public transport (expense)") == ["Public transport"]
    fuel = "The $95.80 that I spent at Northgate Fuel has to go."
    assert details_of(fuel, "PY1: Northgate Fuel, usual category Fuel") == ["Northgate Fuel"]


def test_of_titles_that_begin_alike_the_whole_one_is_named() -> None:
    asked = "Close “Backup job is slow”, please."
    shown = "2 issues fit:\nWEB-35: Backup job is slow in the evening (bug)\nPAY-23: Backup job is slow (task)"
    both = [ToolResult(call_id="c", name="search_issues", content=shown)]
    assert only_called(asked, "PAY-23: Backup job is slow (task)", both) == "Backup job is slow"
    assert only_called(asked, "WEB-35: Backup job is slow in the evening (bug)", both) is None
    alone = [ToolResult(call_id="c", name="search_issues", content="PAY-23: Backup job is slow (task)")]
    assert only_called(asked, "PAY-23: Backup job is slow (task)", alone) is None


def test_how_many_there_are_is_read_off_what_stands_above_them() -> None:
    shown = ToolResult(call_id="c", name="list", content="6 transactions fit:\nTX1: -$24.27\nTX2: -$38.50")
    assert answer_line("How many are pending?", "6", [shown]) == "6 transactions fit"


def test_a_balance_below_nothing_keeps_its_sign() -> None:
    assert shown_values({"statement_cents": -45998}, ["It says -$459.98."]) == ["-$459.98"]
    assert shown_values({"statement_cents": 45998}, ["It says $459.98."]) == ["$459.98"]


def test_an_amount_that_was_spent_is_answered_as_money() -> None:
    asking = builder(step("spending", "Books (K888): -$44.28"))
    asking.task = TASK.model_copy(update={"answer": "$44.28", "answer_aliases": ("44.28",)})
    assert asking.read_answer() == "$44.28"


def test_of_two_states_of_one_thing_the_last_message_tells_the_later() -> None:
    first = step(ASSIGN, "PAY-40 is assigned to Ann Bo.", issue="PAY-40", member_id="U1")
    other = step(ASSIGN, "WEB-1 is assigned to Ann Bo.", issue="WEB-1", member_id="U1")
    again = step(ASSIGN, "PAY-40 is assigned to Cy Day.", issue="PAY-40", member_id="U2")
    assert builder(first, other, again)._told() == ["WEB-1 is assigned to Ann Bo.", "PAY-40 is assigned to Cy Day."]


def test_what_an_answer_has_replaced_marks_no_line() -> None:
    line = "KE101: departs 2031-05-21 17:25, arrives 2031-05-21 18:50"
    shown = [ToolResult(call_id="c", name="search_flights", content=line)]
    moved = builder(step("get_issue", PAGE, issue="PAY-40"))
    moved.task = TASK.model_copy(update={"question": "Please book the 18:50 flight to Oslo."})
    assert moved._marks(line, shown) == ["18:50"]
    fact = UserFact(topic="t", says="Make it the one that leaves at 17:25.", keywords=("k",), changes=True)
    moved.plan = moved.plan.model_copy(update={"user": (fact,)})
    moved.view.told.add(0)
    assert moved._marks(line, shown) == ["17:25"]


def test_a_code_stands_for_a_name_of_the_request_and_for_no_other() -> None:
    asked = "I'm Ann Lindqvist. When does my trip from Lisbon to Geneva leave? It is the one on May 19."
    meant, other = "W6MB6R: LIS to GVA, departs 2031-05-19", "P4TL0W: OSL to CPH, departs 2031-05-19"
    both = ToolResult(call_id="c", name="list_reservations", content=f"Ann has 2:\n{meant}\n{other}")
    who = ToolResult(call_id="c", name="find_customer", content="C1: Ann Lindqvist, born 2004-05-08")
    assert marks_of(asked, meant, [both]) == []
    assert marks_of(asked, meant, [both], [who, both]) == ["May 19", "Lisbon", "Geneva"]
    back = ToolResult(call_id="c", name="list_reservations", content=f"{meant}\nE2: GVA to LIS, departs 2031-05-19")
    assert marks_of(asked, meant, [back], [who, back]) == []


def test_what_is_said_of_another_title_and_the_writers_name_are_no_marks() -> None:
    asked = (
        "Remove the link that says that the bug “Password reset is cut off” of Payments blocks our issue “Tax summary”."
    )
    assert details_of(asked, "PAY-3: Tax summary, project Payments") == ["“Tax summary”"]
    assert details_of(asked, "PAY-4: Password reset is cut off, project Payments") == [
        "“Password reset is cut off”",
        "Payments",
    ]
    line = "PAY-17: Report builder crashes, Jovana Ivanova, due 2026-05-04"
    for writer in ("My name is Jovana Ivanova", "This is Jovana Ivanova", "Jovana Ivanova from support here"):
        own = f"{writer}. Take the assignee off “Report builder crashes”, which is due on 2026-05-04."
        assert details_of(own, line) == ["“Report builder crashes”", "2026-05-04"]


def test_a_day_that_the_request_calls_today_tells_its_line_from_others() -> None:
    meant, other = "D3YW2M: VIE to OSL, departs 2031-05-15 17:00", "B3JC5E: VIE to CPH, departs 2031-05-19 08:00"
    asked = "Can you cancel my reservation that starts today?"
    both = ToolResult(call_id="c", name="list_reservations", content=f"2 reservations:\n{meant}\n{other}")
    today = today_in("You work at a desk.\n\nIt is 2031-05-15 09:00. Dates are written YYYY-MM-DD.")
    assert marks_of(asked, meant, [both], today=today) == ["today"]
    assert marks_of(asked, other, [both], today=today) == marks_of(asked, meant, [both]) == []


@pytest.mark.parametrize("count", [1, 2])
def test_no_choice_is_told_of_where_there_was_none(count: int) -> None:
    flights = ["KE112-0516: departs 2031-05-16 09:10", "KE114-0516: departs 2031-05-16 17:25"][:count]
    said = set()
    for seed in range(24):
        found = builder(
            step("search_flights", "\n".join([f"{count} flights:", *flights]), date="2031-05-16"), seed=seed
        )
        found.say_line(flights[0])
        said.add(says(("p_line_only",), found.thoughts.text()) is not None)
        assert found.is_alone(flights[0]) is (count == 1)
    assert said == {count == 1}


def test_a_payee_that_was_found_alone_is_called_the_only_one() -> None:
    found = builder(step("find_payee", "1 payee fits:\nPY9405: Saltbox Kitchen, usual category Household"))
    assert found.is_alone("PY9405: Saltbox Kitchen, usual category Household")
    assert not found.is_alone("PY9405: Saltbox Bakery")


def test_who_has_made_a_change_does_not_speak_of_the_time_before_any() -> None:
    at_first = ("p_start", "p_first", "p_start_plain")
    for intent in (one for one in TEMPLATES if one.startswith("p_") and one not in at_first):
        early = [phrase for phrase in PHRASES[intent] if re.search(r"\b[Bb]efore I (?:change|do) anything\b", phrase)]
        assert not early, intent


def test_of_what_something_holds_only_the_last_figure_is_told() -> None:
    told = [
        "TX1: -$74.80 with Penrose on 2031-03-11 in Dentist. Blue card now holds -$714.92.",
        "TR1: $5.00 went from Everyday (now $95.00) to Rainy day (now $25.00).",
        "Piano lessons holds $70.00 of $600.00.",
        "TX2: -$44.80 with Saltbox on 2031-03-07 in Gifts. Blue card now holds -$759.72.",
        "TX3: -$5.00 with Saltbox on 2031-03-07 in Gifts. Everyday now holds $90.00.",
        "Piano lessons holds $90.00 of $600.00.",
    ]
    assert as_it_stands(told) == [
        "TX1: -$74.80 with Penrose on 2031-03-11 in Dentist.",
        "TR1: $5.00 went from Everyday to Rainy day (now $25.00).",
        *told[3:],
    ]


def test_an_amount_that_was_spent_is_read_off_its_own_line() -> None:
    rows = "2030-09, 3 categories:\nDentist (K143): -$223.34\nInternet (K816): -$23.34\nPhone (K438): -$22.00"
    seen = ToolResult(call_id="c", name="spending_by_category", content=rows)
    assert answer_line("What did Internet come to?", "$23.34", [seen]) == "Internet (K816): -$23.34"


def test_what_a_line_names_and_codes_at_once_is_one_detail() -> None:
    line = "PAY: Payments (active), led by Priya Rossi (U7301), 24 open issues"
    result = ToolResult(call_id="c", name="list_projects", content=f"2 projects:\nWEB: Storefront (active)\n{line}")
    assert marks_of("The issue in Payments", line, [result], [result]) == ["Payments"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("dated 16 March", "16 March is not after 2031-03-18."),
        ("dated 16th March", "16th March is not after 2031-03-18."),
        ("dated March 16", "March 16 is not after 2031-03-18."),
        ("dated the day before yesterday", None),
    ],
)
def test_a_day_is_compared_as_the_request_writes_it(asked: str, said: str | None) -> None:
    prompt = Prompt(system="It is 2031-03-18 20:00.", question=f"Please enter it, {asked}.", tools=())
    forms = ["16 March is not after 2031-03-18"]
    found = comparisons(forms, prompt, ())
    assert [f"{one}." for one in found] == ([] if said is None else [said])
    assert is_compared(forms, f"Here, {said}") is (said is not None)
    assert not is_compared(["17 March is not after 2031-03-18"], f"Here, {said}")


def test_a_rule_is_told_beside_others_without_what_it_says_of_itself() -> None:
    assert brief("There are two at most; nothing stops a third.") == "There are two at most"
