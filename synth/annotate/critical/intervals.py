"""Confidence intervals of rates and of differences of rates. None of them is adjusted for sequential stopping."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

from synth.schemas.steps import Criticality

__all__ = ["criticality", "newcombe", "wilson"]


@cache
def _z(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Score interval of a rate; (0, 1) when ``n`` is 0. ``n`` may be an effective number of observations."""
    if n == 0:
        return 0.0, 1.0
    z = _z(confidence)
    rate = successes / n
    middle = rate + z * z / (2 * n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    below = 0.0 if successes == 0 else (middle - half) / (1 + z * z / n)
    above = 1.0 if successes == n else (middle + half) / (1 + z * z / n)
    return max(0.0, below), min(1.0, above)


def newcombe(first: int, first_n: int, second: int, second_n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of ``first / first_n - second / second_n`` by Newcombe's hybrid score method (Stat Med 1998, method 10):
    good in small samples and at rates of 0 and 1."""
    if first_n == 0 or second_n == 0:
        return -1.0, 1.0
    p, q = first / first_n, second / second_n
    p_low, p_high = wilson(first, first_n, confidence)
    q_low, q_high = wilson(second, second_n, confidence)
    low = p - q - math.sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + math.sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    return max(-1.0, low), min(1.0, high)


def criticality(
    number: int, alternative: tuple[int, int], original: tuple[int, int], *, verified: bool, confidence: float
) -> Criticality:
    """``alternative`` (whose number is ``number``) and ``original`` are (successes, n), each n at least 1. The interval
    is Newcombe's."""
    low, high = newcombe(*alternative, *original, confidence)
    return Criticality(
        alternative=number,
        difference=alternative[0] / alternative[1] - original[0] / original[1],
        low=low,
        high=high,
        confidence=confidence,
        alternative_successes=alternative[0],
        alternative_n=alternative[1],
        original_successes=original[0],
        original_n=original[1],
        verified=verified,
    )
