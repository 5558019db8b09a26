"""A sequential test for two success rates whose error is exact, not approximate.

Two streams of outcomes are compared pair by pair. After n pairs with a successes on the better side and b on the worse
one, the statistic is

    T(n, a, b) = (a - b) / sqrt(2 n q (1 - q)) * (n / N) ** shape,    q = (a + b + 1) / (2 n + 2)

(a pooled z with one success and one failure added). The difference is accepted as positive at the first look at which
T reaches a threshold, at most N pairs are drawn. ``shape`` 0 is Pocock's boundary, 0.5 that of O'Brien and Fleming.

**Error.** For equal rates p, the chance of ever reaching the threshold is a polynomial in p whose coefficients count
paths; dynamic programming counts them all. The threshold is the least one for which the *greatest* chance over all p is
at most the level. Between the grid's points the Ehlich-Zeller inequality for trigonometric polynomials bounds it, so
this is a guarantee for every p. T rises with a and falls with b, so unequal rates of the wrong sign are less likely to
pass (tests check it). Futility stops are not counted on: they can only lower the error.

**Many candidates of one trajectory.** Thresholds of smaller levels are higher on the same statistic, so the rejection
regions are nested and Holm's procedure applies: with m candidates each is tested at level/m, after an acceptance the
others at level/(m - 1), and so on. Its proof uses only that each test, run to its end on its own two streams, errs with
at most its level. The streams may be shared (all alternatives of a step use the same original side), and tests may be
put in any order, cut short or left out for whatever was seen before: that only takes acceptances away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.annotate.critical.intervals import newcombe

__all__ = ["Characteristics", "Design", "Futility", "characteristics", "futile", "size", "threshold"]

_GRID = 2048
"""Chebyshev points of p, less one."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """Looks after ``first``, ``first + 1``, ... ``max_pairs`` pairs."""

    max_pairs: int = 32
    first: int = 2
    shape: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.max_pairs <= 200:
            raise ValueError(
                f"looks from {self.first} to {self.max_pairs} pairs: wanted 1 <= first <= max_pairs <= 200"
            )

    def statistic(self, n: int, better: int, worse: int) -> float:
        """T after ``n`` pairs; minus infinity where there is no look."""
        return float(_table(self)[n][better, worse])


@cache
def _table(design: Design) -> tuple[NDArray[np.float64], ...]:
    """T for every n from 0: arrays (n + 1, n + 1) over (better, worse). Rounded, so that ties are ties."""
    tables = []
    for n in range(design.max_pairs + 1):
        a, b = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
        if n < design.first:
            tables.append(np.full((n + 1, n + 1), -np.inf))
            continue
        q = (a + b + 1) / (2 * n + 2)
        scale = (n / design.max_pairs) ** design.shape
        tables.append(np.round((a - b) / np.sqrt(2 * n * q * (1 - q)) * scale, 9))
    return tuple(tables)


@cache
def _basis(degree: int) -> NDArray[np.float64]:
    """Chances of k successes in ``degree`` draws, (degree + 1, grid), at p = (1 - cos(pi j / grid)) / 2."""
    from math import lgamma

    p = (1 - np.cos(np.pi * np.arange(1, _GRID) / _GRID)) / 2
    k = np.arange(degree + 1)[:, None]
    binomial = np.array([lgamma(degree + 1) - lgamma(i + 1) - lgamma(degree - i + 1) for i in range(degree + 1)])
    inner = np.exp(binomial[:, None] + k * np.log(p) + (degree - k) * np.log1p(-p))
    # At p = 0 and p = 1 all pairs are ties and nothing is ever accepted, but the bound below wants the end points too.
    ends = np.zeros((degree + 1, 1))
    first, last = ends.copy(), ends.copy()
    first[0] = last[-1] = 1.0
    return np.concatenate([first, inner, last], axis=1)


@cache
def _log_binomials(n: int) -> NDArray[np.float64]:
    from math import lgamma

    return np.array([lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(n + 1)])


def size(design: Design, limit: float) -> float:
    """Upper bound, over all p, of the chance that T reaches ``limit`` although both rates are p."""
    degree = 2 * design.max_pairs
    # coefficients[k] = share, among all sequences of ``degree`` draws with k successes, of those that reach the limit.
    coefficients = np.zeros(degree + 1)
    paths: Counts = np.ones((1, 1))
    for n in range(1, design.max_pairs + 1):
        paths = _advance(paths, 1.0, 1.0, 1.0, 1.0)
        reached = _table(design)[n] >= limit
        if not reached.any():
            continue
        totals = np.add.outer(np.arange(n + 1), np.arange(n + 1))
        counts = np.bincount(totals[reached], weights=paths[reached], minlength=2 * n + 1)
        paths = np.where(reached, 0.0, paths)
        rest = _log_binomials(degree - 2 * n)
        whole = _log_binomials(degree)
        for k in np.flatnonzero(counts):
            coefficients[k : k + len(rest)] += np.exp(np.log(counts[k]) + rest - whole[k : k + len(rest)])
    greatest = float((coefficients @ _basis(degree)).max())
    # f(p(t)), p = (1 - cos t) / 2, is a trigonometric polynomial of this degree, looked at 2 * _GRID times per round.
    return greatest / float(np.cos(np.pi * degree / (2 * _GRID)))


def _advance(paths: Counts, both: float, better: float, worse: float, none: float) -> Counts:
    """One more pair: weights of (better wins, worse wins, both succeed, neither)."""
    n = len(paths)
    after = np.zeros((n + 1, n + 1))
    after[:-1, :-1] += none * paths
    after[1:, :-1] += better * paths
    after[:-1, 1:] += worse * paths
    after[1:, 1:] += both * paths
    return after


@cache
def threshold(design: Design, level: float) -> float:
    """The least limit of T whose ``size`` is at most ``level``; infinity when there is none. Falls as the level rises.

    Raises:
        ValueError: the level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level}: wanted a number between 0 and 1")
    values = np.unique(np.concatenate([table.ravel() for table in _table(design)[design.first :]]))
    values = values[values > 0]
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if size(design, float(values[middle])) <= level:
            high = middle
        else:
            low = middle + 1
    return float(values[low]) if low < len(values) else float("inf")


