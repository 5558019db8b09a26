"""A finished dataset read again: its documents, its graph, its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from synth.graph.graph import Graph
from synth.schemas.arrow import from_arrow
from synth.schemas.details import details_with
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.row import Row, Split
from synth.schemas.tasks import Taken, Task
from synth.sources.dataset import edges_of, entities_of, files_digest, inverses_of, read_table
from synth.stages.contract import Batch, CandidateStage, Context, Outcome, StageConfig, TableStage

__all__ = ["DatasetTasks", "DatasetTasksConfig", "ReadDataset", "ReadDatasetConfig"]


class ReadDatasetConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """Folder of a finished dataset."""
    inverses: Mapping[str, str] = {}
    """Relation -> the one that it is read as, as the dataset's report says."""


class ReadDataset(TableStage[ReadDatasetConfig]):
    """Documents, entities and edges as the build of that dataset had them. An edition without texts has none."""

    name = "read_dataset"
    version = 1
    config_type = ReadDatasetConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "entities": Entity, "edges": Edge}
    arrays = "graph"
    libraries = ("numpy",)

    @classmethod
    def content_digest(cls, config: ReadDatasetConfig) -> str:
        return files_digest(config.path, ("documents", "entities", "facts"))

    def run(self) -> Batch:
        path = self.config.path
        documents, named, facts = (read_table(path, kind) for kind in (Document, EntityRow, FactRow))
        ids = documents.column("id").combine_chunks()
        entities = entities_of(named, ids)
        edges = edges_of(facts, entities.column("id").combine_chunks(), ids)
        graph = Graph.build(entities, edges, inverses_of(facts, self.config.inverses))
        return Batch(
            tables={"documents": documents, "entities": entities, "edges": edges},
            arrays=graph.to_arrays(),
            rows_in=len(documents),
            kept_in=len(documents),
        )


class DatasetTasksConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """Folder of a finished dataset."""
    splits: tuple[Split, ...] = Field(default=("test",), min_length=1)
    """Whose tasks are taken, in this order."""


class DatasetTasks(CandidateStage[DatasetTasksConfig]):
    """Candidate i is the i-th task of the dataset, as it stands there but for its provenance: that of this build."""

    name = "dataset_tasks"
    version = 1
    config_type = DatasetTasksConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}

    def __init__(self, config: DatasetTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = read_table(config.path, Task, config.splits)

    @classmethod
    def content_digest(cls, config: DatasetTasksConfig) -> str:
        return files_digest(config.path, ("tasks",), config.splits)

    def exhausted(self) -> int:
        return len(self._tasks)

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        rows: list[Any] = from_arrow(self._tasks.slice(start, stop - start), Task)
        return [Outcome(kept=(self._own(row),)) for row in rows]

    def _own(self, task: Task) -> Task:
        first = Taken.of(task.details).taken_from or task.provenance
        details = details_with(task.details, Taken(taken_from=first))
        return task.model_copy(update={"provenance": self.context.provenance, "details": details})
