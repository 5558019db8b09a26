"""The scripted teacher that carries out plans. It knows the plan and uses it for one thing: to choose what to do next.

Everything that it says and gives to tools stands in the question, in what the user said, in an observation or in the
description of a tool; ids are read from its own observations, whatever they were when the plan was made. Now and then
it looks at another row first and goes back (``detour``), and looks once more at what it changed (``verify``).
"""

from __future__ import annotations

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.plan_view import PlanView, alike, value_at
from synth.agents.scripted.doer.config import DoerTeacherConfig
from synth.agents.scripted.doer.doing import Doing
from synth.schemas.tasks import Task

__all__ = ["DoerTeacher", "next_turn"]

_AT_ONCE = 3
"""Look-ups in one turn at most."""


class DoerTeacher:
    """A policy (``synth.agents.contract.Policy``) for one task with a plan."""

    privileged = True

    def __init__(self, task: Task, config: DoerTeacherConfig | None = None) -> None:
        self._task = task
        self._config = config or DoerTeacherConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        view = PlanView.of(self._task, history)
        assert view is not None
        return Decision(next_turn(Doing(self._task, prompt, history, generator, view), self._config))


def next_turn(doing: Doing, config: DoerTeacherConfig) -> Turn:
    """What the teacher does next."""
    if not doing.tools or len(doing.history) >= config.patience:
        return doing.stuck()
    failed = doing.failed()
    if failed:
        return doing.retry(failed)
    attempts = doing.attempts()
    if attempts:
        return doing.attempt(attempts[0])
    ready = doing.ready()
    if ready:
        first = ready[0]
        if doing.was_refused(first):
            return doing.stuck()
        if not doing.plan.calls[first].changes:
            other = _detour(doing, first) if doing.draw(config.detour) else None
            if other is not None:
                return other
            looks = [number for number in ready if not doing.plan.calls[number].changes]
            if len(looks) > 1 and doing.draw(config.parallel):
                return doing.call(*looks[:_AT_ONCE])
        return doing.call(first)
    fact = doing.fact()
    if fact is not None:
        return doing.ask(fact)
    if not doing.view.complete:
        return doing.stuck()
    if doing.changed_now() and doing.draw(config.verify):
        checked = doing.check()
        if checked is not None:
            return checked
    return doing.end()


def _detour(doing: Doing, number: int) -> Turn | None:
    """Look at another row of the list first, once in a run at most."""
    if any(doing.strayed(call) for _, call, _ in doing.view.made):
        return None
    planned, arguments = doing.plan.calls[number], doing.view.arguments(number)
    ids = [(path, given) for path, given in planned.given.items() if given.source == "observation" and "." not in path]
    if arguments is None or len(ids) != 1 or ids[0][1].call not in doing.view.done:
        return None
    path, given = ids[0]
    value = value_at(arguments, path)
    assert given.call is not None
    shown = doing.view.done[given.call].result.content
    others = (
        [token for token in alike(value, shown, doing.task.question) if token != value]
        if isinstance(value, str)
        else []
    )
    if not others:
        return None
    other = others[int(doing.generator.integers(len(others)))]
    doing.thoughts.add("p_see_other", value=other)
    return doing.act(planned.tool, {**arguments, path: other})
