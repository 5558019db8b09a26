"""Scripted agents that carry out plans: what they say is grounded, what they do wrong is real, and what they can't know
they read or ask."""

from __future__ import annotations

import re

import pytest
from tool_tasks import LIBRARY, bags, opened, planned, run

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.loop import Rollout
from synth.agents.plan_view import ASK, PlanView, plan_of, reread, stands_in
from synth.agents.scripted.config import ToolPolicyConfig, ToolTeacherConfig
from synth.agents.scripted.tool_agent.details import as_quoted
from synth.agents.scripted.tool_agent.narration import lines_about, lines_on
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.agents.scripted.tool_agent.turn_builder import TurnBuilder
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.app.tools import Failures
from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.identity import derive_generator
from synth.schemas.plans import Given, Plan, PlannedCall, UserFact
from synth.schemas.tasks import Task

AIRLINE = opened("airline")
TASKS = [bags(AIRLINE, number) for number in range(8)]


@pytest.fixture(scope="module")
def taught() -> list[Rollout]:
    return [run(ToolTeacher(task), AIRLINE, task, sample) for task in TASKS for sample in range(3)]


def test_the_teacher_does_what_was_asked_and_names_nothing_unseen(taught: list[Rollout]) -> None:
    for done in taught:
        assert done.verdict.correct is True, done.verdict
        assert ungrounded(done.prompt, done.history) == []


def test_thoughts_rest_on_observations_and_vary(taught: list[Rollout]) -> None:
    thoughts = [step.turn.thought for done in taught for step in done.history if step.turn.thought]
    assert all(done.history[-1].turn.thought for done in taught)
    assert len(set(thoughts)) > 0.8 * len(thoughts)
    assert all(any("card ending in" in (s.turn.thought or "") for s in d.history) for d in taught)


def test_no_detour_is_made_where_the_list_tells_or_nothing_does() -> None:
    told, vague = (
        [run(ToolTeacher(t, ToolTeacherConfig(detour=1.0, verify=0.0)), AIRLINE, t) for t in _looked_up(less)]
        for less in ("", r" from \w+ to \w+")
    )
    done = [*told, *vague]
    assert all(looks == 1 for looks in map(_looks, done))
    assert all(d.verdict.correct for d in done)
    assert all(ungrounded(d.prompt, d.history) == [] for d in done)


def _looks(done: Rollout) -> int:
    return sum(call.name == "get_reservation" for step in done.history for call in step.turn.calls)


def _looked_up(less: str) -> list[Task]:
    """The same tasks, with a look at the reservation before the change; ``less``: what their requests leave out."""
    made = []
    for number, task in enumerate(TASKS[:4]):
        plan = plan_of(task)
        assert plan is not None
        calls = [(call.tool, dict(call.arguments)) for call in plan.calls]
        calls.insert(3, ("get_reservation", {"reservation_id": calls[3][1]["reservation_id"]}))
        made.append(planned(AIRLINE, re.sub(less, "", task.question), calls, number=100 + number))
    return made


def test_tool_failures_are_tried_again() -> None:
    environment = open_app(application="airline", failures=Failures(rate=0.4))
    runs = [run(ToolTeacher(task), environment, task) for task in TASKS]
    failed = [r for d in runs for s in d.history for r in s.results if r.error == "failure"]
    assert failed
    assert all(d.verdict.correct for d in runs)


def test_a_policy_of_full_skill_errs_in_nothing() -> None:
    for task in TASKS:
        done = run(ToolPolicy(task, ToolPolicyConfig(skill=1.0)), AIRLINE, task)
        assert done.verdict.correct is True
        assert done.injected == ()


def test_what_a_policy_does_wrong_is_logged_and_real() -> None:
    runs = [
        run(ToolPolicy(task, ToolPolicyConfig(skill=0.2)), AIRLINE, task, sample)
        for task in TASKS
        for sample in range(4)
    ]
    failed = [done for done in runs if not done.verdict.correct]
    assert failed
    assert len(failed) < len(runs)
    assert all(done.injected for done in failed)
    assert all(done.verdict.rule in ("state", "policy") for done in failed)
    modes = {error.mode for done in runs for error in done.injected}
    assert modes >= {"wrong_row", "wrong_value", "made_up_id", "early_stop"}


def test_who_takes_another_row_does_not_quote_the_right_one_for_it() -> None:
    seen = 0
    for task in TASKS:
        for sample in range(6):
            done = run(ToolPolicy(task, ToolPolicyConfig(skill=0.2)), AIRLINE, task, sample)
            for error in done.injected:
                if error.mode == "wrong_row" and (thought := done.history[error.turn].turn.thought):
                    took, meant = re.findall(r"took (\S+) where (\S+) was meant", error.detail)[0]
                    quoted = " ".join(re.findall(r'"([^"]+)"', thought))
                    assert meant not in quoted, thought
                    seen += took in quoted
    assert seen


