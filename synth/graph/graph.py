"""The graph: entities and values as nodes, distinct facts as edges, evidence for every fact.

Everything is a flat array, so that a graph of 10^6 entities and 10^7 edges is written once, memory-mapped by every
worker, and walked with vectorized code.

A *fact* is a distinct (subject, relation, object); several edge rows may state it (on both pages, in two sentences, or
by a relation and by its declared inverse) and are its evidence. A *step* is a fact seen from one of its ends: each
node's steps are sorted by (port, target), where ``port = 2 * relation + (0 forward, 1 against)``. A *group* is the
steps of one node through one port: what the node's relation leads to. A symmetric relation has one port only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.graph.columns import distinct_facts, lexicographic_order, read_columns
from synth.graph.ranges import decode_strings, encode_strings, expand, index_dtype, offsets_of, search_ranges

if TYPE_CHECKING:
    pass

__all__ = ["Constraint", "Fact", "Graph"]

Ints = NDArray[Any]

_FORMAT = 1


class Fact(NamedTuple):
    """``subject`` and ``object`` are nodes."""

    subject: int
    relation: str
    object: int


class Constraint(NamedTuple):
    """What an answer must satisfy: it is reached from ``source`` by ``path``, a chain of (relation, forward)."""

    source: int
    path: tuple[tuple[str, bool], ...]


class Graph:
    """An immutable graph over arrays, which may be memory-mapped.

    Build one with :meth:`build`, store :meth:`to_arrays`, open it again with :meth:`from_arrays`.
    """

    def __init__(self, arrays: Mapping[str, Ints]) -> None:
        """``arrays`` is what :meth:`to_arrays` returned. Raises ValueError when it is not."""
        missing = [name for name in _ARRAYS if name not in arrays]
        if missing:
            raise ValueError(f"not a graph: no array {missing[0]!r}")
        version, n_entities, n_nodes, n_edges = (int(number) for number in arrays["sizes"])
        if version != _FORMAT:
            raise ValueError(f"graph arrays of format {version}, this is format {_FORMAT}")
        self.n_entities = n_entities
        """Nodes ``0 .. n_entities - 1`` are the rows of the ``entities`` table; the rest are values."""
        self.n_nodes = n_nodes
        self.n_edges = n_edges
        """Rows of the ``edges`` table."""
        # As plain arrays: still memory-mapped, but slices of np.memmap cost microseconds each.
        self._arrays = {name: np.asarray(arrays[name]) for name in _ARRAYS}
        arrays = self._arrays
        self.relations = decode_strings(arrays["relation_bytes"], arrays["relation_offsets"])
        """Names of the relations, sorted; a relation's number is its place here."""
        self.kinds = decode_strings(arrays["kind_bytes"], arrays["kind_offsets"])
        """Entity types and value kinds, sorted."""
        self.symmetric: NDArray[np.bool_] = arrays["symmetric"]
        """(n_relations,) bool."""
        self.node_kind: Ints = arrays["node_kind"]
        """(n_nodes,) int16, number in ``kinds``."""
        self.fact_subject: Ints = arrays["fact_subject"]
        self.fact_relation: Ints = arrays["fact_relation"]
        self.fact_object: Ints = arrays["fact_object"]
        """(n_facts,) each; facts are sorted by (subject, relation, object)."""
        self.step_start: Ints = arrays["step_start"]
        """(n_nodes + 1,): the steps of node ``i`` are ``[step_start[i], step_start[i + 1])``."""
        self.step_target: Ints = arrays["step_target"]
        self.step_fact: Ints = arrays["step_fact"]
        """(n_steps,) each."""
        self.group_start: Ints = arrays["group_start"]
        """(n_nodes + 1,): the groups of node ``i`` are ``[group_start[i], group_start[i + 1])``."""
        self.group_port: Ints = arrays["group_port"]
        """(n_groups,) int32."""
        self.group_step: Ints = arrays["group_step"]
        """(n_groups + 1,): the steps of group ``g`` are ``[group_step[g], group_step[g + 1])``."""
        self._numbers = {name: number for number, name in enumerate(self.relations)}

    # -- making and keeping ------------------------------------------------------------------------------------------

    @classmethod
    def build(cls, entities: pa.Table, edges: pa.Table, inverses: Mapping[str, str] | None = None) -> Graph:
        """The graph of an ``entities`` and an ``edges`` table (``synth.schemas.documents``).

        ``inverses`` maps a relation to its inverse ("founded" -> "founded_by"): edges of the first are read as edges
        of the second with their ends swapped, so that both wordings are one fact. A relation that is mapped to itself
        is symmetric. Value nodes are numbered by first appearance of (value_kind, value) in the edges; apart from that
        nothing depends on the order of the edges.

        Raises:
            ValueError: an edge's end is neither an entity nor a value, or ``inverses`` contradicts itself or the edges.
        """
        columns = read_columns(entities, edges)
        facts, relations, symmetric = distinct_facts(columns, inverses or {})
        n_nodes, n_facts = len(columns.node_kind), len(facts.subject)

        back_port = 2 * facts.relation + 1
        single = symmetric[facts.relation] if n_facts else np.zeros(0, dtype=np.bool_)
        back_port = np.where(single, 2 * facts.relation, back_port)
        back = np.flatnonzero(~(single & (facts.subject == facts.object)))
        node = np.concatenate([facts.subject, facts.object[back]])
        port = np.concatenate([2 * facts.relation, back_port[back]]).astype(np.int32)
        target = np.concatenate([facts.object, facts.subject[back]])
        order = lexicographic_order(node, port, target, 2 * len(relations), n_nodes)
        node, port, target = node[order], port[order], target[order]
        fact_dtype = index_dtype(n_facts)
        step_fact = np.concatenate([np.arange(n_facts, dtype=fact_dtype), back.astype(fact_dtype)])[order]

        new = np.ones(len(node), dtype=np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (port[1:] != port[:-1])
        first = np.flatnonzero(new)
        relation_bytes, relation_offsets = encode_strings(relations)
        kind_bytes, kind_offsets = encode_strings(columns.kind_names)
        value_bytes, value_offsets = encode_strings(columns.values)
        value_order = np.array(sorted(range(len(columns.values)), key=columns.values.__getitem__), dtype=np.int32)
        return cls(
            {
                "sizes": np.array([_FORMAT, columns.n_entities, n_nodes, len(edges)], dtype=np.int64),
                "relation_bytes": relation_bytes,
                "relation_offsets": relation_offsets,
                "kind_bytes": kind_bytes,
                "kind_offsets": kind_offsets,
                "symmetric": symmetric,
                "node_kind": columns.node_kind,
                "value_bytes": value_bytes,
                "value_offsets": value_offsets,
                "value_order": value_order,
                "fact_subject": facts.subject,
                "fact_relation": facts.relation,
                "fact_object": facts.object,
                "evidence_start": facts.evidence_start,
                "evidence": facts.evidence,
                "step_start": offsets_of(np.bincount(node, minlength=n_nodes)),
                "step_target": target,
                "step_fact": step_fact,
                "group_start": offsets_of(np.bincount(node[first], minlength=n_nodes)),
                "group_port": port[first],
                "group_step": np.append(first, len(node)).astype(index_dtype(len(node))),
            }
        )

    def to_arrays(self) -> dict[str, Ints]:
        """Named arrays that hold all of the graph."""
        return dict(self._arrays)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Ints]) -> Graph:
        """The graph over ``arrays``; nothing is copied, so read-only memory maps work."""
        return cls(arrays)

    # -- nodes and relations -----------------------------------------------------------------------------------------

    @property
    def n_facts(self) -> int:
        return len(self.fact_subject)

    def is_value(self, node: int) -> bool:
        return self._node(node) >= self.n_entities

    def kind(self, node: int) -> str:
        """Entity type or value kind."""
        return self.kinds[int(self.node_kind[self._node(node)])]

    def value(self, node: int) -> tuple[str, str]:
        """(value kind, text) of a value node. Raises ValueError for an entity."""
        if not self.is_value(node):
            raise ValueError(f"node {node} is an entity")
        place = [int(node) - self.n_entities]
        return self.kind(node), decode_strings(self._arrays["value_bytes"], self._arrays["value_offsets"], place)[0]

    def value_node(self, kind: str, text: str) -> int | None:
        """The node of a value, or None when no edge states it."""
        order = self._arrays["value_order"]
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if self.value(self.n_entities + int(order[middle]))[1] < text:
                low = middle + 1
            else:
                high = middle
        while low < len(order):
            found = self.value(self.n_entities + int(order[low]))
            if found[1] != text:
                return None
            if found[0] == kind:
                return self.n_entities + int(order[low])
            low += 1
        return None

    def degree(self, node: int) -> int:
        """Number of steps out of ``node``: a self loop counts twice (once, where its relation is symmetric)."""
        return int(self.step_start[self._node(node) + 1]) - int(self.step_start[node])

    # -- facts -------------------------------------------------------------------------------------------------------

    def fact(self, number: int) -> Fact:
        """Raises IndexError when there is no such fact."""
        if not 0 <= number < self.n_facts:
            raise IndexError(f"no fact {number} among {self.n_facts}")
        relation = self.relations[int(self.fact_relation[number])]
        return Fact(int(self.fact_subject[number]), relation, int(self.fact_object[number]))

    def find(self, subject: int, relation: str, object: int) -> int | None:
        """The number of a fact, or None. For a symmetric relation, in either order."""
        group = self._group(subject, self.port(relation, True))
        if group is None:
            return None
        start, stop = self.group_step[group], self.group_step[group + 1]
        place = int(start) + int(np.searchsorted(self.step_target[start:stop], self._node(object)))
        found = place < stop and int(self.step_target[place]) == object
        return int(self.step_fact[place]) if found else None

    def facts_of(self, node: int) -> Ints:
        """Numbers of the facts that have ``node`` as subject or object, ascending."""
        return np.unique(self.step_fact[self.step_start[self._node(node)] : self.step_start[node + 1]])

    def evidence(self, fact: int) -> Ints:
        """Rows of the ``edges`` table that state the fact, ascending."""
        self.fact(fact)
        start = self._arrays["evidence_start"]
        return self._arrays["evidence"][start[fact] : start[fact + 1]]

    # -- neighbours --------------------------------------------------------------------------------------------------

    def port(self, relation: str, forward: bool) -> int:
        """Number of (relation, direction). Raises KeyError when no edge has the relation."""
        try:
            number = self._numbers[relation]
        except KeyError:
            raise KeyError(f"no relation {relation!r} in the graph") from None
        return 2 * number + (0 if forward or bool(self.symmetric[number]) else 1)

    def objects(self, subject: int, relation: str) -> Ints:
        """All objects of (subject, relation), ascending; for a symmetric relation, all partners."""
        return self._members(self._group(subject, self.port(relation, True)))

    def subjects(self, relation: str, object: int) -> Ints:
        """All subjects of (relation, object), ascending."""
        return self._members(self._group(object, self.port(relation, False)))

    def answers(self, constraints: Sequence[Constraint]) -> Ints:
        """All nodes that satisfy every constraint, ascending: exhaustive, so ``len(...) == 1`` proves uniqueness.

        A chain may come back to a node that it has passed ("films by the director of this film" include this film):
        who wants other nodes only has fewer answers, never more.

        Raises:
            ValueError: no constraint, or a constraint without a path (every node would do).
        """
        if not constraints:
            raise ValueError("no constraint: every node is an answer")
        found: Ints | None = None
        for constraint in constraints:
            if not constraint.path:
                raise ValueError(f"constraint on node {constraint.source} has no path")
            nodes = np.array([self._node(constraint.source)], dtype=self.step_target.dtype)
            for relation, forward in constraint.path:
                groups = self.groups(nodes, np.full(len(nodes), self.port(relation, forward)))
                groups = groups[groups >= 0]
                _, places = expand(self.group_step[groups], self.group_step[groups + 1] - self.group_step[groups])
                nodes = np.unique(self.step_target[places])
            found = nodes if found is None else np.intersect1d(found, nodes, assume_unique=True)
        assert found is not None
        return found

    def groups(self, nodes: Ints, ports: Ints) -> NDArray[np.int64]:
        """(n,) the group of each (node, port), or -1 where the node has no such step."""
        stop = self.group_start[nodes + 1].astype(np.int64)
        place = search_ranges(self.group_port, self.group_start[nodes], stop, ports)
        if len(self.group_port) == 0:
            return np.full(len(nodes), -1, dtype=np.int64)
        inside = np.minimum(place, len(self.group_port) - 1)
        return np.where((place < stop) & (self.group_port[inside] == ports), place, -1)

    # -- views -------------------------------------------------------------------------------------------------------

    # -- inner -------------------------------------------------------------------------------------------------------

    def _node(self, node: int) -> int:
        if not 0 <= node < self.n_nodes:
            raise IndexError(f"no node {node} among {self.n_nodes}")
        return int(node)

    def _group(self, node: int, port: int) -> int | None:
        start, stop = int(self.group_start[self._node(node)]), int(self.group_start[node + 1])
        place = start + int(np.searchsorted(self.group_port[start:stop], port))
        return place if place < stop and int(self.group_port[place]) == port else None

    def _members(self, group: int | None) -> Ints:
        if group is None:
            return self.step_target[:0]
        return self.step_target[self.group_step[group] : self.group_step[group + 1]]


_ARRAYS = (
    "sizes",
    "relation_bytes",
    "relation_offsets",
    "kind_bytes",
    "kind_offsets",
    "symmetric",
    "node_kind",
    "value_bytes",
    "value_offsets",
    "value_order",
    "fact_subject",
    "fact_relation",
    "fact_object",
    "evidence_start",
    "evidence",
    "step_start",
    "step_target",
    "step_fact",
    "group_start",
    "group_port",
    "group_step",
)
