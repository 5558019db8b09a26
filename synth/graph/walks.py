"""Constrained random walks: many candidates at once, each one the same whichever batch it is drawn in.

Two shapes of question come from here. *Compositions* are chains: from a named node over bridges to the answer
(GraphWalker, arXiv:2603.28533: 3 to 5 hops, no entity and no relation twice, blocked relations and entities;
LongTraceRL, arXiv:2605.31584: up to 8 hops). *Conjunctions* are several constraints that share nothing but the answer
(GraphWalker), here with a proof that together they have one answer and that each is needed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synth.graph.draws import Draws
from synth.graph.graph import Constraint, Graph
from synth.graph.ranges import expand, search_ranges
from synth.graph.steps import COUNTERS_PER_STEP, Drawn, Steps, Weighting, admissible_steps, draw_steps

__all__ = ["WalkStep", "Walker", "Walks"]

Ints = NDArray[Any]
Bools = NDArray[np.bool_]

_MEMBERS = 1 << 21
"""Group members that uniqueness is computed over at once: bounds memory to some tens of MB."""

_FIRST_MEMBERS = 64
"""Members of a group that uniqueness looks at first; every further look is at eight times as many."""


class WalkStep(NamedTuple):
    """One hop, in the direction of solving: ``source`` is known, ``target`` is sought."""

    source: int
    target: int
    relation: str
    forward: bool
    """True when the fact goes source -> target (always, for a symmetric relation)."""
    fact: int
    fanout: int
    """How many nodes (source, relation, direction) leads to in the whole graph."""


@dataclass(frozen=True)
class Walks:
    """``n`` walks of at most ``h`` hops. What a row does not reach is -1 (False in ``forward``)."""

    shape: Literal["composition", "conjunction"]
    indices: Ints
    """(n,) the candidate indices that were asked for."""
    hops: Ints
    """(n,) hops (constraints) of each row."""
    nodes: Ints
    """(n, h + 1) int32. Composition: the chain. Conjunction: the ``k`` sources, then the answer at place ``k``."""
    facts: Ints
    """(n, h) int32 fact numbers."""
    forward: Bools
    """(n, h) is the fact walked from subject to object?"""
    fanout: Ints
    """(n, h) int32, see ``WalkStep``."""
    valid: Bools
    """(n,) False: the row got stuck, or (conjunction) its constraints don't identify the answer. Never resampled."""

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def answers(self) -> Ints:
        """(n,) the answer of each row; -1 where the walk got stuck."""
        return self.nodes[np.arange(len(self)), self.hops]

    def steps(self, row: int, graph: Graph) -> tuple[WalkStep, ...]:
        """The hops of a valid row. Raises ValueError when the row is not valid."""
        if not self.valid[row]:
            raise ValueError(f"row {row} is not a valid walk")
        count = int(self.hops[row])
        return tuple(
            WalkStep(
                int(self.nodes[row, hop]),
                int(self.nodes[row, hop + 1 if self.shape == "composition" else count]),
                graph.relations[int(graph.fact_relation[self.facts[row, hop]])],
                bool(self.forward[row, hop]),
                int(self.facts[row, hop]),
                int(self.fanout[row, hop]),
            )
            for hop in range(count)
        )

    def constraints(self, row: int, graph: Graph) -> tuple[Constraint, ...]:
        """What a valid row asks, for ``Graph.answers``."""
        steps = self.steps(row, graph)
        if self.shape == "composition":
            return (Constraint(steps[0].source, tuple((step.relation, step.forward) for step in steps)),)
        return tuple(Constraint(step.source, ((step.relation, step.forward),)) for step in steps)