def test_of_what_was_looked_up_the_line_is_quoted_that_decides() -> None:
    def shown(*lines: str) -> ToolResult:
        return ToolResult(call_id="c", name="look", content="\n".join(lines))

    rooms = shown("R20: the Kitchen, 12 chairs, being painted", "R59: the Lower Hall, 9 chairs, being painted")
    rule = "A room that is being painted is not booked."
    hall = ["R59: the Lower Hall, 9 chairs, being painted"]
    assert lines_about(rule, rooms, asked="Please book the Lower Hall.")[1] == hall
    day = shown("2 bookings on 15 May:", "3T: the Kitchen (R20) for 2", "8V: the Hall (R59) for 4")
    once = "A room is booked once for a day."
    assert lines_about(once, day, ["R59"]) == (0, ["8V: the Hall (R59) for 4"])
    assert lines_about(once, day, ["R1"]) == (0, [" ".join(day.content.split())])
    trip = shown(
        "Reservation J1 (booked), flex fare",
        "Passenger 1: Bo Elm",
        "Passenger 2: Kim Elm",
        "Leg 1: OSL to VIE, departs 9:00, departed, $9 per passenger",
        "Leg 2: VIE to OSL, delayed by 5 minutes, seats 2A (passenger 1), 2B (passenger 2)",
    )
    flown = lines_about("A reservation can't be cancelled once one of its flights has departed.", trip)[1]
    assert flown == ["Leg 1: OSL to VIE, departs 9:00, departed, $9 per passenger"]
    name = "A passenger's name can be corrected, one name at a time; a passenger can't be replaced by another person."
    assert lines_about(name, trip, arguments={"passenger": 2})[1] == ["Passenger 2: Kim Elm"]
    several = "It can be cancelled when booked today, or its fare is flex, or it is insured, or a flight is cancelled."
    lines = ["Reservation J1 (booked), flex fare", "Booked: 1 May", "Insured: no"]
    paid = [*lines, "Payment T1: $9 (fare), card PM1", "Leg 1: OSL to VIE, cancelled"]
    assert lines_on(several, shown(*paid)) == [*lines, "Leg 1: OSL to VIE, cancelled"]
    flight = shown("Flight KE1 from OSL to VIE", "Economy: $9.00, 20 free", "Business: $30.00, 2 free")
    seats = "A reservation needs a free seat in its cabin, economy or business, for each of its passengers."
    assert lines_about(seats, flight, asked="economy")[1] == ["Economy: $9.00, 20 free"]
    assert lines_about(seats, flight)[1] == ["Economy: $9.00, 20 free", "Business: $30.00, 2 free"]


def test_a_date_is_not_taken_for_a_person() -> None:
    people = re.compile(r"\b(who|behind|belongs)\b", re.IGNORECASE)
    for number in range(12):
        question = f"Is there a flight from Vienna to Lisbon on 18 May? It is request {number}."
        calls = [("search_flights", {"origin": "VIE", "destination": "LIS", "date": "2031-05-18"})]
        task = planned(AIRLINE, question, calls, outcome="answered", answer="KE117-0518", number=number)
        said = run(ToolTeacher(task), AIRLINE, task).history[0].turn.thought or ""
        assert people.search(said) is None, said


def test_a_refusal_changes_nothing_and_says_the_rule() -> None:
    task, rule = _refused(AIRLINE)
    done = run(ToolTeacher(task), AIRLINE, task)
    assert done.verdict.correct is True
    assert rule in (done.answer or "")
    assert ungrounded(done.prompt, done.history) == []
    bent = [run(ToolPolicy(task, ToolPolicyConfig(skill=0.0, gives_in=1.0)), AIRLINE, task, n) for n in range(8)]
    assert any(e.mode == "gives_in" for d in bent for e in d.injected)
    assert any(d.verdict.correct is False for d in bent)


def _refused(environment: AppEnvironment) -> tuple[Task, str]:
    plan = plan_of(TASKS[0])
    assert plan is not None
    rule = "Passengers can't be taken out of a reservation."
    calls = [(call.tool, dict(call.arguments)) for call in plan.calls[:3]]
    question = TASKS[0].question.replace("add two bags to", "take one passenger out of")
    return planned(environment, question, calls, outcome="refused", rule=rule, number=50), rule


