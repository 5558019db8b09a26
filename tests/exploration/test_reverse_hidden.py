"""Rules that are kept and written nowhere: tasks that meet one are proved, and who tries finds out."""

from __future__ import annotations

from functools import cache

import pytest

from synth.agents.grounding.check import ungrounded
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.plan_view import PlanView, plan_of
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.annotate.labels.findings import findings_of
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.contract import ToolCall
from synth.exploration.app.checklist import checklist_results
from synth.exploration.app.config import AppTasksConfig
from synth.exploration.app.hidden import quiet_variants, variant_of
from synth.exploration.app.propose import AppProposer
from synth.identity import derive_generator
from synth.schemas.plans import Plan
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

APPLICATIONS = ("airline", "ledger", "tracker")
COUNT = 10


@cache
def _environment(application: str) -> AppEnvironment:
    return open_app(application=application, user=True)


@cache
def _tasks(application: str) -> tuple[Task, ...]:
    proposer = AppProposer(_environment(application), AppTasksConfig(hidden=1.0, twins=0.0))
    found = [
        finish(one.draft, one.checks, PROVENANCE, index)
        for index, one in enumerate(proposer.propose(range(COUNT), 5))
        if isinstance(one, Checked)
    ]
    assert found
    return tuple(found)


def _all() -> list[Task]:
    return [task for application in APPLICATIONS for task in _tasks(application)]


def _run(policy: ToolTeacher | ToolPolicy, task: Task, sample: int = 0) -> Rollout:
    environment = _environment(task.details["app"])
    return rollout(
        policy,
        environment,
        task,
        system=environment.instructions(),
        limits=Limits(),
        generator_for_turn=lambda turn: derive_generator(1, task.id, sample, turn),
    )


def _plan(task: Task) -> Plan:
    plan = plan_of(task)
    assert plan is not None
    return plan


def test_the_rule_is_not_written_and_the_variant_alone_keeps_it() -> None:
    kinds = set()
    for task in _all():
        environment, hidden = _environment(task.details["app"]), task.details["hidden"]
        assert hidden["text"] not in " ".join(environment.instructions().split())
        assert {check.check for check in task.checks} >= {"forbidden", "hidden", "grounded", "replay", "minimal"}
        kinds.add(task.details["kind"])
        plan = _plan(task)
        assert plan.rule is None
        looks = [call for call in plan.calls if not call.changes]
        free = {name: value for name, value in task.details.items() if name != "app_variant"}
        for details, error in ((task.details, "refused"), (free, None)):
            episode = environment.reset(task.model_copy(update={"details": details}))
            for number, call in enumerate((*looks, *plan.attempts)):
                result = episode.step(ToolCall(id=str(number), name=call.tool, arguments=call.arguments))
            assert (result.error, episode.difference() == []) == (error, error is not None), task.question
            episode.close()
    assert kinds == {"offered", "refused"}


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_teacher_tries_once_says_what_it_saw_and_does_what_would_do(application: str) -> None:
    spoken = 0
    for task in _tasks(application):
        done = _run(ToolTeacher(task), task)
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
        assert all(checklist_results(_plan(task), calls, _end(task, [call for call, _ in calls]), said))
        moves = [finding.move for finding in findings_of(task, done.history) if finding.move is not None]
        assert not {move.kind.value for move in moves} & {"invalid", "repeated_failure", "changed"}
    assert spoken, "nobody concludes that there is a rule"


def _end(task: Task, calls: list[ToolCall]) -> list[object]:
    episode = _environment(task.details["app"]).reset(task)
    try:
        for call in calls:
            episode.step(call)
        return list(episode.difference())
    finally:
        episode.close()


def test_who_does_not_try_is_not_praised_and_who_tries_again_errs() -> None:
    task = next(task for task in _tasks("ledger") if task.details["kind"] == "offered")
    plan = _plan(task)
    lazy = PlanView(plan, task.question)
    assert plan.attempts[0].instruction in lazy.missing()
    runs = [_run(ToolPolicy(task, ToolPolicyConfig(skill=0.5, untried=0.95)), task, sample) for sample in range(4)]
    idle = [run for run in runs if any(error.mode == "untried" for error in run.injected)]
    assert any(findings_of(task, run.history)[-1].undone for run in idle)
    again = [_run(ToolPolicy(task, ToolPolicyConfig(skill=0.5, again=0.95)), task, sample) for sample in range(4)]
    kinds = [finding.move.kind.value for run in again for finding in findings_of(task, run.history) if finding.move]
    assert "repeated_failure" in kinds


def test_a_share_of_the_candidates_meets_one_where_the_application_has_some() -> None:
    environment = _environment("airline")
    assert quiet_variants(environment) == ("quiet_rules",)
    assert quiet_variants(environment.of_variant("unwritten")) == ()
    drawn = [variant_of(index, 3, "app_tasks", 0.25, ("quiet_rules",)) for index in range(400)]
    assert 60 < sum(one is not None for one in drawn) < 140
    assert variant_of(0, 3, "app_tasks", 0.25, ()) is None
    assert variant_of(0, 3, "app_tasks", 0.0, ("quiet_rules",)) is None


def test_a_snapshot_of_such_a_task_is_restored_by_the_application_as_it_is_written() -> None:
    task = _tasks("airline")[0]
    environment = _environment("airline")
    assert environment.settings(task)["variant"] == "quiet_rules"
    assert "variant" not in environment.settings(task.model_copy(update={"details": {}}))
    one, other = environment.reset(task), environment.reset(task)
    call = next(call for call in _plan(task).calls)
    one.step(ToolCall(id="a", name=call.tool, arguments=call.arguments))
    other.restore(one.snapshot())
    assert other.snapshot() == one.snapshot()
    one.close()
    other.close()
