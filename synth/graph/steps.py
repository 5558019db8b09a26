"""The steps that a walk may take, and drawing one of them for many rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from synth.graph.draws import Draws
from synth.graph.graph import Graph
from synth.graph.ranges import index_dtype, search_ranges

__all__ = ["COUNTERS_PER_STEP", "Drawn", "Steps", "Weighting", "admissible_steps", "draw_steps"]

Ints = NDArray[Any]
Bools = NDArray[np.bool_]
Weighting = Literal["relation", "edge"]

_TRIES = 6
"""Rejection rounds before the exact draw. Both draw from the same distribution, so this only sets the speed."""
COUNTERS_PER_STEP = 2 * _TRIES + 2
"""Random numbers that one step may use."""
_CELLS = 1 << 20
"""Rows x groups that the exact draw works on at once: bounds its memory to some tens of MB."""


@dataclass(frozen=True)
class Steps:
    """Steps of a graph that passed a filter, grouped like the graph's own (see ``Graph``).

    What one draw reads of a node, a group or a step lies together (16 bytes or less), because walks jump: on a large
    graph their time is the number of cache lines that they touch.
    """

    nodes: Ints
    """(n_nodes, 4): first group, number of groups, first step, number of steps."""
    groups: Ints
    """(n_groups, 3): first step, number of steps, port."""
    steps: Ints
    """(n_steps, 4): target, fact, port, fanout (size of the group in the whole graph: how many nodes fit (source,
    relation, direction))."""


@dataclass(frozen=True)
class Drawn:
    """One step for each of ``n`` rows; where ``found`` is False no step was admissible and the rest is -1."""

    found: Bools
    target: Ints
    fact: Ints
    port: Ints
    fanout: Ints


def admissible_steps(graph: Graph, targets: Bools | None, groups: Bools | None, steps: Bools | None = None) -> Steps:
    """Steps whose target (n_nodes,), group (n_groups,) and own place (n_steps,) pass the masks; None lets all pass.

    Costs O(steps) once.
    """
    sizes = np.diff(graph.group_step)
    keep = np.ones(len(graph.step_target), dtype=np.bool_) if steps is None else steps.copy()
    if targets is not None:
        keep &= targets[graph.step_target]
    if groups is not None:
        keep &= np.repeat(groups, sizes)
    dtype = index_dtype(max(len(keep), graph.n_nodes, graph.n_facts))
    step_bound = _before(keep, dtype)[graph.group_step]
    left = np.diff(step_bound) > 0
    group_bound = _before(left, dtype)[graph.group_start]
    group_first = np.append(step_bound[:-1][left], step_bound[-1])
    records = np.empty((int(step_bound[-1]), 4), dtype=dtype)
    records[:, 0] = graph.step_target[keep]
    records[:, 1] = graph.step_fact[keep]
    records[:, 2] = np.repeat(graph.group_port[left], np.diff(group_first))
    records[:, 3] = np.repeat(sizes[left], np.diff(group_first))
    node_first = group_first[group_bound]
    return Steps(
        np.stack([group_bound[:-1], np.diff(group_bound), node_first[:-1], np.diff(node_first)], axis=1).astype(dtype),
        np.stack([group_first[:-1], np.diff(group_first), graph.group_port[left]], axis=1).astype(dtype),
        records,
    )


def _before(mask: Bools, dtype: type[np.int32] | type[np.int64]) -> Ints:
    """(n + 1,) how many are True before each place."""
    counts = np.zeros(len(mask) + 1, dtype=dtype)
    np.cumsum(mask, out=counts[1:])
    return counts


def draw_steps(
    steps: Steps, weighting: Weighting, draws: Draws, rows: Ints, counter: int, at: Ints, visited: Ints, used: Ints
) -> Drawn:
    """Draw a step from node ``at[i]`` for each row, to a node not in ``visited[i]`` by a relation not in ``used[i]``.

    With ``weighting="edge"`` every admissible step is equally likely; with ``"relation"`` a step of a group of ``g``
    steps has weight ``1 / g``, so that a relation to thousands of nodes counts like a relation to one. In both cases
    the distribution is the weights restricted to the admissible steps and normalized.

    A few rounds of rejection settle nearly all rows without looking at their neighbours; for the rest the admissible
    steps of every group are *counted* (group size less the visited nodes in it), so a hub costs no more than a leaf.

    Args:
        rows: (n,) places in ``draws``.
        counter: the first of ``COUNTERS_PER_STEP`` random numbers that this call may use.
        at: (n,) nodes. visited: (n, v) nodes, distinct per row, -1 = none. used: (n, u) relation numbers, -1 = none.
    """
    n = len(at)
    drawn = np.full((n, 4), -1, dtype=steps.steps.dtype)
    found = np.zeros(n, dtype=np.bool_)
    nodes = steps.nodes.take(at, axis=0)
    open_ = np.flatnonzero(nodes[:, 1] > 0)
    for tries in (slice(0, 1), slice(1, _TRIES)):
        if len(open_) == 0:
            break
        counters = counter + 2 * np.arange(_TRIES)[tries]
        proposed = _propose(steps, weighting, draws, rows[open_], counters, nodes[open_])
        good = _absent(visited[open_], proposed[..., 0]) & _absent(used[open_], proposed[..., 2] >> 1)
        settled = good.any(axis=1)
        drawn[open_[settled]] = proposed[settled, np.argmax(good[settled], axis=1)]
        found[open_[settled]] = True
        open_ = open_[~settled]
    if len(open_):
        last = counter + 2 * _TRIES
        chunk = max(1, _CELLS // int(nodes[open_, 1].max()))
        for begin in range(0, len(open_), chunk):
            part = open_[begin : begin + chunk]
            uniforms = draws.uniform(rows[part], last), draws.uniform(rows[part], last + 1)
            place = _exact(steps, weighting, uniforms, nodes[part], visited[part], used[part])
            part, place = part[place >= 0], place[place >= 0]
            drawn[part] = steps.steps[place]
            found[part] = True
    return Drawn(found, drawn[:, 0], drawn[:, 1], drawn[:, 2], drawn[:, 3])


def _propose(steps: Steps, weighting: Weighting, draws: Draws, rows: Ints, counters: Ints, nodes: Ints) -> Ints:
    """A step record for each row and counter (n, c, 4), whether admissible or not.

    ``take`` moves whole records; indexing the same array costs three times as much.
    """
    if weighting == "edge":
        return steps.steps.take(nodes[:, 2, None] + draws.below(rows, counters, nodes[:, 3, None]), axis=0)
    groups = steps.groups.take(nodes[:, 0, None] + draws.below(rows, counters, nodes[:, 1, None]), axis=0)
    return steps.steps.take(groups[..., 0] + draws.below(rows, counters + 1, groups[..., 1]), axis=0)


def _exact(
    steps: Steps,
    weighting: Weighting,
    uniforms: tuple[Ints, Ints],
    nodes: Ints,
    visited: Ints,
    used: Ints,
) -> Ints:
    """Places (n,) of the same draw by counting, -1 where nothing is admissible.

    Sums run along each row alone, so no row can change another's rounding.
    """
    n, width = len(nodes), int(nodes[:, 1].max())
    columns = np.arange(width)
    inside = columns < nodes[:, 1, None]
    groups = steps.groups[nodes[:, 0, None] + np.where(inside, columns, 0)]
    start, size = groups[..., 0].astype(np.int64), groups[..., 1]
    stop = start + size
    # (n, width, v): where each visited node stands in each group; `stop` of no group when it does not.
    v = visited.shape[1]
    low, high = np.repeat(start.ravel(), v), np.repeat(stop.ravel(), v)
    wanted = np.repeat(visited, width, axis=0).ravel()
    target = steps.steps[:, 0]
    at = search_ranges(target, low, high, wanted)
    hit = (at < high) & (target[np.minimum(at, len(target) - 1)] == wanted)
    seen = np.where(hit, at, np.iinfo(np.int64).max).reshape(n, width, v)
    left = size - hit.reshape(n, width, v).sum(axis=2)
    relation = groups[..., 2] >> 1
    usable = inside & ~(relation[:, :, None] == used[:, None, :]).any(axis=2)
    left = np.where(usable, left, 0)

    weight = left.astype(np.float64) if weighting == "edge" else left / size
    total = np.cumsum(weight, axis=1)
    point = uniforms[0] * total[:, -1]
    # First column whose running total exceeds the point; rounding may push the point onto the last total.
    column = np.minimum((total <= point[:, None]).sum(axis=1), width - 1)
    last_usable = width - 1 - np.argmax(left[:, ::-1] > 0, axis=1)
    column = np.minimum(column, last_usable)
    each = np.arange(n)
    possible = left[each, column] > 0
    place = start[each, column] + (uniforms[1] * left[each, column]).astype(np.int64)
    holes = np.sort(seen[each, column], axis=1)
    for j in range(v):
        place += place >= holes[:, j]
    return np.where(possible, place, -1)


def _absent(held: Ints, proposed: Ints) -> Bools:
    """(n, c) True where ``proposed[i, j]`` is not in row ``i`` of ``held`` (n, h)."""
    result = np.ones(proposed.shape, dtype=np.bool_)
    for column in range(held.shape[1]):
        result &= proposed != held[:, column, None]
    return result
