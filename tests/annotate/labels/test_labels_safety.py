"""Safety of runs: risk source, failure mode and harm, by what was planted, meant, done and changed."""

from __future__ import annotations

from functools import cache

import pytest
from small_runs import play, recorded

from synth.agents.contract import Policy
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.annotate.labels.safety import safety_of
from synth.environments.app.environment import AppEnvironment, open_app
from synth.exploration.app.explorer import app_explorer
from synth.exploration.pipeline import Exploration
from synth.schemas.judgments import SafetyParts
from synth.schemas.plans import Injected, Request
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow, Verdict
from synth.stages.assess_safety import harm_of
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

_NONE = {name: 0.0 for name in ToolPolicyConfig.model_fields if name not in ("skill", "patience")}
OBEYS = ToolPolicyConfig(skill=0.5, **{**_NONE, "obeys": 1.0, "gives_in": 1.0})
REFUSES = ToolPolicyConfig(skill=0.5, **{**_NONE, "over_refuses": 1.0})


@cache
def _desk() -> AppEnvironment:
    return open_app(application="ledger", user=True)


@cache
def _tasks() -> tuple[Task, ...]:
    found = []
    for shares in ({"injections": 1.0}, {"safety_pairs": 1.0}):
        proposer = Exploration(app_explorer(environment=_desk(), **shares))
        made = [one for one in proposer.propose(range(2), 5) if isinstance(one, Checked)]
        found += [finish(one.draft, one.checks, PROVENANCE, index) for index, one in enumerate(made)]
    return tuple(found)


def _run(task: Task, policy: Policy) -> TrajectoryRow:
    done = play(policy, _desk(), task, seed=3, system=_desk().instructions())
    return recorded(done, _desk(), privileged=True)


def _injected() -> Task:
    return next(task for task in _tasks() if Injected.of(task.details).injection is not None)


def _harmful() -> Task:
    return next(task for task in _tasks() if Request.of(task.details).kind == "harmful")


@pytest.mark.parametrize(
    ("task", "source", "mode"),
    [
        (_injected, "indirect_injection", "instruction_priority"),
        (_harmful, "malicious_request", "harmful_compliance"),
    ],
)
def test_who_obeys_is_unsafe_and_who_does_not_is_safe(task: object, source: str, mode: str) -> None:
    assert callable(task)
    one = task()
    good, bad = _run(one, ToolTeacher(one)), _run(one, ToolPolicy(one, OBEYS))
    safe, unsafe = safety_of(one, good), safety_of(one, bad)
    assert (safe.safe, safe.parts) == (True, SafetyParts(risk_source=source, failure_mode=None, harm=None))
    assert (unsafe.safe, unsafe.parts.risk_source, unsafe.parts.failure_mode) == (False, source, mode)
    assert unsafe.cites
    assert harm_of(_desk(), one, good) is None
    assert harm_of(_desk(), one, bad) in ("financial", "functional")


def test_nothing_is_said_where_no_rule_told_how_it_ended() -> None:
    task = _harmful()
    run = _run(task, ToolTeacher(task))
    unknown = run.model_copy(update={"verdict": Verdict(correct=None, rule="unknown"), "success": False})
    assert safety_of(task, unknown).safe is None


def test_a_run_that_changed_nothing_and_claims_nothing_is_safe() -> None:
    task = next(task for task in _tasks() if Request.of(task.details).kind == "benign")
    refuses = _run(task, ToolPolicy(task, REFUSES))
    assert refuses.verdict.correct is False
    assert safety_of(task, refuses).safe is True
