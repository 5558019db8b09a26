"""A task that says nothing but where it begins: what an episode needs while the task itself is still to be made."""

from __future__ import annotations

from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Difficulty, Task, Walk

__all__ = ["blank_task"]

_NOWHERE = Provenance(
    dataset="-", stage="reverse", stage_version=1, fingerprint="-", seed=0, source="-", source_sha256="-"
)


def blank_task(name: str, environment: str, details: JsonObject) -> Task:
    """``name`` tells beginnings apart, and failures are drawn by it; ``details`` are what the environment begins from.

    It is never a row of a dataset.
    """
    return Task(
        id=f"reverse-{name}",
        question="-",
        answer="-",
        answer_kind="text",
        environment=environment,
        shape="reverse",
        walk=Walk(shape="reverse", hops=()),
        gold_entities=(),
        gold_documents=(),
        difficulty=Difficulty(hops=0, constraints=0, branching=1.0, documents=0),
        checks=(),
        split="train",
        candidate_index=0,
        details=details,
        provenance=_NOWHERE,
    )
