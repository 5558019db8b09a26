"""Array primitives of the generator: who is where, and skewed draws that respect conditions.

A draw takes a member of a pool for each subject: usually from the subject's own community, sometimes from the whole
world. Rank r of a pool is taken with density r^(1/a - 1) (inverse CDF ``floor(n * u**a)``), which gives degrees a
Zipf-like tail without a table of weights, at any size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Ints", "Pool", "ragged", "unique_first"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LOCAL_SKEW = 1.6
GLOBAL_SKEW = 3.0


class Pool:
    """Entities that a relation may choose from, grouped by community.

    Args:
        members: ordinals, ascending ``(m,)``.
        community: community of every entity of the world ``(n,)``; -1 for hubs, which belong to none.
        communities: number of communities.
    """

    def __init__(self, members: Ints, community: Ints, communities: int) -> None:
        self.members = members
        home = community[members]
        self.local = members[np.argsort(home, kind="stable")]
        self.count = np.bincount(home[home >= 0], minlength=communities) if len(members) else np.zeros(communities, int)
        hubs = int((home < 0).sum())
        self.start = hubs + np.concatenate(([0], np.cumsum(self.count)[:-1]))

    def draw(self, home: Ints, generator: np.random.Generator, cross: float) -> Ints:
        """One member per subject; -1 where the pool is empty.

        Args:
            home: community of each subject ``(k,)``, -1 for a hub.
            cross: share of draws from the whole world instead of the subject's community.
        """
        if not len(self.members):
            return np.full(len(home), -1, dtype=np.int64)
        u = generator.random((3, len(home)))
        count = np.where(home >= 0, self.count[home], 0)
        everywhere = (u[0] < cross) | (count == 0)
        near = self.start[home] + (count * u[1] ** LOCAL_SKEW).astype(np.int64)
        far = (len(self.members) * u[2] ** GLOBAL_SKEW).astype(np.int64)
        return np.where(everywhere, self.members[far], self.local[np.where(everywhere, 0, near)])

    def draw_where(
        self,
        home: Ints,
        valid: Callable[[Ints, Ints], Bools],
        generator: np.random.Generator,
        cross: float,
        *,
        share: float = 1.0,
        tries: int = 8,
    ) -> Ints:
        """Like ``draw``, for a ``share`` of the subjects, with a condition; -1 where no try met it.

        ``valid(rows, candidates)`` gets the positions in ``home`` that still lack an object. The last tries look
        everywhere, so that a small community doesn't leave its members without one.
        """
        out = np.full(len(home), -1, dtype=np.int64)
        left = np.flatnonzero(generator.random(len(home)) < share)
        for attempt in range(tries):
            if not len(left) or not len(self.members):
                break
            wide = cross if attempt < (3 * tries) // 4 else 1.0
            candidate = self.draw(home[left], generator, wide)
            good = valid(left, candidate)
            out[left[good]] = candidate[good]
            left = left[~good]
        return out

    def partner(self, other: Pool) -> Ints:
        """One to one inside communities: the k-th member here with the k-th of ``other``; -1 when there is none.

        Returns an array parallel to ``self.members``.
        """
        rank = np.arange(len(self.local)) - np.repeat(self.start, self.count)
        home = np.repeat(np.arange(len(self.count)), self.count)
        has = rank < other.count[home]
        found = np.full(len(self.local), -1, dtype=np.int64)
        found[has] = other.local[other.start[home[has]] + rank[has]]
        back = np.empty(len(self.local), dtype=np.int64)
        back[np.searchsorted(self.members, self.local)] = found
        return back


def unique_first(objects: Ints) -> Ints:
    """``objects`` with every repetition of a value >= 0 set to -1: the first subject keeps it."""
    out = objects.copy()
    _, first = np.unique(objects, return_index=True)
    repeated = np.ones(len(objects), dtype=bool)
    repeated[first] = False
    out[repeated] = -1
    return out


def ragged(subjects: Ints, objects: Ints, size: int) -> tuple[Ints, Ints]:
    """CSR lists of ``objects`` per subject position: ``(offsets (size + 1,), flat objects)``, duplicates removed.

    Order within a subject is that of first appearance, so it doesn't depend on object numbers.
    """
    keep = objects >= 0
    subjects, objects = subjects[keep], objects[keep]
    _, first = np.unique(subjects * (np.int64(1) << 32) + objects, return_index=True)
    first.sort()
    subjects, objects = subjects[first], objects[first]
    order = np.argsort(subjects, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(subjects, minlength=size))))
    return offsets.astype(np.int64), objects[order]
