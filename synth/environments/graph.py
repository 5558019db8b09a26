"""The graph environment: look up an entity by name, see which relations it has, read the facts of one of them.

GraphWalker (arXiv 2603.28533) lets an agent walk a knowledge graph with two calls, the relations of an entity and the
triples of an entity and a relation. Ids can't be guessed from a question, so a third call finds an entity by its name.
Everything is read from memory-mapped arrays; an episode holds no copy of anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import pyarrow as pa
from pydantic import Field

from synth.environments.answers import check_task
from synth.environments.contract import (
    Environment,
    EnvironmentKeys,
    EnvironmentSpec,
    Episode,
    Resources,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    refusal,
    results_argument,
)
from synth.environments.identifiers import Identifiers
from synth.environments.passages import End, Triple
from synth.environments.shown import Facts, Hit, Hits, Listed, Relations
from synth.environments.triples import GRAPH_TOOLS, render, written
from synth.graph.graph import Graph
from synth.identity import versioned
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.text.forms import normalize
from synth.text.inflection import article, capital

__all__ = [
    "GRAPH",
    "EntityTable",
    "GraphEnvironment",
    "GraphEpisode",
    "GraphWalk",
    "NameIndex",
    "open_graph",
]

_BY_NAME = {tool.name: tool for tool in GRAPH_TOOLS}
_LOOKED_AT = 50
"""Entities that the index ranks, before whole names come first."""
_KINDS = 64
"""So many far ends of a relation are looked at to say what kinds they are of."""


class Named(Protocol):
    @property
    def document(self) -> int:
        """Row number in the entities table."""


class NameIndex(Protocol):
    def search(self, query: str, k: int) -> Sequence[Named]:
        """The ``k`` entities whose names fit best, best first, ties in a fixed order."""


class EntityTable(Protocol):
    @property
    def arrow(self) -> pa.Table: ...


@dataclass(frozen=True)
class Fan:
    """The facts of one node by one relation in one direction: steps ``start`` to ``stop`` of the graph."""

    relation: str
    direction: str
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


class GraphEnvironment(Environment):
    """A graph with names. Shared by any number of episodes and threads."""

    name: ClassVar[str] = "graph"
    version: ClassVar[str] = "17"

    def __init__(
        self,
        graph: Graph,
        entities: EntityTable,
        names: NameIndex,
        *,
        default_k: int = 5,
        page_size: int = 40,
    ) -> None:
        """
        Args:
            entities: The table whose rows are the graph's first nodes (``synth.schemas.documents.Entity``).
            names: Finds rows of ``entities`` by the words of their names and aliases.
            default_k: Results of ``find_entity`` when the call does not say.
            page_size: Facts, or relations, on one page.

        Raises:
            ValueError: graph and table do not have the same entities.
        """
        table = entities.arrow
        if len(table) != graph.n_entities:
            raise ValueError(f"the graph has {graph.n_entities} entities, the table {len(table)}")
        self.graph = graph
        self.names = names
        self.default_k = default_k
        self.page_size = page_size
        self._columns = {name: table.column(name) for name in ("id", "name", "kind", "aliases")}
        self._ids = Identifiers(self._columns["id"])

    def tools(self) -> tuple[ToolSchema, ...]:
        finding, *others = GRAPH_TOOLS
        return (finding.taking("k", results_argument(self.default_k)), *others)

    def instructions(self) -> str:
        return (
            "You have a graph of facts. `find_entity` finds an entity by its name, `get_relations` lists by which "
            "relations it stands in facts (with the number of facts, and the kind of thing at their other end), "
            "`get_triples` shows the facts of one relation, one per line: subject, relation: object. Entities are "
            "written as [name](entity): the tools take what stands in the parentheses."
        )

    def reset(self, task: Task) -> GraphEpisode:
        return GraphEpisode(self, task)

    # -- what there is to read -----------------------------------------------------------------------------------------

    def node(self, entity: str) -> int | None:
        """The node of an entity id."""
        return self._ids.row(entity)

    def end(self, node: int) -> End:
        """A node as a fact shows it."""
        if node >= self.graph.n_entities:
            kind, text = self.graph.value(node)
            return End(written(text, kind))
        return End(str(self._columns["name"][node].as_py()), str(self._columns["id"][node].as_py()))

    def kind(self, node: int) -> str:
        return str(self._columns["kind"][node].as_py()) or "thing"

    def aliases(self, node: int) -> tuple[str, ...]:
        return tuple(self._columns["aliases"][node].as_py() or ())

    def description(self, node: int) -> str:
        """What kind of thing it is, and its other names: "a person, also called Ann"."""
        kind, other = self.kind(node), self.aliases(node)
        also = f", also called {', '.join(' '.join(alias.split()) for alias in other)}" if other else ""
        return f"{article(kind)} {kind}{also}"

    def fans(self, node: int) -> list[Fan]:
        """What ``node`` has facts by, by relation and direction."""
        graph = self.graph
        found: list[Fan] = []
        for group in range(int(graph.group_start[node]), int(graph.group_start[node + 1])):
            port = int(graph.group_port[group])
            both = bool(graph.symmetric[port >> 1])
            direction = "both" if both else "in" if port & 1 else "out"
            start, stop = int(graph.group_step[group]), int(graph.group_step[group + 1])
            found.append(Fan(graph.relations[port >> 1], direction, start, stop))
        return found

    def far_kinds(self, fan: Fan) -> tuple[str, ...]:
        """Kinds of the far ends, as far as the first of them tell, in order of the alphabet."""
        targets = self.graph.step_target[fan.start : min(fan.stop, fan.start + _KINDS)]
        return tuple(self.graph.kinds[int(kind)] for kind in np.unique(self.graph.node_kind[targets]))

    def find(self, name: str, k: int) -> list[int]:
        """Nodes of entities of that name: whole names first, then whole aliases, then what the index ranks best."""
        hits = [int(hit.document) for hit in self.names.search(name, max(k, _LOOKED_AT))]
        wanted = normalize(name)

        def rank(node: int) -> int:
            if normalize(self.end(node).name) == wanted:
                return 0
            return 1 if any(normalize(alias) == wanted for alias in self.aliases(node)) else 2

        return sorted(hits, key=rank)[:k]


class GraphEpisode(Episode):
    """State: how many calls were made. Reading changes nothing."""

    def __init__(self, environment: GraphEnvironment, task: Task) -> None:
        super().__init__(task)
        self.environment = environment
        self._calls = 0

    def step(self, call: ToolCall) -> ToolResult:
        self._calls += 1
        refused = refusal(call, _BY_NAME, 400)
        if refused is not None:
            return refused
        if call.name == "find_entity":
            return self._find(call)
        return self._relations(call) if call.name == "get_relations" else self._triples(call)

    def _find(self, call: ToolCall) -> ToolResult:
        environment = self.environment
        name = " ".join(str(call.arguments["name"]).split())
        if not name:
            return call.answered("Wrong arguments for find_entity: name: it holds no words.", "bad_arguments")
        nodes = environment.find(name, int(call.arguments.get("k", environment.default_k)))
        hits = ((environment.end(node), environment.description(node)) for node in nodes)
        return call.answered(render(Hits(name, tuple(Hit(end.name, end.id, words) for end, words in hits))))

    def _relations(self, call: ToolCall) -> ToolResult:
        environment = self.environment
        found = self._node(call)
        if isinstance(found, ToolResult):
            return found
        fans = environment.fans(found)
        pages = self._pages(len(fans))
        page = int(call.arguments.get("page", 1))
        shown = environment.end(found).markdown()
        if page > pages:
            return call.answered(f"There is no page {page}: the relations of {shown} have {_many(pages)}.", "not_found")
        listed = tuple(
            Listed(fan.relation, fan.direction, len(fan), environment.far_kinds(fan))
            for fan in fans[(page - 1) * environment.page_size : page * environment.page_size]
        )
        about = capital(environment.description(found))
        return call.answered(render(Relations(environment.end(found), about, len(fans), page, pages, listed)))

    def _triples(self, call: ToolCall) -> ToolResult:
        environment = self.environment
        found = self._node(call)
        if isinstance(found, ToolResult):
            return found
        wanted = _one_line(str(call.arguments["relation"]))
        direction = str(call.arguments.get("direction", ""))
        shown = environment.end(found).markdown()
        same = [fan for fan in environment.fans(found) if _one_line(fan.relation) == wanted]
        # A relation that reads the same from both ends has no direction that could be wrong.
        fans = [fan for fan in same if direction in ("", "both") or fan.direction in (direction, "both")]
        if not fans:
            here = f" in direction {direction}" if same else ""
            words = f"{shown} has no facts by {wanted!r}{here}: get_relations lists what it has."
            return call.answered(words, "not_found")
        total = sum(map(len, fans))
        pages = self._pages(total)
        page = int(call.arguments.get("page", 1))
        way = fans[0].direction if len(fans) == 1 else "out and in"
        if page > pages:
            words = f"There is no page {page}: {wanted} ({way}) of {shown} has {_many(pages)}."
            return call.answered(words, "not_found")
        first = (page - 1) * environment.page_size
        facts = tuple(self._fact(found, *at) for at in _slice(fans, first, first + environment.page_size))
        return call.answered(render(Facts(environment.end(found), wanted, way, total, page, pages, facts)))

    def _fact(self, node: int, fan: Fan, step: int) -> Triple:
        graph = self.environment.graph
        here, there = self.environment.end(node), self.environment.end(int(graph.step_target[step]))
        against = fan.direction == "in"
        return Triple(there if against else here, fan.relation, here if against else there)

    def _node(self, call: ToolCall) -> int | ToolResult:
        entity = str(call.arguments["entity"])
        node = self.environment.node(entity)
        if node is not None:
            return node
        shown = entity if len(entity) <= 120 else f"{entity[:117]}..."
        words = f"There is no entity {shown!r}. Take an id that a tool shows in parentheses; find_entity finds it."
        return call.answered(words, "not_found")

    def _pages(self, items: int) -> int:
        return max(1, -(-items // self.environment.page_size))

    def snapshot(self) -> Snapshot:
        return self.environment.pack(self.task, {"calls": self._calls})

    def restore(self, snapshot: Snapshot) -> None:
        self._calls = int(self.environment.unpack(self.task, snapshot)["calls"])

    def check(self, answer: str | None) -> Verdict:
        return check_task(self.task, answer)


def _slice(fans: Sequence[Fan], first: int, last: int) -> list[tuple[Fan, int]]:
    """(fan, step) of the facts ``first`` to ``last`` of several fans one behind the other."""
    found: list[tuple[Fan, int]] = []
    before = 0
    for fan in fans:
        low, high = max(first - before, 0), min(last - before, len(fan))
        found += [(fan, fan.start + at) for at in range(low, high)]
        before += len(fan)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _many(pages: int) -> str:
    return "1 page" if pages == 1 else f"{pages} pages"


class GraphWalk(EnvironmentKeys):
    """The environment: a graph of facts, entity by entity and relation by relation."""

    kind: Literal["graph"]
    page_size: int = Field(default=40, ge=1, le=1000)
    """Facts, or relations, that one page shows."""
    default_k: int = Field(default=5, ge=1, le=20)
    """Results of a look-up by name when a call does not say how many."""


@versioned(GraphEnvironment.version)
def open_graph(*, inputs: Resources, **options: Any) -> GraphEnvironment:
    """The environment over the arrays ``graph`` and ``names`` and the table ``entities`` of a build; ``options`` go to
    :class:`GraphEnvironment`."""
    graph, names = Graph.from_arrays(inputs.arrays("graph")), Bm25Index(inputs.arrays("names"))
    return GraphEnvironment(graph, inputs.table("entities"), names, **options)


GRAPH = EnvironmentSpec(
    kind="graph",
    keys=GraphWalk,
    open=open_graph,
    needs=("entities", "graph", "names"),
    libraries=("numpy", "bm25s"),
    prompt="agents/graph",
    rl_prompt="rl/graph",
)
