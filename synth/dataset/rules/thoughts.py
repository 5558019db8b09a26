"""Rules of what agents think: a scripted teacher leaves out nothing, does what it says, and looks before it decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.agents.contract import History, Prompt
from synth.agents.grounding.consistency import inconsistencies
from synth.agents.plan_view import PlanView
from synth.agents.trajectory import history_of
from synth.dataset.rules.rules import Known, rule
from synth.schemas.plans import Planned, Policed
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow

__all__ = ["THOUGHT_RULES"]

_QUOTED = re.compile(r'"([^"]+)"')


@dataclass
class _Plans:
    tasks: dict[str, Task] = field(default_factory=dict)
    """Those with a plan, by id."""


@rule("trajectories", "content[]", text=True)
def thoughts(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """In good runs of a scripted teacher, thoughts leave out nothing of a list, a comparison or a conclusion, give a
    reason for every return, and match the action."""
    read = _read(row, known)
    if read is not None:
        for one in inconsistencies(*read):
            yield f"content: {one}"


@rule("tasks trajectories", text=True)
def diligence(row: Task | TrajectoryRow, known: Known) -> Iterator[str]:
    """In good runs of a scripted teacher, everything by which the policy decides was looked up before the change or the
    answer, the user was asked for what the request leaves open, and no rule is quoted but the one that decides."""
    plans = known.of(_Plans).tasks
    if isinstance(row, Task):
        if Planned.stand_in(row.details):
            plans[row.id] = row
        return
    task, read = plans.get(row.task_id), _read(row, known)
    if task is None or read is None:
        return
    prompt, history = read
    view = PlanView.of(task)
    assert view is not None
    needed = {number for number, call in enumerate(view.plan.calls) if call.decides}
    for step in history:
        view.take(step)
        last = step is history[-1]
        for call in step.turn.calls:
            number = next((n for n, made in view.done.items() if made.call is call), None)
            if number is not None and view.plan.calls[number].changes:
                needed -= set(view.done)
                skipped = sorted(n for n in needed if n < number)
                if skipped:
                    yield f"content: {call.name} before {view.name_of(skipped[0])!r}, by which it is decided"
                needed -= set(skipped)
        if last and needed - set(view.done):
            yield f"content: ends without {view.name_of(min(needed - set(view.done)))!r}, by which it is decided"
    for number, fact in enumerate(view.plan.user):
        if number not in view.told:
            yield f"content: the user is not asked for {fact.topic}"
    yield from _other_rules(task, prompt, history)


def _other_rules(task: Task, prompt: Prompt, history: History) -> Iterator[str]:
    """Rules of the policy that a thought quotes and that do not decide."""
    policed, plan = Policed.of(task.details), Planned.of(task.details).plan
    deciding = {rule.rstrip(".") for rules in policed.rules.values() for rule in rules} | {
        (plan.rule or "").rstrip(".")
    }
    policy = prompt.system.partition("## Policy")[2].split("\n")
    others = {line[2:].strip().rstrip(".") for line in policy if line.startswith("- ")} - deciding
    for step in history:
        for quote in _QUOTED.findall(step.turn.thought or ""):
            if quote.rstrip(".") in others:
                yield f"content: quotes {quote!r}, which does not decide"


def _read(row: TrajectoryRow, known: Known) -> tuple[Prompt, History] | None:
    """A good run of a scripted teacher; None for any other."""
    scripted = row.provenance.backend == "scripted" and row.model is None and row.environment != RECORDED
    if row.role != "teacher" or not row.success or not scripted or known.redacted:
        return None
    try:
        return history_of(row)
    except ValueError:
        return None  # the rules of the protocol say why


THOUGHT_RULES = (thoughts, diligence)
