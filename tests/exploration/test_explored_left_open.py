"""What a request leaves open is not known before the user has said it: no line is told, and no call made, by it."""

from __future__ import annotations

import pytest
from explored_apps import APPLICATIONS, plan_of, run, tasks

from synth.agents.contract import History
from synth.agents.grounding.diligence import unlooked
from synth.agents.grounding.foretold import foretold
from synth.agents.plan_view import ASK
from synth.agents.scripted.config import ToolPolicyConfig, ToolTeacherConfig
from synth.agents.scripted.tool_agent.details import answers
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.schemas.plans import Given, PlannedCall, UserFact
from synth.schemas.tasks import Task

CALM = ToolTeacherConfig(detour=0, verify=0, parallel=0)


def open_tasks(application: str) -> list[tuple[Task, list[tuple[PlannedCall, Given]]]]:
    """Tasks in which an answer tells which row is meant, with the calls that take it and the lines that show it."""
    found = []
    for task in tasks(application, 60):
        plan = plan_of(task)
        waiting = [(call, given) for call in plan.calls for given in call.given.values() if given.told]
        if waiting:
            found.append((task, waiting))
    return found


def told_at(history: History, given: Given) -> int:
    """The turn behind the answer."""
    said = " ".join(given.told.split())
    return next(
        number + 1
        for number, step in enumerate(history)
        for call, result in zip(step.turn.calls, step.results, strict=True)
        if call.name == ASK and said in " ".join(result.content.split())
    )


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_only_an_answer_tells_is_neither_quoted_nor_used_before(application: str) -> None:
    seen = 0
    for task, waiting in open_tasks(application):
        done = run(ToolTeacher(task, CALM), task)
        assert done.verdict.correct, (task.question, done.verdict)
        assert list(foretold(task, done.history)) == []
        for call, given in waiting:
            before = done.history[: told_at(done.history, given)]
            line = given.words.removeprefix("- ").rstrip(".")
            assert not any(line in (step.turn.thought or "") for step in before), task.question
            assert not any((c.name, c.arguments) == (call.tool, call.arguments) for s in before for c in s.turn.calls)
            seen += any(line in result.content for step in before for result in step.results)
    assert seen or application == "airline"


def test_who_goes_by_it_all_the_same_is_found_out() -> None:
    """A line announced before the question is planted, and so is a look at what it is about."""
    planted = 0
    for task, waiting in open_tasks("tracker"):
        done = run(ToolTeacher(task, CALM), task)
        for call, given in waiting:
            at = told_at(done.history, given) - 1
            line = given.words.removeprefix("- ").rstrip(".")
            if not any(line in result.content for step in done.history[:at] for result in step.results):
                continue
            early = done.history[at]
            thought = f'Here it is: "{line}". {early.turn.thought}'
            spoilt = early.model_copy(update={"turn": early.turn.model_copy(update={"thought": thought})})
            history = (*done.history[:at], spoilt, *done.history[at + 1 :])
            assert any(line in found for found in foretold(task, history))
            assert any(line in found for found in unlooked(task, done.prompt, history))
            asked = (*done.history[:at], *done.history[at + 1 :])
            made = any((c.name, c.arguments) == (call.tool, call.arguments) for s in asked for c in s.turn.calls)
            assert not made or any("before the user has said" in found for found in foretold(task, asked))
            planted += 1
    assert planted


def test_what_the_request_says_itself_gives_nothing_away() -> None:
    fact = UserFact(topic="which account", keywords=("account",), says="From Everyday, on 18 March.")
    line = "A1: Everyday (checking), $5.00, opened 2031-03-18"
    assert answers(fact, line, "Move $5.00 to Household.") == ["Everyday", "18 March"]
    assert answers(fact, line, "Move $5.00 from Everyday on 18 March.") == []
    assert answers(fact, "B2: Household (checking)", "Move $5.00 to Household.") == []


def test_a_policy_that_errs_in_nothing_asks_first() -> None:
    for task, waiting in open_tasks("ledger")[:6]:
        done = run(ToolPolicy(task, ToolPolicyConfig(skill=1.0)), task)
        assert done.verdict.correct
        for call, given in waiting:
            before = done.history[: told_at(done.history, given)]
            assert not any((c.name, c.arguments) == (call.tool, call.arguments) for s in before for c in s.turn.calls)
