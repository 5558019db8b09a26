"""What the embedded expert proposes where the task has a plan: the planned call by the tool that was used, the
teacher's next turn, what else of the plan can be done now, and the end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from synth.agents.contract import Turn
from synth.agents.plan_view import PlanView
from synth.agents.scripted.config import ToolTeacherConfig
from synth.agents.scripted.tool_agent.narration import GroundedNarration
from synth.agents.scripted.tool_agent.teacher import next_turn
from synth.agents.scripted.tool_agent.turn_builder import TurnBuilder
from synth.annotate.critical.contract import Point

__all__ = ["plan_turns"]


def plan_turns(point: Point, generator: np.random.Generator, *, patience: int) -> Iterator[Turn]:
    """Turns in order of promise, some of them equal. Each rests on what the history shows."""
    sure = ToolTeacherConfig(detour=0.0, verify=0.0, parallel=0.0, patience=patience)
    tools = {call.name for call in point.recorded.calls}
    builder = _builder(point, generator)
    if any(builder.meant(call) for call in builder.failed()):
        yield next_turn(builder, sure)  # nothing is known of what a call would have come to that got no answer
        return
    if builder.attempts():
        tools = set()  # what would be taken instead is no alternative before the first was tried
    # Pairs of the same kind of action teach most: the call that was meant, where what was made is near it.
    for number in builder.open():
        planned = builder.plan.calls[number]
        if builder.to_confirm(number) is not None:
            continue
        waits = planned.changes and any(builder.plan.calls[n].decides for n in builder.open() if n < number)
        if waits:
            continue  # what decides on it was not looked up yet
        if planned.tool in tools and builder.view.arguments(number) is not None and not builder.was_refused(number):
            yield _builder(point, generator).call(number)
            break
    yield next_turn(_builder(point, generator), sure, retries=False)
    fact = builder.fact()
    if fact is not None:
        yield _builder(point, generator).ask(fact)
    for number in builder.ready():
        if builder.attempts() and builder.plan.calls[number].changes:
            break
        if not builder.was_refused(number) and builder.to_confirm(number) is None:
            yield _builder(point, generator).call(number)
    if builder.view.complete:
        yield _builder(point, generator).end()


def _builder(point: Point, generator: np.random.Generator) -> TurnBuilder:
    view = PlanView.of(point.task, point.history)
    assert view is not None
    own = np.random.default_rng(int(generator.integers(2**63)))
    builder = TurnBuilder(point.task, point.prompt, point.history, own, view)
    builder.thoughts = GroundedNarration(point.prompt, point.history, own, terse=False)
    builder.explains = True
    builder.goes_on = not point.recorded.calls
    builder.at_stake = _at_stake(builder, point.recorded)
    return builder


def _at_stake(builder: TurnBuilder, recorded: Turn) -> tuple[str, ...]:
    """Arguments in which the recorded calls differ from the next planned call of their tool."""
    for call in recorded.calls:
        for number in builder.open():
            wanted = builder.view.arguments(number)
            if builder.plan.calls[number].tool == call.name and wanted is not None:
                return tuple(name for name in wanted if wanted[name] != call.arguments.get(name))
    return ()
