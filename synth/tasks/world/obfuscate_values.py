"""Values blurred to ranges, in words: "in the 1870s", "more than 3,000", "between 90 and 100 minutes".

Level 1 of obfuscation (OpenSeeker, arXiv 2603.15594; the "fuzz" of ASearcher, arXiv 2508.07976): a date or number that
a question starts from says less than it did. A :class:`Blur` is a ``range`` node and its words. Whether the question is
still unique is not decided here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta

from synth.schemas.tasks import Node
from synth.tasks.ranges import lies_in
from synth.tasks.values import parse_measure, parse_range
from synth.text.dates import MONTHS

__all__ = ["Blur", "blurs"]

_ONES = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth", "twenty-first",
)  # fmt: skip


@dataclass(frozen=True)
class Blur:
    """A range in words."""

    id: str
    """``<least>/<greatest>`` of plain values, both inclusive, either of which may be empty."""
    words: str
    """As it stands behind a verb: "in the 1870s", "more than 300 metres"."""
    kind: str
    """Kind of the value that was blurred."""

    @property
    def timed(self) -> bool:
        """Whether the words bring their own preposition."""
        return self.kind in ("date", "year")

    @property
    def node(self) -> Node:
        """The range as the source of a hop."""
        return Node(id=self.id, name=self.words, kind="range")

    def holds(self, text: str) -> bool:
        """Whether a value of the kind lies in the range; False where it has no order or another unit."""
        return lies_in(self.kind, text, self.id)


def blurs(kind: str, text: str, *, counted: bool = True) -> tuple[Blur, ...]:
    """Ranges that hold the value, the widest first; none for a text and for a value that has no order.

    The value never lies where people disagree about the range: a year 1900 is in no century, the 3,000 of "more than
    3,000" is not among them.
    """
    value = parse_measure(kind, text)
    if value is None:
        return ()
    if kind == "year":
        found = _years(value.year, kind)
    elif kind == "date":
        day = date.fromordinal(int(value.low))
        found = [Blur(_days(blur.id), blur.words, kind) for blur in _years(day.year, kind)]
        found.append(Blur(f"{day.year:04}-01-01/{day.year:04}-12-31", f"in {day.year}", kind))
        first = day.replace(day=1)
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        found.append(Blur(f"{first}/{last}", f"in {MONTHS[day.month - 1]} {day.year}", kind))
    else:
        found = _numbers(value.low, kind, value.unit, counted=counted)
    return tuple(blur for blur in found if blur.holds(text))


def _days(years: str) -> str:
    low, high = parse_range(years)
    return f"{f'{int(low):04}-01-01' if low else ''}/{f'{int(high):04}-12-31' if high else ''}"


def _years(year: int, kind: str) -> list[Blur]:
    found = []
    century, within = divmod(year - 1, 100)
    name = _ONES[century + 1]
    if within not in (0, 98, 99):  # 1801, 1899 and 1900: people do not agree where a century ends
        found.append(Blur(f"{century * 100 + 1}/{century * 100 + 100}", f"in the {name} century", kind))
        half = "first" if within < 50 else "second"
        low = century * 100 + (1 if within < 50 else 51)
        if within not in (48, 49, 50):
            found.append(Blur(f"{low}/{low + 49}", f"in the {half} half of the {name} century", kind))
    decade = year - year % 10
    # "The 1900s" may be a century.
    words = f"in the {decade}s" if decade % 100 else f"between {decade} and {decade + 9}"
    if decade % 100 or decade < year < decade + 9:
        found.append(Blur(f"{decade}/{decade + 9}", words, kind))
    low = year - 1 - year % 3
    found.append(Blur(f"{low}/{low + 4}", f"between {low} and {low + 4}", kind))
    return found


def _numbers(number: float, kind: str, unit: str, *, counted: bool) -> list[Blur]:
    """Comparisons with round numbers, then brackets of two and of one unit of the second digit."""
    if number < 10 or number != int(number):
        return []
    whole = int(number)
    size = 10 ** int(math.log10(whole))
    fewer = "fewer than" if counted and not unit else "less than"

    def end(bound: int) -> str:
        return f"{bound} {unit}".strip()

    def words(text: str) -> str:
        return f"{text} {unit}".strip()

    found = []
    for step in sorted({size, size // 2, max(5, size // 10)}):
        low = (whole - 1) // step * step
        high = (whole // step + 1) * step
        if low > 0:
            found.append(Blur(f"{end(low)}/{end(high)}", words(f"between {low:,} and {high:,}"), kind))
        if 2 * step < size:
            continue  # "more than 410 metres" for 412 is not a blur
        if low > 0:
            found.append(Blur(f"{end(low + 1)}/", words(f"more than {low:,}"), kind))
        found.append(Blur(f"/{end(high - 1)}", words(f"{fewer} {high:,}"), kind))
    widths = {blur.id: blur for blur in found}
    return sorted(widths.values(), key=lambda blur: -_width(blur, whole))


def _width(blur: Blur, whole: int) -> float:
    """How much of the scale a range holds, by order of magnitude around the value: an open end is ten times off."""
    low, high = parse_range(blur.id)
    least = float(low.split(" ")[0]) if low else whole / 10
    greatest = float(high.split(" ")[0]) if high else whole * 10
    return math.log(greatest / least)
