"""The fictional world: entities, the facts between them, a page about each, and pages that lead astray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.row import Row
from synth.sources.world.config import WorldConfig
from synth.sources.world.distract_pages import distractor_shard, distractor_shards
from synth.sources.world.source import shard_count, shard_range, shard_tables, source_digest
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["WorldPages", "WorldPagesConfig"]


class WorldPagesConfig(WorldConfig, StageConfig):
    pass


class WorldPages(ShardStage[WorldPagesConfig]):
    """The structure is made anew in every worker (10 microseconds an entity); pages are made shard by shard.

    Row i of ``documents`` is the page of entity i; written distractors follow behind all of these.
    """

    name = "world_pages"
    version = 33
    config_type = WorldPagesConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {
        "documents": Document,
        "entities": Entity,
        "edges": Edge,
        "planted_misinformation": PlantedMisinformation,
    }
    libraries = ("numpy",)

    def __init__(self, config: WorldPagesConfig, context: Context) -> None:
        super().__init__(config, context)
        self._world = _world_config(config)

    @classmethod
    def content_digest(cls, config: WorldPagesConfig) -> str:
        """The generator and its parameters stand for the content: nothing is read."""
        return source_digest(_world_config(config))

    def shards(self) -> int:
        return shard_count(self._world) + distractor_shards(self._world)

    def produce(self, shard: int) -> Batch:
        first = shard_count(self._world)
        if shard >= first:
            written, falsehoods = distractor_shard(self._world, shard - first)
            return Batch(
                tables={"documents": written, "planted_misinformation": falsehoods},
                rows_in=len(written),
                kept_in=len(written),
            )
        documents, entities, edges = shard_tables(self._world, shard)
        start, stop = shard_range(self._world, shard)
        return Batch(
            tables={"documents": documents, "entities": entities, "edges": edges},
            rows_in=stop - start,
            kept_in=stop - start,
        )


def _world_config(config: WorldPagesConfig) -> WorldConfig:
    return WorldConfig(**{name: getattr(config, name) for name in WorldConfig.model_fields})
