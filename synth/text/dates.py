"""Dates in words, and how they are read back."""

from __future__ import annotations

import re
from datetime import date

from synth.text.forms import normalize

__all__ = ["DATE", "MONTHS", "YEAR", "date_in_words", "parse_date"]

MONTHS = tuple("January February March April May June July August September October November December".split())
_NAMED = "|".join(MONTHS)
DATE = re.compile(
    rf"\b(?:\d{{1,2}} (?:{_NAMED}),? \d{{3,4}}|(?:{_NAMED}) \d{{1,2}},? \d{{3,4}}|\d{{4}}-\d{{2}}-\d{{2}})\b"
)
"""A day in running text."""
YEAR = re.compile(r"(?<![\d,.])[12]\d{3}(?![\d,.]*\d)")
"""A year in running text, that of a date included."""

_NUMBERS = {name.lower(): place for place, name in enumerate(MONTHS, 1)}
_NUMBERS |= {name[:3]: place for name, place in _NUMBERS.items()} | {"sept": 9}
_MONTH = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_FORMS = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"),
    re.compile(rf"(?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: day)?(?: of)? (?P<n>{_MONTH})\.?,? (?P<y>\d{{3,4}})"),
    re.compile(rf"(?P<n>{_MONTH})\.? (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{3,4}})"),
    re.compile(rf"(?P<n>{_MONTH})\.?,? (?P<y>\d{{3,4}})"),
    re.compile(r"(?P<y>\d{3,4})"),
)


def date_in_words(day: date) -> str:
    """ "14 March 1874"."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def parse_date(text: str) -> tuple[int, int | None, int | None] | None:
    """(year, month, day), with None for what is not said; None when ``text`` is not an unambiguous date."""
    folded = normalize(text)
    for pattern in _FORMS:
        match = pattern.fullmatch(folded)
        if match is None:
            continue
        groups = match.groupdict()
        month = _NUMBERS[groups["n"]] if groups.get("n") else int(groups["m"]) if groups.get("m") else None
        day = int(groups["d"]) if groups.get("d") else None
        if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
            return None
        return int(groups["y"]), month, day
    return None
