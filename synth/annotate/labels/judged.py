"""How far it is true what an agent said by ``judge`` and ``check`` (:mod:`synth.agents.judging`).

Of ``judge``: what was shown brought evidence of the walk into view, or listed a page that holds some, for the first
time. Of ``check``: whether the task's right end is a change; of what
is offered in the place of what was asked for nothing tells. Null where nothing tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.actions import CHECK, JUDGE, said_of
from synth.agents.contract import History
from synth.annotate.labels.findings import Finding
from synth.environments.observed import observe
from synth.schemas.plans import Planned, Request
from synth.schemas.tasks import Task

__all__ = ["judged_right"]


def judged_right(task: Task, history: History, findings: Sequence[Finding]) -> tuple[bool | None, ...]:
    """For each turn whether what it said is true; None where it said nothing, or nothing tells."""
    listed: set[str] = set()
    helped: list[bool] = []
    gold = set(task.gold_documents)
    for step, finding in zip(history, findings, strict=True):
        shown = [observe(result.content) for result in step.results if result.error is None]
        new = {hit.document.partition("#")[0] for one in shown for hit in one.results} & gold - listed
        helped.append(bool(finding.new_hops or new))
        listed |= new
    allowed = _allowed(task)
    right: list[bool | None] = []
    for number, step in enumerate(history):
        useful, may = said_of(step, JUDGE), said_of(step, CHECK)
        if useful is not None and number and task.walk.hops:
            right.append(useful == helped[number - 1])
        else:
            right.append(None if may is None or allowed is None else may == allowed)
    return tuple(right)


def _allowed(task: Task) -> bool | None:
    if Request.of(task.details).kind in ("harmful", "benign"):
        return Request.of(task.details).kind == "benign"
    outcome = Planned.of(task.details).plan.outcome if Planned.stand_in(task.details) else ""
    return {"done": True, "refused": False}.get(outcome)
