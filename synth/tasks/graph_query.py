"""Joins over our own graph: :class:`synth.tasks.joins.Relations`, vectorized, and its values as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.graph.graph import Graph
from synth.graph.ranges import decode_strings, expand
from synth.schemas.tasks import Node
from synth.tasks.values import MEASURED_KINDS, Measure, in_range, parse_measure, parse_range

__all__ = ["GraphRelations", "MeasuredFacts"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

_COMMON = re.compile(r"[a-z]+(?: [a-z]+){0,2}$")
"""A common noun of one to three words, as what people do is named by."""


@dataclass(frozen=True)
class MeasuredFacts:
    """The facts of one value relation, by subject."""

    subjects: Ints
    """(n,) ascending; a subject that the relation gives two values stands in none of the arrays."""
    low: Floats
    high: Floats
    """(n,) ends of the value (see :class:`synth.tasks.values.Measure`)."""
    nodes: Ints
    """(n,) the value nodes."""
    sized: bool
    """Whether the values are numbers and quantities, not dates and years."""

    def of(self, entities: Ints) -> Ints:
        """(len(entities),) place of each entity in the arrays, -1 where it has no value."""
        place = np.searchsorted(self.subjects, entities)
        inside = np.minimum(place, max(0, len(self.subjects) - 1))
        if len(self.subjects) == 0:
            return np.full(len(entities), -1, dtype=np.int64)
        return np.where(self.subjects[inside] == entities, inside, -1)


class GraphRelations:
    """A graph's facts for joins, its values for operations."""

    def __init__(
        self,
        graph: Graph,
        *,
        number: Callable[[Node], int | None],
        id: Callable[[int], str],
        canonical: Callable[[str, bool], tuple[str, bool]] | None = None,
    ) -> None:
        self._graph, self._number, self._id, self._canonical = graph, number, id, canonical
        self._sources: dict[tuple[str, bool], Ints] = {}
        self._facts: dict[str, MeasuredFacts] = {}
        self._extremes: dict[tuple[str, str], tuple[frozenset[str], frozenset[str]]] = {}

    # -- what joins ask ----------------------------------------------------------------------------------------------

    def start(self, node: Node) -> Ints:
        """See :class:`synth.tasks.joins.Relations`."""
        if node.kind == "range":
            return self._in_range(node.id)
        number = self._number(node)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        narrower = self._narrower.get(node.id, []) if self._graph.is_value(number) else []
        return np.array(sorted({number, *narrower}), dtype=np.int64)

    @cached_property
    def _narrower(self) -> dict[str, list[int]]:
        """Texts that are the last words of others, with the nodes of those: an art historian is a historian, so who is
        asked for by "historian" may be either."""
        graph = self._graph
        arrays = graph.to_arrays()
        texts = decode_strings(arrays["value_bytes"], arrays["value_offsets"])
        kinds = np.asarray(graph.node_kind[graph.n_entities :])
        measured = {number for number, kind in enumerate(graph.kinds) if kind in MEASURED_KINDS}
        plain = {text for text, kind in zip(texts, kinds, strict=True) if kind not in measured and _COMMON.match(text)}
        found: dict[str, list[int]] = {}
        for place, (text, kind) in enumerate(zip(texts, kinds, strict=True)):
            if kind in measured or text not in plain:
                continue
            words = text.split(" ")
            for start in range(1, len(words)):
                if (wider := " ".join(words[start:])) in plain:
                    found.setdefault(wider, []).append(graph.n_entities + place)
        return found

    def expand(self, nodes: Ints, relation: str, forward: bool) -> tuple[Ints, Ints]:
        """See :class:`synth.tasks.joins.Relations`."""
        groups, owner = self._groups(nodes, relation, forward)
        start = self._graph.group_step[groups]
        inner, position = expand(start, self._graph.group_step[groups + 1] - start)
        return owner[inner], self._graph.step_target[position].astype(np.int64)

    def fanout(self, nodes: Ints, relation: str, forward: bool) -> Ints:
        """See :class:`synth.tasks.joins.Relations`."""
        groups, owner = self._groups(nodes, relation, forward)
        found = np.zeros(len(nodes), dtype=np.int64)
        found[owner] = self._graph.group_step[groups + 1] - self._graph.group_step[groups]
        return found

    def _groups(self, nodes: Ints, relation: str, forward: bool) -> tuple[Ints, Ints]:
        if self._canonical is not None:
            relation, forward = self._canonical(relation, forward)
        if relation not in self._graph.relations or len(nodes) == 0:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing
        groups = self._graph.groups(nodes, np.full(len(nodes), self._graph.port(relation, forward)))
        owner = np.flatnonzero(groups >= 0)
        return groups[owner], owner

    def sources(self, relation: str, forward: bool, most: int) -> Ints:
        """See :class:`synth.tasks.joins.Relations`."""
        graph = self._graph
        if self._canonical is not None:
            relation, forward = self._canonical(relation, forward)
        if relation not in graph.relations:
            return np.zeros(0, dtype=np.int64)
        key = (relation, forward or bool(graph.symmetric[graph.relations.index(relation)]))
        if key not in self._sources:
            groups = np.flatnonzero(graph.group_port == graph.port(relation, forward))
            self._sources[key] = np.searchsorted(graph.group_start, groups, side="right") - 1
        return self._sources[key][:most]

    def of_kind(self, nodes: Ints, kind: str) -> NDArray[np.bool_]:
        """See :class:`synth.tasks.joins.Relations`."""
        number = self._graph.kinds.index(kind) if kind in self._graph.kinds else -1
        return np.asarray(self._graph.node_kind[nodes] == number)

    def id(self, node: int) -> str:
        return self._id(node)

    # -- values ------------------------------------------------------------------------------------------------------

    def measure(self, node: int) -> Measure | None:
        """A value node as a quantity; None for entities and texts."""
        if not self._graph.is_value(node):
            return None
        return parse_measure(*self._graph.value(node))

    @cached_property
    def _scale(self) -> tuple[Floats, Floats]:
        """(n_values,) each: low and high end of every value; NaN where it has no order. Made once, on first use."""
        graph = self._graph
        arrays = graph.to_arrays()
        texts = np.array(decode_strings(arrays["value_bytes"], arrays["value_offsets"]), dtype=object)
        kinds = np.asarray(graph.node_kind[graph.n_entities :])
        low = np.full(len(texts), np.nan)
        high = np.full(len(texts), np.nan)
        for number, kind in enumerate(graph.kinds):
            if kind not in MEASURED_KINDS:
                continue
            for place in np.flatnonzero(kinds == number):
                if (value := parse_measure(kind, texts[place])) is not None:
                    low[place], high[place] = value.low, value.high
        return low, high

    def measured(self, relation: str) -> MeasuredFacts:
        """The facts of a value relation whose subject has one value of it."""
        if relation not in self._facts:
            graph = self._graph
            if relation in graph.relations:
                rows = np.flatnonzero(graph.fact_relation == graph.relations.index(relation))
            else:
                rows = np.zeros(0, dtype=np.int64)
            rows = rows[graph.fact_object[rows] >= graph.n_entities]
            subjects = graph.fact_subject[rows]
            once = np.ones(len(rows), dtype=np.bool_)
            same = subjects[1:] == subjects[:-1]
            once[1:] &= ~same
            once[:-1] &= ~same
            nodes = graph.fact_object[rows]
            low, high = self._scale
            known = once & ~np.isnan(low[nodes - graph.n_entities])
            places = nodes[known] - graph.n_entities
            sized = bool(len(places)) and graph.kind(int(nodes[known][0])) in ("number", "quantity")
            self._facts[relation] = MeasuredFacts(subjects[known], low[places], high[places], nodes[known], sized)
        return self._facts[relation]

    def extremes(self, kind: str, relation: str) -> tuple[frozenset[str], frozenset[str]]:
        """See :meth:`synth.tasks.contract.Facts.extremes`."""
        key = (kind, relation)
        if key not in self._extremes:
            facts = self.measured(relation)
            number = self._graph.kinds.index(kind) if kind in self._graph.kinds else -1
            of_kind = np.flatnonzero(self._graph.node_kind[facts.subjects] == number)
            low, high = facts.low[of_kind], facts.high[of_kind]
            if len(of_kind) == 0:
                self._extremes[key] = (frozenset(), frozenset())
            else:
                ends = (low <= high.min(), high >= low.max())
                first, last = (frozenset(self._id(int(n)) for n in facts.subjects[of_kind[end]]) for end in ends)
                self._extremes[key] = (first, last)
        return self._extremes[key]

    def _in_range(self, text: str) -> Ints:
        """Value nodes, of whatever kind, that lie in a range whose ends can be of that kind. Ascending."""
        graph = self._graph
        ends = parse_range(text)
        found = []
        low, high = self._scale
        kinds = np.asarray(graph.node_kind[graph.n_entities :])
        for number, kind in enumerate(graph.kinds):
            if kind not in MEASURED_KINDS:
                continue
            bounds = [parse_measure(kind, end) if end else None for end in ends]
            if any(end and bound is None for end, bound in zip(ends, bounds, strict=True)):
                continue
            inside = kinds == number
            if bounds[0] is not None:
                inside &= low >= bounds[0].low
            if bounds[1] is not None:
                inside &= high <= bounds[1].high
            nodes = np.flatnonzero(inside) + graph.n_entities
            if kind == "quantity":
                nodes = nodes[[self._fits(int(node), bounds) for node in nodes]] if len(nodes) else nodes
            found.append(nodes)
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    def _fits(self, node: int, bounds: list[Measure | None]) -> bool:
        """Whether a quantity has the unit of the bounds."""
        value = self.measure(node)
        known = [bound for bound in bounds if bound is not None]
        if value is None or not all(value.comparable(bound) for bound in known):
            return False
        return bool(in_range(value, *bounds))
