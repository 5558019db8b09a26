"""The checklist of a task: what is to be seen in a good run, each item with its weight (CM2, arXiv 2602.12268).

Half of the weight is on how the run ends, half on the way there; items of one half weigh alike. A reverse task has the
checklist of its plan; a walk has one of its own: of each hop, that its evidence was read and that its finding is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from synth.agents.credit import weights_of
from synth.schemas.plans import Planned
from synth.schemas.rl import Criterion, RubricItem
from synth.schemas.tasks import Task

__all__ = ["criteria_of"]


_Kind: TypeAlias = Literal["state", "call", "no_call", "answer", "evidence", "named"]
_Item: TypeAlias = tuple[str, _Kind, dict[str, Any]]
"""Text, kind, and what a rule looks at."""


def criteria_of(task: Task, rubric: Sequence[RubricItem]) -> tuple[Criterion, ...]:
    """The items of ``task``, as its plan or walk lists them; empty for questions that have neither."""
    found: list[_Item] = [*_of_walk(task, rubric)]
    if Planned.stand_in(task.details):
        found = [(item.text, item.kind, dict(item.details)) for item in Planned.of(task.details).plan.checklist]
    weights = weights_of([kind for _, kind, _ in found])
    return tuple(
        Criterion(text=text, kind=kind, weight=weight, details=details)
        for (text, kind, details), weight in zip(found, weights, strict=True)
    )


def _of_walk(task: Task, rubric: Sequence[RubricItem]) -> Iterator[_Item]:
    for item in rubric:
        for fact in item.facts:
            details = {"document_id": fact.document_id, "hop": fact.hop}
            yield f'Read for "{task.walk.hops[fact.hop].cue}" (hop {fact.hop + 1}).', "evidence", details
        yield f"Named: {item.names[0]}.", "named", {"entity": item.entity}
    if rubric:
        yield f"The answer is {task.answer}.", "answer", {}