class Walker:
    """Walks under one set of rules. Making one costs O(edges); a walk costs nothing that grows with the graph.

    Masks are (n_entities,) or (n_nodes,) bool.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        allowed: Bools | None = None,
        answers: Bools | None = None,
        starts: Bools | None = None,
        blocked: Collection[str] = (),
        functional_only: bool = False,
        value_bridges: bool = False,
        weighting: Weighting = "relation",
    ) -> None:
        """
        Args:
            allowed: nodes that may be gold (bridge or answer), for instance those of one split, without hubs. A mask of
                entities leaves all values allowed.
            answers: nodes that may be the answer, beside ``allowed``.
            starts: nodes that a question may name: starts of compositions (default: entities), sources of conjunctions
                (default: all nodes). A mask of entities leaves all values out.
            blocked: relations that are never walked. Names that the graph lacks are ignored.
            functional_only: compositions take only steps whose target is unique given (source, relation, direction),
                which makes the answer unique.
            value_bridges: may a value ("1987") stand in the middle of a composition?
            weighting: see ``draw_steps``: per step uniform over relations or over edges.
        """
        self.graph = graph
        self._allowed = self._mask(allowed, values=True)
        self._answers = self._mask(answers, values=True)
        self._starts = self._mask(starts, values=False)
        self._functional_only = functional_only
        self._value_bridges = value_bridges
        self._weighting: Weighting = weighting
        relations = np.array([name not in blocked for name in graph.relations], dtype=np.bool_)
        self._groups: Bools | None = None if relations.all() else relations[graph.group_port >> 1]

    # -- compositions ------------------------------------------------------------------------------------------------

    def compositions(self, indices: Ints, hops: Ints | int, seed: int) -> Walks:
        """Chains of ``hops`` (n,) steps, no node and no relation twice. Row ``i`` depends on ``(seed, indices[i],
        hops[i])``, the rules and the graph, and on nothing else in the batch.

        Raises:
            ValueError: an index is negative or a row has less than one hop.
        """
        indices, hops = _checked(indices, hops, least=1)
        walks = _empty("composition", indices, hops)
        n, longest = walks.facts.shape
        draws = Draws(seed, "composition", indices)
        every = np.arange(n)
        single = hops == 1
        for rows, starts in ((every[~single], self._start_nodes_long), (every[single], self._start_nodes_short)):
            if len(starts) and len(rows):
                walks.nodes[rows, 0] = starts[draws.below(rows, 0, np.full(len(rows), len(starts)))]
        used = np.full((n, longest), -1, dtype=np.int32)
        alive = every[walks.nodes[:, 0] >= 0]
        for hop in range(longest):
            alive = alive[hops[alive] > hop]
            ends = hops[alive] == hop + 1
            walked = []
            for rows, last in ((alive[~ends], False), (alive[ends], True)):
                if len(rows) == 0:
                    continue
                drawn = draw_steps(
                    self._last_steps if last else self._inner_steps,
                    self._weighting,
                    draws,
                    rows,
                    1 + hop * COUNTERS_PER_STEP,
                    walks.nodes[rows, hop],
                    walks.nodes[rows, : hop + 1],
                    used[rows, :hop],
                )
                self._record(walks, used, rows, hop, drawn)
                walks.nodes[rows, hop + 1] = drawn.target
                walked.append(rows[drawn.found])
            alive = np.concatenate(walked) if walked else alive
        walks.valid[:] = walks.answers >= 0
        return walks

    # -- conjunctions ------------------------------------------------------------------------------------------------

    def conjunctions(
        self, indices: Ints, constraints: Ints | int, seed: int, *, minimal: bool = True, largest: int = 4096
    ) -> Walks:
        """``constraints`` (n,) >= 2 one-hop constraints on one answer, with distinct sources and distinct relations.

        Valid rows are proven: exactly one node satisfies all constraints, and no constraint does it alone. With
        ``minimal`` no proper subset does either, so each constraint is needed. Where even the smallest of the sets that
        must be intersected has more than ``largest`` members the row is not valid: constraints that broad hardly ever
        identify anything, and the bound keeps the work per walk independent of the size of the graph.

        Row ``i`` depends on ``(seed, indices[i], constraints[i])``, the rules and the graph alone.

        Raises:
            ValueError: an index is negative or a row has fewer than two constraints.
        """
        indices, count = _checked(indices, constraints, least=2)
        walks = _empty("conjunction", indices, count)
        n, most = walks.facts.shape
        draws = Draws(seed, "conjunction", indices)
        every = np.arange(n)
        used = np.full((n, most), -1, dtype=np.int32)
        visited = np.full((n, most + 1), -1, dtype=np.int32)
        steps, nodes = self._source_steps, self._conjunction_answers
        if len(nodes):
            visited[:, 0] = nodes[draws.below(every, 0, np.full(n, len(nodes)))]
        alive = every if len(nodes) else every[:0]
        for hop in range(most):
            alive = alive[count[alive] > hop]
            if len(alive) == 0:
                break
            drawn = draw_steps(
                steps,
                self._weighting,
                draws,
                alive,
                1 + hop * COUNTERS_PER_STEP,
                visited[alive, 0],
                visited[alive, : hop + 1],
                used[alive, :hop],
            )
            self._record(walks, used, alive, hop, drawn, reverse=True)
            walks.nodes[alive, hop] = visited[alive, hop + 1] = drawn.target
            alive = alive[drawn.found]
        complete = every[(walks.facts[every, count - 1] >= 0)]
        walks.nodes[complete, count[complete]] = visited[complete, 0]
        for k in np.unique(count[complete]).tolist():
            rows = complete[count[complete] == k]
            walks.valid[rows] = self._identified(walks, rows, k, minimal, largest)
        return walks

    def _identified(self, walks: Walks, rows: Ints, k: int, minimal: bool, largest: int) -> Bools:
        """Which of ``rows`` (k constraints each) have one answer and need all (with ``minimal``) constraints."""
        graph = self.graph
        relation = graph.fact_relation[walks.facts[rows, :k]]
        against = ~walks.forward[rows, :k]
        groups = graph.groups(walks.nodes[rows, :k].ravel(), (2 * relation + against).ravel()).reshape(-1, k)
        # That no constraint does it alone needs no look: every source step leads back to several nodes.
        good = self._shared(groups, largest, least=1, most=1)
        if minimal and k > 2:
            for left_out in range(k):
                still = np.flatnonzero(good)
                others = np.delete(groups[still], left_out, axis=1)
                good[still] = self._shared(others, largest, least=2, most=None)
        return good

    def _shared(self, groups: Ints, largest: int, least: int, most: int | None) -> Bools:
        """(n,) do the ``k`` groups of a row (n, k) share between ``least`` and ``most`` targets? False if too broad."""
        graph = self.graph
        start = graph.group_step[groups].astype(np.int64)
        size = graph.group_step[groups + 1] - start
        order = np.argsort(size, axis=1, kind="stable")
        start, size = np.take_along_axis(start, order, axis=1), np.take_along_axis(size, order, axis=1)
        shared = np.zeros(len(groups), dtype=np.int64)
        enough = least if most is None else most + 1
        open_ = np.flatnonzero(size[:, 0] <= largest)
        begin, width = 0, _FIRST_MEMBERS
        while len(open_):
            # Broad groups share too much, and show it early: few rows need more than the first look.
            count = np.minimum(size[open_, 0] - begin, width)
            for part in np.split(np.arange(len(open_)), np.flatnonzero(np.diff(np.cumsum(count) // _MEMBERS)) + 1):
                rows = open_[part]
                owner, place = expand(start[rows, 0] + begin, count[part])
                member = graph.step_target[place]
                for j in range(1, groups.shape[1]):
                    low = start[rows[owner], j]
                    high = low + size[rows[owner], j]
                    at = search_ranges(graph.step_target, low, high, member)
                    hit = (at < high) & (graph.step_target[np.minimum(at, len(graph.step_target) - 1)] == member)
                    owner, member = owner[hit], member[hit]
                shared[rows] += np.bincount(owner, minlength=len(rows))
            begin, width = begin + width, width * 8
            open_ = open_[(size[open_, 0] > begin) & (shared[open_] < enough)]
        inside: Bools = (shared >= least) & (shared < enough if most is not None else True)
        return inside

    # -- rules -------------------------------------------------------------------------------------------------------

    def _record(self, walks: Walks, used: Ints, rows: Ints, hop: int, drawn: Drawn, *, reverse: bool = False) -> None:
        """Write a drawn step. ``reverse``: it was drawn at the answer, and solving walks it the other way."""
        graph = self.graph
        ports = drawn.port[drawn.found]
        there = rows[drawn.found]
        relation = ports >> 1
        against = (ports & 1) == 1
        used[there, hop] = relation
        walks.facts[rows, hop] = drawn.fact
        walks.forward[there, hop] = (against | graph.symmetric[relation]) if reverse else ~against
        if reverse:
            back = 2 * relation + np.where(graph.symmetric[relation], 0, ~against)
            groups = graph.groups(drawn.target[drawn.found], back)
            walks.fanout[there, hop] = graph.group_step[groups + 1] - graph.group_step[groups]
        else:
            walks.fanout[rows, hop] = drawn.fanout

    @cached_property
    def _last_steps(self) -> Steps:
        return admissible_steps(self.graph, _both(self._allowed, self._answers), self._walkable)

    @cached_property
    def _inner_steps(self) -> Steps:
        bridges = None if self._value_bridges else np.arange(self.graph.n_nodes) < self.graph.n_entities
        return admissible_steps(self.graph, _both(self._allowed, bridges), self._walkable)

    @cached_property
    def _walkable(self) -> Bools | None:
        if not self._functional_only:
            return self._groups
        return _both(self._groups, np.diff(self.graph.group_step) == 1)

    @cached_property
    def _start_nodes_long(self) -> Ints:
        return self._start_nodes(self._inner_steps)

    @cached_property
    def _start_nodes_short(self) -> Ints:
        return self._start_nodes(self._last_steps)

    def _start_nodes(self, steps: Steps) -> Ints:
        starts = self._starts
        if starts is None:
            starts = np.arange(self.graph.n_nodes) < self.graph.n_entities
        return np.flatnonzero(starts & (steps.nodes[:, 1] > 0))

    @cached_property
    def _source_steps(self) -> Steps:
        """Steps from an answer to a source whose relation leads back to more than the answer."""
        graph = self.graph
        sizes = np.diff(graph.group_step)
        step_size = np.repeat(sizes, sizes)
        port = np.repeat(graph.group_port, sizes)
        at = np.repeat(np.arange(graph.n_nodes, dtype=graph.step_target.dtype), np.diff(graph.step_start))
        fact = graph.step_fact
        as_subject = np.where(graph.symmetric[port >> 1], at == graph.fact_subject[fact], (port & 1) == 0)
        size_at_subject = np.zeros(graph.n_facts, dtype=sizes.dtype)
        size_at_object = np.zeros(graph.n_facts, dtype=sizes.dtype)
        size_at_subject[fact[as_subject]] = step_size[as_subject]
        size_at_object[fact[~as_subject]] = step_size[~as_subject]
        several = np.where(as_subject, size_at_object[fact], size_at_subject[fact]) > 1
        return admissible_steps(graph, self._starts, self._groups, several)

    @cached_property
    def _conjunction_answers(self) -> Ints:
        mask = _both(self._allowed, self._answers)
        reachable = self._source_steps.nodes[:, 1] > 1
        return np.flatnonzero(reachable if mask is None else mask & reachable)

    def _mask(self, mask: Bools | None, *, values: bool) -> Bools | None:
        if mask is None or len(mask) == self.graph.n_nodes:
            return mask
        if len(mask) != self.graph.n_entities:
            raise ValueError(f"a mask of {len(mask)} for {self.graph.n_entities} entities, {self.graph.n_nodes} nodes")
        return np.concatenate([mask, np.full(self.graph.n_nodes - self.graph.n_entities, values, dtype=np.bool_)])


def _both(one: Bools | None, other: Bools | None) -> Bools | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _checked(indices: Ints, hops: Ints | int, least: int) -> tuple[Ints, Ints]:
    indices = np.asarray(indices, dtype=np.int64)
    hops = np.broadcast_to(np.asarray(hops, dtype=np.int64), indices.shape)
    if len(hops) and int(hops.min()) < least:
        raise ValueError(f"{int(hops.min())} hops or constraints: at least {least} are needed")
    return indices, hops


def _empty(shape: Literal["composition", "conjunction"], indices: Ints, hops: Ints) -> Walks:
    n, longest = len(indices), int(hops.max(initial=1))
    return Walks(
        shape,
        indices,
        hops,
        np.full((n, longest + 1), -1, dtype=np.int32),
        np.full((n, longest), -1, dtype=np.int32),
        np.zeros((n, longest), dtype=np.bool_),
        np.full((n, longest), -1, dtype=np.int32),
        np.zeros(n, dtype=np.bool_),
    )
