"""Candidates over the fictional world: walk, wording, checks.

Candidate ``i`` depends on the world, the config, the seed and ``i`` alone: never on which other candidates share its
batch. A batch walks together (vectorized) and searches together; that is all it shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.graph.graph import Graph
from synth.graph.walks import Walker, Walks, WalkStep
from synth.identity import derive_generator, digest
from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import Difficulty, Hop, Node, Shape, Walk
from synth.sources.world.schema import ENTITY_TYPES, HUB_TYPES, with_article, written_value
from synth.tasks.checks import run_checks
from synth.tasks.contract import Checked, Failed, Search, Surroundings, rejection
from synth.tasks.draft import Draft, gold_documents, gold_entities
from synth.tasks.graph_facts import GraphFacts, TablePages
from synth.tasks.text import generic_words, value_forms
from synth.tasks.world.compose import Worded, word_chain
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.conjoin import word_conjunction
from synth.tasks.world.links import Link
from synth.tasks.world.phrasebook import WORDINGS, canonical

__all__ = ["WorldProposer", "difficulty_of"]

Ints = NDArray[Any]
_CROWDS = frozenset(
    """
    born_in died_in citizen_of studied_at taught_at worked_at employed_by wrote_for played_for in_region part_of
    written_in official_language
    """.split()
)
"""Relations to which many subjects belong by nature: "the person who died in X" is no way to speak, even where the
pages know of one only. Walked against their direction they are constraints, never a step of a chain."""
_GENERIC_SAMPLE = 20_000
"""Names that are looked at to learn which words are generic."""


@dataclass(frozen=True)
class _Plan:
    """What a candidate is to be, before it walks."""

    index: int
    split: Split
    shape: Shape
    size: int
    value_end: bool
    tail: bool


class WorldProposer:
    """Proposes tasks over one world. Making one costs O(edges); a candidate costs what it touches."""

    def __init__(
        self,
        graph: Graph,
        entities: pa.Table,
        documents: pa.Table,
        edges: pa.Table,
        search: Search | None,
        config: WorldTasksConfig,
        *,
        stage: str = "world_tasks",
    ) -> None:
        """``graph`` is ``Graph.build(entities, edges, INVERSES)`` (``synth.tasks.world.phrasebook``)."""
        self._graph, self._config, self._stage = graph, config, stage
        self._entities = {name: entities.column(name) for name in ("id", "name", "kind", "aliases", "document")}
        self._edges = {name: edges.column(name) for name in ("document", "start", "end")}
        self._facts = GraphFacts(graph, entities, hub_kinds=HUB_TYPES, canonical=canonical)
        self._pages = TablePages(documents)
        names = self._entities["name"]
        step = max(1, len(names) // _GENERIC_SAMPLE)
        generic = generic_words(names[i].as_py() for i in range(0, len(names), step))
        nouns = {word for kind in ENTITY_TYPES.values() for word in (kind.noun, kind.plural)}
        self.surroundings = Surroundings(self._facts, self._pages, search, generic | nouns)
        """What the checks look at; an audit can use the same."""
        self._partition = np.asarray(entities.column("partition").to_pylist(), dtype=object)
        self._walkers: dict[tuple[str, str], Walker] = {}

    def propose(self, indices: Sequence[int], seed: int) -> list[Checked | Rejection]:
        """One outcome per candidate index, in order."""
        plans = [self._plan(index, seed) for index in indices]
        done: dict[int, Draft | Rejection] = {}
        groups: dict[tuple[str, str, bool], list[_Plan]] = {}
        for plan in plans:
            groups.setdefault((plan.split, plan.shape, plan.value_end), []).append(plan)
        for key in sorted(groups):
            left = groups[key]
            for attempt in range(self._config.attempts):
                walks = self._walk(left, seed, attempt)
                last = attempt == self._config.attempts - 1
                again: list[_Plan] = []
                for row, plan in enumerate(left):
                    steps = self._steps(plan, walks, row)
                    if steps is not None:
                        done[plan.index] = self._draft(plan, steps, seed)
                    elif last:
                        detail = f"no {plan.shape} of {plan.size} in {attempt + 1} walks"
                        done[plan.index] = self._reject(plan, Reason.NO_WALK, detail)
                    else:
                        again.append(plan)
                left = again
                if not left:
                    break
        drafts = [(i, item) for i in indices if isinstance(item := done[i], Draft)]
        checked = run_checks([draft for _, draft in drafts], self.surroundings, self._config.checks)
        verdicts: dict[int, Checked | Rejection] = {}
        for (index, _), verdict in zip(drafts, checked, strict=True):
            if isinstance(verdict, Failed):
                verdicts[index] = rejection(verdict, stage=self._stage, row_id=str(index))
            else:
                verdicts[index] = verdict
        return [verdicts[i] if i in verdicts else _rejected(done[i]) for i in indices]

    # -- what to ask -------------------------------------------------------------------------------------------------

    def _plan(self, index: int, seed: int) -> _Plan:
        rng = derive_generator(seed, "world_tasks", "plan", index)
        config = self._config
        split: Split = _draw(rng, config.fractions)
        if rng.random() < config.composition_share:
            size = _draw(rng, config.hops)
            return _Plan(index, split, "composition", size, rng.random() < config.value_answers, False)
        size = _draw(rng, config.constraints)
        return _Plan(index, split, "conjunction", size, False, rng.random() < config.tail_share)

    def _walk(self, batch: Sequence[_Plan], seed: int, attempt: int) -> Walks:
        first = batch[0]
        if attempt:
            seed = int(digest("world_tasks", "walk", seed, attempt)[:15], 16)
        indices = np.array([plan.index for plan in batch], dtype=np.int64)
        sizes = np.array([plan.size for plan in batch], dtype=np.int64)
        if first.shape == "composition":
            walker = self._walker(first.split, "value" if first.value_end else "entity")
            return walker.compositions(indices, sizes, seed)
        walker = self._walker(first.split, "conjunction")
        return walker.conjunctions(indices, sizes, seed, largest=self._config.largest_set)

    def _walker(self, split: Split, use: str) -> Walker:
        key = (split, use)
        if key in self._walkers:
            return self._walkers[key]
        graph, config = self._graph, self._config
        hub_numbers = [number for number, kind in enumerate(graph.kinds) if kind in HUB_TYPES]
        hubs = np.isin(graph.node_kind[: graph.n_entities], hub_numbers)
        own = (self._partition == split) & ~hubs
        gold = own | hubs if config.hub_gold else own
        is_value = np.arange(graph.n_nodes) >= graph.n_entities
        blocked = {*config.blocked_relations, *(name for name in graph.relations if name not in WORDINGS)}
        if use == "conjunction":
            starts = None if config.value_constraints else ~is_value
            walker = Walker(graph, allowed=gold, answers=~is_value, starts=starts, blocked=blocked)
        else:
            walker = Walker(
                graph,
                allowed=gold,
                answers=is_value if use == "value" else ~is_value,
                starts=np.concatenate([own | hubs, np.zeros(graph.n_nodes - graph.n_entities, dtype=np.bool_)]),
                blocked=blocked,
                functional_only=True,
            )
        self._walkers[key] = walker
        return walker

    # -- from a walk to a draft --------------------------------------------------------------------------------------

    def _steps(self, plan: _Plan, walks: Walks, row: int) -> list[WalkStep] | None:
        """The walk of a row, or None when it has none that a person would ask about."""
        if not walks.valid[row]:
            return None
        steps = list(walks.steps(row, self._graph))
        if plan.shape == "composition":
            crowded = any(step.relation in _CROWDS and not step.forward for step in steps)
            return None if crowded else steps
        # Nothing but numbers ("founded in 1334, 3 metres above the sea") is no question about anything.
        if all(step.source >= self._graph.n_entities and self._graph.kind(step.source) != "text" for step in steps):
            return None
        return sorted(steps, key=lambda step: step.fanout)  # the narrowest constraint is where a solver starts

    def _draft(self, plan: _Plan, steps: list[WalkStep], seed: int) -> Draft | Rejection:
        rng = derive_generator(seed, "world_tasks", "words", plan.index)
        if plan.tail:
            step = self._tail(plan, steps, rng)
            if step is None:
                return self._reject(plan, Reason.NO_WALK, "no hop leads on from the conjunction's answer")
            steps.append(step)
        chain = plan.shape == "composition"
        known = [not chain if i < plan.size else False for i in range(len(steps))]
        known[0] = True
        links = [self._link(number, step, known[number]) for number, step in enumerate(steps)]
        if chain:
            worded = word_chain(links, rng)
        else:
            worded = word_conjunction(links[: plan.size], links[plan.size] if plan.tail else None, rng)
        if worded is None:
            relations = ", ".join(step.relation for step in steps)
            return self._reject(plan, Reason.UNNATURAL, f"no wording fits {relations}")
        return self._finish(plan, steps, worded)

    def _tail(self, plan: _Plan, steps: Sequence[WalkStep], rng: np.random.Generator) -> WalkStep | None:
        """One more step from the conjunction's answer, to a node of the split by a functional relation not yet used."""
        graph, at = self._graph, steps[-1].target
        visited = {at, *(step.source for step in steps)}
        used = {step.relation for step in steps}
        options: list[WalkStep] = []
        for group in range(int(graph.group_start[at]), int(graph.group_start[at + 1])):
            start, stop = int(graph.group_step[group]), int(graph.group_step[group + 1])
            port = int(graph.group_port[group])
            relation, target = graph.relations[port >> 1], int(graph.step_target[start])
            if stop - start != 1 or relation in used or relation not in WORDINGS or target in visited:
                continue
            if relation in self._config.blocked_relations or not self._gold(target, plan.split):
                continue
            fact = int(graph.step_fact[start])
            forward = bool(graph.symmetric[port >> 1]) or port & 1 == 0
            if relation in _CROWDS and not forward:
                continue
            options.append(WalkStep(at, target, relation, forward, fact, 1))
        return options[int(rng.integers(len(options)))] if options else None

    def _gold(self, node: int, split: Split) -> bool:
        if self._graph.is_value(node):
            return True
        if self._graph.kind(node) in HUB_TYPES:
            return self._config.hub_gold
        return bool(self._partition[node] == split)

    def _link(self, number: int, step: WalkStep, known: bool) -> Link:
        name = self._spoken(step.source) if known else ""
        return Link(number, WORDINGS[step.relation], step.forward, self._graph.kind(step.target), name)

    def _spoken(self, node: int) -> str:
        if self._graph.is_value(node):
            kind, text = self._graph.value(node)
            return written_value(text, kind)  # type: ignore[arg-type]
        return with_article(self._graph.kind(node), str(self._entities["name"][node].as_py()))

    def _node(self, node: int) -> Node:
        if self._graph.is_value(node):
            kind, text = self._graph.value(node)
            return Node(id=text, name=self._spoken(node), kind=kind)
        page = int(self._entities["document"][node].as_py())
        return Node(
            id=self._facts.id(node),
            name=str(self._entities["name"][node].as_py()),
            aliases=tuple(self._entities["aliases"][node].as_py() or ()),
            kind=self._graph.kind(node),
            document_id=self._pages.id(page) if page >= 0 else None,
        )

    def _evidence(self, step: WalkStep, source: Node) -> Evidence:
        """The span that states the step: on the source's own page where it stands there, for that is where a solver
        looks first; else where it comes first."""
        spans = []
        for edge in self._graph.evidence(step.fact).tolist():
            page = self._pages.at(int(self._edges["document"][edge].as_py()))
            start, end = int(self._edges["start"][edge].as_py()), int(self._edges["end"][edge].as_py())
            span = Evidence(document_id=page.id, start=start, end=end, quote=page.text[start:end])
            spans.append((page.id != source.document_id, edge, span))
        return min(spans, key=lambda item: item[:2])[2]

    def _finish(self, plan: _Plan, steps: Sequence[WalkStep], worded: Worded) -> Draft:
        nodes = {node: self._node(node) for step in steps for node in (step.source, step.target)}
        hops = []
        for number, (step, cue) in enumerate(zip(steps, worded.cues, strict=True)):
            needs: tuple[int, ...] = ()
            if plan.shape == "composition" and number:
                needs = (number - 1,)
            elif number == plan.size:
                needs = tuple(range(plan.size))
            hops.append(
                Hop(
                    source=nodes[step.source],
                    target=nodes[step.target],
                    relation=step.relation,
                    forward=step.forward,
                    needs=needs,
                    evidence=self._evidence(step, nodes[step.source]),
                    cue=cue,
                )
            )
        walk = Walk(shape=plan.shape, hops=tuple(hops))
        answer = nodes[steps[-1].target]
        kind: ValueKind = "entity"
        aliases = answer.aliases
        if self._graph.is_value(steps[-1].target):
            kind = answer.kind  # type: ignore[assignment]
            aliases = tuple(form for form in value_forms(answer.id, kind, answer.name) if form != answer.name)
        licences = {page.licence for name in gold_documents(walk) if (page := self._pages.document(name)) is not None}
        return Draft(
            question=worded.question,
            answer=answer.name,
            answer_aliases=aliases,
            answer_kind=kind,
            shape=plan.shape,
            walk=walk,
            gold_entities=gold_entities(walk),
            gold_documents=gold_documents(walk),
            difficulty=difficulty_of(walk, self._facts),
            split=plan.split,
            surface=worded.surface,
            licence=licences.pop() if len(licences) == 1 else None,
        )

    def _reject(self, plan: _Plan, reason: Reason, detail: str) -> Rejection:
        return Rejection(stage=self._stage, row_id=str(plan.index), reason=reason, detail=detail, split=plan.split)


def difficulty_of(walk: Walk, facts: GraphFacts) -> Difficulty:
    """Measures of structure (see :class:`synth.schemas.tasks.Difficulty`)."""
    competitors = [facts.competitors(hop) for hop in walk.hops]
    mean = math.exp(sum(math.log(count) for count in competitors) / len(competitors)) if competitors else 1.0
    return Difficulty(
        hops=len(walk.hops),
        constraints=sum(1 for hop in walk.hops if not hop.needs),
        branching=round(mean, 4),
        documents=len(gold_documents(walk)),
    )


def _draw(rng: np.random.Generator, weights: dict[Any, float]) -> Any:
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


def _rejected(item: Draft | Rejection) -> Rejection:
    if not isinstance(item, Rejection):
        raise TypeError("a draft without a verdict")
    return item
