"""What a plan's own changes do to what was read before, and what decides on each of its calls, on a fallback's too."""

from __future__ import annotations

from functools import cache

import pytest
from explored_apps import APPLICATIONS, environment, outcomes, plan_of, run, tasks

from synth.agents.grounding.weighed import is_compared
from synth.agents.scripted.config import ToolTeacherConfig
from synth.agents.scripted.phrases import PHRASES
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.app.shown import first_line
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked

CALM = ToolTeacherConfig(detour=0, verify=0, parallel=0)
COUNT = 60


@cache
def found(application: str) -> list[Task]:
    return tasks(application, COUNT)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_a_rule_goes_by_is_still_so_when_the_call_is_made(application: str) -> None:
    """Looked up again after a change of the plan's own that made it another."""
    again = 0
    for task in found(application):
        plan, episode = plan_of(task), environment(application).reset(task)
        for number, call in enumerate(plan.calls):
            looks = [one for one in plan.calls[:number] if not one.changes]
            if call.changes and any(one.changes for one in plan.calls[:number]) and not plan.attempts:
                kept = episode.snapshot()
                shown = [
                    episode.step(ToolCall(id="l", name=look.tool, arguments=look.arguments)).content for look in looks
                ]
                episode.restore(kept)
                for ground in call.grounds:
                    assert [line for line in ground.lines if not any(line in text for text in shown)] == []
                again += any(looks.count(look) > 1 for look in looks)
            episode.step(ToolCall(id="c", name=call.tool, arguments=call.arguments))
        episode.close()
    assert again or application != "ledger"


@cache
def looked_twice() -> list[Task]:
    """Those whose plan lists once more what decides and what its own change has moved: few, so as many are drawn as it
    takes to come to one."""
    for count in range(COUNT, 4 * COUNT + 1, 12):
        drawn = ((task, [one for one in plan_of(task).calls if not one.changes]) for task in tasks("ledger", count))
        again = [
            task
            for task, looks in drawn
            if any(
                one.decides and one.tool.startswith("list_") and (one.tool, one.arguments) in earlier
                for at, one in enumerate(looks)
                for earlier in [[(other.tool, other.arguments) for other in looks[:at]]]
            )
        ]
        if again:
            return again
    return []


def test_the_look_that_is_made_again_says_why() -> None:
    made = 0
    for task in (*found("ledger"), *looked_twice()):
        calls: list[tuple[str, object]] = []
        for step in run(ToolTeacher(task, CALM), task).history:
            mine = [(call.name, call.arguments) for call in step.turn.calls if call.name.startswith("list_")]
            failed = any(result.error == "failure" for result in step.results)
            if mine and mine[0] in calls and not failed:
                assert any(phrase in (step.turn.thought or "") for phrase in PHRASES["p_look_again"])
                made += 1
            calls += mine
    assert made


def test_what_is_taken_out_of_savings_is_counted_for_every_such_call() -> None:
    rule = "There are two transfers out of a savings account in a calendar month at most"
    moved = 0
    for task in found("ledger"):
        plan = plan_of(task)
        for call in plan.calls:
            source = call.given.get("from_account_id")
            if call.tool != "transfer" or not call.changes or source is None:
                continue
            own = [ground for ground in call.grounds if ground.rule.startswith(rule)]
            savings = "(savings)" in source.words
            assert bool(own) == savings
            assert not savings or all("out this month" in line for line in own[0].lines)
            moved += savings
    assert moved


def test_what_is_done_instead_is_held_against_the_rule_that_forbids_the_first() -> None:
    held = 0
    for task in found("ledger"):
        plan = plan_of(task)
        same = [
            (call, ground)
            for call in plan.calls
            for ground in call.grounds
            if plan.outcome == "offered" and not plan.attempts and ground.rule == plan.rule and ground.lines
        ]
        thoughts = [step.turn.thought or "" for step in run(ToolTeacher(task, CALM), task).history]
        for _, ground in same:
            by_lines, compared = (
                [thought for thought in thoughts if any(one and one in thought for one in begun)]
                for begun in (
                    [phrase.split("{lines}")[0] for phrase in PHRASES["p_same_rule"]],
                    [phrase.split("{what}")[0] for phrase in PHRASES["p_same_rule_by"]],
                )
            )
            weighed = any(is_compared(ground.weighed, thought) for thought in compared)
            quoted = any(all(line in thought for line in ground.lines) for thought in by_lines)
            assert weighed or quoted, task.question
            held += 1
    assert held


