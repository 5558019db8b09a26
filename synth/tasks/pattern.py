"""A walk as a pattern: what its question says, without the names of what it finds.

The *variables* of a pattern are the ends of hops: bridges, answers, and sets; its *edges* are the distinct (source,
relation, direction, variable). Only what the question names is constant: an entity, a value, or a ``range``.

* Entities that several hops end at (by id) are one variable: constraints on it meet. Values never meet.
* Where a walk has operations, hops with equal source, relation, direction and cue end at one variable: a *set*. Its
  members are all nodes that satisfy every edge into it, whether the walk lists them or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from synth.schemas.tasks import Hop, Node, Walk
from synth.tasks.values import MEASURED_KINDS

__all__ = ["Pattern", "PatternEdge", "pattern_of", "without_edge"]


@dataclass(frozen=True)
class PatternEdge:
    """``source`` is a variable (>= 0) or ``-1 - c`` for constant ``c``; ``target`` is a variable."""

    source: int
    relation: str
    forward: bool
    target: int


@dataclass(frozen=True)
class Pattern:
    """A walk without the names of what it finds."""

    constants: tuple[Node, ...]
    edges: tuple[PatternEdge, ...]
    hop_edges: tuple[int, ...]
    """For each hop the number of its edge; -1 where that was left out."""
    hop_variables: tuple[int, ...]
    """For each hop the variable that it ends at."""
    sets: frozenset[int]
    """Variables that stand for all members of a set."""
    measures: frozenset[int]
    """Numbers of the edges that only operations read."""

    @property
    def variables(self) -> tuple[int, ...]:
        return tuple(sorted({edge.target for edge in self.edges}))


def pattern_of(walk: Walk) -> Pattern:
    """The pattern of a walk.

    Raises:
        ValueError: a hop starts at something that neither the question names nor an earlier hop finds.
    """
    hops = walk.hops
    group = list(range(len(hops)))

    def find(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    def merge(i: int, j: int) -> bool:
        i, j = sorted((find(i), find(j)))
        group[j] = i
        return i != j

    by_id: dict[str, int] = {}
    for number, hop in enumerate(hops):
        if hop.target.kind not in (*MEASURED_KINDS, "text"):
            merge(by_id.setdefault(hop.target.id, number), number)

    def source(hop: Hop) -> int | tuple[str, str]:
        if not hop.needs:
            return hop.source.kind, hop.source.id
        for need in hop.needs:
            if hops[need].target.id == hop.source.id:
                return find(need)
        raise ValueError(f"hop {hop.relation!r} starts at {hop.source.id!r}, which no needed hop finds")

    changed = bool(walk.operations)
    while changed:
        changed = False
        seen: dict[Any, int] = {}
        for number, hop in enumerate(hops):
            key = (source(hop), hop.relation, hop.forward, hop.cue)
            if key in seen:
                changed |= merge(seen[key], number)
            seen.setdefault(key, number)

    constants: dict[tuple[str, str], Node] = {}
    for hop in hops:
        if not hop.needs:
            constants.setdefault((hop.source.kind, hop.source.id), hop.source)
    place = {key: -1 - i for i, key in enumerate(constants)}
    edges: dict[PatternEdge, int] = {}
    hop_edges = []
    for number, hop in enumerate(hops):
        start = source(hop)
        edge = PatternEdge(start if isinstance(start, int) else place[start], hop.relation, hop.forward, find(number))
        hop_edges.append(edges.setdefault(edge, len(edges)))

    ends: dict[int, set[str]] = {}
    for number, hop in enumerate(hops):
        ends.setdefault(find(number), set()).add(hop.target.id)
    counted = {find(i) for op in walk.operations if op.kind in ("list", "count") for i in op.over}
    values = {find(i) for op in walk.operations if op.kind not in ("list", "count") for i in op.over}
    sets = ({var for var, ids in ends.items() if len(ids) > 1} | counted) - values if walk.operations else set()
    sources = {edge.source for edge in edges}
    measures = {number for edge, number in edges.items() if edge.target in values - sources}
    return Pattern(
        tuple(constants.values()),
        tuple(edges),
        tuple(hop_edges),
        tuple(find(number) for number in range(len(hops))),
        frozenset(sets),
        frozenset(measures),
    )


def without_edge(pattern: Pattern, left_out: int) -> Pattern | None:
    """The pattern less one edge and all that only it led to. A bridge that nothing else leads to is free then: any node
    that satisfies what follows. None when the edge's target has no other edge at all: nothing would be left to say what
    is sought."""
    edge = pattern.edges[left_out]
    if sum(edge.target in (other.source, other.target) for other in pattern.edges) < 2:
        return None
    kept = {number for number in range(len(pattern.edges)) if number != left_out}
    while True:
        needed = {pattern.edges[n].source for n in kept} | {edge.target}
        idle = {
            n
            for n in kept
            if pattern.edges[n].target not in needed
            and n not in pattern.measures
            and pattern.edges[n].target not in pattern.sets
            and _leads_to(pattern, pattern.edges[n].target, left_out)
        }
        if not idle:
            break
        kept -= idle
    order = sorted(kept)
    number = {old: new for new, old in enumerate(order)}
    return Pattern(
        pattern.constants,
        tuple(pattern.edges[n] for n in order),
        tuple(number.get(n, -1) for n in pattern.hop_edges),
        pattern.hop_variables,
        pattern.sets,
        frozenset(number[n] for n in pattern.measures if n in number),
    )


def _leads_to(pattern: Pattern, variable: int, edge: int) -> bool:
    """Whether ``variable`` is passed on the way to edge number ``edge``."""
    at = pattern.edges[edge].source
    seen: set[int] = set()
    todo = [at]
    while todo:
        here = todo.pop()
        if here == variable:
            return True
        if here < 0 or here in seen:
            continue
        seen.add(here)
        todo += [other.source for other in pattern.edges if other.target == here]
    return False
