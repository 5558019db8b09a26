"""The world as proposers see it: nodes with their names and pages, steps with their evidence, and who may be gold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.graph.graph import Graph
from synth.graph.walks import WalkStep
from synth.lexicon.names import written_value
from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.row import Split
from synth.schemas.tasks import AnswerPart, Difficulty, Hop, Node, Operation, Shape, Walk
from synth.tasks.draft import Draft, gold_documents, gold_entities
from synth.tasks.graph_facts import GraphFacts, TablePages
from synth.tasks.text import value_forms
from synth.tasks.values import MEASURED_KINDS
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.links import Link
from synth.tasks.world.wording import Noun
from synth.tasks.world.words import Words
from synth.text.lists import listed

__all__ = ["Answer", "WorldView", "difficulty_of", "draw"]

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Answer:
    """An answer as a row of tasks writes it."""

    text: str
    kind: ValueKind
    aliases: tuple[str, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    ordered: bool = False


class WorldView:
    """One world, its graph and its tables. Making one costs O(1); masks are made once for each split, on first use."""

    def __init__(
        self,
        graph: Graph,
        entities: pa.Table,
        documents: pa.Table,
        edges: pa.Table,
        config: WorldTasksConfig,
        words: Words,
    ) -> None:
        self.graph, self.config, self.words = graph, config, words
        self._entities = {name: entities.column(name) for name in ("id", "name", "kind", "aliases", "document")}
        self._edges = {name: edges.column(name) for name in ("document", "start", "end")}
        self.facts = GraphFacts(graph, entities, hub_kinds=words.hubs, canonical=words.canonical)
        self.pages = TablePages(documents)
        self.partition = np.asarray(entities.column("partition").to_pylist(), dtype=object)
        """(n_entities,) the split that owns each entity."""
        self._masks: dict[str, Bools] = {}
        self.memo: dict[Any, Any] = {}
        """What shapes keep between candidates (pools), by their own keys. Nothing in it may depend on a candidate."""

    # -- who may be what -----------------------------------------------------------------------------------------------

    @cached_property
    def hubs(self) -> Bools:
        """(n_entities,) declared hubs."""
        numbers = [number for number, kind in enumerate(self.graph.kinds) if kind in self.words.hubs]
        return np.asarray(np.isin(self.graph.node_kind[: self.graph.n_entities], numbers))

    def own(self, split: Split) -> Bools:
        """(n_entities,) entities that the split owns."""
        if split not in self._masks:
            self._masks[split] = np.asarray((self.partition == split) & ~self.hubs, dtype=np.bool_)
        return self._masks[split]

    def gold(self, split: Split) -> Bools:
        """(n_entities,) entities that may be gold: the split's own, and hubs where the config lets them."""
        return self.own(split) | self.hubs if self.config.hub_gold else self.own(split)

    def sources(self, split: Split) -> Bools:
        """(n_nodes,) what a question about a set may name: the split's own and hubs, and values where they may."""
        values = np.full(self.graph.n_nodes - self.graph.n_entities, self.config.value_sets, dtype=np.bool_)
        return np.concatenate([self.own(split) | self.hubs, values])

    def constraints(self) -> Bools | None:
        """(n_nodes,) what a conjunction may name; None = everything."""
        values = np.arange(self.graph.n_nodes) >= self.graph.n_entities
        return None if self.config.value_constraints else ~values

    def alike(self, members: NDArray[Any], first: int) -> NDArray[Any]:
        """Those of ``members`` that a person would compare with ``first``."""
        return members

    def may_be_gold(self, node: int, split: Split) -> bool:
        """Whether a node may be found on the way: values may."""
        return self.graph.is_value(node) or bool(self.gold(split)[node])

    @cached_property
    def blocked(self) -> frozenset[str]:
        """Relations that no question uses."""
        return frozenset(
            {*self.config.blocked_relations, *(n for n in self.graph.relations if n not in self.words.wordings)}
        )

    # -- nodes, steps, hops --------------------------------------------------------------------------------------------

    def kind(self, node: int) -> str:
        """Entity type or value kind."""
        return self.graph.kind(node)

    def noun(self, node: int) -> Noun:
        """What things like the node are called."""
        return self.words.noun(self.graph.kind(node))

    def spoken(self, node: int) -> str:
        """The node as a sentence mentions it: "the River Senn", "14 March 1874"."""
        if self.graph.is_value(node):
            kind, text = self.graph.value(node)
            return written_value(text, kind)  # type: ignore[arg-type]
        return self.words.name(self.graph.kind(node), str(self._entities["name"][node].as_py()))

    def node(self, node: int) -> Node:
        """The node as hops name it."""
        if self.graph.is_value(node):
            kind, text = self.graph.value(node)
            return Node(id=text, name=self.spoken(node), kind=kind)
        page = int(self._entities["document"][node].as_py())
        return Node(
            id=self.facts.id(node),
            name=str(self._entities["name"][node].as_py()),
            aliases=tuple(self._entities["aliases"][node].as_py() or ()),
            kind=self.graph.kind(node),
            document_id=self.pages.id(page) if page >= 0 else None,
        )

    def link(self, number: int, step: WalkStep, *, known: bool) -> Link:
        """The step as the grammar sees it; ``known``: the question names its source."""
        name = self.spoken(step.source) if known else ""
        return Link(number, self.words.wordings[step.relation], step.forward, self.noun(step.target), name)

    def evidence(self, step: WalkStep, source: Node) -> Evidence:
        """The span that states the step: on the source's own page where it stands there, for that is where a solver
        looks first; else where it comes first."""
        spans = []
        for edge in self.graph.evidence(step.fact).tolist():
            page = self.pages.at(int(self._edges["document"][edge].as_py()))
            start, end = int(self._edges["start"][edge].as_py()), int(self._edges["end"][edge].as_py())
            span = Evidence(document_id=page.id, start=start, end=end, quote=page.text[start:end])
            spans.append((page.id != source.document_id, edge, span))
        return min(spans, key=lambda item: item[:2])[2]

    def hop(self, step: WalkStep, cue: str, needs: tuple[int, ...] = ()) -> Hop:
        """The step as a row of the walk."""
        source = self.node(step.source)
        return Hop(
            source=source,
            target=self.node(step.target),
            relation=step.relation,
            forward=step.forward,
            needs=needs,
            evidence=self.evidence(step, source),
            cue=cue,
        )

    def group_steps(self, group: int, source: int) -> list[WalkStep]:
        """Every step of a group of the graph (all that one relation leads to from ``source``)."""
        graph = self.graph
        start, stop = int(graph.group_step[group]), int(graph.group_step[group + 1])
        port = int(graph.group_port[group])
        forward = bool(graph.symmetric[port >> 1]) or port & 1 == 0
        return [
            WalkStep(
                source,
                int(graph.step_target[at]),
                graph.relations[port >> 1],
                forward,
                int(graph.step_fact[at]),
                stop - start,
            )
            for at in range(start, stop)
        ]

    def step_to_value(self, node: int, relation: str) -> WalkStep | None:
        """The step from an entity to its one value of a relation; None where it has none or several."""
        graph = self.graph
        group = int(graph.groups(np.array([node]), np.array([graph.port(relation, True)]))[0])
        steps = self.group_steps(group, node) if group >= 0 else []
        return steps[0] if len(steps) == 1 else None

    # -- drafts --------------------------------------------------------------------------------------------------------

    def answer(self, node: Node) -> Answer:
        """One node as the answer."""
        if node.kind in (*MEASURED_KINDS, "text"):
            kind: ValueKind = node.kind  # type: ignore[assignment]
            forms = value_forms(node.id, kind, node.name)
            return Answer(node.name, kind, tuple(form for form in forms if form != node.name))
        return Answer(node.name, "entity", node.aliases)

    def answers(self, nodes: Sequence[Node], *, ordered: bool = False) -> Answer:
        """Several nodes as the parts of one answer: "A, B and C"."""
        each = [self.answer(node) for node in nodes]
        names = [one.text for one in each]
        parts = tuple(AnswerPart(answer=one.text, aliases=one.aliases, kind=one.kind) for one in each)
        return Answer(listed(names), each[0].kind, parts=parts, ordered=ordered)

    def draft(
        self,
        shape: Shape,
        split: Split,
        question: str,
        hops: Sequence[Hop],
        answer: Answer,
        surface: str,
        operations: Sequence[Operation] = (),
    ) -> Draft:
        """The draft of a worded walk."""
        walk = Walk(shape=shape, hops=tuple(hops), operations=tuple(operations))
        gold = gold_documents(walk)
        licences = {page.licence for name in gold if (page := self.pages.document(name)) is not None}
        return Draft(
            question=question,
            answer=answer.text,
            answer_aliases=answer.aliases,
            answer_kind=answer.kind,
            answer_parts=answer.parts,
            answer_ordered=answer.ordered,
            shape=shape,
            walk=walk,
            gold_entities=gold_entities(walk),
            gold_documents=gold,
            difficulty=difficulty_of(walk, self.facts),
            split=split,
            surface=surface,
            licence=licences.pop() if len(licences) == 1 else None,
        )


def difficulty_of(walk: Walk, facts: GraphFacts) -> Difficulty:
    """Measures of structure (see :class:`synth.schemas.tasks.Difficulty`). The members of a set are one constraint."""
    competitors = [facts.competitors(hop) for hop in walk.hops]
    mean = math.exp(sum(math.log(count) for count in competitors) / len(competitors)) if competitors else 1.0
    named = {(hop.source.id, hop.relation, hop.forward, hop.cue) for hop in walk.hops if not hop.needs}
    return Difficulty(
        hops=len(walk.hops),
        constraints=len(named),
        branching=round(mean, 4),
        documents=len(gold_documents(walk)),
    )


def draw(rng: np.random.Generator, weights: Mapping[Any, float]) -> Any:
    """A key of ``weights``, by weight. Keys are taken in sorted order: equal configs draw alike however they were
    written."""
    point = float(rng.random()) * sum(weights.values())
    total = 0.0
    last: Any = None
    for key in sorted(weights):
        weight = weights[key]
        if weight <= 0:
            continue
        total += weight
        last = key
        if point < total:
            return key
    return last
