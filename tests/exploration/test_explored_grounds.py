"""What a desk's plan and its teacher make of the rules that were looked at, and of a change that a look can show."""

from __future__ import annotations

import pytest
from explored_apps import APPLICATIONS, environment, plan_of, tasks
from small_runs import play

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.weighed import brief, is_compared
from synth.agents.loop import Limits, Rollout
from synth.agents.plan_view import PlanView
from synth.agents.scripted.config import ToolTeacherConfig
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.annotate.critical.contract import Point
from synth.annotate.critical.plan_turns import plan_turns
from synth.environments.app.environment import open_app
from synth.environments.contract import ToolCall
from synth.exploration.app.deciding import seen_by
from synth.exploration.app.requests import AppRequests
from synth.exploration.app.walking import Walker
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.schemas.plans import Request, Twinned
from synth.schemas.tasks import Task

LOOKS = ToolTeacherConfig(verify=1.0, detour=0.0)


def taught(task: Task, application: str) -> Rollout:
    place = environment(application)
    return play(ToolTeacher(task, LOOKS), place, task, seed=3, system=place.instructions(), limits=Limits())


def thoughts(history: History) -> str:
    return " ".join(step.turn.thought or "" for step in history)


def test_a_change_is_seen_by_the_line_that_says_what_the_call_said() -> None:
    before, after = "Reservation F7 (booked)\nBags: 1", "Reservation F7 (cancelled)\nBags: 0"
    seen = seen_by({0: "Bags: 1", 1: before}, {0: "Bags: 1", 1: after}, "Reservation F7 is cancelled.")
    assert seen is not None
    assert (seen.call, seen.words) == (1, "Reservation F7 (cancelled)")
    assert seen_by({0: before}, {0: before}, "Reservation F7 is cancelled.") is None


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_look_after_a_change_quotes_the_line_that_was_not_there_before(application: str) -> None:
    looked = 0
    for task in tasks(application, 30):
        plan = plan_of(task)
        last = next((call for call in reversed(plan.calls) if call.changes), None)
        if last is None or last.shown is None or plan.attempts:
            continue
        steps = taught(task, application).history
        shown = [result.content for step in steps[-2:-1] for result in step.results]
        told = steps[-1].turn.thought or ""
        line = last.shown.words.removeprefix("- ")
        if not any(line in text for text in shown):
            continue  # what was taken away, or an id that this run was handed
        assert line.rstrip(".") in told
        look = steps[-2].turn.calls[0]
        before = [
            result.content
            for step in steps[:-2]
            for call, result in zip(step.turn.calls, step.results, strict=True)
            if (call.name, call.arguments) == (look.name, look.arguments)
        ]
        assert before
        assert not any(line in text for text in before[-1:])
        looked += 1
    assert looked > 1


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_was_read_for_a_rule_is_told_with_the_rule(application: str) -> None:
    """Of every rule for which something was looked up, and not only of the first."""
    several = 0
    for task in tasks(application, 30):
        plan = plan_of(task)
        kept = [ground for call in plan.calls for ground in call.grounds if ground.lines and ground.rule != plan.rule]
        if plan.outcome == "refused" or plan.attempts or not kept:
            continue
        told = thoughts(taught(task, application).history)
        assert [ground.rule for ground in kept if brief(ground.rule) not in told] == []
        plain = [one for one in kept if not is_compared(one.weighed, told)]  # what is compared need not be quoted, too
        assert [line for ground in plain for line in ground.lines if line not in told] == []
        several += len({ground.rule for ground in kept}) > 1
    assert several > 1


def test_money_is_not_entered_before_the_same_was_looked_for() -> None:
    asks = environment("ledger").definition.requests.asks
    entering = {name: ask for name, ask in asks.items() if ask.tool == "add_transaction"}
    assert [name for name, ask in entering.items() if not {"twice", "closed_month"} <= set(ask.refused_by)] == []


def test_the_policy_is_not_silent_on_what_it_has_a_rule_for() -> None:
    """Where two things are asked of one tool under different rules, too."""
    for task in tasks("ledger", 30):
        for step in taught(task, "ledger").history:
            for call in step.turn.calls:
                planned = [one for one in plan_of(task).calls if one.tool == call.name and one.changes]
                if planned and all(one.grounds for one in planned):
                    assert "The policy says nothing about this" not in (step.turn.thought or "")
                    assert "Nothing in the policy speaks against this" not in (step.turn.thought or "")


