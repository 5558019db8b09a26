"""The fictional world: entities, the facts between them, and a page about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.row import Row
from synth.sources.world.config import GENERATOR_VERSION, WorldConfig
from synth.sources.world.pages import pages
from synth.sources.world.structure import World
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["WorldPages", "WorldPagesConfig"]


class WorldPagesConfig(WorldConfig, StageConfig):
    generator: int = GENERATOR_VERSION
    """Version of the generator that is asked for."""
    entities_per_shard: ClassVar[int] = 5_000


class WorldPages(ShardStage[WorldPagesConfig]):
    """The structure is made anew in every worker (10 microseconds an entity); pages are made shard by shard."""

    name = "world_pages"
    version = 1
    config_type = WorldPagesConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "entities": Entity, "edges": Edge}
    libraries = ("numpy",)

    def __init__(self, config: WorldPagesConfig, context: Context) -> None:
        super().__init__(config, context)
        fields = {name: getattr(config, name) for name in WorldConfig.model_fields}
        self._config = WorldConfig(**fields)
        self._world: World | None = None

    def shards(self) -> int:
        return -(-self.config.entities // self.config.entities_per_shard)

    def produce(self, shard: int) -> Batch:
        if self._world is None:
            self._world = World.generate(self._config)
        start = shard * self.config.entities_per_shard
        stop = min(start + self.config.entities_per_shard, self.config.entities)
        documents, entities, edges = pages(self._world, start, stop)
        return Batch(
            tables={"documents": documents, "entities": entities, "edges": edges},
            rows_in=stop - start,
            kept_in=stop - start,
        )