def test_nothing_is_said_to_be_open_that_a_rule_decides() -> None:
    """Of a call with rules of its own it is not said that the policy has none, nor that it has to be tried."""
    tried = [phrase.partition("{values}")[0] for phrase in PHRASES["p_try"] if phrase.partition("{values}")[0]]
    for application in APPLICATIONS:
        for task in found(application):
            plan = plan_of(task)
            ruled = {call.tool for call in (*plan.calls, *plan.attempts) if call.grounds}
            for step in run(ToolTeacher(task, CALM), task).history:
                names = {call.name for call in step.turn.calls}
                instead = plan.outcome == "offered" and not plan.attempts
                if (names & ruled and not any(c.tool in names and not c.grounds for c in plan.calls)) or instead:
                    assert not any(phrase in (step.turn.thought or "") for phrase in tried), step.turn.thought


def test_who_is_looked_up_as_the_assignee_is_read_as_the_assignee() -> None:
    """One who is reporter and assignee, too."""
    seen = 0
    for one in outcomes("tracker", COUNT):
        if not isinstance(one, Checked):
            continue
        for call in one.draft.details["plan"]["calls"]:
            words = call["given"].get("member_id", {}).get("words", "")
            if call["tool"] == "workload" and ":" in words:
                assert not words.startswith(("Reporter:", "Reviewer:"))
                seen += words.startswith("Assignee:")
    assert seen


def test_who_stands_in_another_part_is_read_where_they_were_looked_up() -> None:
    """The new assignee of an issue that they reported."""
    issue = ToolResult(
        call_id="a", name="get_issue", content="APP-7: Search is slow\nReporter: Ada Vik (U0020)\nAssignee: -"
    )
    member = ToolResult(call_id="b", name="find_member", content="U0020: Ada Vik, design, active, in APP")
    assert first_line([issue, member], "U0020", "member_id") == (1, "U0020: Ada Vik, design, active, in APP")
    assert first_line([member, issue], "U0020", "reporter_id") == (0, "U0020: Ada Vik, design, active, in APP")
    assert first_line([issue, member], "U0020", "reporter_id") == (0, "Reporter: Ada Vik (U0020)")
    assert first_line([issue], "U0020", "member_id") == (0, "Reporter: Ada Vik (U0020)")


def test_a_rule_is_not_told_for_what_it_does_not_decide() -> None:
    """As where one tool changes the day and the amount of a standing order, and the limit is on amounts."""
    other = 0
    for task in found("ledger"):
        plan = plan_of(task)
        tools = [call.tool for call in plan.calls if call.changes and call.grounds]
        twice = next((tool for tool in tools if tools.count(tool) > 1), None)
        if twice is None:
            continue
        at = next(n for n, call in enumerate(plan.calls) if call.tool == twice)
        calls = [call.model_copy(update={"grounds": ()}) if n == at else call for n, call in enumerate(plan.calls)]
        bare = {**task.details, "plan": plan.model_copy(update={"calls": tuple(calls)}).model_dump(mode="json")}
        again = task.model_copy(update={"details": bare})
        history = run(ToolTeacher(again, CALM), again).history
        rules = [ground.rule.rstrip(".") for call in calls for ground in call.grounds if call.tool == twice]
        told = [any(rule in (step.turn.thought or "") for rule in rules) for step in history]
        made = [any(call.name == twice for call in step.turn.calls) for step in history]
        assert not told[made.index(True)]
        other += 1
    assert other


def test_what_is_left_open_is_asked_before_a_price_is_looked_up() -> None:
    """Asked after a price, the question would seem to be about the price."""
    asked = 0
    for task in found("airline"):
        names = [call.name for step in run(ToolTeacher(task, CALM), task).history for call in step.turn.calls]
        facts = [fact for fact in plan_of(task).user if not fact.amount]
        quotes = [at for at, name in enumerate(names) if name.startswith("quote_")]
        if facts and quotes:
            assert sum(name == "ask_user" for name in names[: quotes[0]]) >= len(facts)
            asked += 1
    assert asked