def test_the_delay_of_a_flight_that_has_left_is_shown() -> None:
    episode = environment("airline").reset(tasks("airline", 2)[0])
    late = episode.look("SELECT flight_id, delay_minutes FROM flights WHERE status = 'departed' AND delay_minutes > 0")
    told = [
        episode.step(ToolCall(id="c", name="get_flight", arguments={"flight_id": row["flight_id"]})).content
        for row in late
    ]
    episode.close()
    assert told
    assert all(f"departed {row['delay_minutes']} minutes late" in text for row, text in zip(late, told, strict=True))


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_is_left_open_can_be_asked_for_in_plain_words(application: str) -> None:
    requests = environment(application).definition.requests
    topics = {left.topic for ask in requests.asks.values() for left in ask.left}
    system = load_prompt("agents/app").render(instructions=environment(application).instructions())
    prompt = Prompt(system=system, question="Please do it.", tools=tuple(environment(application).tools()))
    for topic in topics:
        asking = (Step(turn=Turn(thought=f"I can't know {topic} without asking.")),)
        assert not ungrounded(prompt, asking, start=0), topic


def test_a_harmful_request_is_refused_by_what_its_harmless_twin_does_not_say() -> None:
    told = 0
    for task in tasks("tracker", 100):
        twin = Twinned.of(task.details).twin
        if twin is None or Request.of(task.details).kind != "harmful":
            continue
        steps = taught(task, "tracker").history
        quoted = (steps[-1].turn.thought or "").split('"')[1]
        assert quoted in task.question
        assert quoted not in twin.other.question
        told += 1
    assert told > 0


def test_after_a_lost_connection_the_same_call_is_all_that_is_proposed() -> None:
    """What the user would accept instead is no alternative before the first choice was tried. A failed call that the
    plan has no use for need not be repeated."""
    place = open_app(application="airline", user=True, failures={"rate": 0.5, "seed": 4})
    failed = left = 0
    for task in tasks("airline", 30):
        done = play(ToolTeacher(task), place, task, seed=3, system=place.instructions(), limits=Limits())
        for at, step in enumerate(done.history):
            if step.turn.calls and any(result.error == "failure" for result in step.results):
                past = done.history[: at + 1]
                point = Point(task, place, done.prompt, past, Turn(calls=step.turn.calls))
                turns = list(plan_turns(point, derive_generator(7, "turns", at), patience=40))
                view = PlanView.of(task, past)
                assert view is not None
                numbers = [number for number in range(len(view.plan.calls)) if number not in view.had]
                wanted = [(view.plan.calls[number].tool, view.arguments(number)) for number in numbers]
                tries = [view.plan.attempts[number] for number in view.untried()]
                wanted += [(one.tool, view.arguments_of(one)) for one in tries]
                if not any((call.name, call.arguments) in wanted for call in step.turn.calls):
                    left += 1
                    continue
                assert len(turns) == 1
                assert {call.name for call in turns[0].calls} <= {call.name for call in step.turn.calls}
                failed += 1
    assert failed > 3
    assert left < failed


@pytest.mark.parametrize(
    ("application", "tools", "rule"),
    [
        ("airline", ("book_reservation", "change_flight"), "Nobody is booked onto a flight that is cancelled."),
        ("airline", ("change_flight",), "The new flight goes from and to the same airports as the old one."),
        ("ledger", ("add_transaction",), "Transactions and transfers are entered on their day or later"),
        ("ledger", ("clear_transaction",), "A transaction that is reconciled with a statement is not changed"),
    ],
)
def test_what_a_rule_goes_by_is_compared_before_each_such_change(
    application: str, tools: tuple[str, ...], rule: str
) -> None:
    made = [
        call for task in tasks(application, 30) for call in plan_of(task).calls if call.changes and call.tool in tools
    ]
    kept = [ground for call in made for ground in call.grounds if ground.rule.startswith(rule)]
    assert made
    assert len(kept) >= len(made) // 2
    assert all(ground.weighed for ground in kept)


def test_nothing_is_put_towards_a_goal_that_money_was_just_taken_from() -> None:
    place = environment("ledger")
    requests = place.definition.requests
    assert requests is not None
    episode = place.reset(tasks("ledger", 8)[0])
    try:
        app = AppRequests(place)
        walker = Walker(app, episode, app.speakers(episode)[0]["speaker"], derive_generator(1, "goal"))
        taken = walker.step("release")
        assert taken is not None
        goal = {"goal_id": taken.row["goal_id"]}
        added = walker.step("set_aside", goal)
        assert added is not None
        assert walker.ended([taken, added]) == "set_aside"
        assert walker.ended([added, taken]) == "release"
        assert walker.ended([taken]) is None
    finally:
        episode.close()
