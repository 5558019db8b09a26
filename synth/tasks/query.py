"""What a walk asks of the whole graph, answered exhaustively: the proof that an answer is the only one.

The walk becomes a pattern (:mod:`synth.tasks.pattern`); names of bridges, members and answers are never used.

* Edges are joined by bindings, not by sets: two constraints on one bridge speak of the same node.
* Operations are done once for each way of binding the variables that are not members: if the question's "the director
  of F" could be two people, there are two results, and the question is not unique.
* A measure that a candidate lacks or has twice, a tie, or a value that a bound can not decide, is *undecided*.
* The bound of a ``filter`` may be what another hop found: an end of it that equals the id of the target of a hop that
  is not a measure is that hop's variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.schemas.tasks import Node, Operation, Walk
from synth.tasks.joins import Relations, Undecided, components, join
from synth.tasks.pattern import Pattern, PatternEdge, pattern_of
from synth.tasks.values import (
    MEASURED_KINDS,
    Measure,
    difference,
    in_range,
    parse_measure,
    parse_range,
    plain_number,
    total,
)

__all__ = ["Reading", "Results", "evaluate", "expected"]

Ints = NDArray[Any]
_SAMPLE = 16
"""Nodes of a question without operations that are named where it has many."""
_WORLDS = 256
"""Ways of binding the variables that are not members, of which each is looked at."""


@dataclass(frozen=True)
class Reading:
    """One way of binding the variables that are not members, and what follows from it. Ids are sorted."""

    members: tuple[tuple[int, tuple[str, ...]], ...]
    """(variable, ids) of every set."""
    steps: tuple[tuple[str, ...], ...]
    """What each operation gives."""
    measured: tuple[tuple[tuple[str, str], ...], ...]
    """For each operation the (candidate, value) that it looks at, in order of their ids; none for lists and counts."""


@dataclass(frozen=True)
class Results:
    """What an exhaustive query found."""

    found: tuple[tuple[str, ...], ...]
    """The distinct results (the first 16 where there are more): ids, sorted where they are a set. Empty when nothing
    satisfies the question."""
    undecided: str = ""
    """Why the question has no definite answer (a tie, a missing value, too much to join); then ``found`` says nothing.
    """
    readings: tuple[Reading, ...] = ()
    """Each way of binding what the question describes; empty for walks without operations."""

    def only(self, wanted: Sequence[str]) -> bool:
        """Whether ``wanted`` is the one result."""
        return not self.undecided and self.found == (tuple(wanted),)


def evaluate(walk: Walk, graph: Relations, pattern: Pattern | None = None, *, most: int | None = None) -> Results:
    """Every result that the question of ``walk`` has in the whole graph. ``pattern``: a variant of its pattern (see
    :func:`synth.tasks.pattern.without_edge`), for asking what the question would be with a part left out: then answers
    and bridges are of the kinds that the walk has, for questions name them ("which bridges"). ``most``: where nothing
    leads to a part of such a variant, it begins at no more than so many nodes; what is found is sound, not complete.

    Returns:
        Without operations: each node at which the last hop can end, as tuples of one id. With operations: the results
        of the last one. For ``parallel``: the results of all sub-questions in order, as one tuple.
    """
    kinds = _kinds(walk, pattern) if pattern is not None else None
    pattern = pattern or pattern_of(walk)
    readings: list[Reading] = []
    try:
        found = set(_all_results(walk, pattern, graph, readings, kinds, most))
        return Results(tuple(sorted(found)), readings=tuple(readings))
    except Undecided as problem:
        return Results((), str(problem))


def _kinds(walk: Walk, pattern: Pattern) -> dict[int, str]:
    """Entity types of the variables."""
    return {
        at: hop.target.kind
        for hop, at in zip(walk.hops, pattern.hop_variables, strict=True)
        if hop.target.document_id is not None
    }


def _all_results(
    walk: Walk,
    pattern: Pattern,
    graph: Relations,
    readings: list[Reading],
    kinds: dict[int, str] | None,
    most: int | None,
) -> Iterator[tuple[str, ...]]:
    constants = {-1 - i: graph.start(node) for i, node in enumerate(pattern.constants)}
    joined = [edge for number, edge in enumerate(pattern.edges) if number not in pattern.measures]
    sought = [pattern.hop_variables[end] for end in _ends(walk)]
    inner = set(pattern.sets)
    while more := {edge.target for edge in joined if edge.source in inner} - inner:
        inner |= more
    candidates = {edge.source for number, edge in enumerate(pattern.edges) if number in pattern.measures}
    bounds = {pattern.edges[n].target for op in walk.operations for n in _bound_edges(op, walk, pattern)}
    wanted = set(sought) | set(pattern.sets) | (bounds - pattern.sets) | {c for c in candidates if c >= 0}
    if walk.operations:
        wanted |= {edge.target for edge in joined} - inner
    limit = {} if most is None else {"most": most}
    tables = [
        join(part, constants, graph, wanted & _variables(part), kinds=kinds, **limit) for part in components(joined)
    ]
    if any(table.rows == 0 for table in tables):
        return
    if not walk.operations and len(sought) == 1:
        for table in tables:
            if sought[0] in table.columns:
                yield from ((graph.id(int(node)),) for node in np.unique(table.columns[sought[0]])[:_SAMPLE])
        return
    outer = [table.project(set(table.columns) - inner) for table in tables]
    if np.prod([float(table.rows) for table in outer]) > _WORLDS:
        raise Undecided("too many ways to read what the question describes")
    for choice in product(*(range(table.rows) for table in outer)):
        world: dict[int, Ints] = {}
        for row, fixed, table in zip(choice, outer, tables, strict=True):
            mask = np.ones(table.rows, dtype=np.bool_)
            for name, column in fixed.columns.items():
                mask &= table.columns[name] == column[row]
            world |= {name: np.unique(column[mask]) for name, column in table.columns.items()}
        world |= constants
        result, reading = _Reader(walk, pattern, graph, world).result()
        readings.append(reading)
        yield result


def in_order(walk: Walk, steps: Sequence[Sequence[str]], ends: Iterable[tuple[int, Sequence[str]]]) -> tuple[str, ...]:
    """The parts of a parallel answer in the order of its sub-questions: results of the operations that no other is
    ``within`` (at their last hop's place), and of the hops that nothing follows."""
    inner = {op.within for op in walk.operations}
    parts = [(max(op.over), steps[n]) for n, op in enumerate(walk.operations) if n not in inner]
    return tuple(name for _, names in sorted([*parts, *ends], key=lambda part: part[0]) for name in names)


def expected(walk: Walk) -> tuple[str, ...]:
    """What the walk itself says the result is: ids, in the form of :attr:`Results.found`."""
    if walk.shape == "parallel":
        steps = [sorted(node.id for node in op.result) for op in walk.operations]
        return in_order(walk, steps, [(end, (walk.hops[end].target.id,)) for end in _ends(walk)])
    if walk.operations:
        return tuple(sorted(node.id for node in walk.operations[-1].result))
    return (walk.hops[-1].target.id,)


def _variables(edges: Sequence[PatternEdge]) -> set[int]:
    return {end for edge in edges for end in (edge.source, edge.target) if end >= 0}


def _ends(walk: Walk) -> list[int]:
    """Hops whose targets are (part of) the answer themselves."""
    if walk.shape == "parallel":
        used = {need for hop in walk.hops for need in hop.needs} | {i for op in walk.operations for i in op.over}
        return [number for number in range(len(walk.hops)) if number not in used]
    return [] if walk.operations else [len(walk.hops) - 1]


def _bound_edges(operation: Operation, walk: Walk, pattern: Pattern) -> list[int]:
    """Edges of hops that found an end of the operation's bound."""
    if operation.bound is None:
        return []
    over = {i for op in walk.operations for i in op.over}
    ends = _bound_ends(operation.bound)
    found = []
    for number, hop in enumerate(walk.hops):
        if number not in over and hop.target.kind in MEASURED_KINDS and hop.target.id in ends:
            found.append(pattern.hop_edges[number])
    return [number for number in found if number >= 0]


def _bound_ends(bound: Node) -> tuple[str, ...]:
    return tuple(end for end in parse_range(bound.id) if end) if bound.kind == "range" else (bound.id,)


@dataclass
class _Reader:
    """Does the operations in one reading of the question: ``world`` holds the nodes of each variable and constant."""

    walk: Walk
    pattern: Pattern
    graph: Relations
    world: dict[int, Ints]

    def result(self) -> tuple[tuple[str, ...], Reading]:
        done: list[tuple[Any, ...]] = []
        for operation in self.walk.operations:
            within = None if operation.within is None else set(done[operation.within])
            done.append(tuple(self._do(operation, within)))
        members = tuple((name, self._ids(self.world[name].tolist())) for name in sorted(self.pattern.sets))
        steps = tuple(self._ids(nodes) for nodes in done)
        measured = tuple(
            tuple(sorted((self.graph.id(node), self.graph.id(value)) for node, value in self._values(operation)))
            for operation in self.walk.operations
        )
        if self.walk.shape != "parallel":
            return steps[-1], Reading(members, steps, measured)
        ends: list[tuple[int, tuple[str, ...]]] = []
        for end in _ends(self.walk):
            nodes = self.world[self.pattern.hop_variables[end]]
            if len(nodes) != 1:
                raise Undecided("a sub-question has more than one answer")
            ends.append((end, self._ids(nodes.tolist())))
        return in_order(self.walk, steps, ends), Reading(members, steps, measured)

    def _ids(self, nodes: Iterable[Any]) -> tuple[str, ...]:
        return tuple(sorted(node if isinstance(node, str) else self.graph.id(int(node)) for node in nodes))

    def _do(self, operation: Operation, within: set[Any] | None) -> Iterable[Any]:
        if operation.kind in ("list", "count"):
            members = set(self._members(operation))
            if within is not None:
                members &= within
            return [str(len(members))] if operation.kind == "count" else sorted(members)
        measured = [(c, m) for c, m in self._measured(operation) if within is None or c in within]
        if operation.kind == "filter":
            return sorted(c for c, m in measured if self._inside(operation, m))
        if operation.kind in ("argmin", "argmax"):
            return self._extreme(measured, least=operation.kind == "argmin")
        values = [m for _, m in measured]
        if operation.kind == "difference":
            number = difference(*values) if len(values) == 2 else None
        else:
            number = total(values)
        if number is None:
            raise Undecided(f"no {operation.kind} of {len(values)} such values")
        return [plain_number(*number)]

    def _members(self, operation: Operation) -> Iterator[int]:
        for variable in {self.pattern.hop_variables[i] for i in operation.over}:
            yield from self.world[variable].tolist()

    def _values(self, operation: Operation) -> list[tuple[int, int]]:
        """Every candidate with the node of its value, in the order of ``over``; nothing for lists and counts."""
        found: list[tuple[int, int]] = []
        if operation.kind in ("list", "count"):
            return found
        for number in dict.fromkeys(self.pattern.hop_edges[i] for i in operation.over):
            if number < 0:
                raise Undecided("a measure was left out")
            edge = self.pattern.edges[number]
            nodes = self.world[edge.source]
            if edge.source >= 0 and edge.source not in self.pattern.sets and len(nodes) > 1:
                raise Undecided("a candidate could be more than one thing")
            owner, values = self.graph.expand(nodes, edge.relation, edge.forward)
            if len(owner) != len(nodes) or not np.array_equal(owner, np.arange(len(nodes))):
                raise Undecided(f"not every candidate has one {edge.relation}")
            found += zip(nodes.tolist(), values.tolist(), strict=True)
        return found

    def _measured(self, operation: Operation) -> list[tuple[int, Measure]]:
        """Every candidate with its measure, in the order of ``over``."""
        found = []
        for node, value in self._values(operation):
            measure = self.graph.measure(value)
            if measure is None:
                raise Undecided(f"{self.graph.id(value)!r} has no order")
            found.append((node, measure))
        return found

    def _inside(self, operation: Operation, value: Measure) -> bool:
        bound = operation.bound
        if bound is None:
            raise Undecided("a filter without a bound")
        verdicts = {in_range(value, low, high) for low, high in self._ranges(operation, bound)}
        if len(verdicts) != 1 or None in verdicts:
            raise Undecided("a value that the bound does not decide")
        return bool(verdicts.pop())

    def _ranges(self, operation: Operation, bound: Node) -> Iterator[tuple[Measure | None, Measure | None]]:
        found = {
            self.walk.hops[i].target.id: self.world[self.pattern.hop_variables[i]]
            for i, number in enumerate(self.pattern.hop_edges)
            if number >= 0 and number in _bound_edges(operation, self.walk, self.pattern)
        }
        kinds = {self.walk.hops[i].target.kind for i in operation.over}

        def options(end: str, kind: str) -> list[Measure | None]:
            if not end:
                return [None]
            if end in found:
                return [self.graph.measure(int(node)) for node in found[end]]
            for guess in (kind, *sorted(kinds), "date", "year"):
                measure = parse_measure(guess, end)
                if measure is not None:
                    return [measure]
            raise Undecided(f"{end!r} is not a bound")

        if bound.kind == "range":
            low, high = parse_range(bound.id)
            yield from product(options(low, ""), options(high, ""))
        else:
            yield from ((value, value) for value in options(bound.id, bound.kind))

    @staticmethod
    def _extreme(measured: Sequence[tuple[int, Measure]], *, least: bool) -> list[int]:
        best: list[int] = []
        for node, value in measured:
            try:
                verdicts = [
                    value.before(other) if least else other.before(value) for name, other in measured if name != node
                ]
            except ValueError as problem:
                raise Undecided(str(problem)) from None
            if all(verdicts):
                best.append(node)
        if len(set(best)) != 1:
            raise Undecided("no candidate is alone at the end of the order")
        return best[:1]
