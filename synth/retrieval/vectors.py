"""Nearest neighbours among vectors: exact, or by FAISS. The only module that knows FAISS.

Vectors have length 1, so the score is their cosine. Scores are rounded to four decimals before they are compared and
ties go by row, so that the last bits of a float decide nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from synth.errors import InputError

__all__ = [
    "ExactIndex",
    "FaissIndex",
    "FaissJoin",
    "IndexKind",
    "JoinKind",
    "Neighbour",
    "VectorIndex",
    "open_index",
]

Floats = NDArray[np.float32]
Vectors = NDArray[np.floating[Any]]

IndexKind = Literal["exact", "faiss-flat", "faiss-hnsw"]
"""``exact`` compares with every vector and needs nothing; ``faiss-flat`` does the same in FAISS; ``faiss-hnsw`` walks a
graph (Malkov & Yashunin, arXiv 1603.09320) and misses some."""

JoinKind = Literal["exact", "cells", "faiss-flat", "faiss-ivf", "faiss-hnsw"]
"""How all near pairs of a set are found: as :data:`IndexKind`; ``cells`` and ``faiss-ivf`` look into the nearest cells
of a partition only (Jegou et al., TPAMI 2011), the first for all rows together and without FAISS."""

_DECIMALS = 4
_BLOCK = 16_384
"""Rows that are compared at once."""
_KEPT = 1 << 26
"""Numbers that are kept in single precision (256 MiB); a larger matrix is converted block by block, again each time."""
_LINKS, _BUILD, _LOOK = 32, 200, 256
"""HNSW: neighbours per node, candidates while building, candidates while searching (at least ``k``)."""
_ROUNDS = 6
"""IVF: rounds of k-means. More move few vectors."""
_FIRST, _MOST = 16, 2048
"""Neighbours that a join asks for at first, and at most (FAISS on a GPU gives no more)."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    document: int
    """Row number of the vector."""
    score: float
    """Cosine, rounded to four decimals."""


class VectorIndex(Protocol):
    def search(self, queries: Floats, k: int, count: int | None = None) -> list[list[Neighbour]]:
        """For each of the first ``count`` rows (None = all) of ``queries (q, dim)`` the ``k`` nearest, best first;
        fewer where there are fewer vectors."""


class ExactIndex:
    """Compares with every vector, in blocks; ``vectors`` may be memory-mapped and of half precision."""

    def __init__(self, vectors: Vectors) -> None:
        """``vectors (n, dim)``. Raises ValueError for any other shape."""
        self._vectors = _checked(vectors)
        if vectors.size <= _KEPT:
            self._vectors = np.asarray(vectors, dtype=np.float32)

    def search(self, queries: Floats, k: int, count: int | None = None) -> list[list[Neighbour]]:
        """See :class:`VectorIndex`."""
        none = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
        best = [none for _ in queries[:count]]
        for start in range(0, len(self._vectors), _BLOCK):
            block = np.asarray(self._vectors[start : start + _BLOCK], dtype=np.float32)
            with _blas().limit(limits=1, user_api="blas"):
                product = block @ np.asarray(queries, dtype=np.float32).T
            scores = np.ascontiguousarray(product[:, : len(best)].T)
            for row, found in enumerate(best):
                near, near_scores = _nearest(scores[row], k)
                rows, marks = np.concatenate((found[0], start + near)), np.concatenate((found[1], near_scores))
                order = np.lexsort((rows, -marks))[:k]
                best[row] = rows[order], marks[order]
        return [[Neighbour(int(r), float(s)) for r, s in zip(*found, strict=True)] for found in best]


@cache
def _blas() -> ThreadpoolController:
    """Of the BLAS of NumPy. A product with a few queries is too small to share: its other threads spin, which takes
    several times the processor time and ends no sooner."""
    return ThreadpoolController()


def _nearest(scores: Floats, k: int) -> tuple[NDArray[np.int64], Floats]:
    """Places and rounded scores of all that may be among the ``k`` best of ``scores (n,)``, those above the ``k``-th
    score first. Rounding keeps the order, so only what comes within a step of the ``k``-th score is rounded."""
    if k >= len(scores):
        return np.arange(len(scores)), np.round(scores, _DECIMALS)
    close = np.flatnonzero(scores >= np.partition(scores, -k)[-k] - 2 * 10.0**-_DECIMALS)
    rounded = np.round(scores[close], _DECIMALS)
    least = np.partition(rounded, -k)[-k]
    # Of equal scores only the first rows can be needed: a query without words is as far from all of them.
    keep = np.concatenate((np.flatnonzero(rounded > least), np.flatnonzero(rounded == least)[:k]))
    return close[keep], rounded[keep]


