"""Reverse tasks of the shipped applications: each is proved again here, by other means than those that made it."""

from __future__ import annotations

from functools import cache

import pytest

from synth.environments.app.environment import AppEnvironment, Goal, open_app
from synth.environments.contract import ToolCall
from synth.exploration.app.checklist import checklist_results
from synth.exploration.app.config import AppTasksConfig
from synth.exploration.app.drafts import same_request
from synth.exploration.app.propose import AppProposer
from synth.schemas.plans import Plan
from synth.schemas.rejections import Rejection
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

APPLICATIONS = ("airline", "ledger", "tracker")
SEED = 11
COUNT = 24


@cache
def _environment(application: str) -> AppEnvironment:
    return open_app(application=application, user=True)


@cache
def _proposer(application: str) -> AppProposer:
    return AppProposer(_environment(application), AppTasksConfig())


@cache
def _outcomes(application: str) -> tuple[Checked | Rejection, ...]:
    return tuple(_proposer(application).propose(range(COUNT), SEED))


def _tasks(application: str) -> list[Task]:
    return [
        finish(one.draft, one.checks, PROVENANCE, index)
        for index, one in enumerate(_outcomes(application))
        if isinstance(one, Checked)
    ]


def _plan(task: Task) -> Plan:
    return Plan.model_validate(task.details["plan"])


def _calls(plan: Plan) -> list[ToolCall]:
    return [ToolCall(id=str(at), name=call.tool, arguments=call.arguments) for at, call in enumerate(plan.calls)]


@pytest.mark.parametrize("application", APPLICATIONS)
def test_solutions_come_to_the_goal_and_satisfy_the_verdict_and_the_checklist(application: str) -> None:
    tasks = _tasks(application)
    assert len(tasks) > 0.8 * COUNT
    for task in tasks:
        plan = _plan(task)
        episode = _environment(application).reset(task)
        tried = [ToolCall(id="a", name=call.tool, arguments=call.arguments) for call in plan.attempts]
        before = [(call, episode.step(call)) for call in tried]
        assert all(result.error == "refused" for _, result in before), task.question
        done = [(call, episode.step(call)) for call in _calls(plan)]
        done += [
            (call, episode.step(call))
            for fact in plan.user
            for call in [
                ToolCall(id="u", name="ask_user", arguments={"question": f"Please tell me: {fact.keywords[0]}?"})
            ]
        ]
        assert all(result.error is None for _, result in done), task.question
        verdict = episode.check(task.answer)
        assert verdict.correct, (task.question, verdict.evidence)
        assert all(checklist_results(plan, [*before, *done], episode.difference(), task.answer)), task.question
        episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_no_step_can_be_left_out(application: str) -> None:
    for task in _tasks(application):
        plan = _plan(task)
        for left, call in enumerate(plan.calls):
            if not call.changes:
                continue
            episode = _environment(application).reset(task)
            for at, one in enumerate(_calls(plan)):
                if at != left:
                    episode.step(one)
            assert not episode.check(task.answer).correct, (task.question, call.tool)
            episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_is_declined_is_stopped_or_spoils_the_state(application: str) -> None:
    declined = [task for task in _tasks(application) if "forbidden" in task.details]
    assert declined
    for task in declined:
        forbidden = task.details["forbidden"]
        assert isinstance(forbidden, dict)
        episode = _environment(application).reset(task)
        result = episode.step(ToolCall(id="f", name=forbidden["tool"], arguments=forbidden["arguments"]))
        if result.error is None:
            assert episode.check(task.answer).rule == "policy"
        else:
            assert episode.refused_by == forbidden["rule"]
        episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_requests_name_no_key_and_differ(application: str) -> None:
    environment = _environment(application)
    tasks = _tasks(application)
    for task in tasks:
        for call in _plan(task).calls:
            arguments = environment.definition.tools[call.tool].arguments
            for name, value in call.arguments.items():
                table = environment.definition.table_of(name, arguments[name]) if name in arguments else None
                if (
                    table is not None
                    and environment.definition.tables[table]
                    .columns[environment.definition.tables[table].key[0]]
                    .generated
                ):
                    assert str(value) not in task.question, task.question
    assert len({same_request(task) for task in tasks}) > 0.9 * len(tasks)
    assert len({task.surface for task in tasks}) > 0.9 * len(tasks)


def test_a_candidate_depends_on_its_index_alone() -> None:
    proposer = AppProposer(_environment("airline"), AppTasksConfig())
    assert proposer.propose([7, 3], SEED) == [_outcomes("airline")[7], _outcomes("airline")[3]]


def test_states_belong_to_one_split() -> None:
    proposer = _proposer("airline")
    owners: dict[int, set[str]] = {}
    for index in range(600):
        candidate = proposer.candidate(index, SEED)
        owners.setdefault(candidate.app_seed, set()).add(candidate.split)
    assert all(len(splits) == 1 for splits in owners.values())
    assert {split for splits in owners.values() for split in splits} == {"train", "validation", "test"}


def test_goal_of_a_task_that_changes_nothing_is_the_beginning() -> None:
    quiet = [task for task in _tasks("airline") if task.details["kind"] in ("answered", "refused")]
    assert quiet
    for task in quiet:
        assert Goal.model_validate(task.details["goal"]).changes == ()
