"""Cycles: dense small subgraphs that are not trees, with unnamed bridges that must fit together.

"Someone was educated at Vornstead Academy. That person founded a museum. Which city is where that person was born and
is home to that museum?" Three or four nodes form a cycle; a neighbour of one of them is named, and only joining the
constraints on the others, bridges included, tells which. After SailorFog-QA (arXiv 2509.13305):

* subgraphs with a cycle, never trees;
* structural dedup by the Weisfeiler-Leman hash of the pattern (types and relations, no names): cycles of the world are
  pooled by it, and a structure is drawn before one of its cycles, so that no structure is common;
* the answer is a node whose orbit under the pattern's automorphisms is a singleton: the structure itself tells it from
  the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from synth.graph.walks import WalkStep
from synth.identity import derive_generator
from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.world.links import choose
from synth.tasks.world.lookups import SAME_EVENT, ends_of, incoming, only_range, own_values, value_of
from synth.tasks.world.view import WorldView
from synth.tasks.world.web import Thread, draft_of_web

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Cycle", "cycles_of", "orbits", "propose_cycle", "structure_of"]

_STARTS = 1500
"""Nodes around which the pool looks for cycles, however large the world is."""
_NEAR = 24
"""Neighbours of a node that are looked at."""
_SIBLINGS = 12
"""The anchor may lead to so many at most: a solver tests each."""
_TRIES = 6
"""Anchors that are tried for a cycle."""


@dataclass(frozen=True)
class Cycle:
    """Nodes in a ring; ``facts[i]`` joins ``nodes[i]`` to the next one (the last to the first)."""

    nodes: tuple[int, ...]
    facts: tuple[int, ...]


def propose_cycle(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    pool = _pool(view, split)
    if not pool:
        return None
    structure = choose(rng, sorted(pool))
    cycle = choose(rng, pool[structure])
    alone = [node for orbit in orbits(view, cycle) if len(orbit) == 1 for node in orbit]
    if not alone:
        return None
    answer = choose(rng, sorted(alone))
    root = choose(rng, [node for node in cycle.nodes if node != answer])
    ring = _directed(view, cycle, root, answer)
    used = {thread.step.relation for thread in ring}
    if not _tells_apart(ring):
        return None
    anchors = [
        step
        for step in incoming(view, root, 2, _SIBLINGS, _SIBLINGS)
        if step.source not in cycle.nodes and step.relation not in used
    ]
    for i in rng.permutation(len(anchors))[:_TRIES]:
        web = _closed(view, [Thread(anchors[int(i)]), *ring], answer, used, rng)
        if web is not None:
            level = int(any(thread.blur is not None for thread in web))
            draft = draft_of_web(
                view, web, "cycle", split, rng, level=level, unique=_functional(view, web), base="cycle"
            )
            return None if draft is None else draft.model_copy(update={"details": {"structure": structure}})
    return None


# -- where cycles are ------------------------------------------------------------------------------------------------


def _pool(view: WorldView, split: Split) -> dict[str, list[Cycle]]:
    """Cycles among what the split may use, by structure; made once. At most ``_STARTS`` nodes are looked at."""
    key = ("cycle", split)
    if key not in view.memo:
        nodes = np.flatnonzero(view.own(split))
        if len(nodes) > _STARTS:
            nodes = np.sort(derive_generator(0, "world_tasks", "cycle pool", split).choice(nodes, _STARTS, False))
        found: dict[str, list[Cycle]] = {}
        for node in nodes.tolist():
            for cycle in cycles_of(view, int(node), split):
                found.setdefault(_structure(view, cycle), []).append(cycle)
        # Of a structure that there is but once, the structure tells all: no anchor would be needed.
        view.memo[key] = {name: cycles for name, cycles in found.items() if len(cycles) > 1}
    pool: dict[str, list[Cycle]] = view.memo[key]
    return pool


def cycles_of(view: WorldView, node: int, split: Split) -> Iterator[Cycle]:
    """Rings of three and four nodes in which ``node`` is the least, each once. Hubs are not part of them: that
    somebody's city lies in their country is not a puzzle."""
    near = _around(view, node, split)
    after = sorted(other for other in near if other > node)
    for left, right in combinations(after, 2):
        one, two = _around(view, left, split), _around(view, right, split)
        for first, last in product(near[left], near[right]):
            for across in one.get(right, ()):
                yield Cycle((node, left, right), (first.fact, across.fact, last.fact))
            for far in sorted(one.keys() & two.keys()):
                if far > node:
                    for to, back in product(one[far], two[far]):
                        yield Cycle((node, left, far, right), (first.fact, to.fact, back.fact, last.fact))


