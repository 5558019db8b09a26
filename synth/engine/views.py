"""What a finished stage run holds: its tables as parts of committed shards, and its counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.engine.units import REJECTED, UNITS, Counts, count_units
from synth.schemas.rejections import Rejection
from synth.stages.contract import Stage
from synth.store.shards import Manifest
from synth.store.tables import Part, StoredTable

__all__ = ["StageView", "batch_view", "cut", "view_of"]


@dataclass(frozen=True)
class StageView:
    """A finished stage run, for a certain N where its tables grow."""

    tables: Mapping[str, StoredTable]
    rejected: StoredTable
    counts: Counts
    shards: int
    bytes: int
    arrays: Mapping[str, Path] = field(default_factory=dict)


def view_of(
    stage: type[Stage[Any]],
    parts: Mapping[str, Sequence[Part]],
    counts: Counts,
    manifests: Sequence[Manifest],
    arrays: Mapping[str, Path] | None = None,
) -> StageView:
    """A view from its parts by table (``_rejected`` among them)."""
    return StageView(
        tables={name: StoredTable(row_type, parts[name]) for name, row_type in stage.writes.items()},
        rejected=StoredTable(Rejection, parts[REJECTED]),
        counts=counts,
        shards=len(manifests),
        bytes=sum(manifest.bytes for manifest in manifests),
        arrays=arrays or {},
    )


def batch_view(stage: type[Stage[Any]], manifests: Sequence[Manifest]) -> StageView:
    """All of all shards, in order.

    Raises:
        ValueError: two shards wrote an array of the same name.
    """
    arrays: dict[str, Path] = {}
    for manifest in manifests:
        own = manifest.arrays()
        twice = sorted(set(arrays) & set(own))
        if twice:
            raise ValueError(f"{stage.name}: two shards wrote the array {twice[0]!r}; a shard names its arrays")
        arrays |= own
    parts = {name: [manifest.part(name) for manifest in manifests] for name in (*stage.writes, REJECTED)}
    return view_of(stage, parts, total(Counts.of_facts(manifest.facts) for manifest in manifests), manifests, arrays)


def cut(stage: type[Stage[Any]], manifest: Manifest, units: int) -> tuple[dict[str, Part], Counts]:
    """The first ``units`` units of a shard of a row stage: its part of each table, and the counts."""
    table = manifest.open(UNITS)
    if units >= len(table):
        return {name: manifest.part(name) for name in (*stage.writes, REJECTED)}, Counts.of_facts(manifest.facts)
    head = table.slice(0, units)
    parts = {name: _head(manifest, name, head[f"rows:{name}"]) for name in stage.writes}
    parts[REJECTED] = _head(manifest, REJECTED, head["rejected"])
    return parts, count_units(stage, head)


def _head(manifest: Manifest, table: str, counts: pa.ChunkedArray) -> Part:
    return Part(manifest.part(table).path, 0, sum(counts.to_pylist()))


def total(counts: Iterable[Counts]) -> Counts:
    result = Counts()
    for one in counts:
        result = result + one
    return result
