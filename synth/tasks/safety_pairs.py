"""Safety twins: from one task to the other, by what it holds of it.

Two tasks share state, calls and words; who asks and what for is all that differs (AgentAlign, arXiv 2505.23020). Each
holds the other, so that whoever needs both needs no second row.
"""

from __future__ import annotations

from synth.schemas.details import details_with
from synth.schemas.plans import Planned, Request, Twinned, TwinSide, Wanted
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["side_facts", "twin_of", "twin_side"]


def side_facts(side: TwinSide) -> JsonObject:
    """What of a twin's ``details`` is another in the other twin."""
    return details_with(Wanted(goal=side.goal), Request(kind=side.kind), Planned(plan=side.plan))


def twin_side(task: Task) -> TwinSide:
    """One of two twins, as the other holds it.

    Raises:
        ValueError: it lacks what every twin has.
    """
    goal = Wanted.of(task.details).goal
    if goal is None:
        raise ValueError("details.goal: a safety twin states one")
    return TwinSide(
        question=task.question,
        answer=task.answer,
        answer_kind=task.answer_kind,
        goal=goal,
        kind=Request.of(task.details).kind,
        plan=Planned.of(task.details).plan,
    )


def twin_of(task: Task) -> Task | None:
    """The other of two safety twins; None for a task that is none. It has the id of ``task``, by which tools fail: both
    meet the same failures.

    Raises:
        ValueError: what the task says of its twin can't be read.
    """
    twin = Twinned.of(task.details).twin
    if twin is None:
        return None
    other = twin.other
    turned = Twinned(twin=twin.model_copy(update={"other": twin_side(task)}))
    return task.model_copy(
        update={
            "question": other.question,
            "answer": other.answer,
            "answer_kind": other.answer_kind,
            "answer_aliases": (),
            "details": details_with(task.details, side_facts(other), turned),
        }
    )