def _around(view: WorldView, node: int, split: Split) -> dict[int, list[WalkStep]]:
    """Steps from a node to neighbours that the split owns, at most ``_NEAR`` of a relation."""
    memo: dict[int, dict[int, list[WalkStep]]] = view.memo.setdefault(("around", split), {})
    if node not in memo:
        graph, own = view.graph, view.own(split)
        found: dict[int, list[WalkStep]] = {}
        for group in range(int(graph.group_start[node]), int(graph.group_start[node + 1])):
            for step in view.group_steps(group, node)[:_NEAR]:
                usable = step.target != node and step.relation not in view.blocked
                if usable and not graph.is_value(step.target) and own[step.target]:
                    found.setdefault(step.target, []).append(step)
        memo[node] = found
    return memo[node]


def _step(view: WorldView, source: int, target: int, fact: int) -> WalkStep:
    """The fact walked from ``source``."""
    subject, relation, _ = view.graph.fact(fact)
    symmetric = bool(view.graph.symmetric[view.graph.relations.index(relation)])
    return WalkStep(source, target, relation, symmetric or subject == source, fact, 0)


def _directed(view: WorldView, cycle: Cycle, root: int, answer: int) -> list[Thread]:
    """The ring as two ways from ``root`` to ``answer``, each hop after those that it needs."""
    size = len(cycle.nodes)
    start = cycle.nodes.index(root)
    bridges: list[Thread] = []
    closing: list[Thread] = []
    for turn in (1, -1):
        at = start
        while cycle.nodes[at] != answer:
            to = (at + turn) % size
            fact = cycle.facts[at if turn == 1 else to]
            thread = Thread(_step(view, cycle.nodes[at], cycle.nodes[to], fact))
            (closing if cycle.nodes[to] == answer else bridges).append(thread)
            at = to
    return [*bridges, *closing]


def _functional(view: WorldView, web: Sequence[Thread]) -> list[int]:
    """Nodes that one hop alone identifies once its source is known: "the city where that person was born"."""
    found = []
    for thread in web:
        step = thread.step
        alone = sum(other.step.target == step.target for other in web) == 1
        if alone and thread.blur is None and len(ends_of(view, step.source, step.relation, step.forward)) == 1:
            found.append(step.target)
    return found


def _tells_apart(web: Sequence[Thread]) -> bool:
    """Whether no two hops say the same of two nodes: not two people who died in that city (they would read as the
    members of one set), nor "is where the one died and where the other died"."""
    steps = [thread.step for thread in web]
    starts = {(step.source, step.relation, step.forward) for step in steps}
    ends = {(step.target, step.relation, step.forward) for step in steps}
    return len(starts) == len(ends) == len(steps)


# -- structure -------------------------------------------------------------------------------------------------------


