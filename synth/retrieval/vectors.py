"""Nearest neighbours among vectors: exact, or by FAISS. The only module that knows FAISS.

Vectors have length 1, so the score is their cosine. Scores are rounded to four decimals before they are compared and
ties go by row, so that the last bits of a float decide nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from synth.errors import InputError

__all__ = ["ExactIndex", "FaissIndex", "IndexKind", "Neighbour", "VectorIndex", "open_index", "recall"]

Floats = NDArray[np.float32]
Vectors = NDArray[np.floating[Any]]

IndexKind = Literal["exact", "faiss-flat", "faiss-hnsw"]
"""``exact`` compares with every vector and needs nothing; ``faiss-flat`` does the same in FAISS; ``faiss-hnsw`` walks a
graph (Malkov & Yashunin, arXiv 1603.09320) and misses some: measure it with :func:`recall`."""

_DECIMALS = 4
_BLOCK = 16_384
"""Rows that are compared at once."""
_KEPT = 1 << 26
"""Numbers that are kept in single precision (256 MiB); a larger matrix is converted block by block, again each time."""
_LINKS, _BUILD, _LOOK = 32, 200, 256
"""HNSW: neighbours per node, candidates while building, candidates while searching (at least ``k``)."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    document: int
    """Row number of the vector."""
    score: float
    """Cosine, rounded to four decimals."""


class VectorIndex(Protocol):
    def search(self, queries: Floats, k: int) -> list[list[Neighbour]]:
        """For each row of ``queries (q, dim)`` the ``k`` nearest, best first; fewer where there are fewer vectors."""


class ExactIndex:
    """Compares with every vector, in blocks; ``vectors`` may be memory-mapped and of half precision."""

    def __init__(self, vectors: Vectors) -> None:
        """``vectors (n, dim)``. Raises ValueError for any other shape."""
        self._vectors = _checked(vectors)
        if vectors.size <= _KEPT:
            self._vectors = np.asarray(vectors, dtype=np.float32)

    def search(self, queries: Floats, k: int) -> list[list[Neighbour]]:
        """See :class:`VectorIndex`."""
        best: list[list[Neighbour]] = [[] for _ in queries]
        for start in range(0, len(self._vectors), _BLOCK):
            block = np.asarray(self._vectors[start : start + _BLOCK], dtype=np.float32)
            scores = np.round(block @ np.asarray(queries, dtype=np.float32).T, _DECIMALS)
            for row, found in enumerate(best):
                column = scores[:, row]
                least = np.partition(column, -k)[-k] if k < len(column) else -np.inf
                near = np.flatnonzero(column >= least)
                found += [Neighbour(start + int(at), float(column[at])) for at in near]
                best[row] = _ordered(found, k)
        return best


class FaissIndex:
    """FAISS on the CPU, one thread (extra ``embed``)."""

    def __init__(self, vectors: Vectors, kind: IndexKind = "faiss-hnsw") -> None:
        """Builds the index over ``vectors (n, dim)``.

        Raises:
            InputError: FAISS is not installed.
            ValueError: ``vectors`` is no matrix, or ``kind`` is not of FAISS.
        """
        try:
            import faiss
        except ImportError as error:
            raise InputError(
                f"the index {kind!r} needs FAISS", mend="install the extra embed, or take exact"
            ) from error
        matrix = _checked(vectors)
        # HNSW built by several threads is another graph each time.
        faiss.omp_set_num_threads(1)
        if kind == "faiss-flat":
            self._index = faiss.IndexFlatIP(matrix.shape[1])
        elif kind == "faiss-hnsw":
            self._index = faiss.IndexHNSWFlat(matrix.shape[1], _LINKS, faiss.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction = _BUILD
        else:
            raise ValueError(f"{kind} is no index of FAISS")
        self._graph = kind == "faiss-hnsw"
        for start in range(0, len(matrix), _BLOCK):
            self._index.add(np.ascontiguousarray(matrix[start : start + _BLOCK], dtype=np.float32))

    def search(self, queries: Floats, k: int) -> list[list[Neighbour]]:
        """See :class:`VectorIndex`."""
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


def open_index(vectors: Vectors, kind: IndexKind) -> VectorIndex:
    """An index of ``kind`` over ``vectors (n, dim)``. Raises as :class:`FaissIndex`."""
    return ExactIndex(vectors) if kind == "exact" else FaissIndex(vectors, kind)


def recall(index: VectorIndex, exact: VectorIndex, queries: Floats, k: int) -> float:
    """Mean share of the ``k`` nearest by ``exact`` that ``index`` finds; a tie with the last of them counts as found.

    Raises:
        ValueError: there are no queries.
    """
    if not len(queries):
        raise ValueError("recall needs queries")
    shares = []
    for found, true in zip(index.search(queries, k), exact.search(queries, k), strict=True):
        wanted = {item.document for item in true}
        least = true[-1].score if true else 0.0
        hit = sum(item.document in wanted or item.score >= least for item in found)
        shares.append(min(hit, len(wanted)) / len(wanted) if wanted else 1.0)
    return float(np.mean(shares))


def _checked(vectors: Vectors) -> Vectors:
    if vectors.ndim != 2:
        raise ValueError(f"vectors of shape {vectors.shape}: a matrix is needed, one row each")
    return vectors


def _ordered(found: Sequence[Neighbour], k: int) -> list[Neighbour]:
    return sorted(found, key=lambda item: (-item.score, item.document))[:k]
