"""How many candidates could be accepted in all, judged by the first ones: said before hours go by in vain."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["LARGE", "SAMPLE", "Supply", "distinct", "estimate"]

SAMPLE = 4_096
"""Candidates that are looked at."""
LARGE = 5_000
"""Wanted rows from which they are worth it: what is smaller ends, or fails, within minutes."""


@dataclass(frozen=True)
class Supply:
    label: str
    sampled: int
    """Candidates that were looked at."""
    rows: int
    """What could be accepted if all candidates that may be tried were; a cautious estimate."""
    wanted: int
    candidates: int | None
    """How many it takes to accept what is wanted; None = all that may be tried are too few."""

    @property
    def short(self) -> bool:
        return self.candidates is None

    @property
    def line(self) -> str:
        told = f"{self.label}: judged by the first {self.sampled:,} candidates, "
        if self.candidates is not None:
            return f"{told}{self.wanted:,} take about {_about(self.candidates):,}"
        return f"{told}this source gives about {_about(self.rows):,} that differ, and {self.wanted:,} are wanted"


def _about(number: int) -> int:
    """To two digits."""
    return round(number, 2 - len(str(number))) if number >= 100 else number


def estimate(
    label: str, kinds: Iterable[Counter[str]], *, sampled: int, accepted: int, limit: int, wanted: int
) -> Supply:
    """From how often the same was asked among ``sampled`` candidates, of each kind: kinds run dry each at its own pace.

    Args:
        accepted: How many of them were, after near duplicates; they are taken to stay as frequent.
        limit: How many candidates may be tried.
    """
    kinds = list(kinds)
    share = min(1.0, accepted / max(1, sum(map(len, kinds))))

    def rows(candidates: int) -> float:
        return share * sum(distinct(seen, seen.total() * candidates / sampled) for seen in kinds)

    candidates = None
    if rows(limit) >= wanted:
        candidates = bisect_left(range(limit), True, key=lambda many: rows(many) >= wanted)
    return Supply(label, sampled, round(rows(limit)), wanted, candidates)


def distinct(seen: Counter[str], draws: float) -> float:
    """How many different items ``draws`` draws find, of which ``seen`` are the first: what was seen and a lower
    bound of what was not (Chao 1984, by the items that were seen once and twice), approached as draws go on (Shen, Chao
    and Lin 2003)."""
    n = seen.total()
    once, twice = (sum(count == times for count in seen.values()) for times in (1, 2))
    unseen = (n - 1) / n * once * (once - 1) / (2 * (twice + 1)) if n else 0.0
    if not unseen or draws <= n:
        return len(seen)
    return len(seen) + unseen * -math.expm1(-(draws - n) * once / (n * unseen + once))
