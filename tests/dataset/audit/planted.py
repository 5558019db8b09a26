"""Broken tasks, planted in the Parquet of a finished dataset. Ids are hashed anew: nothing but the damage shows."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import synth
from synth.dataset.configs import config_named
from synth.identity import digest
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Evidence
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.row import Row
from synth.schemas.tasks import Hop, Node, Task
from synth.tasks.draft import gold_documents, gold_entities

TASKS = 48

Plant = Callable[["Planter"], str]
"""Breaks something and says the id of the row that must be found."""


class Rows:
    """The rows of a dataset, read once."""

    def __init__(self, folder: Path) -> None:
        dataset = synth.load(folder)
        self.folder = folder
        self.tasks: list[Task] = list(dataset.rows("tasks"))
        self.facts: list[FactRow] = list(dataset.rows("facts"))
        self.entities: dict[str, EntityRow] = {row.id: row for row in dataset.rows("entities")}
        self.texts: dict[str, str] = {
            name: text
            for batch in dataset.batches("documents", columns=["id", "text"])
            for name, text in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        }


class Planter:
    """A copy of a dataset's folder to be broken, with the rows as they were."""

    def __init__(self, rows: Rows, folder: Path) -> None:
        self.folder = Path(shutil.copytree(rows.folder, folder))
        self.tasks, self.facts, self.entities, self.texts = rows.tasks, rows.facts, rows.entities, rows.texts

    def pick(self, fits: Callable[[Task], object]) -> Task:
        """The first task that fits: there must be one, or the test would show nothing."""
        return next(task for task in self.tasks if fits(task))

    def chain(self, least: int = 2) -> Task:
        return self.pick(lambda task: task.shape == "composition" and len(task.walk.hops) >= least)

    def join(self, least: int = 2) -> Task:
        return self.pick(
            lambda task: (
                task.shape == "conjunction"
                and len(task.walk.hops) >= least
                and all(hop.target.id == task.walk.hops[0].target.id for hop in task.walk.hops)
            )
        )

    def with_operation(self, *kinds: str) -> tuple[Task, int]:
        task = self.pick(lambda task: any(operation.kind in kinds for operation in task.walk.operations))
        return task, next(n for n, operation in enumerate(task.walk.operations) if operation.kind in kinds)

    def put(self, task: Task, **changes: Any) -> str:
        """Change a task in its file; its new id comes back."""
        new = task.model_copy(update=changes)
        walk = new.walk.model_dump(mode="json")
        new = new.model_copy(
            update={"id": f"task-{digest('task', new.question, new.answer, walk, new.provenance.source)[:16]}"}
        )
        self.rewrite("tasks", Task, lambda rows: [new if row.id == task.id else row for row in rows])
        return new.id

    def hop(self, task: Task, number: int, **changes: Any) -> str:
        return self.put(task, walk=walk_with(task, number, **changes))

    def evidence(self, task: Task, number: int, **changes: Any) -> str:
        return self.hop(task, number, evidence=task.walk.hops[number].evidence.model_copy(update=changes))

    def operation(self, task: Task, number: int, **changes: Any) -> str:
        operations = list(task.walk.operations)
        operations[number] = operations[number].model_copy(update=changes)
        last = operations[-1].result
        answer = {"answer": last[0].name} if number == len(operations) - 1 and len(last) == 1 else {}
        walk = task.walk.model_copy(update={"operations": tuple(operations)})
        return self.put(task, walk=walk, **answer)

    def rewrite(self, config: str, row_type: type[Row], change: Callable[[list[Any]], list[Any]]) -> None:
        for path in sorted((self.folder / config).glob("*.parquet")):
            rows = from_arrow(pq.read_table(path), row_type)
            pq.write_table(to_arrow(change(rows), row_type), path, compression="zstd", write_page_index=True)

    def new_file(self, config: str, table: pa.Table, row_id: str) -> str:
        """A table that the dataset did not have; the id of its row comes back."""
        (self.folder / config).mkdir()
        pq.write_table(table, self.folder / config / "train-00000-of-00001.parquet")
        return row_id

    def change_rows(self, config: str, change: Callable[[list[Any]], list[Any]]) -> None:
        self.rewrite(config, config_named(config).row_type, change)

    def add_fact(self, like: FactRow, **changes: Any) -> None:
        more = to_arrow([like.model_copy(update=changes)], FactRow)
        self._facts(lambda table: pa.concat_tables([table, more]))

    def remove_fact(self, fact: FactRow) -> None:
        def without(table: pa.Table) -> pa.Table:
            fields = ("subject", "relation", "document_id", "start")
            same = [pc.equal(table.column(name), getattr(fact, name)) for name in fields]
            return table.filter(pc.invert(functools.reduce(pc.and_, same)))

        self._facts(without)

    def _facts(self, change: Callable[[pa.Table], pa.Table]) -> None:
        (path,) = (self.folder / "facts").glob("*.parquet")
        pq.write_table(change(pq.read_table(path)), path, compression="zstd", write_page_index=True)

    def fact_of(self, hop: Hop) -> FactRow:
        """The fact behind a hop."""
        span = (hop.evidence.document_id, hop.evidence.start, hop.evidence.end)
        ends = {hop.source.id, hop.target.id}
        return next(
            fact
            for fact in self.facts
            if (fact.document_id, fact.start, fact.end) == span and {fact.subject, fact.object or fact.value} == ends
        )

    def others(self, kind: str, *without: str) -> Iterator[EntityRow]:
        return (row for row in self.entities.values() if row.kind == kind and row.id not in without)


def without_hops(task: Task, gone: set[int]) -> Any:
    """The walk without some hops; what refers to the others is renumbered."""
    kept = [number for number in range(len(task.walk.hops)) if number not in gone]
    place = {number: new for new, number in enumerate(kept)}
    hops = []
    for number in kept:
        hop = task.walk.hops[number]
        hops.append(hop.model_copy(update={"needs": tuple(place[need] for need in hop.needs if need in place)}))
    operations = tuple(
        operation.model_copy(update={"over": tuple(place[number] for number in operation.over if number in place)})
        for operation in task.walk.operations
    )
    return task.walk.model_copy(update={"hops": tuple(hops), "operations": operations})


def with_walk(task: Task, walk: Any, **changes: Any) -> dict[str, Any]:
    """Changes that put a walk in, with gold and difficulty of it."""
    return {
        "walk": walk,
        "gold_entities": gold_entities(walk),
        "gold_documents": gold_documents(walk),
        "difficulty": task.difficulty.model_copy(update={"hops": len(walk.hops)}),
        **changes,
    }


def walk_with(task: Task, number: int, **changes: Any) -> Any:
    hops = list(task.walk.hops)
    hops[number] = hops[number].model_copy(update=changes)
    return task.walk.model_copy(update={"hops": tuple(hops)})


def node_of(row: EntityRow) -> Node:
    return Node(id=row.id, name=row.name, aliases=row.aliases, kind=row.kind, document_id=row.document_id)


def span(planter: Planter, document: str, start: int, end: int) -> Evidence:
    return Evidence(document_id=document, start=start, end=end, quote=planter.texts[document][start:end])
