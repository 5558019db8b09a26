"""What decides at a desk is told, what decides nothing is not, and who is refused something hears what is allowed."""

from __future__ import annotations

from functools import cache

import pytest
from explored_apps import environment, plan_of, run, tasks

from synth.agents.loop import Rollout
from synth.agents.scripted.config import ToolTeacherConfig
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.schemas.plans import Policed, Twinned
from synth.schemas.tasks import Task

CALM = ToolTeacherConfig(detour=0, verify=0, parallel=0)
SEAT = "A reservation needs a free seat in its cabin"
STEPS = "An issue moves only along the steps of the workflow"


@cache
def taught(application: str) -> list[tuple[Task, Rollout]]:
    return [(task, run(ToolTeacher(task, CALM), task)) for task in tasks(application, 60)]


@pytest.mark.parametrize(
    ("application", "tool", "rule"), [("airline", "change_flight", SEAT), ("tracker", "move_issue", STEPS)]
)
def test_a_rule_that_decides_is_told_before_the_change(application: str, tool: str, rule: str) -> None:
    told = 0
    for task, done in taught(application):
        plan = plan_of(task)
        moved = [one for one in plan.calls if one.tool == tool and one.arguments.get("status") != "done"]
        if moved and plan.outcome == "done":
            at = next(n for n, step in enumerate(done.history) for call in step.turn.calls if call.name == tool)
            assert any(rule in (step.turn.thought or "") for step in done.history[: at + 1]), task.question
            told += 1
    assert told


def test_of_assignee_and_reviewer_only_the_other_one_decides() -> None:
    found = [
        (call.tool, line)
        for task in tasks("tracker", 60)
        for call in plan_of(task).calls
        for ground in call.grounds
        for line in ground.lines
        if "is not its assignee" in ground.rule
    ]
    assert found
    assert all(line.startswith("Reviewer" if tool == "assign_issue" else "Assignee") for tool, line in found)


def test_who_is_refused_something_hears_what_may_be_done_instead() -> None:
    offers = []
    for task, done in taught("airline"):
        forbidden = Policed.of(task.details).forbidden
        harmful = Twinned.of(task.details).twin is not None
        if plan_of(task).outcome == "refused" and forbidden is not None and not harmful:
            assert forbidden.offer in (done.history[-1].turn.answer or "")
            offers.append(forbidden.offer)
    assert any(offers)


def test_a_question_about_a_new_thing_says_that_it_is_the_new_one() -> None:
    requests = environment("tracker").definition.requests
    assert requests is not None
    assert all("new" in left.topic.split() for left in requests.asks["create_issue"].left)
