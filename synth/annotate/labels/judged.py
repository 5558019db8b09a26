"""How far it is true what an agent said by ``judge`` and ``check`` (:mod:`synth.agents.scripted.judging`).

Of ``judge``: whether what was shown helps (:func:`synth.agents.helping.helps`). Of ``check``: whether the task's right
end is a change; of what is offered in the place of what was asked for nothing tells. Null where nothing tells.
"""

from __future__ import annotations

from synth.agents.actions import CHECK, JUDGE, said_of
from synth.agents.contract import History
from synth.agents.helping import helps
from synth.schemas.plans import Planned, Request
from synth.schemas.tasks import Task

__all__ = ["judged_right"]


def judged_right(task: Task, history: History) -> tuple[bool | None, ...]:
    """For each turn whether what it said is true; None where it said nothing, or nothing tells."""
    allowed = _allowed(task)
    right: list[bool | None] = []
    for number, step in enumerate(history):
        useful, may = said_of(step, JUDGE), said_of(step, CHECK)
        helped = helps(task, history, number - 1) if useful is not None and number else None
        if helped is not None:
            right.append(useful == helped)
        else:
            right.append(None if may is None or allowed is None else may == allowed)
    return tuple(right)


def _allowed(task: Task) -> bool | None:
    if Request.of(task.details).kind in ("harmful", "benign"):
        return Request.of(task.details).kind == "benign"
    outcome = Planned.of(task.details).plan.outcome if Planned.stand_in(task.details) else ""
    return {"done": True, "refused": False}.get(outcome)
