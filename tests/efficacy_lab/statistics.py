"""Success rates over seeds: intervals of differences, and the smallest difference that a run can detect.

A seed is one independent repetition: its own weights, samples, pairs and order of rows. Arms of one seed share the
model that they start from and the tasks that they are tested on, so differences are taken within seeds (Student's t on
paired differences). Tasks are not repetitions: an interval over tasks says nothing about another training run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from pydantic import BaseModel, ConfigDict

from synth.schemas.described import Described

__all__ = ["Compared", "Interval", "compare", "detectable", "interval"]


class Interval(BaseModel):
    """A mean over seeds. ``low`` and ``high`` are None with one seed: there is nothing to tell spread by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int
    mean: float
    low: float | None
    high: float | None


class Compared(Described):
    """One arm against another, over the seeds that both have."""

    arm: str
    against: str
    difference: Interval
    """Of the success rates."""
    detectable: float | None
    """The true difference that a run of so many seeds would find with the given power; None with fewer than
    three seeds."""

    @property
    def verdict(self) -> str:
        """``higher``, ``lower``, or ``not shown`` where the interval holds 0, or there are fewer than three seeds: two
        rates of so many tasks may differ by the same number of them twice."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None or low <= 0 <= high or self.difference.n < 3:
            return "not shown"
        return "higher" if low > 0 else "lower"


def interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t interval of the mean.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("there is no value")
    mean, n = fmean(values), len(values)
    if n == 1:
        return Interval(n=1, mean=mean, low=None, high=None)
    half = _t(0.5 + confidence / 2, n - 1) * stdev(values) / math.sqrt(n)
    return Interval(n=n, mean=mean, low=mean - half, high=mean + half)


def detectable(values: Sequence[float], confidence: float = 0.95, power: float = 0.8) -> float | None:
    """The smallest true mean difference that a two-sided t test of as many values, with their spread, would call
    different from 0 with probability ``power``. None with fewer than three values, or where all are the same."""
    n = len(values)
    if n < 3 or stdev(values) < 1e-9:
        return None
    from scipy import optimize, stats

    bound = _t(0.5 + confidence / 2, n - 1)

    def missing(shift: float) -> float:
        return float(stats.nct.sf(bound, n - 1, shift)) - power  # that it errs in sign is rarer than anything here

    high = 1.0
    while missing(high) < 0:
        high *= 1.5  # step by step: far out in the tail scipy gives no number
    shift = float(optimize.brentq(missing, 0.0, high))
    return shift * stdev(values) / math.sqrt(n)


def compare(arm: str, against: str, rates: Mapping[str, Mapping[int, float]], confidence: float = 0.95) -> Compared:
    """``arm`` against ``against``; ``rates`` holds arm -> seed -> success rate.

    Raises:
        ValueError: no seed has both.
    """
    seeds = sorted(rates[arm].keys() & rates[against].keys())
    differences = [rates[arm][seed] - rates[against][seed] for seed in seeds]
    found = interval(differences, confidence)
    return Compared(
        arm=arm,
        against=against,
        difference=found,
        detectable=detectable(differences, confidence),
    )


def _t(probability: float, degrees: int) -> float:
    from scipy import stats

    return float(stats.t.ppf(probability, degrees))