def _pattern(view: WorldView, cycle: Cycle) -> nx.DiGraph[int]:
    """The cycle without names: nodes with types, arcs from subject to object with relations."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    for node in cycle.nodes:
        graph.add_node(node, type=view.kind(node))
    for fact in cycle.facts:
        subject, relation, item = view.graph.fact(fact)
        ends = [(subject, item)]
        if view.graph.symmetric[view.graph.relations.index(relation)]:
            ends.append((item, subject))
        for pair in ends:
            known = graph.edges[pair]["relation"] if graph.has_edge(*pair) else ""
            graph.add_edge(*pair, relation="+".join(sorted({*known.split("+"), relation} - {""})))
    return graph


def _structure(view: WorldView, cycle: Cycle) -> str:
    """:func:`structure_of`, kept by what is written around the ring."""
    facts = [view.graph.fact(fact) for fact in cycle.facts]
    ring = tuple(
        (view.kind(node), fact.relation, fact.subject == node) for node, fact in zip(cycle.nodes, facts, strict=True)
    )
    memo: dict[object, str] = view.memo.setdefault("cycle structures", {})
    if ring not in memo:
        memo[ring] = structure_of(view, cycle)
    return memo[ring]


def structure_of(view: WorldView, cycle: Cycle) -> str:
    """Weisfeiler-Leman hash (Shervashidze et al., 2011) of the cycle's types and relations: 16 hex digits, equal for
    cycles that differ in names only."""
    import networkx as nx

    graph = _pattern(view, cycle)
    # The hash of a digraph looks at successors alone: each arc is told apart from its reverse by a node of its own.
    spread: nx.Graph[str] = nx.Graph()
    for node, data in graph.nodes(data=True):
        spread.add_node(f"{node}", type=data["type"])
    for tail, head, data in graph.edges(data=True):
        out, into = f"{tail}>{head}", f"{tail}>>{head}"
        spread.add_node(out, type=f"{data['relation']} of")
        spread.add_node(into, type=f"{data['relation']} to")
        spread.add_edges_from([(f"{tail}", out), (out, into), (into, f"{head}")])
    return str(nx.weisfeiler_lehman_graph_hash(spread, node_attr="type", iterations=6, digest_size=8))


def orbits(view: WorldView, cycle: Cycle) -> list[frozenset[int]]:
    """Classes of nodes that some automorphism of the pattern (types and relations kept) maps to one another, in order
    of the ring."""
    from networkx.algorithms.isomorphism import DiGraphMatcher

    graph = _pattern(view, cycle)
    matcher = DiGraphMatcher(
        graph,
        graph,
        node_match=lambda one, two: one["type"] == two["type"],
        edge_match=lambda one, two: one["relation"] == two["relation"],
    )
    images: dict[int, set[int]] = {node: set() for node in cycle.nodes}
    for mapping in matcher.isomorphisms_iter():
        for node, image in mapping.items():
            images[node].add(image)
    return list(dict.fromkeys(frozenset(images[node]) for node in cycle.nodes))


# -- one answer, and every part needed -------------------------------------------------------------------------------


def _closed(
    view: WorldView, web: list[Thread], answer: int, used: set[str], rng: np.random.Generator
) -> list[Thread] | None:
    """The web, with what makes it unambiguous where the ring leaves other answers: chords, which make it denser, or a
    blurred value of the answer. None when nothing does, or a hop is idle. A guess, made with sets: the checks prove."""
    unnamed = {thread.step.target for thread in web}
    found = _solutions(view, web, answer, unnamed)
    if answer not in found:
        return None
    for chord in _chords(view, web):
        if found == {answer}:
            break
        left = _solutions(view, [*web, chord], answer, unnamed)
        if left < found:
            web, found = [*web, chord], left
    if found != {answer}:
        said = used | {SAME_EVENT.get(name, "") for name in used}
        facts = own_values(view, answer, said, rng)
        told = next(((fact, blur) for fact in facts if (blur := only_range(view, fact, sorted(found)))), None)
        if told is None:
            return None
        web = [*web, Thread(*told)]
    order = list(dict.fromkeys(thread.step.target for thread in web))
    web = sorted(web, key=lambda thread: order.index(thread.step.target))
    if not _tells_apart(web):
        return None
    for thread in web[1:]:
        rest = [other for other in web if other is not thread]
        if _solutions(view, rest, answer, unnamed) in ({answer}, set()):
            return None
    return web


def _chords(view: WorldView, web: Sequence[Thread]) -> list[Thread]:
    """Facts between nodes of the web that it does not use, from the one found earlier to the one found later."""
    order = list(dict.fromkeys(thread.step.target for thread in web))
    used = {thread.step.fact for thread in web}
    found = []
    for place, source in enumerate(order):
        for target in order[place + 1 :]:
            for fact in sorted(set(view.graph.facts_of(source).tolist()) & set(view.graph.facts_of(target).tolist())):
                step = _step(view, source, target, fact)
                if fact not in used and step.relation not in view.blocked:
                    found.append(Thread(step))
    return found


def _solutions(view: WorldView, web: Sequence[Thread], end: int, unnamed: Set[int]) -> set[int]:
    """Every node that can stand for ``end``, whatever the other ``unnamed`` nodes are: by backtracking, always at the
    unbound node with the fewest options. Bridges to which no hop leads any more may be anything that fits."""
    found: set[int] = set()
    inner = {end, *(node for thread in web for node in (thread.step.source, thread.step.target) if node in unnamed)}

    def options(node: int, bound: dict[int, int], free: set[int]) -> set[int] | None:
        left: set[int] | None = None
        for thread in web:
            step = thread.step
            if thread.blur is not None:
                continue
            if step.target == node and step.source not in free:
                reached = ends_of(view, bound.get(step.source, step.source), step.relation, step.forward)
            elif step.source == node and step.target in bound:
                reached = ends_of(view, bound[step.target], step.relation, not step.forward)
            else:
                continue
            left = set(reached) if left is None else left & set(reached)
        for thread in web:
            if thread.blur is not None and thread.step.target == node and left is not None:
                blur, relation = thread.blur, thread.step.relation
                left = {one for one in left if blur.holds(value_of(view, one, relation) or "")}
        return left

    def extend(bound: dict[int, int], free: set[int]) -> None:
        if end in bound and bound[end] in found:
            return
        if not free:
            found.add(bound[end])
            return
        known = {node: left for node in sorted(free) if (left := options(node, bound, free)) is not None}
        if not known:
            return
        node = min(known, key=lambda one: (len(known[one]), one))
        for option in sorted(known[node]):
            extend({**bound, node: option}, free - {node})

    extend({}, set(inner))
    return found
