"""Safety pairs: there are both sides or none, they share everything but the purpose, and giving in is a failure."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from explored_apps import APPLICATIONS, environment, plan_of, played, run, tasks, tool_calls

from synth.agents.checklists import checklist_results
from synth.agents.grounding.check import ungrounded
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.engine.accepting import asked
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.exploration.app.safety_pairs import check_harms, side_of
from synth.exploration.app.solution import same_request
from synth.filtering.dedup import TaskFilter, TaskRules
from synth.identity import canonical_json
from synth.schemas.arrow import to_arrow
from synth.schemas.plans import Plan
from synth.schemas.tasks import Task

pytestmark = pytest.mark.thorough

COUNT = 12


def _pairs(application: str) -> dict[str, dict[str, Task]]:
    found: dict[str, dict[str, Task]] = defaultdict(dict)
    for task in tasks(application, COUNT, safety_pairs=1.0):
        found[task.details["twin"]["pair"]][task.details["kind"]] = task
    return dict(found)


def _play(task: Task, plan: Plan, answer: str) -> tuple[bool | None, tuple[bool, ...]]:
    leave = [ToolCall(id="u", name="ask_user", arguments={"question": fact.asks[0]}) for fact in plan.user]
    episode, done = played(task, [*leave, *tool_calls(plan.calls)])
    try:
        return episode.check(answer).correct, checklist_results(
            plan_of(task).checklist, done, episode.difference(), answer
        )
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
        chain = plan_of(benign)
        assert Plan.model_validate(harmful.details["twin"]["other"]["plan"]) == chain
        assert benign.details["app_seed"] == harmful.details["app_seed"]
        assert benign.split == harmful.split
        assert _play(benign, chain, benign.answer) == (True, (True,) * len(chain.checklist))
        refusal = plan_of(harmful)
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
    told = " ".join(environment(application).instructions().split())
    for sides in _pairs(application).values():
        assert plan_of(sides["harmful"]).rule in told


def test_neighbours_are_pairs() -> None:
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
    definition = environment().definition
    assert definition.requests is not None
    harms = {name: harm.model_copy(update=change) for name, harm in definition.requests.harms.items()}
    requests = definition.requests.model_copy(update={"harms": harms})
    with pytest.raises(InputError, match="spoiled_trip") as caught:
        check_harms(definition.model_copy(update={"requests": requests}), "airline.yaml")
    assert line in str(caught.value)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_teacher_refuses_one_and_helps_the_other(application: str) -> None:
    for sides in _pairs(application).values():
        for task in sides.values():
            done = run(ToolTeacher(task), task)
            assert done.verdict.correct is True, (task.question, done.verdict)
            assert ungrounded(done.prompt, done.history) == []
        assert not any(step.turn.calls for step in run(ToolTeacher(sides["harmful"]), sides["harmful"]).history)


def test_a_policy_that_gives_in_fails_and_may_see_it_in_time() -> None:
    harmful = [sides["harmful"] for sides in _pairs("airline").values()]
    config = ToolPolicyConfig(skill=0.5, gives_in=0.9, notices=0.2)
    runs = [run(ToolPolicy(task, config), task, sample) for task in harmful for sample in range(6)]
    gave_in = [done for done in runs if any(error.mode == "gives_in" for error in done.injected)]
    assert any(done.verdict.correct is False for done in gave_in)
    assert any(done.verdict.correct is True for done in gave_in), "nobody saw it in time"
    assert all(done.verdict.correct is True for done in runs if done not in gave_in)
    skilled = ToolPolicyConfig(skill=1.0)
    assert all(run(ToolPolicy(task, skilled), task).verdict.correct is True for task in harmful)


def _harmful(application: str) -> tuple[Task, ...]:
    """Harmful requests of one split, each for another end."""
    found: dict[str, Task] = {}
    for task in tasks(application, 24, safety_pairs=1.0):
        if task.details["kind"] == "harmful":
            end = canonical_json(task.details["twin"]["other"]["goal"])
            found.setdefault(end, task.model_copy(update={"split": "train"}))
    return tuple(found.values())


def _kinds(rows: tuple[Task, ...]) -> list[str | None]:
    accepted = TaskFilter(TaskRules())
    doubles = [accepted.take(one) for one in asked(to_arrow(rows, Task))]
    return [None if one is None else one.kind for one in doubles]


@pytest.mark.parametrize("application", APPLICATIONS)
def test_requests_for_different_ends_are_all_accepted(application: str) -> None:
    found = _harmful(application)
    assert len(found) > 3
    assert len({task.answer for task in found}) < len(found), "they are refused by the same rule"
    assert _kinds(found) == [None] * len(found)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_same_request_in_other_words_is_a_duplicate(application: str) -> None:
    first, *_ = _harmful(application)
    again = first.model_copy(update={"id": "again", "question": f"Hello there, good morning to you. {first.question}"})
    assert _kinds((first, again)) == [None, "structural"]
    near = again.model_copy(update={"question": f"{first.question} Thanks."})
    accepted = TaskFilter(TaskRules(structural=False))
    found = [accepted.take(one) for one in asked(to_arrow((first, near), Task))]
    assert [one and one.kind for one in found] == [None, "near"]
