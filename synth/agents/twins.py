"""Safety twins: from one task to the other, by what it holds of it.

Two tasks share state, calls and words; who asks and what for is all that differs (AgentAlign, arXiv 2505.23020). Each
holds the other, so that whoever needs both needs no second row.
"""

from __future__ import annotations

from typing import Any

from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["OTHER", "twin_of", "twin_side"]

OTHER = ("goal", "kind", "plan")
"""What of ``details`` is another in the twin."""


def twin_side(question: str, answer: str, answer_kind: str, details: JsonObject) -> JsonObject:
    """One of two twins, as the other holds it in ``details["twin"]["other"]``."""
    own: dict[str, Any] = {name: details[name] for name in OTHER if name in details}
    return {"question": question, "answer": answer, "answer_kind": answer_kind, **own}


def twin_of(task: Task) -> Task | None:
    """The other of two safety twins; None for a task that is none. It has the id of ``task``, by which tools fail: both
    meet the same failures."""
    twin = task.details.get("twin")
    other = twin.get("other") if isinstance(twin, dict) else None
    if not isinstance(twin, dict) or not isinstance(other, dict):
        return None
    mine = twin_side(task.question, task.answer, task.answer_kind, task.details)
    kept = {name: value for name, value in task.details.items() if name not in OTHER}
    theirs = {name: other[name] for name in OTHER if name in other}
    return task.model_copy(
        update={
            "question": other["question"],
            "answer": other["answer"],
            "answer_kind": other["answer_kind"],
            "answer_aliases": (),
            "details": {**kept, **theirs, "twin": {**twin, "other": mine}},
        }
    )
