"""Graded sampling: rewards of runs on plans and of explorations, and what is drawn by them."""

from __future__ import annotations

from functools import cache

import pytest
from small_runs import play, recorded

from synth.agents.contract import Policy
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.annotate.rewards.rating import EvidenceRater, Rating
from synth.environments.app.environment import AppEnvironment, open_app
from synth.exploration.app.explorer import app_explorer
from synth.exploration.pipeline import Exploration
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.graded import chance_of, reward_of
from synth.testing.corpus import PROVENANCE

COUNT = 14


@cache
def _environment() -> AppEnvironment:
    return open_app(application="ledger", user=True)


@cache
def _proposed(graded: bool) -> tuple[Checked | Rejection, ...]:
    hooks = app_explorer(environment=_environment(), safety_pairs=0.3, hidden=0.2, attempts=1, graded=graded)
    return tuple(Exploration(hooks).propose(range(COUNT), 5))


@cache
def _tasks() -> tuple[Task, ...]:
    changing = [name for name, tool in _environment().definition.tools.items() if tool.writes]
    found = []
    for index, one in enumerate(_proposed(False)):
        if isinstance(one, Checked):
            draft = one.draft.model_copy(update={"details": {**one.draft.details, "changing": changing}})
            found.append(finish(draft, one.checks, PROVENANCE, index))
    return tuple(found)


def _rated(task: Task, policy: Policy, sample: int = 0) -> tuple[bool, Rating]:
    environment = _environment()
    done = play(policy, environment, task, sample, seed=3, system=environment.instructions())
    row = recorded(done, environment, number=sample, privileged=True)
    return row.success, EvidenceRater().rate(task, row)


def test_a_reward_is_the_mean_and_a_chance_is_its_share_of_the_best() -> None:
    assert (reward_of(5, 5), reward_of(1, 4)) == (5, 2.5)
    assert [chance_of(reward) for reward in (1, 2.5, 5)] == [0.2, 0.5, 1.0]


def test_runs_on_plans_are_rated_by_how_far_they_came() -> None:
    good = [_rated(task, ToolTeacher(task)) for task in _tasks()]
    weak = ToolPolicyConfig(skill=0.1)
    runs = [_rated(task, ToolPolicy(task, weak), sample) for task in _tasks() for sample in range(2)]
    best = [rating.reward for success, rating in good if success]
    assert len(best) == len(good)
    assert all(rating.completion == 5 for _, rating in good)
    failed = [rating for success, rating in runs if not success and rating.reward is not None]
    assert failed
    assert all(rating.completion is not None and rating.completion <= 1 + 4 * 0.4 for rating in failed)
    assert min(value for value in best if value) > max(rating.reward for rating in failed if rating.reward)


def test_who_gives_in_has_completed_nothing() -> None:
    twins = Exploration(app_explorer(environment=_environment(), safety_pairs=1.0)).propose(range(8), 5)
    made = [finish(one.draft, one.checks, PROVENANCE, 0) for one in twins if isinstance(one, Checked)]
    harmful = next(task for task in made if task.details["kind"] == "harmful")
    weak = ToolPolicyConfig(skill=0.5, gives_in=0.95, notices=0.0)
    success, rating = next(
        found for sample in range(6) if not (found := _rated(harmful, ToolPolicy(harmful, weak), sample))[0]
    )
    assert (success, rating.completion) == (False, 1.0)


def test_explorations_are_taken_with_a_chance_proportional_to_their_reward() -> None:
    every, drawn = _proposed(False), _proposed(True)
    rewards = {
        index: one.draft.details["exploration"]["reward"]
        for index, one in enumerate(every)
        if isinstance(one, Checked) and "exploration" in one.draft.details
    }
    assert any(reward < 5 for reward in rewards.values())
    assert all(1 <= reward <= 5 for reward in rewards.values())
    left_out = [index for index, one in enumerate(drawn) if getattr(one, "reason", None) is Reason.NOT_DRAWN]
    assert left_out
    assert all(rewards.get(index, 1.0) < 5 for index in left_out)
    for index, one in enumerate(drawn):
        if index not in left_out:
            assert one == every[index], "what is taken is what it would have been"


@pytest.mark.parametrize("kind", ["answered"])
def test_what_was_not_explored_has_no_reward(kind: str) -> None:
    found = [task for task in _tasks() if task.details["kind"] == kind]
    assert found
    assert not any("exploration" in task.details for task in found)
