"""Joins of a pattern's edges over a graph: every way of binding the variables, exhaustively."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from synth.schemas.tasks import Node
from synth.tasks.pattern import PatternEdge
from synth.tasks.values import Measure

__all__ = ["Relations", "Table", "Undecided", "components", "join"]

Ints = NDArray[Any]
_ROWS = 1 << 20
"""Bindings that a join may hold at once; a question that needs more is undecided."""


class Undecided(Exception):
    """Why a question has no definite answer."""


class Relations(Protocol):
    """The graph as joins ask for it. Nodes are its own numbers."""

    def start(self, node: Node) -> Ints:
        """The numbers of a constant: one, none when the graph lacks it, or those of all values in a ``range``."""

    def expand(self, nodes: Ints, relation: str, forward: bool) -> tuple[Ints, Ints]:
        """``(owner, target)``: every step out of ``nodes``; ``owner`` is the place in ``nodes``, ascending."""

    def fanout(self, nodes: Ints, relation: str, forward: bool) -> Ints:
        """(n,) how many steps each node has."""

    def sources(self, relation: str, forward: bool, most: int) -> Ints:
        """Nodes that have a step of the relation in that direction: all of them, or ``most`` where there are more."""

    def of_kind(self, nodes: Ints, kind: str) -> NDArray[np.bool_]:
        """(n,) which of the nodes are of an entity type or value kind."""

    def id(self, node: int) -> str:
        """Id of a node, as :class:`synth.schemas.tasks.Node` has it."""

    def measure(self, node: int) -> Measure | None:
        """A value node as a quantity; None for entities and for values without an order."""


@dataclass
class Table:
    """Bindings: a column of node numbers for each variable."""

    rows: int
    columns: dict[int, Ints]

    def take(self, places: Ints) -> Table:
        return Table(len(places), {name: column[places] for name, column in self.columns.items()})

    def project(self, keep: Iterable[int]) -> Table:
        """The distinct rows of some columns."""
        names = sorted(set(keep) & set(self.columns))
        if not names:
            return Table(min(self.rows, 1), {})
        if len(names) == 1:
            only = np.unique(self.columns[names[0]])
            return Table(len(only), {names[0]: only})
        distinct = np.unique(np.stack([self.columns[name] for name in names], axis=1), axis=0)
        return Table(len(distinct), {name: distinct[:, i] for i, name in enumerate(names)})


def join(
    edges: Sequence[PatternEdge],
    constants: Mapping[int, Ints],
    graph: Relations,
    keep: set[int],
    *,
    kinds: Mapping[int, str] | None = None,
    most: int = _ROWS,
) -> Table:
    """All bindings of the variables in ``keep`` that satisfy the edges: the cheapest edge first, whichever end of it is
    known already; what no later edge asks for is projected away.

    ``kinds``: what kind of node some variables stand for. Where no constant leads to an edge, the join begins at its
    sources, at most ``most`` of them: then it finds some bindings, each of them sound.

    Raises:
        Undecided: more than a million bindings at once.
    """
    table = Table(1, {})
    left = list(edges)
    while left:
        costs = [_cost(edge, table, constants, graph) for edge in left]
        best = min(range(len(left)), key=lambda i: (costs[i], i))
        if costs[best] > _ROWS:
            raise Undecided("too many bindings to join")
        edge = left.pop(best)
        known = set(table.columns)
        table = _extend(edge, table, constants, graph, most)
        for name in sorted(set(table.columns) - known):
            if kinds is not None and name in kinds:
                table = table.take(np.flatnonzero(graph.of_kind(table.columns[name], kinds[name])))
        needed = keep | {end for other in left for end in (other.source, other.target)}
        if not set(table.columns) <= needed:  # else the rows are distinct as they are
            table = table.project(needed)
        if table.rows == 0:
            return Table(0, {name: np.zeros(0, dtype=np.int64) for name in keep})
    return table


def _cost(edge: PatternEdge, table: Table, constants: Mapping[int, Ints], graph: Relations) -> float:
    if edge.target in table.columns and (edge.source in table.columns or edge.source < 0):
        return 0.0
    if edge.source in table.columns:
        return float(graph.fanout(table.columns[edge.source], edge.relation, edge.forward).sum())
    if edge.target in table.columns:
        return float(graph.fanout(table.columns[edge.target], edge.relation, not edge.forward).sum())
    if edge.source < 0:
        return float(graph.fanout(constants[edge.source], edge.relation, edge.forward).sum()) * max(1, table.rows)
    return float(_ROWS)  # nothing leads here: the last resort


def _extend(edge: PatternEdge, table: Table, constants: Mapping[int, Ints], graph: Relations, most: int) -> Table:
    columns = table.columns
    if edge.source >= 0 and edge.source not in columns and edge.target not in columns:
        starts = graph.sources(edge.relation, edge.forward, most)
        table = Table(len(starts), {edge.source: starts}) if not columns else _product(table, edge.source, starts)
        columns = table.columns
    known = columns.get(edge.target)
    if known is not None:  # from the target back: a filter, or (source unknown) an expansion against the direction
        owner, found = graph.expand(known, edge.relation, not edge.forward)
        if edge.source < 0:
            return table.take(np.unique(owner[np.isin(found, constants[edge.source])]))
        if edge.source in columns:
            return table.take(np.unique(owner[found == columns[edge.source][owner]]))
        wider = table.take(owner)
        wider.columns[edge.source] = found
        return wider
    if edge.source in columns:
        owner, found = graph.expand(columns[edge.source], edge.relation, edge.forward)
        wider = table.take(owner)
    else:
        _, found = graph.expand(constants[edge.source], edge.relation, edge.forward)
        return _product(table, edge.target, np.unique(found))
    wider.columns[edge.target] = found
    return wider


def _product(table: Table, name: int, nodes: Ints) -> Table:
    """Every row with every node."""
    wider = table.take(np.repeat(np.arange(table.rows), len(nodes)))
    wider.columns[name] = np.tile(nodes, table.rows)
    return wider


def components(edges: Sequence[PatternEdge]) -> list[list[PatternEdge]]:
    """Edges that share variables, in order of their first edge."""
    groups: list[tuple[set[int], list[PatternEdge]]] = []
    for edge in edges:
        ends = {end for end in (edge.source, edge.target) if end >= 0}
        near = [group for group in groups if group[0] & ends]
        merged = (set(ends).union(*(group[0] for group in near)), [e for group in near for e in group[1]] + [edge])
        groups = [merged if near and group is near[0] else group for group in groups if group not in near[1:]]
        if not near:
            groups.append(merged)
    return [sorted(group[1], key=edges.index) for group in groups]
