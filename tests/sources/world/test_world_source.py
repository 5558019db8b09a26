"""Sharding and identity of the world as a source."""

from __future__ import annotations

import itertools

import pytest

from synth.sources.world.source import (
    SHARD_ENTITIES,
    WorldConfig,
    shard_count,
    shard_range,
    source_digest,
    world_of,
)


@pytest.mark.parametrize("entities", [300, SHARD_ENTITIES, SHARD_ENTITIES + 1, 3 * SHARD_ENTITIES - 1])
def test_shards_cover_the_world_once(entities: int) -> None:
    config = WorldConfig(entities=entities)
    ranges = [shard_range(config, shard) for shard in range(shard_count(config))]
    assert ranges[0][0] == 0
    assert ranges[-1][1] == entities
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ranges))
    assert all(0 < stop - start <= SHARD_ENTITIES for start, stop in ranges)
    for wrong in (-1, len(ranges)):
        with pytest.raises(IndexError):
            shard_range(config, wrong)


def test_digest_changes_with_every_parameter() -> None:
    base = WorldConfig()
    others = [
        WorldConfig(entities=2_001),
        WorldConfig(seed=1),
        WorldConfig(lookalikes=0.1),
        WorldConfig(cross=0.2),
        WorldConfig(train=0.7, test=0.2),
    ]
    digests = {source_digest(config) for config in (base, *others)}
    assert len(digests) == len(others) + 1
    assert source_digest(WorldConfig()) == source_digest(base)


def test_world_is_made_once_per_process() -> None:
    config = WorldConfig(entities=300, seed=5)
    assert world_of(config) is world_of(WorldConfig(entities=300, seed=5))
