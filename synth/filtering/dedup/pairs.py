"""Pairs of near duplicates and what follows from them: clusters and representatives, at any threshold.

The near-duplicate graph may have very many edges. Kept is its maximum spanning forest: at most n - 1 pairs, and at
every threshold the same connected components as the whole graph (the paths of such a forest have the greatest possible
least score). So a report can be cut again at a higher threshold without looking at a text or vector once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNIT", "Clusters", "Kind", "Pair", "PairForest", "Union", "clusters_of"]

Kind = Literal["exact", "structural", "near", "semantic"]
"""``exact`` the same canonical text; ``structural`` the same walk, plan or sequence of calls; ``near`` shared n-grams
of words (Jaccard); ``semantic`` cosine of two vectors."""

UNIT = 10_000
"""Scores are whole ten-thousandths: the last bits of a float decide nothing."""
_BATCH = 1 << 20
"""Pairs that are held before the forest is made anew: some 100 MB."""


@dataclass(frozen=True, slots=True)
class Pair:
    left: int
    """Row number, the lower of both."""
    right: int
    kind: Kind
    score: float
    """In (0, 1], four decimals."""


class Union:
    """Disjoint sets of 0 to n - 1; a set is named by its least member."""

    def __init__(self, n: int) -> None:
        self._above = list(range(n))

    def find(self, one: int) -> int:
        """The least member of its set."""
        above = self._above
        root = one
        while above[root] != root:
            root = above[root]
        while above[one] != root:
            above[one], one = root, above[one]
        return root

    def join(self, one: int, other: int) -> bool:
        """Whether they were apart before."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return False
        self._above[max(one, other)] = min(one, other)
        return True

    def grow(self) -> int:
        """One more, alone in its set: its number."""
        self._above.append(len(self._above))
        return len(self._above) - 1


class PairForest:
    """Takes pairs in any order and amount; holds the best ``n - 1`` at most, and the batch that came last.

    Ties go by row numbers, so that what is held at the end does not depend on the order of the pairs.
    """

    def __init__(self) -> None:
        self._held = np.zeros((0, 3), dtype=np.int64)
        """``(pairs, 3)``: score in units, left, right."""
        self._new: list[NDArray[np.int64]] = []
        self._waiting = 0
        self.seen = 0
        """Pairs that came in; one that comes twice counts twice."""

    def add(self, left: NDArray[np.int64], right: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        """Pairs of row numbers ``(m,)`` each with scores in units ``(m,)``; a row beside itself is left out."""
        apart = left != right
        both = np.stack([scores[apart], np.minimum(left, right)[apart], np.maximum(left, right)[apart]], axis=1)
        self._new.append(both.astype(np.int64))
        self._waiting += len(both)
        self.seen += len(both)
        if self._waiting >= _BATCH:
            self._settle()

    def pairs(self) -> NDArray[np.int64]:
        """``(pairs, 3) int64``: score in units, left, right; best first."""
        self._settle()
        return self._held

    def _settle(self) -> None:
        if not self._waiting:
            return
        everything = np.concatenate([self._held, *self._new])
        self._new, self._waiting = [], 0
        order = np.lexsort((everything[:, 2], everything[:, 1], -everything[:, 0]))
        rows, ends = np.unique(everything[:, 1:], return_inverse=True)
        left, right = ends.reshape(-1, 2).T.tolist()
        sets = Union(len(rows))
        keep = [place for place in order.tolist() if sets.join(left[place], right[place])]
        self._held = everything[keep]


@dataclass(frozen=True)
class Clusters:
    """Connected components of the near-duplicate graph."""

    of: tuple[int, ...]
    """For each row the representative of its cluster (itself, where it is one or stands alone)."""
    score: tuple[float, ...]
    """For each row the score of the pair that ties it most closely to its cluster; 0 where it stands alone."""

    @property
    def dropped(self) -> tuple[int, ...]:
        """Rows that are not their cluster's representative, ascending."""
        return tuple(row for row, best in enumerate(self.of) if row != best)

    def members(self) -> dict[int, tuple[int, ...]]:
        """Representative -> all rows of its cluster, for clusters of two and more."""
        found: dict[int, list[int]] = {}
        for row, best in enumerate(self.of):
            found.setdefault(best, []).append(row)
        return {best: tuple(rows) for best, rows in found.items() if len(rows) > 1}


def clusters_of(n: int, pairs: Iterable[Pair], quality: Sequence[tuple[float, ...]] | None = None) -> Clusters:
    """Clusters of rows 0 to n - 1. The representative is the row of greatest ``quality``, of equal ones the first."""
    sets = Union(n)
    score = [0.0] * n
    for pair in pairs:
        sets.join(pair.left, pair.right)
        for row in (pair.left, pair.right):
            score[row] = max(score[row], pair.score)
    best: dict[int, int] = {}
    for row in range(n):
        root = sets.find(row)
        if root not in best or (quality is not None and quality[row] > quality[best[root]]):
            best[root] = row
    return Clusters(tuple(best[sets.find(row)] for row in range(n)), tuple(score))
