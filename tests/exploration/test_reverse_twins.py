"""Safety twins: there are both or none, they share everything but the meaning, and giving in is a failure."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import pytest

from synth.agents.grounding.check import ungrounded
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.exploration.app.checklist import checklist_results
from synth.exploration.app.config import AppTasksConfig
from synth.exploration.app.drafts import same_request
from synth.exploration.app.propose import AppProposer
from synth.exploration.app.twins import check_harms, side_of
from synth.identity import derive_generator
from synth.schemas.plans import Plan
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

APPLICATIONS = ("airline", "ledger", "tracker")
COUNT = 12


@cache
def _environment(application: str = "airline") -> AppEnvironment:
    return open_app(application=application, user=True)


@cache
def _pairs(application: str) -> dict[str, dict[str, Task]]:
    proposer = AppProposer(_environment(application), AppTasksConfig(twins=1.0))
    found: dict[str, dict[str, Task]] = defaultdict(dict)
    for index, one in enumerate(proposer.propose(range(COUNT), 5)):
        if isinstance(one, Checked):
            task = finish(one.draft, one.checks, PROVENANCE, index)
            found[task.details["twin"]["pair"]][task.details["kind"]] = task
    return dict(found)


def _play(task: Task, plan: Plan, answer: str) -> tuple[bool | None, tuple[bool, ...]]:
    episode = _environment(task.details["app"]).reset(task)
    calls = [ToolCall(id=str(at), name=call.tool, arguments=call.arguments) for at, call in enumerate(plan.calls)]
    done = [(call, episode.step(call)) for call in calls]
    try:
        own = Plan.model_validate(task.details["plan"])
        return episode.check(answer).correct, checklist_results(own, done, episode.difference(), answer)
    finally:
        episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_there_are_both_or_none(application: str) -> None:
    pairs = _pairs(application)
    assert len(pairs) > COUNT // 3
    assert all(set(sides) == {"harmful", "benign"} for sides in pairs.values())


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_chain_is_done_for_one_and_refused_for_the_other(application: str) -> None:
    for sides in _pairs(application).values():
        benign, harmful = sides["benign"], sides["harmful"]
        chain = Plan.model_validate(benign.details["plan"])
        assert Plan.model_validate(harmful.details["twin"]["other"]["plan"]) == chain
        assert benign.details["app_seed"] == harmful.details["app_seed"]
        assert benign.split == harmful.split
        assert _play(benign, chain, benign.answer) == (True, (True,) * len(chain.checklist))
        refusal = Plan.model_validate(harmful.details["plan"])
        assert _play(harmful, refusal, harmful.answer) == (True, (True,) * len(refusal.checklist))
        gave_in, seen = _play(harmful, chain, "That is done.")
        assert gave_in is False
        assert not any(seen)
        refused, _ = _play(benign, refusal, harmful.answer)
        assert refused is False


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_is_asked_for_is_asked_in_the_same_words(application: str) -> None:
    for sides in _pairs(application).values():
        texts = [sides[side].question for side in ("benign", "harmful")]
        assert texts[0] != texts[1]
        shared = max(len(part) for part in texts[0].split(". ") if part in texts[1])
        assert shared > 20, texts
        assert same_request(sides["benign"]) != same_request(sides["harmful"])


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_policy_says_what_is_refused(application: str) -> None:
    told = " ".join(_environment(application).instructions().split())
    for sides in _pairs(application).values():
        assert Plan.model_validate(sides["harmful"].details["plan"]).rule in told


def test_neighbours_are_twins() -> None:
    sides = [side_of(index, 3, "app_tasks", 0.5) for index in range(400)]
    assert {(sides[at], sides[at + 1]) for at in range(0, 400, 2)} == {(None, None), ("harmful", "benign")}
    assert side_of(0, 3, "app_tasks", 0.0) is None


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"asks": ("fly_away",)}, "there is no ask 'fly_away'"),
        ({"rule": "Nobody whistles."}, "its rule does not stand in the policy"),
        ({"benign": ("Please.",)}, "holds no {message}"),
    ],
)
def test_a_harm_that_does_not_fit_is_one_clear_line(change: dict[str, Any], line: str) -> None:
    definition = _environment().definition
    assert definition.requests is not None
    harms = {name: harm.model_copy(update=change) for name, harm in definition.requests.harms.items()}
    requests = definition.requests.model_copy(update={"harms": harms})
    with pytest.raises(InputError, match="spoiled_trip") as caught:
        check_harms(definition.model_copy(update={"requests": requests}), "airline.yaml")
    assert line in str(caught.value)


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


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_teacher_refuses_one_and_helps_the_other(application: str) -> None:
    for sides in _pairs(application).values():
        for task in sides.values():
            done = _run(ToolTeacher(task), task)
            assert done.verdict.correct is True, (task.question, done.verdict)
            assert ungrounded(done.prompt, done.history) == []
        assert not any(step.turn.calls for step in _run(ToolTeacher(sides["harmful"]), sides["harmful"]).history)


def test_a_policy_that_gives_in_fails_and_may_see_it_in_time() -> None:
    harmful = [sides["harmful"] for sides in _pairs("airline").values()]
    config = ToolPolicyConfig(skill=0.5, gives_in=0.9, notices=0.2)
    runs = [_run(ToolPolicy(task, config), task, sample) for task in harmful for sample in range(6)]
    gave_in = [done for done in runs if any(error.mode == "gives_in" for error in done.injected)]
    assert any(done.verdict.correct is False for done in gave_in)
    assert any(done.verdict.correct is True for done in gave_in), "nobody saw it in time"
    assert all(done.verdict.correct is True for done in runs if done not in gave_in)
    skilled = ToolPolicyConfig(skill=1.0)
    assert all(_run(ToolPolicy(task, skilled), task).verdict.correct is True for task in harmful)
