"""Pages told apart for a question: what states its evidence, and what only looks as if it did.

Prism-Reranker (arXiv 2604.23734) trains a reranker that says yes or no, what a page contributes, and the passage that
does it. The evidence of a walk says all three; distractors are the pages to which the answer is no.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pyarrow as pa

from synth.dataset.reader import Dataset
from synth.dataset.usage import usage
from synth.export.charts import MEASURED
from synth.export.contract import About, Format, Inexpressible, Record, TaskPages, Why
from synth.schemas.distractors import Distractor
from synth.schemas.documents import Document
from synth.schemas.facts import FactRow
from synth.schemas.tasks import Hop, Task

__all__ = ["RANKER", "task_pages"]

_AT_ONCE = 200
"""Tasks whose pages are in memory at once."""


_ALIKE = 400
"""Facts of one relation at most that go with a task."""


def task_pages(dataset: Dataset, split: str, *, facts: bool = False) -> Iterator[TaskPages]:
    """Every task of a split with its gold pages and its distractors; with ``facts``, comparable facts too."""
    waiting: list[Task] = []
    for task in dataset.rows("tasks", split):
        waiting.append(task)
        if len(waiting) == _AT_ONCE:
            yield from _with_pages(dataset, waiting, facts)
            waiting = []
    yield from _with_pages(dataset, waiting, facts)


def _with_pages(dataset: Dataset, tasks: Sequence[Task], facts: bool) -> Iterator[TaskPages]:
    astray: dict[str, list[Distractor]] = defaultdict(list)
    if "distractors" in dataset.configs:
        for one in dataset.among("distractors", "task_id", [task.id for task in tasks]):
            astray[one.task_id].append(one)
    wanted = {name for task in tasks for name in task.gold_documents}
    wanted |= {one.document_id for found in astray.values() for one in found}
    pages: dict[str, Document] = {page.id: page for page in dataset.among("documents", "id", sorted(wanted))}
    alike = _alike(dataset, tasks) if facts else {}
    for task in tasks:
        gold = tuple(pages[name] for name in task.gold_documents)
        near = tuple((one, pages[one.document_id]) for one in astray[task.id])
        told = tuple(one for relation in sorted(_measured(task)) for one in alike.get(relation, ()))
        yield TaskPages(task, gold, near, told)


def _measured(task: Task) -> set[str]:
    return {hop.relation for hop in task.walk.hops if hop.target.kind in MEASURED}


def _alike(dataset: Dataset, tasks: Sequence[Task]) -> dict[str, list[tuple[str, FactRow]]]:
    """Facts with the numeric relations of ``tasks``, all of one split, about entities that the split owns."""
    found: dict[str, list[FactRow]] = defaultdict(list)
    for fact in dataset.among("facts", "relation", sorted(set[str]().union(*map(_measured, tasks)))):
        if fact.value_kind in MEASURED and len(found[fact.relation]) < _ALIKE:
            found[fact.relation].append(fact)
    subjects = sorted({fact.subject for facts in found.values() for fact in facts})
    split = tasks[0].split if tasks else ""
    owned = {one.id: one.name for one in dataset.among("entities", "id", subjects) if one.partition == split}
    return {
        relation: [(owned[fact.subject], fact) for fact in facts if fact.subject in owned]
        for relation, facts in found.items()
    }


def _ranker(item: TaskPages, about: About, cut: int) -> list[Record]:
    task, hops = item.row, item.row.walk.hops
    if not item.gold or not hops:
        raise Inexpressible(Why.NO_EVIDENCE)
    needed = {number for hop in hops for number in hop.needs}
    made = []
    for page in item.gold:
        here = {n: hop for n, hop in enumerate(hops) if hop.evidence.document_id == page.id}
        grade = 2 if here.keys() - needed else 1
        made.append(_record(task, page, about) | _evidence(list(here.values())) | {"grade": grade, "label": 1.0})
    for one, page in item.astray:
        record = _record(task, page, about) | _evidence([])
        made.append(record | {"kind": one.kind, "searched": one.query or None, "rank": one.rank})
    return made


def _record(task: Task, page: Document, about: About) -> Record:
    return {
        "query": task.question,
        "passage": page.text,
        "label": 0.0,
        "grade": 0,
        "kind": "gold",
        "title": page.title,
        "searched": None,
        "rank": None,
        "document_id": page.id,
        "task_id": task.id,
        "source": about.dataset,
        "licence": page.licence,
    }


def _evidence(hops: Sequence[Hop]) -> Record:
    quotes = [hop.evidence for hop in hops]
    return {
        "contribution": "\n".join(dict.fromkeys(f"{hop.cue}: {hop.target.name}" for hop in hops)) or None,
        "evidence": "\n".join(dict.fromkeys(quote.quote for quote in quotes)) or None,
        "spans": [{"start": quote.start, "end": quote.end} for quote in quotes],
    }


_TEXT = pa.string()
RANKER = Format(
    name="ranker",
    summary="Pages with their relevance to a question, what they contribute and the words that do: for rerankers.",
    source="tasks",
    needs=("documents",),
    layout="parquet",
    convert=_ranker,
    columns={
        "query": _TEXT,
        "passage": _TEXT,
        "label": pa.float64(),
        "grade": pa.int64(),
        "contribution": _TEXT,
        "evidence": _TEXT,
        "spans": pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())])),
        "kind": _TEXT,
        "title": _TEXT,
        "searched": _TEXT,
        "rank": pa.int64(),
        **dict.fromkeys(("document_id", "task_id", "source", "licence"), _TEXT),
    },
    usage=usage("ranker"),
)
