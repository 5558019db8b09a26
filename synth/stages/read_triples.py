"""Facts of the user's as a graph with pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.row import Row
from synth.sources.triples.reading import TriplesConfig, content_digest
from synth.sources.triples.source import open_triples
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["ReadTriples", "ReadTriplesConfig"]


class ReadTriplesConfig(TriplesConfig, StageConfig):
    pass


class ReadTriples(ShardStage[ReadTriplesConfig]):
    """A shard for every few thousand entities. Row i of ``documents`` is the page of entity i."""

    name = "read_triples"
    version = 2
    config_type = ReadTriplesConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "entities": Entity, "edges": Edge}
    libraries = ("polars",)

    def __init__(self, config: ReadTriplesConfig, context: Context) -> None:
        super().__init__(config, context)
        self._graph = open_triples(config)

    @classmethod
    def content_digest(cls, config: ReadTriplesConfig) -> str:
        return content_digest(config)

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
