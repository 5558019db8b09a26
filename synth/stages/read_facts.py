"""Facts of the user's as a graph with pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.row import Row
from synth.sources.facts.graph import open_facts
from synth.sources.facts.tables import TablesConfig
from synth.sources.facts.triples import TriplesConfig
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["ReadTables", "ReadTablesConfig", "ReadTriples", "ReadTriplesConfig"]


class ReadTriplesConfig(TriplesConfig, StageConfig):
    pass


class ReadTablesConfig(TablesConfig, StageConfig):
    pass


class ReadTriples(ShardStage[Any]):
    """A shard for every few thousand entities. Row i of ``documents`` is the page of entity i."""

    name = "read_triples"
    version = 27
    config_type: ClassVar[type[Any]] = ReadTriplesConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "entities": Entity, "edges": Edge}
    libraries = ("polars",)

    def __init__(self, config: ReadTriplesConfig | ReadTablesConfig, context: Context) -> None:
        super().__init__(config, context)
        self._graph = open_facts(config)

    @classmethod
    def content_digest(cls, config: ReadTriplesConfig | ReadTablesConfig) -> str:
        return config.own().content_digest()

    def shards(self) -> int:
        return self._graph.shards

    def produce(self, shard: int) -> Batch:
        documents, entities, edges = self._graph.tables(shard)
        rejected = [] if shard else list(self._graph.rejected)
        return Batch(
            tables={"documents": documents, "entities": entities, "edges": edges},
            rejected=rejected,
            rows_in=len(documents) + len(rejected),
            kept_in=len(documents),
        )


class ReadTables(ReadTriples):
    """The same for tables: an entity for each row, and for each thing that a column names."""

    name = "read_tables"
    version = 25
    config_type = ReadTablesConfig
