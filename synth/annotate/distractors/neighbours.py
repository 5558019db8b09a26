"""Hard negatives of retrieval: pages near the question or near a piece of evidence, by words or by vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from synth.schemas.distractors import DistractorKind
from synth.schemas.tasks import Task

__all__ = ["Near", "Ranked", "near_pages", "queries_of"]


class Ranked(Protocol):
    @property
    def document(self) -> int: ...

    @property
    def score(self) -> float: ...


@dataclass(frozen=True)
class Near:
    """A page near a query."""

    document_id: str
    kind: DistractorKind
    method: str
    query: str
    rank: int
    score: float


def queries_of(task: Task) -> tuple[str, ...]:
    """The question, then the words of each hop's evidence, in order, once each."""
    return tuple(dict.fromkeys((task.question, *(hop.evidence.quote for hop in task.walk.hops))))


def near_pages(
    task: Task,
    search: Callable[[Sequence[str], int], Sequence[Sequence[Ranked]]],
    ids: Callable[[Sequence[int]], Sequence[str]],
    *,
    kind: DistractorKind,
    method: str,
    depth: int,
    without: Collection[str],
) -> list[Near]:
    """Pages within ``depth`` results of any query of the task, once each, none of ``without``.

    ``search(queries, k)`` ranks documents by row number, best first, one list per query; ``ids`` gives the ids of row
    numbers. Queries take turns, rank by rank, so that a short list holds neighbours of every piece of evidence.
    """
    found: dict[str, Near] = {}
    queries = queries_of(task)
    lists = list(zip(queries, search(queries, depth), strict=True))
    numbers = sorted({hit.document for _, hits in lists for hit in hits})
    names = dict(zip(numbers, ids(numbers), strict=True))
    for place in range(depth):
        for query, hits in lists:
            if place < len(hits):
                name = names[hits[place].document]
                if name not in without and name not in found:
                    score = round(float(hits[place].score), 4)
                    found[name] = Near(name, kind, method, query, place + 1, score)
    return list(found.values())
