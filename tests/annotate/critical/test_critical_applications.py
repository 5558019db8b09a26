"""Branching knows no environment: it works on an application as it does on search."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from small_runs import play, recorded
from stand_ins.planted import generators

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits
from synth.annotate.critical.branching import Branching, BranchPoint
from synth.annotate.critical.config import CriticalConfig
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.contract import ToolCall
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.testing.corpus import small_tasks


@cache
def ledger() -> AppEnvironment:
    return open_app(application="ledger", failures={"rate": 0.2, "seed": 4})


LIMITS = Limits(max_turns=12)


class Script:
    """Makes the calls of a list, one a turn, each again as long as the tool fails, and then says that it is done."""

    privileged = False

    def __init__(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        self.calls = calls

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        at = sum(all(result.error != "failure" for result in step.results) for step in history)
        if at >= len(self.calls):
            return Decision(Turn(answer="Done."))
        name, arguments = self.calls[at]
        return Decision(Turn(calls=(ToolCall(id="x", name=name, arguments=arguments),)))


def keys(environment: AppEnvironment, task: Task) -> tuple[str, str, str]:
    episode = environment.reset(task)
    wallet = episode.look("SELECT account_id FROM accounts WHERE name = 'Wallet'")[0]["account_id"]
    coffee = episode.look("SELECT payee_id FROM payees WHERE name = 'Corner Roast House'")[0]["payee_id"]
    other = episode.look("SELECT payee_id FROM payees WHERE name = 'Corner Roast Express'")[0]["payee_id"]
    return wallet, coffee, other


def spent(wallet: str, payee: str) -> tuple[str, dict[str, Any]]:
    return "add_transaction", {
        "account_id": wallet,
        "date": "2031-03-17",
        "payee_id": payee,
        "amount_cents": 512,
        "direction": "out",
    }


def run(task: Task, calls: list[tuple[str, dict[str, Any]]]) -> TrajectoryRow:
    return recorded(play(Script(calls), ledger(), task, seed=0, system="Help.", limits=LIMITS), ledger())


def test_a_recorded_run_is_restored_another_action_is_put_in_and_the_run_goes_on() -> None:
    task = small_tasks()[0].model_copy(update={"environment": ledger().name, "details": {}})
    wallet, coffee, other = keys(ledger(), task)
    around = ("list_accounts", {}), ("find_payee", {"name": "corner roast"}), ("list_goals", {})
    right = [around[0], around[1], spent(wallet, coffee), around[2]]
    wrong = [around[0], around[1], spent(wallet, other), around[2]]
    wanted = ledger().reset(task)
    for number, (name, arguments) in enumerate(right):
        while wanted.step(ToolCall(id=f"g{number}", name=name, arguments=arguments)).error == "failure":
            pass
    task = task.model_copy(update={"details": {"goal": wanted.goal().model_dump(mode="json")}})
    row = run(task, wrong)
    assert (row.success, row.stop_reason) == (False, StopReason.ANSWERED)
    branching = Branching.open(row, task, ledger(), CriticalConfig())
    assert isinstance(branching, Branching)
    assert branching.refused is None
    assert branching.steps == row.turns
    at = next(n for n, step in enumerate(branching.history) if step.results[0].content.startswith("TX"))
    failed = [step for step in branching.history if step.turn.calls and step.results[0].error == "failure"]
    assert failed, "the record holds no failure of a tool: choose another seed"
    name, arguments = spent(wallet, coffee)
    put = Turn(calls=(ToolCall(id="x", name=name, arguments=arguments),))
    policy = Script(right)
    flipped = branching.run(policy, BranchPoint(at, "alternative", 0), put, 0, generators())
    control = branching.run(Script(wrong), BranchPoint(at, "original"), branching.history[at].turn, 0, generators())
    again = branching.run(policy, BranchPoint(at, "alternative", 0), put, 0, generators())
    assert (flipped.success, flipped.verdict.rule) == (True, "state")
    assert (control.success, control.verdict.rule) == (False, "state")
    assert "missing: new transaction: " in control.verdict.evidence
    assert "not wanted: new transaction: " in control.verdict.evidence
    assert again == flipped
    late = branching.run(policy, BranchPoint(at + 1, "original"), branching.history[at + 1].turn, 0, generators())
    assert late.success is False
    branching.close()
