"""The checks' :class:`synth.tasks.contract.Facts` and :class:`Pages` over our own graph and tables.

Everything is looked up by row number; what is read is what a task touches, whatever the size of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synth.graph.graph import Graph
from synth.schemas.row import Split
from synth.schemas.tasks import Hop, Node, Walk
from synth.tasks.graph_query import GraphRelations
from synth.tasks.pattern import Pattern
from synth.tasks.query import Results, evaluate

__all__ = ["GraphFacts", "PageText", "TablePages"]

Ints = NDArray[Any]
_LARGE = 4096


class _Rows:
    """Row numbers by id, for ids that were seen; others cost a scan of the column."""

    def __init__(self, ids: pa.ChunkedArray) -> None:
        self._ids = ids
        self._known: dict[str, int] = {}

    def id(self, row: int) -> str:
        found = str(self._ids[row].as_py())
        self._known[found] = row
        return found

    def find(self, wanted: str) -> int | None:
        row = self._known.get(wanted)
        if row is None:
            row = int(pc.index(self._ids, wanted).as_py())
            if row >= 0:
                self._known[wanted] = row
        return None if row < 0 else row


class GraphFacts:
    """Facts of a :class:`synth.graph.graph.Graph` over the ``entities`` table that it was built from."""

    def __init__(
        self,
        graph: Graph,
        entities: pa.Table,
        *,
        hub_kinds: Collection[str] = (),
        canonical: Callable[[str, bool], tuple[str, bool]] | None = None,
    ) -> None:
        """``canonical`` turns a hop's (relation, forward) into the graph's own where the graph merged inverses."""
        self._graph = graph
        self._rows = _Rows(entities.column("id"))
        self._partition = entities.column("partition")
        self._kind = entities.column("kind")
        self._hub_kinds = frozenset(hub_kinds)
        self.relations = GraphRelations(graph, number=self.number, id=self.id, canonical=canonical)
        """The graph as joins ask for it, and its values as numbers."""

    def id(self, node: int) -> str:
        """Id of a node: the entity's id, or the value's text."""
        return self._graph.value(node)[1] if self._graph.is_value(node) else self._rows.id(node)

    def number(self, node: Node) -> int | None:
        """The graph's number of a node, or None when the graph has none."""
        if node.kind in self._graph.kinds and node.document_id is None:
            found = self._graph.value_node(node.kind, node.id)
            if found is not None:
                return found
        return self._rows.find(node.id)

    def results(self, walk: Walk, pattern: Pattern | None = None, most: int | None = None) -> Results:
        """See :meth:`synth.tasks.contract.Facts.results`."""
        return evaluate(walk, self.relations, pattern, most=most)

    def extremes(self, kind: str, relation: str) -> tuple[frozenset[str], frozenset[str]]:
        """See :meth:`synth.tasks.contract.Facts.extremes`."""
        return self.relations.extremes(kind, relation)

    def connected(self, left: Node, right: Node) -> bool:
        """See :meth:`synth.tasks.contract.Facts.connected`."""
        one, two = self.number(left), self.number(right)
        if one is None or two is None:
            return False
        if self._graph.degree(one) > self._graph.degree(two):
            one, two = two, one
        steps = self._graph.step_target[self._graph.step_start[one] : self._graph.step_start[one + 1]]
        return bool(np.any(steps == two))

    def competitors(self, hop: Hop) -> int:
        """Neighbours of the hop's source that are of the target's kind, by whatever relation.

        Of a relation that leads to more than 4,096 nodes, as a hub's do, only the first is looked at: the rest are
        taken to be of its kind.
        """
        source, target = self.number(hop.source), self.number(hop.target)
        if source is None or target is None:
            return 1
        graph = self._graph
        kind = graph.node_kind[target]
        count = 0
        near: list[Ints] = []
        for group in range(int(graph.group_start[source]), int(graph.group_start[source + 1])):
            members = graph.step_target[graph.group_step[group] : graph.group_step[group + 1]]
            if len(members) > _LARGE:
                count += len(members) * bool(graph.node_kind[members[0]] == kind)
            else:
                near.append(members)
        if near:
            few = np.unique(np.concatenate(near))
            count += int(np.count_nonzero(graph.node_kind[few] == kind))
        return max(1, count)

    def partition(self, node: str) -> Split | None:
        row = self._rows.find(node)
        if row is None:
            return None
        owner: Split = self._partition[row].as_py()
        return owner

    def hub(self, node: str) -> bool:
        row = self._rows.find(node)
        return row is not None and self._kind[row].as_py() in self._hub_kinds


@dataclass(frozen=True)
class PageText:
    """What the checks read of a document."""

    id: str
    title: str
    text: str
    partition: Split
    licence: str | None


class TablePages:
    """Pages of a ``documents`` table; only the columns that checks read are touched."""

    def __init__(self, documents: pa.Table) -> None:
        self._columns = {name: documents.column(name) for name in ("title", "text", "partition", "licence")}
        self._rows = _Rows(documents.column("id"))

    def id(self, row: int) -> str:
        """Id of the document in ``row``."""
        return self._rows.id(row)

    def at(self, row: int) -> PageText:
        """The page in ``row``."""
        values = {name: column[row].as_py() for name, column in self._columns.items()}
        return PageText(id=self._rows.id(row), **values)

    def document(self, document_id: str) -> PageText | None:
        row = self._rows.find(document_id)
        return None if row is None else self.at(row)