class FaissIndex:
    """FAISS on the CPU, one thread (extra ``embed``)."""

    def __init__(self, vectors: Vectors, kind: IndexKind = "faiss-hnsw") -> None:
        """Builds the index over ``vectors (n, dim)``.

        Raises:
            InputError: FAISS is not installed.
            ValueError: ``vectors`` is not a matrix, or ``kind`` is not of FAISS.
        """
        faiss = _faiss(kind)
        matrix = _checked(vectors)
        # HNSW built by several threads is another graph each time.
        faiss.omp_set_num_threads(1)
        if kind == "faiss-flat":
            self._index = faiss.IndexFlatIP(matrix.shape[1])
        elif kind == "faiss-hnsw":
            self._index = faiss.IndexHNSWFlat(matrix.shape[1], _LINKS, faiss.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction = _BUILD
        else:
            raise ValueError(f"{kind} is not an index of FAISS")
        self._graph = kind == "faiss-hnsw"
        for start in range(0, len(matrix), _BLOCK):
            self._index.add(np.ascontiguousarray(matrix[start : start + _BLOCK], dtype=np.float32))

    def search(self, queries: Floats, k: int, count: int | None = None) -> list[list[Neighbour]]:
        """See :class:`VectorIndex`."""
        queries = queries[:count]
        wanted = min(2 * k + 8, int(self._index.ntotal))  # room for ties, which go by row here
        if not wanted:
            return [[] for _ in queries]
        if self._graph:
            self._index.hnsw.efSearch = max(_LOOK, wanted)
        scores, rows = self._index.search(np.ascontiguousarray(queries, dtype=np.float32), wanted)
        rounded = np.round(scores, _DECIMALS)
        return [
            _ordered([Neighbour(int(r), float(s)) for r, s in zip(found, near, strict=True) if r >= 0], k)
            for found, near in zip(rows, rounded, strict=True)
        ]


class FaissJoin:
    """All neighbours above a threshold, of many queries at once; on the GPUs that FAISS finds, else on the CPU.

    Flat, by cells (IVF: ``4 * sqrt(n)`` of them, trained on 40 vectors each, one thread, so that they are the same each
    time) or by HNSW. ``probes`` is how many cells are looked into, or how many candidates HNSW keeps.
    """

    def __init__(self, vectors: Vectors, kind: JoinKind) -> None:
        """``vectors (n, dim)`` of length 1. Raises as :class:`FaissIndex`."""
        faiss = _faiss(kind)
        matrix = _checked(vectors)
        rows, dim = matrix.shape
        self.kind = kind
        self.most = 1
        """The greatest useful value of ``probes``."""
        faiss.omp_set_num_threads(1)
        if kind == "faiss-flat":
            index = faiss.IndexFlatIP(dim)
        elif kind == "faiss-ivf":
            self.most = max(1, min(int(4 * rows**0.5), rows // 40))
            index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dim), dim, self.most, faiss.METRIC_INNER_PRODUCT)
            index.cp.niter = _ROUNDS
            chosen = np.linspace(0, rows - 1, min(rows, 40 * self.most)).astype(np.int64)
            index.train(np.ascontiguousarray(matrix[chosen], dtype=np.float32))
        elif kind == "faiss-hnsw":
            index = faiss.IndexHNSWFlat(dim, _LINKS, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = _BUILD
            self.most = rows
        else:
            raise ValueError(f"{kind} is not an index of FAISS")
        # Filling cells and searching gives the same for any number of threads: every vector is one thread's.
        if kind != "faiss-hnsw":
            faiss.omp_set_num_threads(_threads())
        if kind != "faiss-hnsw" and getattr(faiss, "get_num_gpus", int)() > 0:
            index = faiss.index_cpu_to_all_gpus(index)
        for start in range(0, rows, _BLOCK):
            index.add(np.ascontiguousarray(matrix[start : start + _BLOCK], dtype=np.float32))
        faiss.omp_set_num_threads(_threads())
        self._index = index
        self.cut = 0
        """Queries with more neighbours than FAISS was asked for in the end (2,048)."""

    def look(self, probes: int) -> None:
        """How hard it looks; a flat index always looks everywhere."""
        if self.kind == "faiss-ivf":
            self._index.nprobe = probes
        elif self.kind == "faiss-hnsw":
            self._index.hnsw.efSearch = probes

    def above(self, queries: Floats, least: float) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """(query, row, score) of all found with a score of ``least`` and more, three arrays of one length."""
        waiting, k = np.arange(len(queries)), min(_FIRST, int(self._index.ntotal))
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]] = []
        most = min(_MOST, int(self._index.ntotal))
        while len(waiting) and k:
            scores, rows = self._index.search(np.ascontiguousarray(queries[waiting], dtype=np.float32), k)
            full = (scores[:, -1] >= least) & (rows[:, -1] >= 0)
            if k == most:
                self.cut += int(full.sum()) if most < int(self._index.ntotal) else 0
                full[:] = False
            at, place = np.nonzero((scores >= least) & (rows >= 0) & ~full[:, None])
            found.append((waiting[at], rows[at, place].astype(np.int64), scores[at, place]))
            waiting, k = waiting[full], min(8 * k, most)
        if not found:
            none = np.zeros(0, dtype=np.int64)
            return none, none, np.zeros(0, dtype=np.float32)
        first, second, third = zip(*found, strict=True)
        return np.concatenate(first), np.concatenate(second), np.concatenate(third)


def open_index(vectors: Vectors, kind: IndexKind) -> VectorIndex:
    """An index of ``kind`` over ``vectors (n, dim)``. Raises as :class:`FaissIndex`."""
    return ExactIndex(vectors) if kind == "exact" else FaissIndex(vectors, kind)


def _faiss(kind: str) -> Any:
    try:
        import faiss
    except ImportError as error:
        raise InputError(f"the index {kind!r} needs FAISS", mend="install the extra embed, or take exact") from error
    return faiss


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked(vectors: Vectors) -> Vectors:
    if vectors.ndim != 2:
        raise ValueError(f"vectors of shape {vectors.shape}: a matrix is needed, one row each")
    return vectors


def _ordered(found: Sequence[Neighbour], k: int) -> list[Neighbour]:
    return sorted(found, key=lambda item: (-item.score, item.document))[:k]
