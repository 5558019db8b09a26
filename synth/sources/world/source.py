"""The fictional world as a source: how it is cut into shards, and what a shard holds."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from synth.identity import digest
from synth.sources.world.config import GENERATOR_VERSION, WorldConfig
from synth.sources.world.pages import pages
from synth.sources.world.structure import World

__all__ = ["SHARD_ENTITIES", "WorldConfig", "shard_count", "shard_range", "shard_tables", "source_digest", "world_of"]

SHARD_ENTITIES = 5_000
"""Entities per shard, always: the number of shards follows from the world, never from the workers."""


@lru_cache(maxsize=2)
def world_of(config: WorldConfig) -> World:
    """The world of a config, kept for the shards of this process."""
    return World.generate(config)


def shard_count(config: WorldConfig) -> int:
    """Number of shards of a world."""
    return -(-config.entities // SHARD_ENTITIES)


def shard_range(config: WorldConfig, shard: int) -> tuple[int, int]:
    """Ordinals ``(start, stop)`` of a shard.

    Raises:
        IndexError: the world has no such shard.
    """
    if not 0 <= shard < shard_count(config):
        raise IndexError(f"shard {shard} of {shard_count(config)}")
    start = shard * SHARD_ENTITIES
    return start, min(start + SHARD_ENTITIES, config.entities)


def shard_tables(config: WorldConfig, shard: int, *, source: str = "world") -> tuple[pa.Table, pa.Table, pa.Table]:
    """Documents, entities and edges of a shard; shards in order, concatenated, are the tables of the world."""
    start, stop = shard_range(config, shard)
    return pages(world_of(config), start, stop, source=source)


def source_digest(config: WorldConfig) -> str:
    """Stands for the content of the source in fingerprints: generator version and every parameter."""
    return digest("world", GENERATOR_VERSION, config.model_dump(mode="json"))
