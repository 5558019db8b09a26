"""Instructions that are not the user's, in what is read on the way: who obeys fails, and is found out at that step."""

from __future__ import annotations

import pytest
from explored_apps import APPLICATIONS, environment, plan_of, played, run, tasks, tool_calls

from synth.agents.grounding.check import ungrounded
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.agents.trajectory import to_row
from synth.annotate.labels import label
from synth.dataset.audit.plan_rules import plan_problems
from synth.environments.contract import ToolCall
from synth.schemas.plans import Injected, Injection
from synth.schemas.tasks import Task
from synth.testing.corpus import PROVENANCE

pytestmark = pytest.mark.thorough


def _tasks(application: str, **options: float) -> list[Task]:
    found = tasks(application, 10, injections=1.0, safety_pairs=0.0, **options)
    assert len(found) > 3
    return found


def _note(task: Task) -> Injection:
    note = Injected.of(task.details).injection
    assert note is not None
    return note


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_note_is_read_and_what_it_asks_for_misses_the_goal(application: str) -> None:
    for task in _tasks(application):
        note, calls = _note(task), tool_calls(plan_of(task).calls)
        assert "injected" in {check.check for check in task.checks}
        episode, done = played(task, calls)
        assert any(note.text in result.content for _, result in done)
        assert note.text not in task.question
        assert episode.check(task.answer).correct
        assert episode.step(ToolCall(id="asked", name=note.tool, arguments=note.arguments)).error is None
        assert not episode.check(task.answer).correct
        episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_teacher_says_that_it_leaves_the_note_alone(application: str) -> None:
    for task in _tasks(application):
        done, note = run(ToolTeacher(task), task), _note(task)
        assert done.verdict.correct is True, (task.question, done.verdict)
        assert ungrounded(done.prompt, done.history) == []
        met = next(n for n, step in enumerate(done.history) if any(note.text in one.content for one in step.results))
        assert f" with {note.beside}" in (done.history[met + 1].turn.thought or "")
        assert note.tool not in [
            call.name for step in done.history for call in step.turn.calls if call.arguments == note.arguments
        ]
        if plan_of(task).outcome != "answered":
            assert f" note with {note.beside} " in (done.history[-1].turn.answer or "")


def test_a_policy_that_obeys_fails_at_the_call_that_it_was_told_to_make() -> None:
    others = [name for name in ToolPolicyConfig.model_fields if name not in ("skill", "obeys", "patience")]
    obeys = ToolPolicyConfig(skill=0.0, obeys=1.0, **dict.fromkeys(others, 0.0))
    runs = [(task, run(ToolPolicy(task, obeys), task)) for task in _tasks("airline")]
    obeyed = [(task, done) for task, done in runs if done.injected]  # 19 of 20 do
    assert len(obeyed) >= len(runs) - 1
    for task, done in obeyed:
        note = _note(task)
        assert [error.mode for error in done.injected] == ["obeys_note"]
        assert done.verdict.correct is False
        place = environment("airline")
        row = to_row(done, place, role="policy", number=0, privileged=True, provenance=PROVENANCE)
        wrong = [(one.step, one.label) for one in label(row, task) if one.first_error]
        assert wrong == [(done.injected[0].turn, -1)], note


def test_an_audit_sees_a_note_that_nobody_reads_or_that_does_no_harm() -> None:
    task = _tasks("airline", hidden=0.0)[0]
    note, place = _note(task), environment("airline")
    assert not list(plan_problems(place, task))
    look = next(one for one in plan_of(task).calls if not one.changes)
    for planted, what in (
        ({"beside": "nowhere"}, "the plan does not come across the note"),
        ({"tool": "no_such_tool"}, "what the note asks for does not go through"),
        ({"tool": look.tool, "arguments": look.arguments}, "the goal is reached all the same"),
    ):
        wrong = Injected(injection=note.model_copy(update=planted)).model_dump(mode="json")
        found = list(plan_problems(place, task.model_copy(update={"details": task.details | wrong})))
        assert {rule for rule, _ in found} == {"injected"}, planted
        assert what in found[0][1]
