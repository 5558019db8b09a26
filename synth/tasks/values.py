"""Values as quantities: what is earlier, larger, inside a range, how far apart.

A value has a kind (:data:`synth.schemas.documents.ValueKind`) and a text. A date is a day, a year is all its days: what
a year can not decide (was the year 1874 before 3 May 1874?) is undecided here too, never guessed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

__all__ = [
    "MEASURED_KINDS",
    "Measure",
    "difference",
    "in_range",
    "parse_measure",
    "parse_range",
    "plain_number",
    "total",
]

MEASURED_KINDS = ("date", "year", "number", "quantity")
"""Kinds of values that have an order."""


@dataclass(frozen=True)
class Measure:
    """A value that has an order. ``low`` and ``high`` are its ends: days (proleptic ordinals) for dates and years,
    plain numbers for the rest; they differ for years alone."""

    kind: str
    low: float
    high: float
    unit: str = ""
    """Of a quantity: the unit as written."""

    @property
    def dated(self) -> bool:
        return self.kind in ("date", "year")

    @property
    def year(self) -> int:
        """The year of a date or year. Raises ValueError for other kinds."""
        if not self.dated:
            raise ValueError(f"a {self.kind} has no year")
        return date.fromordinal(int(self.low)).year

    def comparable(self, other: Measure) -> bool:
        """Whether the two are of one scale: dates and years, or numbers of one unit."""
        return self.dated and other.dated if self.dated or other.dated else self.unit == other.unit

    def before(self, other: Measure) -> bool | None:
        """Whether this one is less (earlier); None when neither is (a tie, or a date inside the other's year).

        Raises:
            ValueError: not comparable.
        """
        if not self.comparable(other):
            raise ValueError(f"a {self.kind} in {self.unit!r} and a {other.kind} in {other.unit!r} have no order")
        if self.high < other.low:
            return True
        return False if other.high < self.low else None

    def apart(self, other: Measure, margin: float) -> bool:
        """Whether a reader can tell the two apart: by different days or years, and numbers by more than the share
        ``margin`` of the larger one."""
        if self.before(other) is None:
            return False
        if self.dated:
            return True
        return abs(self.low - other.low) > margin * max(abs(self.low), abs(other.low))


def parse_measure(kind: str, text: str) -> Measure | None:
    """The value as a quantity, or None when it is none ("text", or not of its kind's form)."""
    try:
        if kind == "date":
            day = float(date.fromisoformat(text).toordinal())
            return Measure(kind, day, day)
        if kind == "year":
            year = int(text)
            return Measure(kind, float(date(year, 1, 1).toordinal()), float(date(year, 12, 31).toordinal()))
        if kind == "number":
            number = float(text)
            return Measure(kind, number, number) if math.isfinite(number) else None
        if kind == "quantity":
            written, _, unit = text.partition(" ")
            number = float(written)
            return Measure(kind, number, number, unit) if unit and math.isfinite(number) else None
    except ValueError:
        return None
    return None


def parse_range(text: str) -> tuple[str, str]:
    """The two ends of ``<least>/<greatest>``, either of which may be empty. Raises ValueError for anything else."""
    low, bar, high = text.partition("/")
    if not bar or not (low or high):
        raise ValueError(f"{text!r} is not a range: <least>/<greatest>")
    return low, high


def in_range(value: Measure, low: Measure | None, high: Measure | None) -> bool | None:
    """Whether ``value`` lies between the ends, both inclusive; None when that is undecided (the value is a year, the
    end a day of it). A year as an end stands for all its days.

    Raises:
        ValueError: not comparable.
    """
    verdict: bool | None = True
    for end, is_low in ((low, True), (high, False)):
        if end is None:
            continue
        if not value.comparable(end):
            raise ValueError(f"a {value.kind} can not lie in a range of {end.kind}s")
        inside = value.low >= end.low if is_low else value.high <= end.high
        outside = value.high < end.low if is_low else value.low > end.high
        if outside:
            return False
        if not inside:
            verdict = None
    return verdict


def difference(left: Measure, right: Measure) -> tuple[int | float, str] | None:
    """The absolute difference and its unit: "years" for dates and years, else the unit of both ("" for numbers).

    Between two years it is their difference; between two dates the completed years (an age); a date and a year are
    undecided: None. So are values that are not comparable.
    """
    if not left.comparable(right):
        return None
    if left.dated:
        if left.kind != right.kind:
            return None
        early, late = sorted((date.fromordinal(int(left.low)), date.fromordinal(int(right.low))))
        short = left.kind == "date" and (late.month, late.day) < (early.month, early.day)
        return late.year - early.year - short, "years"
    return _whole(abs(left.low - right.low)), left.unit


def total(values: list[Measure]) -> tuple[int | float, str] | None:
    """The sum of numbers or of quantities of one unit, with the unit; None for anything else."""
    if not values or any(value.dated or not value.comparable(values[0]) for value in values):
        return None
    return _whole(math.fsum(value.low for value in values)), values[0].unit


def plain_number(number: int | float, unit: str = "") -> str:
    """A computed number as :class:`synth.schemas.tasks.Node` ids write values: "37", "37 years", "0.5 metres"."""
    return f"{number} {unit}" if unit else f"{number}"


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else round(number, 6)
