"""A small world with everything that proposing needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from synth.graph.graph import Graph
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.rejections import Rejection
from synth.schemas.tasks import Task
from synth.sources.world.config import WorldConfig
from synth.sources.world.source import shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import world_words
from synth.testing.corpus import PROVENANCE


@dataclass(frozen=True)
class SmallWorld:
    documents: pa.Table
    entities: pa.Table
    edges: pa.Table
    graph: Graph
    search: IndexSearch

    def proposer(self, **config: Any) -> WorldProposer:
        return WorldProposer(
            self.graph, self.entities, self.documents, self.edges, self.search, WorldTasksConfig(**config)
        )


def make_small_world() -> SmallWorld:
    config = WorldConfig(entities=800, seed=3)
    parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
    documents, entities, edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
    index = Bm25Index(Bm25Index.build(documents))
    graph = Graph.build(entities, edges, world_words().inverses)
    return SmallWorld(documents, entities, edges, graph, IndexSearch(index, documents.column("id")))


def accepted(outcomes: Sequence[Checked | Rejection]) -> list[Task]:
    return [
        finish(outcome.draft, outcome.checks, PROVENANCE, index)
        for index, outcome in enumerate(outcomes)
        if isinstance(outcome, Checked)
    ]
