"""Near pairs of a set of vectors: all of them by comparing every two, or nearly all with the recall measured.

Memory beside the vectors: blocks of a fixed shape, whatever the number of rows, where every two are compared; what
:mod:`synth.retrieval.cells` says for ``cells``; a copy of the vectors for FAISS.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.retrieval.cells import Sample, fill, near_pairs, open_cells, sample_pairs
from synth.retrieval.vectors import FaissJoin, JoinKind

__all__ = ["SCALE", "SMALL", "Block", "Join", "join"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Block = tuple[Rows, Rows, Rows]
"""Left rows, right rows (left < right), scores in ten-thousandths; three arrays of one length."""

SCALE = 10_000
"""Scores are compared as whole ten-thousandths."""
_LEFT, _RIGHT = 1024, 8192
"""Rows that are compared at once: products have this shape whatever the order of rows, the last ones padded with zeros
(of at most 1,024 rows: 1,024 by 1,024)."""
SMALL = 20_000
"""Rows that are compared with each other rather than looked up: building an index costs more."""
_SAMPLE = 2_000
"""Queries on which the recall is measured."""
_ENOUGH = 100
"""With fewer true pairs than this among the sample, the recall is that of the nearest neighbour."""


@dataclass
class Join:
    """Near pairs, and what is known of how they were found."""

    kind: JoinKind
    """What was asked for."""
    exact: bool
    """Whether every two were compared."""
    recall: float = 1.0
    """Share of the true pairs that is found, measured on ``sampled`` queries; 1 where every two are compared."""
    sampled: int = 0
    probes: int = 0
    """Cells that are looked into, or how hard FAISS looks else (see :class:`synth.retrieval.vectors.FaissJoin`)."""
    cut: int = 0
    """Rows with more neighbours than FAISS gives (2,048). Known once all pairs were read."""
    _blocks: Iterator[Block] = field(default_factory=lambda: iter(()), repr=False)

    def __iter__(self) -> Iterator[Block]:
        """Once. A pair may come twice."""
        return self._blocks


def join(
    vectors: NDArray[np.floating[Any]],
    threshold: float,
    kind: JoinKind = "exact",
    *,
    least: float = 0.99,
    small: int = SMALL,
) -> Join:
    """All pairs of rows of ``vectors (n, dim)`` whose cosine, rounded to four decimals, is ``threshold`` or more.

    Args:
        vectors: of length 1 (or 0: a row of zeros is near to none); may be memory-mapped and of half precision.
        threshold: more than 0.
        kind: beyond ``exact`` and ``faiss-flat``, it is looked harder until the recall on sampled rows is ``least``.
        small: up to so many rows every two are compared, whatever the kind.

    Raises:
        InputError: ``kind`` needs FAISS, which is not installed.
        ValueError: the threshold is not above 0, or ``vectors`` is not a matrix.
    """
    if vectors.ndim != 2:
        raise ValueError(f"vectors of shape {vectors.shape}: a matrix is needed, one row each")
    if not 0 < threshold <= 1:
        raise ValueError(f"a threshold of {threshold}: more than 0, at most 1")
    wanted = round(threshold * SCALE)
    if kind == "exact" or len(vectors) <= small:
        return Join(kind, exact=True, _blocks=_every_two(vectors, wanted))
    if kind == "cells":
        sample = sample_pairs(vectors, wanted, _SAMPLE, _ENOUGH)
        cells = open_cells(vectors, sample, least)
        seen = len(sample.rows)
        return Join(kind, False, cells.recall, seen, cells.probes, _blocks=near_pairs(vectors, cells, wanted))
    index = FaissJoin(vectors, kind)
    found = Join(kind, exact=kind == "faiss-flat")
    if kind != "faiss-flat":
        _tune(found, index, vectors, wanted, least)
    found._blocks = _searched(found, index, vectors, wanted)
    return found


def _every_two(vectors: NDArray[np.floating[Any]], wanted: int) -> Iterator[Block]:
    rows, dim = vectors.shape
    width = _RIGHT if rows > _LEFT else _LEFT
    one, other = np.zeros((_LEFT, dim), np.float32), np.zeros((width, dim), np.float32)
    product = np.empty((_LEFT, width), np.float32)
    least = np.float32((wanted - 1) / SCALE)
    for right in range(0, rows, width):
        fill(other, vectors, right)
        for left in range(0, min(right + width, rows), _LEFT):
            fill(one, vectors, left)
            np.matmul(one, other.T, out=product)
            if product.max() < least:
                continue
            at, place = np.nonzero(product >= least)
            yield _kept(left + at, right + place, product[at, place], wanted)


def _kept(left: Rows, right: Rows, scores: Floats, wanted: int) -> Block:
    units = np.rint(scores.astype(np.float64) * SCALE).astype(np.int64)
    chosen = (units >= wanted) & (left < right)
    return left[chosen].astype(np.int64), right[chosen].astype(np.int64), np.minimum(units[chosen], SCALE)


def _searched(found: Join, index: FaissJoin, vectors: NDArray[np.floating[Any]], wanted: int) -> Iterator[Block]:
    queries = np.zeros((_RIGHT, vectors.shape[1]), np.float32)
    for start in range(0, len(vectors), _RIGHT):
        fill(queries, vectors, start)
        at, row, scores = index.above(queries, (wanted - 1) / SCALE)
        at = at + start
        yield _kept(np.minimum(at, row), np.maximum(at, row), scores, wanted)
    found.cut = index.cut


def _tune(found: Join, index: FaissJoin, vectors: NDArray[np.floating[Any]], wanted: int, least: float) -> None:
    """Look harder until enough is found of what the sampled rows are truly near to."""
    sample = sample_pairs(vectors, wanted, _SAMPLE, _ENOUGH)
    found.sampled, found.probes = len(sample.rows), min(8, index.most) if found.kind == "faiss-ivf" else 64
    while True:
        index.look(found.probes)
        found.recall = _share(index, vectors, sample)
        if found.recall >= least or found.probes >= index.most:
            return
        found.probes = min(2 * found.probes, index.most)


def _share(index: FaissJoin, vectors: NDArray[np.floating[Any]], sample: Sample) -> float:
    true = set(zip(sample.left.tolist(), sample.right.tolist(), strict=True))
    if not true:
        return 1.0
    queries = np.ascontiguousarray(vectors[sample.rows], dtype=np.float32)
    at, row, _ = index.above(queries, sample.floor - 1 / SCALE)
    return len(true & set(zip(at.tolist(), row.tolist(), strict=True))) / len(true)
