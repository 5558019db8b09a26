"""Values and words as the audit reads them. Written apart from what the proposers use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = [
    "Measure",
    "Span",
    "contains",
    "difference",
    "measure",
    "normalized",
    "said_forms",
    "span_of",
    "squeezed",
]

_DATE = re.compile(r"(-?\d{1,4})-(\d\d)-(\d\d)")
_NUMBER = re.compile(r"([-−]?\d[\d,]*(?:\.\d+)?)(?:\s+([^\W\d_].*))?")
_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()


@dataclass(frozen=True)
class Measure:
    """A value with an order: a date, or a number with its unit."""

    number: float
    """The number; of a date, its year."""
    unit: str
    """Unit of a quantity, ``date`` for dates, empty for bare numbers and years."""
    day: tuple[int, int] | None = None
    """Month and day of a date."""

    def place(self, other: Measure) -> int | None:
        """-1, 0 or 1 as this is less than, equal to or greater than ``other``; None where that can't be told, as of
        a date and the year that it lies in."""
        if {self.unit, other.unit} == {"date", ""} or self.unit == other.unit:
            if self.number != other.number:
                return -1 if self.number < other.number else 1
            if self.day is None and other.day is None:
                return 0
            if self.day is None or other.day is None:
                return None
            return (self.day > other.day) - (self.day < other.day)
        return None


def measure(text: str) -> Measure | None:
    """``text`` as an ISO date, a number, or a number with a unit; None when it is nothing of the kind."""
    if match := _DATE.fullmatch(text.strip()):
        year, month, day = (int(part) for part in match.groups())
        return Measure(year, "date", (month, day))
    if match := _NUMBER.fullmatch(text.strip()):
        number = float(match[1].replace(",", "").replace("−", "-"))
        return Measure(number, (match[2] or "").strip())
    return None


@dataclass(frozen=True)
class Span:
    """From ``least`` to ``greatest``, both inclusive; None is not a bound."""

    least: Measure | None
    greatest: Measure | None
    text: str = field(compare=False)
    """As a walk writes it."""

    def __str__(self) -> str:
        return self.text

    def holds(self, value: Measure) -> bool | None:
        """None where it can't be told."""
        low = 1 if self.least is None else value.place(self.least)
        high = -1 if self.greatest is None else value.place(self.greatest)
        if low == -1 or high == 1:
            return False
        return None if low is None or high is None else True


def span_of(text: str) -> Span | None:
    """``<least>/<greatest>``, or one value for itself; None when it is neither."""
    low, slash, high = text.partition("/")
    if not slash:
        high = low
    ends = [measure(end) if end.strip() else None for end in (low, high)]
    if not low.strip() and not high.strip():
        return None
    if any(end is None and part.strip() for end, part in zip(ends, (low, high), strict=True)):
        return None
    return Span(ends[0], ends[1], text)


def difference(one: Measure, two: Measure) -> set[float]:
    """What the difference may be called: of two dates, the whole years between them, and the difference of the two
    years, which is what "how many years" means to most; None of both where units differ: an empty set."""
    if {one.unit, two.unit} == {"date", ""} or one.unit == two.unit == "date":
        first, last = sorted((one, two), key=lambda item: (item.number, item.day or (0, 0)))
        years = last.number - first.number
        if first.day is None or last.day is None or last.day >= first.day:
            return {years}
        return {years, years - 1}
    return {abs(one.number - two.number)} if one.unit == two.unit else set()


def said_forms(value: str, kind: str, name: str = "") -> list[str]:
    """Ways in which a text may say a value."""
    forms = [name, value]
    found = measure(value)
    if kind == "date" and found is not None and found.day is not None and 1 <= found.day[0] <= 12:
        month, day = _MONTHS[found.day[0] - 1], found.day[1]
        year = int(found.number)
        suffix = {1: "st", 2: "nd", 3: "rd"}.get(day % 10 if day // 10 != 1 else 0, "th")
        forms += [f"{day} {month} {year}", f"{month} {day} {year}", f"{day}{suffix} of {month} {year}"]
    if kind in ("number", "quantity") and found is not None and found.number == int(found.number):
        number = int(found.number)
        forms.append(f"{number:,} {found.unit}".strip())
        if 0 <= number < len(_WORDS):
            forms.append(f"{_WORDS[number]} {found.unit}".strip())
    return list(dict.fromkeys(form for form in forms if form))


def normalized(text: str) -> str:
    """Lower-case words joined by single blanks; possessive endings, accents, punctuation and the commas of numbers
    gone."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    text = text.casefold()
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"['’]s\b", "", text)
    words = re.sub(r"[^\w.'’]+|_", " ", text)
    return " ".join(word.strip(".'’") for word in words.split() if word.strip(".'’"))


def contains(text: str, names: Iterable[str]) -> str | None:
    """The first of ``names`` that stands in ``text`` as whole words. ``text`` is :func:`normalized` already."""
    padded = f" {text} "
    for name in names:
        words = re.sub(r"^(?:the|an?) (?=\S)", "", normalized(name))
        if words and f" {words} " in padded:
            return name
    return None


def squeezed(text: str) -> str:
    """Letters and digits alone, case folded: equal for questions that ask in the same words."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
