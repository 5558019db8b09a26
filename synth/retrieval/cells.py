"""Near pairs of many vectors by a partition into cells, as an inverted file does (IVF: Jegou et al., TPAMI 2011), but
for all rows at once: a cell's rows are multiplied with all the rows that look into it, matrix by matrix.

A pair is found when one of both looks into the cell of the other. Of sampled rows all true pairs are known, and for
each the number of cells that must be looked into: the least number with which enough is found is chosen, not tried.
Against an index that is asked row by row, this needs no copy of the vectors and no extra.

Memory beside the vectors: 24 bytes per look of a row into a cell while they are sorted, of at most :data:`LOOKS` at
once, 4 per number of the centroids (``2 * sqrt(n)``), and blocks of a fixed size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOOKS", "Cells", "Sample", "fill", "near_pairs", "open_cells", "sample_pairs"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Vectors = NDArray[np.floating[Any]]

_BLOCK = 4096
"""Rows that are compared with a sample or with centroids at once; the last block is padded with zeros."""
_WIDE = 2048
"""Rows of a cell, and rows that look into it, that are multiplied at once at most: all of them may be pairs."""
_CROWD = 16
"""True pairs of a sampled row that are taken of one block of rows: enough, and a crowd does not fill the memory."""
_PER_CELL, _ROUNDS = 32, 5
"""Rows per cell that k-means sees, and its rounds: more of either moved few vectors."""
LOOKS = 1 << 24
"""Looks of rows into cells that are held at once: 0.4 GB while they are sorted. Where nothing is near anything, a row
looks into hundreds of cells, and all looks of all rows would fill the memory."""
_ONE_BY_ONE = 12
"""So many of the best are quicker found one after the other than by a partial sort."""
_SCALE = 10_000


@dataclass(frozen=True)
class Sample:
    """Some rows, and what is near to them among all rows."""

    rows: Rows
    """The sampled ones ``(m,)``."""
    left: Rows
    """Of each true pair the sampled row, as a place in ``rows``."""
    right: Rows
    """The other row of the pair."""
    floor: float
    """No pair has a lower cosine."""


def sample_pairs(vectors: Vectors, wanted: int, size: int, enough: int) -> Sample:
    """All pairs of ``size`` rows, evenly taken, with any row, whose cosine is ``wanted`` ten-thousandths and more.

    Where there are fewer than ``enough``, the ``enough`` nearest other pairs of a row and its nearest one fill up: they
    are further apart than those that are looked for, so that what is said of them is said on the safe side.
    """
    chosen = np.linspace(0, len(vectors) - 1, min(size, len(vectors))).astype(np.int64)
    queries = np.ascontiguousarray(vectors[chosen], dtype=np.float32)
    pairs: list[tuple[Rows, Rows]] = []
    nearest = np.zeros(len(chosen), np.int64)
    best = np.full(len(chosen), -np.inf, np.float32)
    block = np.zeros((_BLOCK, vectors.shape[1]), np.float32)
    least = np.float32((wanted - 0.5) / _SCALE)
    everyone = np.arange(len(chosen))
    for start in range(0, len(vectors), _BLOCK):
        fill(block, vectors, start)
        scores = queries @ block.T
        scores[:, len(vectors) - start :] = -np.inf
        itself = np.flatnonzero((chosen >= start) & (chosen < start + _BLOCK))
        scores[itself, chosen[itself] - start] = -np.inf
        at = scores.argmax(axis=1)
        top = scores[everyone, at]
        better = top > best
        best[better], nearest[better] = top[better], at[better] + start
        full = np.flatnonzero(top >= least)
        inner, place = np.nonzero(scores[full] >= least)
        few = np.arange(len(inner)) - np.searchsorted(inner, inner) < _CROWD
        pairs.append((full[inner[few]], place[few] + start))
    left = np.concatenate([one for one, _ in pairs])
    right = np.concatenate([other for _, other in pairs])
    floor = float(least)
    if len(left) < enough:
        beyond = np.flatnonzero((best < least) & (best > 0))
        beyond = beyond[np.argsort(-best[beyond], kind="stable")][: enough - len(left)]
        left, right = np.concatenate([left, beyond]), np.concatenate([right, nearest[beyond]])
        floor = float(best[beyond].min(initial=least))
    return Sample(chosen, left.astype(np.int64), right.astype(np.int64), floor)


@dataclass(frozen=True)
class Cells:
    """A partition, and how many of its cells a row looks into."""

    centroids: Floats
    """``(cells, dim)``, rows of length 1 or 0."""
    probes: int
    recall: float
    """Share of the sampled pairs that is found."""


def open_cells(vectors: Vectors, sample: Sample, least: float) -> Cells:
    """Cells of ``vectors (n, dim)`` and the least number of probes that finds ``least`` of all pairs.

    As many sampled pairs may be missed as that share allows, less two standard deviations: the number is chosen on the
    sample, so that the sample alone would promise too much. For the same reason the recall is told by the rule of
    succession: one more is counted as missed, and one as found.
    """
    count = max(1, min(int(2 * len(vectors) ** 0.5), len(vectors) // _PER_CELL))
    centroids = _centroids(vectors, count)
    if not len(sample.left):
        return Cells(centroids, min(8, count), 1.0)
    queries = np.ascontiguousarray(vectors[sample.rows], dtype=np.float32)
    others = np.unique(sample.right)
    place = np.searchsorted(others, sample.right)
    one = queries @ centroids.T
    home = one.argmax(axis=1)
    needed = np.zeros(len(sample.left), np.int64)
    for start in range(0, len(others), _BLOCK):
        met = np.flatnonzero((place >= start) & (place < start + _BLOCK))
        part = np.ascontiguousarray(vectors[others[start : start + _BLOCK]], dtype=np.float32) @ centroids.T
        theirs = part.argmax(axis=1)
        for at in range(0, len(met), _BLOCK):
            some = met[at : at + _BLOCK]
            here, there = sample.left[some], place[some] - start
            mine = (one[here] > one[here, theirs[there]][:, None]).sum(axis=1)
            other = (part[there] > part[there, home[here]][:, None]).sum(axis=1)
            needed[some] = np.minimum(mine, other) + 1
    needed.sort()
    may_miss = (1 - least) * len(needed)
    probes = int(needed[len(needed) - 1 - max(0, int(may_miss - 2 * may_miss**0.5))])
    return Cells(centroids, probes, (int((needed <= probes).sum()) + 1) / (len(needed) + 2))


def near_pairs(
    vectors: Vectors, cells: Cells, wanted: int, *, together: int = LOOKS
) -> Iterator[tuple[Rows, Rows, Rows]]:
    """Left rows, right rows, scores in ten-thousandths, of pairs whose score is ``wanted`` and more. A pair may come
    twice. Scores are sums in double precision: the same whatever was multiplied at once.

    Args:
        together: Looks (rows x probes) that are held at once, at about 24 bytes each.
    """
    rows = len(vectors)
    block = min(rows, max(1, together // cells.probes // _BLOCK) * _BLOCK)
    looks = _looks(vectors, cells, 0, block, cells.probes)
    home = looks[:, 0] if block == rows else _looks(vectors, cells, 0, rows, 1)[:, 0]
    by_home = np.argsort(home, kind="stable")
    homes = np.searchsorted(home[by_home], np.arange(len(cells.centroids) + 1))
    least = np.float32((wanted - 1) / _SCALE)
    for start in range(0, rows, block):
        if start:
            looks = _looks(vectors, cells, start, min(start + block, rows), cells.probes)
        flat = looks.ravel()
        by_look = np.argsort(flat, kind="stable")
        ends = np.searchsorted(flat[by_look], np.arange(len(cells.centroids) + 1))
        for cell in range(len(cells.centroids)):
            here = np.sort(by_home[homes[cell] : homes[cell + 1]])
            asking = np.sort(by_look[ends[cell] : ends[cell + 1]] // cells.probes) + start
            yield from _compared(vectors, here, asking, least, wanted)


def _compared(
    vectors: Vectors, here: Rows, asking: Rows, least: np.float32, wanted: int
) -> Iterator[tuple[Rows, Rows, Rows]]:
    for right in range(0, len(here), _WIDE):
        some = here[right : right + _WIDE]
        matrix = np.ascontiguousarray(vectors[some], dtype=np.float32)
        for left in range(0, len(asking), _WIDE):
            who = asking[left : left + _WIDE]
            queries = np.ascontiguousarray(vectors[who], dtype=np.float32)
            at, place = np.nonzero(queries @ matrix.T >= least)
            apart = who[at] != some[place]
            at, place = at[apart], place[apart]
            if len(at):
                yield _scored(who[at], some[place], queries, matrix, at, place, wanted)


def _scored(one: Rows, other: Rows, queries: Floats, matrix: Floats, at: Rows, place: Rows, wanted: int) -> Any:
    scores = np.empty(len(at))
    for start in range(0, len(at), _BLOCK):
        here, there = at[start : start + _BLOCK], place[start : start + _BLOCK]
        products = queries[here].astype(np.float64) * matrix[there]
        scores[start : start + _BLOCK] = products.sum(axis=1)
    units = np.rint(scores * _SCALE).astype(np.int64)
    kept = units >= wanted
    one, other = one[kept], other[kept]
    return np.minimum(one, other), np.maximum(one, other), np.minimum(units[kept], _SCALE)


def _looks(vectors: Vectors, cells: Cells, first: int, stop: int, probes: int) -> NDArray[np.int32]:
    """``(stop - first, probes)``: the cells that each row from ``first`` to ``stop`` looks into, its own first."""
    found = np.empty((stop - first, probes), np.int32)
    block = np.zeros((_BLOCK, vectors.shape[1]), np.float32)
    each = np.arange(_BLOCK)
    for start in range(0, stop - first, _BLOCK):
        used = min(_BLOCK, stop - first - start)
        fill(block, vectors, first + start)
        scores = block @ cells.centroids.T
        taken = min(probes, _ONE_BY_ONE)
        for place in range(taken):
            best = scores.argmax(axis=1)
            found[start : start + used, place] = best[:used]
            scores[each, best] = -np.inf
        if probes > taken:
            rest = scores.shape[1] - (probes - taken)
            found[start : start + used, taken:] = np.argpartition(scores, rest, axis=1)[:used, rest:]
    return found


def _centroids(vectors: Vectors, count: int) -> Floats:
    """Spherical k-means (Dhillon & Modha 2001) of evenly taken rows, begun with evenly taken ones of these."""
    taken = np.linspace(0, len(vectors) - 1, min(len(vectors), _PER_CELL * count)).astype(np.int64)
    seen = np.ascontiguousarray(vectors[taken], dtype=np.float32)
    centroids = seen[np.linspace(0, len(seen) - 1, count).astype(np.int64)]
    block = np.zeros((_BLOCK, seen.shape[1]), np.float32)
    own = np.zeros(len(seen), np.int64)
    for _ in range(_ROUNDS):
        for start in range(0, len(seen), _BLOCK):
            fill(block, seen, start)
            own[start : start + _BLOCK] = (block @ centroids.T).argmax(axis=1)[: len(seen) - start]
        order = np.argsort(own, kind="stable")
        used, first = np.unique(own[order], return_index=True)
        sums = np.add.reduceat(seen[order], first, axis=0)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centroids[used] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return centroids


def fill(block: Floats, vectors: Vectors, start: int) -> None:
    """Rows from ``start`` on; zeros behind the last one."""
    part = vectors[start : start + len(block)]
    block[: len(part)] = part
    block[len(part) :] = 0
