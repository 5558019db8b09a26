"""Noisy search: a share of the results is replaced by pages that lead nowhere, and the share grows along a curriculum.

After ZeroSearch (arXiv 2505.04588), where a model writes useful or noisy documents; here the noise is real pages that
the same index ranks far behind the results, so that it looks like an answer to the query and is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, Protocol, Self, TypeVar

from pydantic import Field, model_validator

from synth.identity import derive_generator
from synth.schemas.described import Described

__all__ = ["Noise", "noisy"]

_MOST = 20
"""Results that a search gives at most: ranks behind it are where noise is taken from."""
_BEHIND = 40
"""So many of them."""
_HOPS = 8
"""Hops of the longest walks that are asked for."""


class _Found(Protocol):
    @property
    def document(self) -> int: ...


H = TypeVar("H", bound=_Found)


class Noise(Described):
    """How much of a search's results is replaced, by the place of the task on a curriculum."""

    start: float = Field(default=0.0, ge=0, le=1)
    """Share of the results that is replaced at the beginning."""
    end: float = Field(default=0.5, ge=0, le=1)
    """Share at the end; the same as ``start`` for noise without a curriculum."""
    by: Literal["index", "hops"] = "index"
    """What it goes by: ``index`` the task's number among all tasks, ``hops`` the length of its walk."""
    over: int | None = Field(default=None, ge=1)
    """Where the end is reached: this index, or this many hops; empty = the recipe's number of tasks, or 8 hops. Say it
    to let a dataset grow without rolling out its first tasks again."""
    base: float = Field(default=4.0, gt=0)
    """How the share grows: share = start + (base^(i/over) - 1) / (base - 1) * (end - start); 1 = evenly. ZeroSearch
    takes 4: slowly at first."""
    seed: int = Field(default=0, ge=0)
    """Seed of what is replaced by what."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.end < self.start:
            raise ValueError("noise.end is less than noise.start: a curriculum goes from little noise to much")
        return self

    def for_tasks(self, tasks: int) -> Noise:
        """The same over a build of so many tasks: the last of them has the share at the end."""
        open_end = self.over is None and self.by == "index"
        return self.model_copy(update={"over": max(tasks - 1, 1)}) if open_end else self

    def share(self, *, index: int, hops: int) -> float:
        """The share for a task, 0 to 1.

        Raises:
            ValueError: it goes by index, and nothing says where the end is.
        """
        if self.start == self.end:
            return self.end
        over = self.over or (None if self.by == "index" else _HOPS)
        if over is None:
            raise ValueError("noise.over is not set: without a recipe, say at which index the end is reached")
        at = min((index if self.by == "index" else hops) / over, 1.0)
        grown = at if self.base == 1 else (self.base**at - 1) / (self.base - 1)
        return self.start + grown * (self.end - self.start)


def noisy(
    search: Callable[[str, int], Sequence[H]],
    query: str,
    k: int,
    *,
    share: float,
    seed: int,
    task: str,
    without: Collection[int],
) -> list[H]:
    """The ``k`` best for ``query``, each replaced with probability ``share`` by a page from far behind.

    Depends on (seed, task, query) and the collection alone: asked again, the same results come; with a larger ``k`` the
    first ones stay. Pages of ``without`` (row numbers: the task's gold) are never used as noise. Where too few pages
    lie behind, results stay as they are.
    """
    ranked = list(search(query, max(k, _MOST) + _BEHIND))
    results, behind = ranked[:k], [hit for hit in ranked[_MOST:] if int(hit.document) not in without]
    generator = derive_generator(seed, "noise", task, query)
    drawn = generator.random(_MOST)
    shown = {int(hit.document) for hit in results}
    pool = [behind[at] for at in generator.permutation(len(behind)).tolist()]
    pool = [hit for hit in pool if int(hit.document) not in shown]
    return [pool.pop() if float(drawn[place]) < share and pool else hit for place, hit in enumerate(results)]
