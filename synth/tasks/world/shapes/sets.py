"""Sets that a question may ask about: what one relation leads to from one entity, all of it gold of one split.

A pool is made once per split, vectorized over the groups of the graph; drawing from it touches no node that is not
used. Which sets have a first or last member by a value is worked out once per pool too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.graph.ranges import expand
from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.tasks.graph_query import MeasuredFacts
from synth.tasks.world.measures import End
from synth.tasks.world.view import WorldView

__all__ = ["Drawn", "Pool", "Weighted", "describe", "pool_of", "remember"]

Ints = NDArray[Any]


class Weighted:
    """Draws a key by a power of its number of members (the square root), then a member: common keys do not drown
    others."""

    def __init__(self, groups: dict[Any, Ints], power: float = 0.5) -> None:
        self._groups = [groups[key] for key in sorted(groups) if len(groups[key])]
        self._keys = [key for key in sorted(groups) if len(groups[key])]
        weights = np.array([len(group) for group in self._groups], dtype=np.float64) ** power
        self._ends = np.cumsum(weights / weights.sum()) if len(weights) else weights

    def __len__(self) -> int:
        return sum(len(group) for group in self._groups)

    def of(self, key: Any) -> Ints:
        """The members of a key; none where there is no such key."""
        return self._groups[self._keys.index(key)] if key in self._keys else np.zeros(0, dtype=np.int64)

    def draw(self, rng: np.random.Generator) -> tuple[Any, int] | None:
        """(key, member), or None when there is nothing to draw."""
        if not self._keys:
            return None
        at = min(int(np.searchsorted(self._ends, rng.random(), side="right")), len(self._keys) - 1)
        return self._keys[at], int(self._groups[at][int(rng.integers(len(self._groups[at])))])


@dataclass(frozen=True)
class Drawn:
    """A set that was drawn, with the measure that was drawn with it (if any)."""

    source: int
    """The node whose set it is."""
    steps: tuple[WalkStep, ...]
    """One per member."""
    relation: str = ""
    """The measure."""
    end: End = "argmin"

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(step.target for step in self.steps)


class Pool:
    """The sets of one split. ``n`` sets with ``m`` members in all."""

    def __init__(self, view: WorldView, split: Split) -> None:
        graph, (low, high) = view.graph, view.config.members
        self._view = view
        sizes = np.diff(graph.group_step)
        owners = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(graph.group_start))
        names = [name not in view.blocked for name in graph.relations]
        ports = np.repeat(np.array(names, dtype=np.bool_), 2)
        for relation in view.words.open & set(graph.relations):
            ports[graph.port(relation, False)] = False
        known = view.sources(split)
        found = np.flatnonzero((sizes >= low) & (sizes <= high) & ports[graph.group_port] & known[owners])
        owner, position = expand(graph.group_step[found], sizes[found])
        members = graph.step_target[position].astype(np.int64)
        gold = np.concatenate([view.gold(split), np.zeros(graph.n_nodes - graph.n_entities, dtype=np.bool_)])
        kinds = np.asarray(graph.node_kind[members])
        first = np.searchsorted(owner, np.arange(len(found)))
        alike = gold[members] & (kinds == kinds[first][owner] if len(found) else gold[members])
        keep = np.bincount(owner, weights=alike, minlength=len(found)) == sizes[found]
        inside = keep[owner]
        self.groups: Ints = found[keep]
        """(n,) groups of the graph."""
        self.owners: Ints = owners[self.groups]
        """(n,) the node whose set it is."""
        self.members: Ints = members[inside]
        """(m,) members, set by set."""
        self.sizes: Ints = sizes[self.groups]
        """(n,)"""
        self.starts: Ints = np.cumsum(self.sizes) - self.sizes
        """(n,) where each set begins in ``members``."""
        self._of = np.repeat(np.arange(len(self.groups)), self.sizes)
        self._port = np.asarray(graph.group_port[self.groups])

    def drawn(self, number: int, relation: str = "", end: End = "argmin") -> Drawn:
        """Set ``number`` with its steps."""
        source = int(self.owners[number])
        return Drawn(source, tuple(self._view.group_steps(int(self.groups[number]), source)), relation, end)

    def by_port(self, chosen: Ints) -> dict[int, Ints]:
        """Sets by the relation and direction that lead to their members."""
        ports = self._port[chosen]
        return {int(port): chosen[ports == port] for port in np.unique(ports)}

    @cached_property
    def by_size(self) -> Weighted:
        """Every set, by size: most are of two, and "two" must not be the answer to every count."""
        return Weighted({int(size): np.flatnonzero(self.sizes == size) for size in np.unique(self.sizes)}, power=0.25)

    @cached_property
    def of_size(self) -> dict[int, Weighted]:
        """The sets of each size by port."""
        return {int(size): Weighted(self.by_port(np.flatnonzero(self.sizes == size))) for size in np.unique(self.sizes)}

    def measured(self, relation: str) -> tuple[Ints, MeasuredFacts, Ints]:
        """Sets whose members all have a value of ``relation``: their numbers; the facts; the fact of each member of
        ``members`` (-1 where it has none)."""
        facts = self._view.facts.relations.measured(relation)
        place = facts.of(self.members)
        whole = np.bincount(self._of, weights=place >= 0, minlength=len(self.groups)) == self.sizes
        return np.flatnonzero(whole), facts, place

    @cached_property
    def ordered(self) -> Weighted:
        """Sets of three or more with one first or one last member, told apart by the checks' margin. Keys are
        (relation, end, port)."""
        margin = self._view.config.checks.margin
        groups: dict[Any, Ints] = {}
        for relation in sorted(set(self._view.words.measures) - self._view.blocked):
            whole, facts, place = self.measured(relation)
            whole = whole[self.sizes[whole] >= 3]
            if len(whole) == 0:
                continue
            chosen = np.isin(self._of, whole)
            of, low, high = self._of[chosen], facts.low[place[chosen]], facts.high[place[chosen]]
            order = np.lexsort((low, of))
            first = np.searchsorted(of[order], whole)
            for end, offset in (("argmin", 0), ("argmax", 1)):
                one = first if not offset else first + self.sizes[whole] - 1
                two = one + 1 if not offset else one - 1
                one, two = order[one], order[two]
                less, more = (one, two) if not offset else (two, one)
                apart = high[less] < low[more]
                if facts.sized:
                    apart &= np.abs(low[less] - low[more]) > margin * np.maximum(np.abs(low[less]), np.abs(low[more]))
                for port, sets in self.by_port(whole[apart]).items():
                    groups[relation, end, port] = sets
        return Weighted(groups)

    @cached_property
    def dated(self) -> Weighted:
        """Sets of three or more whose members all have a date or year. Keys are (relation, port)."""
        return self._measured_sets(sized=False)

    @cached_property
    def sized(self) -> Weighted:
        """Sets of three or more whose members all have a number or quantity that can be added. Keys are (relation,
        port)."""
        return self._measured_sets(sized=True)

    def _measured_sets(self, *, sized: bool) -> Weighted:
        groups: dict[Any, Ints] = {}
        for relation in sorted(set(self._view.words.measures) - self._view.blocked):
            whole, facts, _ = self.measured(relation)
            if facts.sized != sized or (sized and not self._view.words.measures[relation].together):
                continue
            for port, sets in self.by_port(whole[self.sizes[whole] >= 3]).items():
                groups[relation, port] = sets
        return Weighted(groups)


def pool_of(view: WorldView, split: Split) -> Pool:
    """The sets of a split; made on first use."""
    made: Pool = remember(view, ("sets", split), lambda: Pool(view, split))
    return made


def remember(view: WorldView, key: Any, make: Callable[[], Any]) -> Any:
    """What ``make`` gives, made once for a view."""
    if key not in view.memo:
        view.memo[key] = make()
    return view.memo[key]


def describe(
    view: WorldView, split: Split, rng: np.random.Generator, node: int, avoid: set[int], *, used: set[str] | None = None
) -> WalkStep | None:
    """A step from another entity that leads to ``node`` and nowhere else, so that its source can stand for it: "the
    director of F". None where there is none.

    Sources belong to the split or are hubs; they are not in ``avoid`` and are reached by no relation in ``used``.
    """
    graph = view.graph
    groups = np.arange(int(graph.group_start[node]), int(graph.group_start[node + 1]))
    if len(groups) == 0:
        return None
    options: list[tuple[int, int, int]] = []
    for group in groups.tolist():
        port = int(graph.group_port[group])
        relation = graph.relations[port >> 1]
        symmetric = bool(graph.symmetric[port >> 1])
        forward = symmetric or port & 1 == 1  # the way from the other end to the node
        if relation in view.blocked or relation in (used or ()) or (relation in view.words.crowds and not forward):
            continue
        low, high = int(graph.group_step[group]), int(graph.group_step[group + 1])
        if high - low > 64:
            high = low + 64
        sources = graph.step_target[low:high].astype(np.int64)
        mine = sources < graph.n_entities
        mine[mine] &= (view.own(split) | view.hubs)[sources[mine]]
        back = graph.groups(sources, np.full(len(sources), graph.port(relation, forward)))
        only = mine & (back >= 0)
        only[only] &= (graph.group_step[back[only] + 1] - graph.group_step[back[only]]) == 1
        fine = [
            at for at in np.flatnonzero(only).tolist() if int(sources[at]) not in avoid and int(sources[at]) != node
        ]
        if fine:
            options.append((port, low + fine[int(rng.integers(len(fine)))], int(forward)))
    if not options:
        return None
    port, at, along = options[int(rng.integers(len(options)))]
    relation = graph.relations[port >> 1]
    return WalkStep(int(graph.step_target[at]), node, relation, bool(along), int(graph.step_fact[at]), 1)
