"""A task before its checks: what a proposer makes, what the checks judge, what the engine turns into a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from synth.identity import digest
from synth.schemas.documents import ValueKind
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonObject, NonEmpty, Row, Split
from synth.schemas.tasks import AnswerPart, CheckResult, Difficulty, Shape, Task, Walk

__all__ = ["Draft", "draft_of", "finish", "gold_documents", "gold_entities", "same_question", "task_id"]


class Draft(Row):
    """What a task's words and walk say. Fields mean what they mean in :class:`synth.schemas.tasks.Task`."""

    question: NonEmpty
    answer: NonEmpty
    answer_aliases: tuple[str, ...] = ()
    answer_kind: ValueKind
    answer_parts: tuple[AnswerPart, ...] = ()
    answer_ordered: bool = False
    obfuscation: int = 0
    environment: NonEmpty = "search"
    shape: Shape
    walk: Walk
    gold_entities: tuple[str, ...]
    gold_documents: tuple[str, ...]
    difficulty: Difficulty
    split: Split
    surface: str = ""
    licence: str | None = None
    details: JsonObject = {}


def draft_of(walk: Walk, licences: Iterable[str | None] = (), **fields: Any) -> Draft:
    """A draft over pages whose gold, difficulty and licence are those of its walk.

    Args:
        licences: Of its pages; the draft's is the one that all of them have.
        fields: The others of :class:`Draft`.
    """
    documents, stated = gold_documents(walk), set(licences)
    about = Difficulty(
        hops=len(walk.hops),
        constraints=sum(not hop.needs for hop in walk.hops),
        branching=1.0 if walk.hops else 0.0,
        documents=len(documents),
    )
    return Draft(
        shape=walk.shape,
        walk=walk,
        gold_entities=gold_entities(walk),
        gold_documents=documents,
        difficulty=about,
        licence=stated.pop() if len(stated) == 1 else None,
        **fields,
    )


def task_id(draft: Draft, source: str, prefix: str = "task") -> str:
    """``<prefix>-<16 hex>``: the hash of question, answer, walk and source. Equal tasks have equal ids."""
    walk = draft.walk.model_dump(mode="json")
    return f"{prefix}-{digest('task', draft.question, draft.answer, walk, source)[:16]}"


def finish(
    draft: Draft, checks: Sequence[CheckResult], provenance: Provenance, index: int, *, prefix: str = "task"
) -> Task:
    """The row for a draft that passed.

    Raises:
        ValueError: no check ran, or one of them did not pass (a task that failed a check must never become a row), or
            a hop's cue is not in the question, or a hop needs a later hop.
    """
    if not checks and draft.walk.hops:
        raise ValueError("a task needs the results of its checks")
    for check in checks:
        if check.outcome != "passed":
            raise ValueError(f"check {check.check} {check.outcome}: {check.detail}")
    for number, hop in enumerate(draft.walk.hops):
        if hop.cue not in draft.question:
            raise ValueError(f"hop {number}: cue {hop.cue!r} is not in the question")
        if any(need >= number or need < 0 for need in hop.needs):
            raise ValueError(f"hop {number} needs a hop that does not come before it")
    for number, operation in enumerate(draft.walk.operations):
        if operation.cue not in draft.question:
            raise ValueError(f"operation {number}: cue {operation.cue!r} is not in the question")
        if any(not 0 <= hop < len(draft.walk.hops) for hop in operation.over):
            raise ValueError(f"operation {number} is over a hop that does not exist")
        if operation.within is not None and not 0 <= operation.within < number:
            raise ValueError(f"operation {number} needs an operation that does not come before it")
    return Task(
        id=task_id(draft, provenance.source, prefix),
        **{name: getattr(draft, name) for name in Draft.model_fields},
        checks=tuple(checks),
        candidate_index=index,
        provenance=provenance,
    )


def gold_entities(walk: Walk) -> tuple[str, ...]:
    """Ids of the entities that must be found: every hop's target that has a page, in order of the walk, once each; for
    a comparison also the candidates that the question names, for the answer is one of them."""
    found = [hop.target.id for hop in walk.hops if hop.target.document_id is not None]
    if walk.shape == "comparison":
        over = {i for operation in walk.operations for i in operation.over}
        found += [hop.source.id for number, hop in enumerate(walk.hops) if number in over and not hop.needs]
    return tuple(dict.fromkeys(found))


def gold_documents(walk: Walk) -> tuple[str, ...]:
    """Ids of the documents whose evidence the walk needs, in order, once each."""
    return tuple(dict.fromkeys(hop.evidence.document_id for hop in walk.hops))


def same_question(task: Task | Draft) -> str:
    """Equal for tasks that ask the same: in the same words (case, blanks and punctuation apart) or by the same walk
    with the same operations. What is listed (constraints, members, the sides of a comparison) is the same in any order.
    """
    hops = [(hop.source.id, hop.relation, hop.forward, hop.target.id) for hop in task.walk.hops]
    if not hops:
        return digest("question", "".join(sign for sign in task.question.casefold() if sign.isalnum()))
    if not task.walk.operations:
        # A chain has one order anyway.
        return digest("walk", task.shape, hops if task.shape == "composition" else sorted(hops))
    done = [
        (op.kind, sorted(hops[i] for i in op.over), op.within, op.bound.id if op.bound is not None else None)
        for op in task.walk.operations
    ]
    return digest("walk", task.shape, sorted(hops), done)
