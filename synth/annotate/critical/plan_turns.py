"""What the embedded expert proposes where the task has a plan: the planned call by the tool that was used, the
teacher's next turn, what else of the plan can be done now, and the end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from synth.agents.contract import Turn
from synth.agents.plan_view import PlanView
from synth.agents.scripted.doer.config import DoerTeacherConfig
from synth.agents.scripted.doer.doing import Doing
from synth.agents.scripted.doer.teacher import next_turn
from synth.annotate.critical.contract import Point

__all__ = ["plan_turns"]


def plan_turns(point: Point, generator: np.random.Generator, *, patience: int) -> Iterator[Turn]:
    """Turns in order of promise, some of them equal. Each rests on what the history shows."""
    sure = DoerTeacherConfig(detour=0.0, verify=0.0, parallel=0.0, patience=patience)
    tools = {call.name for call in point.recorded.calls}
    doing = _doing(point, generator)
    # Pairs of the same kind of action teach most: the call that was meant, where what was made is near it.
    for number in doing.open():
        planned = doing.plan.calls[number]
        if planned.tool in tools and doing.view.arguments(number) is not None and not doing.was_refused(number):
            yield _doing(point, generator).call(number)
            break
    yield next_turn(_doing(point, generator), sure)
    fact = doing.fact()
    if fact is not None:
        yield _doing(point, generator).ask(fact)
    for number in doing.ready():
        if not doing.was_refused(number):
            yield _doing(point, generator).call(number)
    if doing.view.complete:
        yield _doing(point, generator).end()


def _doing(point: Point, generator: np.random.Generator) -> Doing:
    view = PlanView.of(point.task, point.history)
    assert view is not None
    own = np.random.default_rng(int(generator.integers(2**63)))
    return Doing(point.task, point.prompt, point.history, own, view)
