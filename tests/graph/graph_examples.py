"""Small graphs for the tests of this folder: tables from triples, and a strategy of random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from synth.graph.graph import Graph

Triple = tuple[int, str, int | tuple[str, str]]
"""(subject, relation, object), the object an entity or a (value kind, value)."""

RELATIONS = ("born_in", "founded", "founded_by", "knows", "located_in", "year")
INVERSES = {"founded": "founded_by", "knows": "knows"}


def entity_table(n: int) -> pa.Table:
    return pa.table(
        {
            "ordinal": pa.array(range(n), pa.int64()),
            "kind": pa.array(["city" if i % 3 else "person" for i in range(n)], pa.string()),
        }
    )


def edge_table(triples: Sequence[Triple]) -> pa.Table:
    values = [obj if isinstance(obj, tuple) else None for _, _, obj in triples]
    return pa.table(
        {
            "subject": pa.array([subject for subject, _, _ in triples], pa.int64()),
            "relation": pa.array([relation for _, relation, _ in triples], pa.string()),
            "object": pa.array([obj if isinstance(obj, int) else -1 for _, _, obj in triples], pa.int64()),
            "value": pa.array([value[1] if value else None for value in values], pa.string()),
            "value_kind": pa.array([value[0] if value else "entity" for value in values], pa.string()),
        }
    )


def make_graph(n: int, triples: Sequence[Triple], inverses: Mapping[str, str] | None = None) -> Graph:
    return Graph.build(entity_table(n), edge_table(triples), inverses)


def neighbours(graph: Graph, node: int, relation: str | None = None, forward: bool | None = None) -> list[int]:
    """Distinct nodes one step from ``node``, ascending. ``forward``: True = along the facts, False = against."""
    return list(_neighbours(graph, node, relation, forward))


@lru_cache(maxsize=10_000)
def _neighbours(graph: Graph, node: int, relation: str | None, forward: bool | None) -> tuple[int, ...]:
    found: set[int] = set()
    for number in graph.facts_of(node).tolist():
        fact = graph.fact(number)
        both = forward is None or graph.port(fact.relation, True) == graph.port(fact.relation, False)
        if relation in (None, fact.relation):
            found |= {fact.object} if fact.subject == node and (both or forward) else set()
            found |= {fact.subject} if fact.object == node and (both or not forward) else set()
    return tuple(sorted(found))


@st.composite
def tables(draw: st.DrawFn, max_entities: int = 9, max_edges: int = 40) -> tuple[int, list[Triple]]:
    """Entity count and triples: with self loops, repeated facts, isolated nodes and values; sometimes empty."""
    n = draw(st.integers(0, max_entities))
    if n == 0:
        return 0, []
    value = st.tuples(st.sampled_from(["year", "text"]), st.sampled_from(["1987", "1990", "été"]))
    entity = st.integers(0, n - 1)
    to_entity = st.tuples(entity, st.sampled_from(RELATIONS[:-1]), entity)
    to_value = st.tuples(entity, st.just("year"), value)
    return n, draw(st.lists(st.one_of(to_entity, to_entity, to_value), max_size=max_edges))


def random_graph(seed: int, n: int, edges: int, relations: int = 6, inverses: Mapping[str, str] | None = None) -> Graph:
    """A denser random graph, with Zipf-like objects so that there are hubs."""
    rng = np.random.default_rng(seed)
    objects = (n * rng.random(edges) ** 3).astype(int)
    subjects = rng.integers(0, n, edges)
    relation = rng.integers(0, relations, edges)
    triples: list[Triple] = [
        (s, f"r{r}", o) if r else (s, "r0", ("year", str(1900 + o % 40)))
        for s, r, o in zip(subjects.tolist(), relation.tolist(), objects.tolist(), strict=True)
    ]
    return make_graph(n, triples, inverses)
