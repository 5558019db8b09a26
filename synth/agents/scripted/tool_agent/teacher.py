"""The scripted teacher that carries out plans. It knows the plan and uses it for one thing: to choose what to do next.

Everything that it says and gives to tools stands in the question, in what the user said, in an observation or in the
description of a tool; ids are read from its own observations, whatever they were when the plan was made. Now and then
it looks at another row first and goes back (``detour``), and looks once more at what it changed (``verify``).
"""

from __future__ import annotations

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.plan_view import PlanView, alike, value_at
from synth.agents.scripted.config import ToolTeacherConfig
from synth.agents.scripted.tool_agent.details import coded, details_of
from synth.agents.scripted.tool_agent.turn_builder import AT_ONCE, TurnBuilder
from synth.schemas.tasks import Task
from synth.text.sentences import sentences

__all__ = ["ToolTeacher", "next_turn"]


class ToolTeacher:
    """A policy (``synth.agents.contract.Policy``) for one task with a plan."""

    privileged = True

    def __init__(self, task: Task, config: ToolTeacherConfig | None = None) -> None:
        self._task = task
        self._config = config or ToolTeacherConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        view = PlanView.of(self._task, history)
        assert view is not None
        return Decision(next_turn(TurnBuilder(self._task, prompt, history, generator, view), self._config))


def next_turn(builder: TurnBuilder, config: ToolTeacherConfig, *, retries: bool = True) -> Turn:
    """What the teacher does next. Without ``retries`` a call that the tool failed on is made again only where the plan
    makes it: an agent that takes over a run does not repeat the other's mistakes."""
    if not builder.tools or len(builder.history) >= config.patience:
        return builder.stuck()
    failed = builder.failed()
    if failed and (retries or any(builder.meant(call) for call in failed)):
        return builder.retry(failed)
    note = builder.noted()
    if note is not None:
        builder.leave(note)
    attempts, ready = builder.attempts(), builder.ready()
    if attempts and all(builder.plan.calls[number].changes for number in ready):
        leave = builder.to_confirm(len(builder.plan.calls) + attempts[0])
        if leave is not None:
            return builder.confirm(leave)
        return builder.attempt(attempts[0])  # what can be looked up is, before anything is tried
    if ready:
        first = ready[0]
        if builder.was_refused(first):
            return builder.stuck()
        open_ = builder.left_open()
        if (builder.plan.calls[first].changes or builder.is_price(first)) and open_ is not None:
            return builder.ask(open_)  # what it happens to have seen is not what the user wants
        leave = builder.to_confirm(first)
        if leave is not None:
            return builder.confirm(leave)
        if not builder.plan.calls[first].changes:
            other = _detour(builder, first) if builder.draw(config.detour) else None
            if other is not None:
                return other
            looks = [number for number in ready if not builder.plan.calls[number].changes]
            if len(looks) > 1 and builder.draw(config.parallel):
                return builder.call(*looks[:AT_ONCE])
        return builder.call(first)
    fact = builder.fact()
    if fact is not None:
        return builder.ask(fact)
    if not builder.view.complete:
        return builder.stuck()
    if builder.changed_now() and builder.draw(config.verify):
        checked = builder.check()
        if checked is not None:
            return checked
    return builder.end()


def _in_common(request: str, line: str) -> int:
    """How much of a line fits a request: what both write, and codes of names ("GVA" of Geneva)."""
    return len(details_of(request, line)) + len(coded(request, line))


def _detour(builder: TurnBuilder, number: int) -> Turn | None:
    """Look at another row of the list first, once in a run at most: one that has something of what the user says."""
    if builder.changes() or any(builder.strayed(call) for _, call, _ in builder.view.made):
        return None
    planned, arguments = builder.plan.calls[number], builder.view.arguments(number)
    ids = [(path, given) for path, given in planned.given.items() if given.source == "observation" and "." not in path]
    if arguments is None or len(ids) != 1 or ids[0][1].call not in builder.view.done:
        return None
    path, given = ids[0]
    value = value_at(arguments, path)
    assert given.call is not None
    if not isinstance(value, str) or any(value in call.arguments.values() for _, call, _ in builder.view.made):
        return None
    request = builder.task.question
    lines = builder.view.done[given.call].result.content.split("\n")
    meant = [line for line in lines if value in line]
    # What is looked for belongs to the part that comes first: another part speaks of other rows.
    said = next((s for s in sentences(request) if any(_in_common(s, line) for line in meant)), request)
    least = max((_in_common(said, line) for line in meant), default=0)
    marks = builder.marks_on(number)  # what the other one lacks must be there to be said
    meant_later = {str(value) for call in builder.plan.calls for value in call.arguments.values()}
    others = [
        token
        for line in lines
        if value not in line and _in_common(said, line) >= max(least, 1)
        if not all(details_of(mark, line) for mark in marks)
        for token in alike(value, line, request)
        if token not in meant_later
    ]
    if not others:
        return None
    other = others[int(builder.generator.integers(len(others)))]
    builder.thoughts.add("p_see_other", value=other)
    return builder.act(planned.tool, {**arguments, path: other})