def test_the_user_is_asked_and_not_assumed() -> None:
    """A tool that asks the user, as environments have it for tasks that leave something open."""
    given = {
        "name": Given(source="question", words="Bo 1"),
        "day": Given(source="user", words="2030-02-03"),
    }
    call = PlannedCall(
        tool="book", arguments={"name": "Bo 1", "day": "2030-02-03"}, changes=True, instruction="Book.", given=given
    )
    fact = UserFact(topic="the day", keywords=("day",), says="On 2030-02-03, please.")
    plan = Plan(outcome="done", calls=(call,), user=(fact,))
    task = TASKS[0].model_copy(
        update={"question": "Please book a room for Bo 1.", "details": {"plan": plan.model_dump(mode="json")}}
    )
    tools = (
        ToolSchema(name=ASK, description="Ask the user.", parameters={"type": "object", "properties": {}}),
        ToolSchema(
            name="book",
            description="Book a room.",
            parameters={"type": "object", "properties": {"day": {"type": "string", "description": "The day."}}},
        ),
    )
    prompt = Prompt(system="Be kind.", question=task.question, tools=tools)
    teacher = ToolTeacher(task)
    first = teacher.act(prompt, (), derive_generator(1, "a")).turn
    assert [c.name for c in first.calls] == [ASK]
    assert "day" in str(first.calls[0].arguments["question"])
    told = ToolResult(call_id="c", name=ASK, content="On 2030-02-03, please.")
    history: History = (Step(turn=first, results=(told,)),)
    second = teacher.act(prompt, history, derive_generator(1, "b")).turn
    assert [(c.name, c.arguments) for c in second.calls] == [("book", {"name": "Bo 1", "day": "2030-02-03"})]
    assert ungrounded(prompt, (*history, Step(turn=second))) == []


def test_ids_that_are_handed_out_are_read_again() -> None:
    environment = opened(LIBRARY)
    episode = environment.reset(TASKS[0].model_copy(update={"environment": environment.name}))
    episode.close()
    assert reread("L0007", "Lent to Bo: L0007.", "Lent to Bo: L0009.", "?") == "L0009"
    assert reread("L0007", "L0007", "Loans L0009 of Bo", "?") == "L0009"
    assert reread("L0007", "L0007", "Loans L0009 and L0010", "?") is None
    assert stands_in("amount_cents", 4500, "That is $45.00 now.") == "45.00"
    assert stands_in("day", "2031-05-17", "on 17 May") == "17 May"


def test_a_view_counts_other_ways_to_the_same_thing_and_what_nobody_asked_for() -> None:
    task = TASKS[0]
    plan = plan_of(task)
    assert plan is not None
    view = PlanView.of(task)
    assert view is not None
    listing = plan.calls[0].given["email"].words
    other = ToolCall(id="a", name="find_customer", arguments={"family_name": "Sandoval"})
    wanted = str(plan.calls[1].arguments["customer_id"])
    view.take(
        Step(turn=Turn(calls=(other,)), results=(ToolResult(call_id="a", name="x", content=f"{wanted}: {listing}"),))
    )
    assert 0 in view.had
    assert 0 not in view.done
    stray = ToolCall(id="b", name="cancel_reservation", arguments={"reservation_id": "X"})
    view.take(Step(turn=Turn(calls=(stray,)), results=(ToolResult(call_id="b", name="x", content="Cancelled."),)))
    assert [made.call for made in view.strays] == [stray]


def test_what_was_changed_is_checked_where_such_things_are_shown() -> None:
    """The title of a task is no title of a note: read there, it is an error that says nothing of the change."""
    title = {"title": "Sharpen the shears"}
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    call = ToolCall(id="c", name="add_task", arguments=title)
    said = ToolResult(call_id="c", name="add_task", content="Added: Sharpen the shears | Saturday")
    added = Step(turn=Turn(calls=(call,)), results=(said,))

    def looks(*names: str) -> list[str]:
        tools = tuple(ToolSchema(name=name, description="-", parameters=schema) for name in ("add_task", *names))
        prompt = Prompt(system="", question="Note down “Sharpen the shears”.", tools=tools)
        view = PlanView(plan_of(TASKS[0]), prompt.question, ("add_task",), (added,))
        turn = TurnBuilder(TASKS[0], prompt, (added,), derive_generator(7, "look"), view).check()
        return [] if turn is None else [one.name for one in turn.calls]

    assert looks("read_note", "get_task") == ["get_task"]
    assert looks("read_note") == []


def test_titles_are_named_as_the_request_marks_them() -> None:
    asked = "Please make “Packing list” low priority."
    assert as_quoted(["Packing list", "low"], asked) == ["“Packing list”", "low"]
