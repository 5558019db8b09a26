"""From the ``entities`` and ``edges`` tables to plain arrays: nodes, relations, distinct facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synth.graph.ranges import index_dtype, offsets_of

__all__ = ["Columns", "Facts", "canonical_relations", "distinct_facts", "read_columns"]

Ints = NDArray[Any]


@dataclass(frozen=True)
class Columns:
    """The two tables as arrays. Nodes are entities, then values in order of first appearance."""

    n_entities: int
    relation_names: tuple[str, ...]
    """As the table has them, sorted."""
    kind_names: tuple[str, ...]
    node_kind: Ints
    """(n_nodes,) int16: number of the entity type or value kind."""
    values: tuple[str, ...]
    """Text of the value nodes, by node minus ``n_entities``."""
    subject: Ints
    """(n_edges,)"""
    relation: Ints
    """(n_edges,) number in ``relation_names``."""
    object: Ints
    """(n_edges,) node."""


@dataclass(frozen=True)
class Facts:
    """Distinct (subject, relation, object), sorted, and the edge rows that state each."""

    subject: Ints
    relation: Ints
    object: Ints
    evidence_start: Ints
    """(n_facts + 1,) offsets into ``evidence``."""
    evidence: Ints
    """(n_edges,) edge rows, ascending within a fact."""


def read_columns(entities: pa.Table, edges: pa.Table) -> Columns:
    """Raises ValueError when an end of an edge is neither an entity nor a value, or entity rows are not 0, 1, 2, ..."""
    n_entities = len(entities)
    if not np.array_equal(_numbers(entities, "ordinal"), np.arange(n_entities)):
        raise ValueError("entities: row i must have ordinal i, since edges name entities by row number")
    subject, target = _numbers(edges, "subject"), _numbers(edges, "object")
    for name, ends, least in (("subject", subject, 0), ("object", target, -1)):
        outside = np.flatnonzero((ends < least) | (ends >= n_entities))
        if len(outside):
            row = int(outside[0])
            raise ValueError(f"edges row {row}: {name} {int(ends[row])} is not one of {n_entities} entities")

    relation_names, relation = _sorted_codes(*_codes(edges.column("relation")))
    entity_kinds, entity_kind = _codes(entities.column("kind"))
    rows = np.flatnonzero(target < 0)
    value_texts, value = _codes(edges.column("value"))
    value_kinds, value_kind = _codes(edges.column("value_kind"))
    if len(rows) and int(value[rows].min()) < 0:
        raise ValueError(f"edges row {int(rows[np.argmin(value[rows])])}: neither an object nor a value")

    key = value_kind[rows].astype(np.int64) * max(1, len(value_texts)) + value[rows]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    appearance = np.argsort(first, kind="stable")
    place = np.empty(len(first), dtype=np.int64)
    place[appearance] = np.arange(len(first))
    ends = target.copy()
    ends[rows] = n_entities + place[inverse]

    kind_names = tuple(sorted({*entity_kinds, *value_kinds}))
    number = {name: i for i, name in enumerate(kind_names)}
    first_rows = rows[first[appearance]]
    node_kind = np.concatenate(
        [
            np.array([number[name] for name in entity_kinds], dtype=np.int16)[entity_kind],
            np.array([number[name] for name in value_kinds], dtype=np.int16)[value_kind[first_rows]],
        ]
    )
    texts = tuple(value_texts[code] for code in value[first_rows].tolist())
    dtype = index_dtype(n_entities + len(first))
    return Columns(
        n_entities, relation_names, kind_names, node_kind, texts, subject.astype(dtype), relation, ends.astype(dtype)
    )


def canonical_relations(inverses: Mapping[str, str]) -> dict[str, tuple[str, bool]]:
    """What each declared relation becomes: its canonical name, and whether subject and object change places.

    ``inverses`` maps a relation to its inverse. The value's name stays, the key's goes; where both directions are
    declared, the name that sorts first stays. A relation that is its own inverse is symmetric.

    Raises:
        ValueError: a relation would have two different inverses.
    """
    partner: dict[str, str] = {}
    for name, other in inverses.items():
        for one, two in ((name, other), (other, name)):
            if partner.setdefault(one, two) != two:
                raise ValueError(f"relation {one!r} has two inverses, {partner[one]!r} and {two!r}")
    canonical: dict[str, tuple[str, bool]] = {}
    for name, other in inverses.items():
        keep = min(name, other) if other in inverses else other
        for one in (name, other):
            canonical[one] = (keep, one != keep)
    return canonical


def distinct_facts(columns: Columns, inverses: Mapping[str, str]) -> tuple[Facts, tuple[str, ...], NDArray[np.bool_]]:
    """Facts, canonical relation names (sorted) and which of them are symmetric.

    A symmetric fact is kept with the lower node as its subject.
    """
    canonical = canonical_relations(inverses)
    becomes = [canonical.get(name, (name, False)) for name in columns.relation_names]
    names = tuple(sorted({name for name, _ in becomes}))
    number = {name: i for i, name in enumerate(names)}
    symmetric = np.array([inverses.get(name) == name for name in names], dtype=np.bool_)

    subject, target = columns.subject, columns.object
    swap = np.array([swapped for _, swapped in becomes], dtype=np.bool_)[columns.relation]
    relation = np.array([number[name] for name, _ in becomes], dtype=np.int32)[columns.relation]
    if bool(np.any(swap & (target >= columns.n_entities))):
        row = int(np.flatnonzero(swap & (target >= columns.n_entities))[0])
        name = columns.relation_names[int(columns.relation[row])]
        raise ValueError(f"edges row {row}: {name!r} has a declared inverse, yet its object is a value")
    if len(names):
        swap |= symmetric[relation] & (subject > target)
    subject, target = np.where(swap, target, subject), np.where(swap, subject, target)

    order = lexicographic_order(subject, relation, target, len(names), len(columns.node_kind))
    subject, relation, target = subject[order], relation[order], target[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (subject[1:] != subject[:-1]) | (relation[1:] != relation[:-1]) | (target[1:] != target[:-1])
    first = np.flatnonzero(new)
    facts = Facts(
        subject[first],
        relation[first],
        target[first],
        offsets_of(np.diff(np.append(first, len(order)))),
        order.astype(index_dtype(len(order))),
    )
    return facts, names, symmetric


def lexicographic_order(first: Ints, second: Ints, third: Ints, n_second: int, n_third: int) -> Ints:
    """Stable order by three columns, as one integer key where it fits in 63 bits."""
    n_first = int(first.max(initial=0)) + 1
    if n_first * max(1, n_second) * max(1, n_third) >= 2**63:
        return np.lexsort((third, second, first))
    key = (first.astype(np.int64) * max(1, n_second) + second) * max(1, n_third) + third
    return np.argsort(key, kind="stable")


def _numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    column = table.column(name)
    if column.null_count:
        raise ValueError(f"column {name!r} has nulls")
    parts = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(parts).astype(np.int64, copy=False) if parts else np.zeros(0, dtype=np.int64)


def _codes(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int32]]:
    """Distinct strings and a code per row; -1 = null."""
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column)
    if column.num_chunks == 0:
        return [], np.zeros(0, dtype=np.int32)
    column = column.unify_dictionaries()
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32) for chunk in column.chunks]
    return column.chunk(0).dictionary.to_pylist(), np.concatenate(parts)


def _sorted_codes(names: list[str], codes: NDArray[np.int32]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    if len(codes) and int(codes.min()) < 0:
        raise ValueError(f"edges row {int(np.argmin(codes))}: no relation")
    return tuple(names[i] for i in order), rank[codes] if len(names) else codes
