"""Repairs of steps that failed a safety twin: kept where all four checks hold, and only there."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from synth.agents.contract import Decision, History, Policy, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.agents.trajectory import history_of, steps_of, to_row
from synth.annotate.preferences.repair import RepairContext, failure_of, pareto_front, repair_pairs
from synth.environments.app.environment import AppEnvironment, open_app
from synth.exploration.app.explorer import app_explorer
from synth.exploration.pipeline import Exploration
from synth.identity import derive_generator
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.safety_pairs import twin_of
from synth.testing.corpus import PROVENANCE

WEAK = ToolPolicyConfig(skill=0.6, gives_in=0.6, over_refuses=0.3, notices=0.1)


@cache
def _environment() -> AppEnvironment:
    return open_app(application="ledger", user=True)


@cache
def _tasks() -> tuple[Task, ...]:
    changing = [name for name, tool in _environment().definition.tools.items() if tool.writes]
    proposer = Exploration(app_explorer(environment=_environment(), safety_pairs=1.0))
    found = []
    for index, one in enumerate(proposer.propose(range(10), 5)):
        if isinstance(one, Checked):
            draft = one.draft.model_copy(update={"details": {**one.draft.details, "changing": changing}})
            found.append(finish(draft, one.checks, PROVENANCE, index))
    return tuple(found)


def _run(task: Task, policy: Policy, sample: int = 0) -> TrajectoryRow:
    environment = _environment()
    done = rollout(
        policy,
        environment,
        task,
        system=environment.instructions(),
        limits=Limits(),
        generator_for_turn=lambda turn: derive_generator(3, task.id, sample, turn),
    )
    return to_row(done, environment, role="policy", number=sample, privileged=True, provenance=PROVENANCE)


@cache
def _failed() -> tuple[tuple[Task, TrajectoryRow], ...]:
    runs = [(task, _run(task, ToolPolicy(task, WEAK), sample)) for task in _tasks() for sample in range(3)]
    return tuple((task, run) for task, run in runs if failure_of(run, task) is not None)


def _repaired(task: Task, run: TrajectoryRow, policy: Any, proposals: int = 6, hinted: Any = None) -> Any:
    context = RepairContext(_environment(), policy, lambda *names: derive_generator(9, *names), hinted)
    return repair_pairs(run, task, context, proposals=proposals, provenance=PROVENANCE)


class _Refuses:
    """Says no whatever it is asked."""

    privileged = False

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(Turn(thought="I say no.", answer="I'm sorry, I can't do this for you."))


def _helps(task: Task) -> Policy:
    """Does whatever it is asked: on the harmful twin, what the harmless one wants."""
    other = twin_of(task) if task.details["kind"] == "harmful" else None
    meant = task if other is None else task.model_copy(update={"details": other.details})
    return ToolTeacher(meant)


def test_both_ways_to_fail_are_repaired_by_the_policy_that_failed() -> None:
    assert {failure_of(run, task) for task, run in _failed()} == {"gave_in", "over_refused"}
    kept: Counter[str] = Counter()
    for task, run in _failed():
        found = _repaired(task, run, lambda one: ToolPolicy(one, WEAK))
        other = twin_of(task)
        assert other is not None
        _, history = history_of(run)
        for pair in found.rows:
            assert (pair.kind, pair.family, pair.selected) == (PairKind.REPAIR, "safety", True)
            assert pair.repair is not None
            kept[pair.repair.failure] += 1
            assert pair.chosen != pair.rejected
            for one, content in ((task, pair.repair.own), (other, pair.repair.twin)):
                episode = _environment().reset(one)
                steps = (*history[: pair.step], *steps_of(content, {}, gave_up=False, name=pair.id))
                for step in steps:
                    for call, before in zip(step.turn.calls, step.results, strict=True):
                        assert episode.step(call).content == before.content
                assert episode.check(steps[-1].turn.answer).correct is True
                assert bool(episode.difference()) == (one.details["kind"] == "benign")
                episode.close()
        for refused in found.rejected:
            assert refused.reason.value.startswith("repair_")
            assert refused.row_id.startswith(f"{run.id}/")
    assert set(kept) == {"gave_in", "over_refused"}


@pytest.mark.parametrize(
    ("failure", "policy", "reason"),
    [
        ("gave_in", lambda task: _Refuses(), Reason.REPAIR_OVER_REFUSES),
        ("gave_in", _helps, Reason.REPAIR_UNSAFE),
        ("over_refused", _helps, Reason.REPAIR_UNSAFE),
        ("over_refused", lambda task: _Refuses(), Reason.REPAIR_SAME),
    ],
)
def test_who_refuses_or_helps_whatever_is_asked_repairs_nothing(failure: str, policy: Any, reason: Reason) -> None:
    """``repair_same`` may stand beside it: the helper may begin as the failed run did."""
    task, run = next((task, run) for task, run in _failed() if failure_of(run, task) == failure)
    found = _repaired(task, run, policy, proposals=2)
    assert not found.rows
    reasons = {one.reason for one in found.rejected}
    assert reasons <= {reason, Reason.REPAIR_SAME}
    assert reasons


def test_hinted_turns_repair_what_the_policy_alone_does_not() -> None:
    """Who does whatever it is asked never comes upon the refusal; told so once, it refuses, and still helps the other
    twin."""
    task, run = next((task, run) for task, run in _failed() if failure_of(run, task) == "gave_in")

    alone, told = (_repaired(task, run, _helps, 2, hinted) for hinted in (None, ToolTeacher))
    assert not alone.rows
    assert told.rows
    for pair in told.rows:
        assert pair.repair is not None
        assert (pair.repair.hinted, pair.repair.candidate, pair.repair.tried, pair.repair.passed) == (True, 1, 2, 1)


def test_the_front_keeps_what_no_other_repair_beats() -> None:
    pair = next(pair for task, run in _failed() for pair in _repaired(task, run, ToolTeacher).rows)
    assert pair.repair is not None

    def taking(own: int, twin: int, answer: str) -> PreferenceRow:
        chosen = (pair.chosen[0].model_copy(update={"content": answer}), *pair.chosen[1:])
        return pair.model_copy(
            update={"chosen": chosen, "repair": pair.repair.model_copy(update={"turns": (own, twin)})}
        )

    passed = [taking(3, 3, "a"), taking(1, 4, "b"), taking(2, 2, "c"), taking(2, 2, "d"), taking(2, 5, "e")]
    assert [one.repair.turns for one in pareto_front(passed) if one.repair is not None] == [(1, 4), (2, 2)]


def test_a_run_that_did_well_or_failed_otherwise_is_not_repaired() -> None:
    harmful = next(task for task in _tasks() if task.details["kind"] == "harmful")
    benign = next(task for task in _tasks() if task.details["kind"] == "benign")
    assert failure_of(_run(harmful, ToolTeacher(harmful)), harmful) is None
    clumsy = ToolPolicyConfig(skill=0.5, wrong_value=0.95, over_refuses=0.0)
    runs = [_run(benign, ToolPolicy(benign, clumsy), sample) for sample in range(4)]
    assert any(run.verdict.correct is False for run in runs)
    assert all(failure_of(run, benign) is None for run in runs)
    assert _repaired(benign, runs[0], _helps).rows == ()


def test_each_twin_holds_the_other() -> None:
    for task in _tasks():
        other = twin_of(task)
        assert other is not None
        assert {task.details["kind"], other.details["kind"]} == {"harmful", "benign"}
        again = twin_of(other)
        assert again is not None
        assert (again.question, again.answer) == (task.question, task.answer)
        assert {name: again.details[name] for name in ("goal", "kind", "plan")} == {
            name: task.details[name] for name in ("goal", "kind", "plan")
        }
