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
    """Steps of a graph that passed a filter, grouped like the graph's own (see ``Graph``)."""

    group_start: Ints
    """(n_nodes + 1,)"""
    group_port: Ints
    """(n_groups,)"""
    group_step: Ints
    """(n_groups + 1,)"""
    fanout: Ints
    """(n_groups,) size of the group in the whole graph: how many nodes fit (source, relation, direction)."""
    target: Ints
    fact: Ints
    group: Ints
    """(n_steps,) each; ``group`` is the step's group, so that it need not be searched for."""


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

    Costs O(steps) once; the graph's own arrays are used where every mask is None.
    """
    sizes = np.diff(graph.group_step)
    if targets is None and groups is None and steps is None:
        return _steps(graph.group_start, graph.group_port, graph.group_step, sizes, graph.step_target, graph.step_fact)
    keep = np.ones(len(graph.step_target), dtype=np.bool_) if steps is None else steps.copy()
    if targets is not None:
        keep &= targets[graph.step_target]
    if groups is not None:
        keep &= np.repeat(groups, sizes)
    kept_before = np.zeros(len(keep) + 1, dtype=index_dtype(len(keep)))
    np.cumsum(keep, out=kept_before[1:])
    bounds = kept_before[graph.group_step]
    left = np.flatnonzero(np.diff(bounds) > 0)
    groups_before = np.zeros(len(sizes) + 1, dtype=index_dtype(len(sizes)))
    np.cumsum(np.diff(bounds) > 0, out=groups_before[1:])
    return _steps(
        groups_before[graph.group_start],
        graph.group_port[left],
        np.append(bounds[left], bounds[-1]).astype(bounds.dtype),
        sizes[left],
        graph.step_target[keep],
        graph.step_fact[keep],
    )


def _steps(group_start: Ints, group_port: Ints, group_step: Ints, fanout: Ints, target: Ints, fact: Ints) -> Steps:
    group = np.repeat(np.arange(len(group_port), dtype=group_start.dtype), np.diff(group_step))
    return Steps(group_start, group_port, group_step, fanout, target, fact, group)


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
    place = np.full(n, -1, dtype=np.int64)
    first = steps.group_start[at].astype(np.int64)
    count = steps.group_start[at + 1].astype(np.int64) - first
    open_ = np.flatnonzero(count > 0)
    for tries in (slice(0, 1), slice(1, _TRIES)):
        if len(open_) == 0:
            break
        counters = counter + 2 * np.arange(_TRIES)[tries]
        proposed, relation = _propose(steps, weighting, draws, rows[open_], counters, first[open_], count[open_])
        good = _absent(visited[open_], steps.target[proposed]) & _absent(used[open_], relation)
        settled = good.any(axis=1)
        earliest = np.argmax(good[settled], axis=1)
        place[open_[settled]] = proposed[settled, earliest]
        open_ = open_[~settled]
    if len(open_):
        last = counter + 2 * _TRIES
        chunk = max(1, _CELLS // int(count[open_].max()))
        for begin in range(0, len(open_), chunk):
            part = open_[begin : begin + chunk]
            uniforms = draws.uniform(rows[part], last), draws.uniform(rows[part], last + 1)
            place[part] = _exact(steps, weighting, uniforms, first[part], count[part], visited[part], used[part])
    found = place >= 0
    target, fact, port, fanout = (np.full(n, -1, dtype=np.int64) for _ in range(4))
    place = place[found]
    group = steps.group[place]
    target[found], fact[found] = steps.target[place], steps.fact[place]
    port[found], fanout[found] = steps.group_port[group], steps.fanout[group]
    return Drawn(found, target, fact, port, fanout)


def _propose(
    steps: Steps, weighting: Weighting, draws: Draws, rows: Ints, counters: Ints, first: Ints, count: Ints
) -> tuple[Ints, Ints]:
    """A place and its relation for each row and counter, two arrays (n, c), whether admissible or not."""
    first, count = first[:, None], count[:, None]
    if weighting == "relation":
        group = first + draws.below(rows, counters, count)
        start = steps.group_step[group].astype(np.int64)
        place = start + draws.below(rows, counters + 1, steps.group_step[group + 1] - start)
        return place, steps.group_port[group] >> 1
    start = steps.group_step[first].astype(np.int64)
    place = start + draws.below(rows, counters, steps.group_step[first + count] - start)
    return place, steps.group_port[steps.group[place]] >> 1


def _exact(
    steps: Steps,
    weighting: Weighting,
    uniforms: tuple[Ints, Ints],
    first: Ints,
    count: Ints,
    visited: Ints,
    used: Ints,
) -> Ints:
    """Places (n,) of the same draw by counting, -1 where nothing is admissible.

    Sums run along each row alone, so no row can change another's rounding.
    """
    n, width = len(first), int(count.max())
    columns = np.arange(width)
    inside = columns < count[:, None]
    g = first[:, None] + np.where(inside, columns, 0)
    start, stop = steps.group_step[g].astype(np.int64), steps.group_step[g + 1].astype(np.int64)
    size = stop - start
    # (n, width, v): where each visited node stands in each group; `stop` of no group when it does not.
    v = visited.shape[1]
    low, high = np.repeat(start.ravel(), v), np.repeat(stop.ravel(), v)
    wanted = np.repeat(visited, width, axis=0).ravel()
    at = search_ranges(steps.target, low, high, wanted)
    hit = (at < high) & (steps.target[np.minimum(at, len(steps.target) - 1)] == wanted)
    seen = np.where(hit, at, np.iinfo(np.int64).max).reshape(n, width, v)
    left = size - hit.reshape(n, width, v).sum(axis=2)
    relation = steps.group_port[g] >> 1
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
