"""How a person writes a value that a tool takes in another form: an amount in cents, a date, a small number.

Whoever reads "two bags for $45.00 on 17 May" has seen the values 2, 4500 and 2031-05-17.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from synth.text.dates import MONTHS
from synth.text.inflection import ordinal
from synth.text.numbers import NUMERALS

__all__ = ["relative_forms", "written_forms"]

_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth"}
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTH = re.compile(r"(\d{4})-(\d\d)")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)")


@lru_cache(maxsize=65536)
def written_forms(name: str, value: object) -> tuple[str, ...]:
    """The forms in which texts may give ``value`` to an argument called ``name``, the plainest first.

    Money is in cents where the argument's name says so (``amount_cents``). A date without its year is among the forms:
    who says "on 17 May" means the year at hand.
    """
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int):
        if name.endswith("cents"):
            return _money(value)
        forms = [str(value), f"{value:,}"]
        if 0 <= value <= 12:
            forms += [NUMERALS[value], *([_ORDINALS[value]] if value in _ORDINALS else [])]
        return tuple(dict.fromkeys(forms))
    if not isinstance(value, str):
        return (str(value),)
    if match := _TIME.fullmatch(value):
        return (value, *(f"{day} {match[2]}" for day in _dates(match[1])))
    if _DAY.fullmatch(value):
        return _dates(value)
    if (match := _MONTH.fullmatch(value)) and 1 <= int(match[2]) <= 12:
        month = MONTHS[int(match[2]) - 1]
        return (value, f"{month} {match[1]}", month)
    return (value,)


def relative_forms(day: str, today: str) -> tuple[str, ...]:
    """How a day is called from ``today`` (both ``YYYY-MM-DD``); nothing for one that is farther away."""
    try:
        days = (date.fromisoformat(day) - date.fromisoformat(today)).days
    except ValueError:
        return ()
    return {-1: ("yesterday",), 0: ("today",), 1: ("tomorrow",), 2: ("the day after tomorrow",)}.get(days, ())


def _money(cents: int) -> tuple[str, ...]:
    whole, part = divmod(abs(cents), 100)
    forms = [f"{whole:,}.{part:02d}", f"{whole}.{part:02d}"]
    return tuple(dict.fromkeys([*forms, *([f"{whole:,}", str(whole)] if part == 0 else [])]))


def _dates(day: str) -> tuple[str, ...]:
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return (day,)
    month = MONTHS[found.month - 1]
    short = [f"{found.day} {month}", f"{month} {found.day}", f"{month[:3]} {found.day}", f"{found.day} {month[:3]}"]
    nth = ordinal(found.day)
    short += [f"{nth} of {month}", f"{nth} {month}", f"{month} {nth}"]
    return (
        day,
        *(f"{text} {found.year}" for text in short[:2]),
        *(f"{text}, {found.year}" for text in short[1:2]),
        *short,
    )
