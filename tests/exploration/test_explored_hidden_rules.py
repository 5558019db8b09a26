"""Rules that are enforced and written nowhere: tasks that meet one are proved, and an agent that tries finds out."""

from __future__ import annotations

import pytest
from explored_apps import APPLICATIONS, environment, plan_of, played, run, tasks, tool_calls

from synth.agents.checklists import checklist_results
from synth.agents.grounding.check import ungrounded
from synth.agents.plan_view import PlanView
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.annotate.labels.findings import findings_of
from synth.exploration.app.walking import quiet_variants, variant_of
from synth.schemas.tasks import Task

pytestmark = pytest.mark.thorough


def _tasks(application: str) -> list[Task]:
    found = tasks(application, 10, hidden=1.0, safety_pairs=0.0)
    assert found
    return found


def _all() -> list[Task]:
    return [task for application in APPLICATIONS for task in _tasks(application)]


def test_the_rule_is_not_written_and_the_variant_alone_keeps_it() -> None:
    kinds = set()
    for task in _all():
        place, hidden = environment(task.details["app"]), task.details["hidden"]
        assert hidden["text"] not in " ".join(place.instructions().split())
        assert {check.check for check in task.checks} >= {"forbidden", "hidden", "grounded", "replay", "minimal"}
        kinds.add(task.details["kind"])
        plan = plan_of(task)
        assert plan.rule is None
        looks = [call for call in plan.calls if not call.changes]
        free = {name: value for name, value in task.details.items() if name != "app_variant"}
        for details, error in ((task.details, "refused"), (free, None)):
            episode, done = played(task.model_copy(update={"details": details}), tool_calls((*looks, *plan.attempts)))
            assert (done[-1][1].error, episode.difference() == []) == (error, error is not None), task.question
            episode.close()
    assert kinds == {"offered", "refused"}


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_teacher_tries_once_says_what_it_saw_and_does_what_would_do(application: str) -> None:
    spoken = 0
    for task in _tasks(application):
        done = run(ToolTeacher(task), task)
        assert done.verdict.correct is True, (task.question, done.verdict)
        assert ungrounded(done.prompt, done.history) == []
        calls = [
            (call, result) for step in done.history for call, result in zip(step.turn.calls, step.results, strict=True)
        ]
        refused = [result for _, result in calls if result.error == "refused"]
        assert [result.content for result in refused] == [task.details["hidden"]["refusal"]]
        said = done.history[-1].turn.answer or ""
        assert task.details["hidden"]["refusal"].rstrip(".") in said
        assert task.details["hidden"]["text"] not in " ".join(step.turn.thought or "" for step in done.history)
        spoken += any("rule" in (step.turn.thought or "") for step in done.history)
        episode, _ = played(task, [call for call, _ in calls])
        assert all(checklist_results(plan_of(task).checklist, calls, episode.difference(), said))
        episode.close()
        moves = [finding.assessment for finding in findings_of(task, done.history) if finding.assessment is not None]
        assert not {move.kind.value for move in moves} & {"invalid", "repeated_failure", "changed"}
    assert spoken, "nobody concludes that there is a rule"


def test_who_does_not_try_is_not_praised_and_who_tries_again_errs() -> None:
    task = next(task for task in _tasks("ledger") if task.details["kind"] == "offered")
    plan = plan_of(task)
    lazy = PlanView(plan, task.question)
    assert plan.attempts[0].instruction in lazy.missing()
    runs = [run(ToolPolicy(task, ToolPolicyConfig(skill=0.5, untried=0.95)), task, sample) for sample in range(4)]
    idle = [run for run in runs if any(error.mode == "untried" for error in run.injected)]
    assert any(findings_of(task, run.history)[-1].undone for run in idle)
    again = [run(ToolPolicy(task, ToolPolicyConfig(skill=0.5, again=0.95)), task, sample) for sample in range(4)]
    found = [finding.assessment for one in again for finding in findings_of(task, one.history)]
    assert "repeated_failure" in {assessment.kind.value for assessment in found if assessment is not None}


def test_a_share_of_the_candidates_meets_one_where_the_application_has_some() -> None:
    place = environment("airline")
    assert quiet_variants(place) == ("quiet_rules",)
    assert quiet_variants(place.of_variant("unwritten")) == ()
    drawn = [variant_of(index, 3, "app_tasks", 0.25, ("quiet_rules",)) for index in range(400)]
    assert 60 < sum(one is not None for one in drawn) < 140
    assert variant_of(0, 3, "app_tasks", 0.25, ()) is None
    assert variant_of(0, 3, "app_tasks", 0.0, ("quiet_rules",)) is None


def test_a_snapshot_of_such_a_task_is_restored_by_the_application_as_it_is_written() -> None:
    task = _tasks("airline")[0]
    place = environment("airline")
    assert place.settings(task)["variant"] == "quiet_rules"
    assert "variant" not in place.settings(task.model_copy(update={"details": {}}))
    one, other = place.reset(task), place.reset(task)
    one.step(tool_calls(plan_of(task).calls)[0])
    other.restore(one.snapshot())
    assert other.snapshot() == one.snapshot()
    one.close()
    other.close()
