"""Means, intervals and single seeds drawn as inline SVG, without a library, a font or a script.

Positions across are percentages, so that a drawing is as wide as the place it stands in while dots and text keep their
size; colours come from the style of the page, which knows light and dark. Every drawing says its numbers as text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from efficacy_lab.statistics import Interval

__all__ = ["Point", "Scale", "axis", "curve", "scale_of", "strip"]

_EDGE = 5.0
"""Per cent of the width left free on either side: half of the outermost number stands there."""


@dataclass(frozen=True)
class Scale:
    """From numbers to places."""

    ticks: tuple[float, ...]
    """Ascending, at least two; the scale reaches from the first to the last."""
    digits: int
    """Behind the point of a tick."""
    signed: bool = False
    """Whether ticks have a sign: a scale of differences."""

    def at(self, value: float) -> float:
        """From 0 to 1; what lies outside is put at the end."""
        low, high = self.ticks[0], self.ticks[-1]
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def holds(self, value: float) -> bool:
        return self.ticks[0] <= value <= self.ticks[-1]

    def words(self, tick: float) -> str:
        text = f"{tick:{'+' if self.signed and tick else ''}.{self.digits}f}"
        return text.replace("-", "−")


def scale_of(
    values: Iterable[float], *, least: float = -math.inf, most: float = math.inf, signed: bool = False
) -> Scale:
    """A scale with round ticks that holds ``values``, as far as they lie between ``least`` and ``most``."""
    held = [min(max(value, least), most) for value in values] or [0.0]
    low, high = min(held), max(held)
    if high - low < 1e-3:
        low, high = low - 0.01, high + 0.01
    whole = 10.0 ** math.floor(math.log10(high - low))
    step, digits = next(
        (step, max(0, -round(math.log10(whole)) + (part < 1)))
        for part in (0.2, 0.5, 1.0, 2.0, 5.0)
        if (high - low) / (step := part * whole) <= 5
    )
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(number * step, 9) for number in range(first, last + 1)]
    inside = [tick for tick in ticks if least <= tick <= most]
    return Scale(tuple(inside if len(inside) > 1 else ticks), digits, signed)


def axis(scale: Scale) -> str:
    """The numbers of the scale, to stand above the strips."""
    texts = [
        f'<text x="{_across(scale, tick)}" y="1em" text-anchor="middle">{scale.words(tick)}</text>'
        for tick in scale.ticks
    ]
    return f'<svg class="axis" aria-hidden="true">{"".join(texts)}</svg>'


def strip(
    scale: Scale,
    label: str,
    found: Interval,
    seeds: Mapping[int, float],
    *,
    reference: float | None = None,
    unseen: float | None = None,
) -> str:
    """One line of a forest plot: a square for the mean, a bar for the interval, a dot per seed.

    Args:
        label: Says in words what is drawn, for those who don't see it.
        reference: Where the line is that all strips have in common.
        unseen: How far to either side of ``reference`` a difference would mostly not be found: shaded.
    """
    drawn = [
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="100%"/>' for x in (_across(scale, at) for at in scale.ticks)
    ]
    if reference is not None:
        if unseen is not None:
            low, high = scale.at(reference - unseen), scale.at(reference + unseen)
            width = (high - low) * (100 - 2 * _EDGE)
            drawn.append(
                f'<rect class="unseen" x="{_across(scale, reference - unseen)}" y="0" '
                f'width="{width:.2f}%" height="100%"/>'
            )
        x = _across(scale, reference)
        drawn.append(f'<line class="reference" x1="{x}" x2="{x}" y1="0" y2="100%"/>')
    if found.low is not None and found.high is not None:
        ends = (_across(scale, found.low), _across(scale, found.high))
        drawn.append(
            f'<line class="interval" x1="{ends[0]}" x2="{ends[1]}" y1="50%" y2="50%" transform="translate(0 -6)"/>'
        )
        drawn += [
            f'<rect class="cap" x="{x}" y="50%" width="2" height="10" transform="translate(-1 -11)"/>'
            for x, value in zip(ends, (found.low, found.high), strict=True)
            if scale.holds(value)  # an interval that goes on beyond the scale has no end here
        ]
    mean = _across(scale, found.mean)
    drawn.append(f'<rect class="mean" x="{mean}" y="50%" width="9" height="9" transform="translate(-4.5 -10.5)"/>')
    drawn += [
        f'<circle class="seed" cx="{_across(scale, value)}" cy="50%" r="3.5" transform="translate(0 8)">'
        f"<title>seed {seed}: {value:{'+' if scale.signed else ''}.3f}</title></circle>"
        for seed, value in sorted(seeds.items())
    ]
    return f'<svg class="strip" role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg>'


@dataclass(frozen=True)
class Point:
    """Success with so many training runs."""

    name: str
    runs: float
    found: Interval
    seeds: Mapping[int, float]


_TOP, _BOTTOM, _HEIGHT = 18.0, 232.0, 262
_LEFT, _RIGHT = 13.0, 94.0
"""Per cent: numbers of success stand to the left."""
_APART = 9.0
"""Per cent between two numbers below the curve, so that none covers the other on a narrow screen."""


def curve(label: str, points: Sequence[Point], scale: Scale) -> str:
    """Success against the number of training runs, whose axis is logarithmic; ``points`` ascend by it."""
    first, last = math.log(points[0].runs), math.log(points[-1].runs)

    def across(runs: float) -> float:
        part = (math.log(runs) - first) / (last - first) if last > first else 0.5
        return _LEFT + part * (_RIGHT - _LEFT)

    def up(value: float) -> float:
        return _BOTTOM - scale.at(value) * (_BOTTOM - _TOP)

    drawn = []
    for tick in scale.ticks:
        y = up(tick)
        drawn.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(f'<text x="0" y="{y - 4:.1f}">{scale.words(tick)}</text>')
    places = [(across(point.runs), up(point.found.mean)) for point in points]
    for (x1, y1), (x2, y2) in pairwise(places):
        drawn.append(f'<line class="trend" x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:.1f}" y2="{y2:.1f}"/>')
    written = -_APART
    for (x, y), point in zip(places, points, strict=True):
        low, high = point.found.low, point.found.high
        if low is not None and high is not None:
            drawn.append(f'<line class="interval" x1="{x:.2f}%" x2="{x:.2f}%" y1="{up(low):.1f}" y2="{up(high):.1f}"/>')
        drawn.append(
            f'<rect class="mean" x="{x:.2f}%" y="{y:.1f}" width="9" height="9" transform="translate(-4.5 -4.5)">'
            f"<title>{escape(point.name)}: {point.found.mean:.3f} with {point.runs:,.0f} runs</title></rect>"
        )
        drawn += [
            f'<circle class="seed" cx="{x:.2f}%" cy="{up(value):.1f}" r="3.5" transform="translate(11 0)">'
            f"<title>seed {seed}: {value:.3f}</title></circle>"
            for seed, value in sorted(point.seeds.items())
        ]
        if x - written >= _APART:
            drawn.append(f'<text x="{x:.2f}%" y="{_BOTTOM + 20:.0f}" text-anchor="middle">{point.runs:,.0f}</text>')
            written = x
    return f'<svg class="curve" role="img" aria-label="{escape(label)}" height="{_HEIGHT}">{"".join(drawn)}</svg>'


def _across(scale: Scale, value: float) -> str:
    return f"{_EDGE + scale.at(value) * (100 - 2 * _EDGE):.2f}%"