@dataclass(frozen=True)
class Futility:
    """When a candidate is given up: the upper end of the difference (Newcombe, one-sided) is below ``difference``, or
    nothing of it succeeds."""

    difference: float = 0.3
    confidence: float = 0.9
    first: int = 5
    """Pairs before the first such look: a few early misfortunes of a good alternative should not end it."""
    barren: int = 3
    """It is also given up when its better side has failed in all of this many: a good one, that succeeds in 8 of 10,
    does so in 1 of 125 cases, and most of those that lead nowhere cost no more."""


def futile(design: Design, limit: float, rule: Futility | None, n: int, better: int, worse: int) -> bool:
    """True when no more pairs are worth drawing: T can't reach ``limit`` any more, or ``rule`` says so."""
    return bool(_futile(design, limit, rule)[n][better, worse])


@cache
def _futile(design: Design, limit: float, rule: Futility | None) -> tuple[NDArray[np.bool_], ...]:
    tables: list[NDArray[np.bool_]] = []
    hope = np.zeros((design.max_pairs + 2, design.max_pairs + 2), dtype=bool)
    for n in range(design.max_pairs, -1, -1):
        # Whatever is reached from (a, b) at all is reached with all successes on one side: (a + 1, b) next time.
        reached = _table(design)[n] >= limit
        hope = reached | hope[1 : n + 2, : n + 1]
        tables.append(~hope if rule is None else ~hope | _too_small(rule, n))
    return tuple(reversed(tables))


@cache
def _too_small(rule: Futility, n: int) -> NDArray[np.bool_]:
    """Where the rule gives up after ``n`` pairs, (n + 1, n + 1) over (better, worse)."""
    barren = np.zeros((n + 1, n + 1), dtype=bool)
    barren[0] = n >= rule.barren
    if n < rule.first:
        return barren
    two_sided = 2 * rule.confidence - 1
    bounds = [[newcombe(a, n, b, n, two_sided)[1] for b in range(n + 1)] for a in range(n + 1)]
    return barren | (np.array(bounds) < rule.difference)


@dataclass(frozen=True)
class Characteristics:
    """What a design does at given rates, exactly."""

    accepted: float
    """Chance of acceptance."""
    futile: float
    """Chance of being given up before the last pair."""
    pairs: float
    """Expected number of pairs."""


def characteristics(
    design: Design, level: float, better: float, worse: float, rule: Futility | None = None
) -> Characteristics:
    """Power and expected length for one candidate tested at ``level`` whose true rates are ``better`` and ``worse``."""
    limit = threshold(design, level)
    weights = (better * worse, better * (1 - worse), (1 - better) * worse, (1 - better) * (1 - worse))
    chance: Any = np.ones((1, 1))
    accepted = given_up = pairs = 0.0
    for n in range(1, design.max_pairs + 1):
        pairs += float(chance.sum())
        chance = _advance(chance, *weights)
        reached = _table(design)[n] >= limit
        accepted += float(chance[reached].sum())
        chance = np.where(reached, 0.0, chance)
        if n < design.max_pairs:
            gone = _futile(design, limit, rule)[n]
            given_up += float(chance[gone].sum())
            chance = np.where(gone, 0.0, chance)
    return Characteristics(accepted=accepted, futile=given_up, pairs=pairs)
