"""Verdicts on dates, numbers and quantities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from synth.environments.wording import DENIED, LONGEST_SAYING, OPEN, content_of, figures_of, tells
from synth.schemas.trajectories import Verdict
from synth.text.dates import DATE, MONTHS, YEAR, parse_date
from synth.text.forms import normalize
from synth.text.numbers import NUMBER, UNITS, Quantity, parse_quantity
from synth.text.sameness import same_by

__all__ = ["date_verdict", "number_verdict", "value_verdict", "written_otherwise"]

CONVERSION_TOLERANCE = 0.005
"""Relative; only where the answer is in another unit than the gold answer, so that a rounded conversion passes."""


def written_otherwise(given: str, golds: Sequence[str], *, whole: bool = True) -> Verdict | None:
    for one in golds:
        if (row := same_by(given, one, lists=whole)) is not None:
            return Verdict(correct=True, rule="equivalent", evidence=f"{given!r} is {one!r} written otherwise ({row}).")
    return None


_WEEKDAY = re.compile(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?:the )?")
_BEFORE_DATE = re.compile(r"^(?:(?:in|on|from|since|during|by) )?(?:the year )?(?:of )?")
_ERA = re.compile(r"^(?:(?:ad|a\.d\.) )?(.*?)(?: (?:ad|ce|a\.d|c\.e))?$")
_DAYS = re.compile(f"{DATE.pattern}|\\b(?:{'|'.join(MONTHS)}),? \\d{{4}}\\b|{YEAR.pattern}")
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b(?: of\b)?")
_PERIOD = re.compile(r"\bcentury\b|\b\d{2,4}['’]?s\b", re.IGNORECASE)
_IN_FIGURES = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})|(\d{4})([/.])(\d{1,2})\6(\d{1,2})")


@lru_cache(maxsize=4096)
def _day(text: str) -> tuple[int, int | None, int | None] | None:
    folded = _BEFORE_DATE.sub("", normalize(text))
    folded = _WEEKDAY.sub("", folded)
    match = _ERA.match(folded)
    return parse_date(match.group(1) if match else folded)


def date_verdict(given: str, gold: str, *, exact: bool = True) -> Verdict:
    """``exact``: a year is wrong where a day is wanted."""
    wanted, got = _day(gold), _day(given)
    if wanted is None:
        return _unread(given, (gold,), "date")
    if got is None:
        if (figures := _IN_FIGURES.fullmatch(normalize(given))) is not None:
            return _in_figures(given, figures, gold, wanted)
        found = [match.group() for match in _DAYS.finditer(_ORDINAL.sub(r"\1", given))]
        dates = {day for one in found if (day := _day(one)) is not None}
        named = any(_within(day, wanted) for day in dates)
        if not named and (any(_may_be(day, wanted) for day in dates) or _PERIOD.search(given)):
            return _unsure(given, gold)
        return _one_of(given, gold, named, len(found), rule="date")
    if _within(got, wanted):
        return Verdict(correct=True, rule="date", evidence=f"{given!r} and {gold!r} are the same date.")
    if _may_be(got, wanted) and not exact:
        return _unsure(given, gold)
    return Verdict(correct=False, rule="date", evidence=f"{given!r} is not the date {gold!r}.")


def _unread(given: str, golds: Sequence[str], what: str) -> Verdict:
    """The verdict where the gold answer is not a date or number that the rules read, as a range is none."""
    if (same := written_otherwise(given, golds)) is not None:
        return same
    ours, theirs = figures_of(content_of(given)), figures_of(content_of(golds[0]))
    written = re.search(r"\d", golds[0]) is not None  # "the third year of her reign" may be a date in figures
    if written and ours and not theirs <= ours:
        return Verdict(correct=False, rule=what, evidence=f"{given!r} holds other numbers than {golds[0]!r}.")
    said = f"The gold answer {golds[0]!r} is no {what} that the rules read."
    return Verdict(correct=None, rule="abstained", evidence=said)


def _within(got: tuple[int, int | None, int | None], wanted: tuple[int, int | None, int | None]) -> bool:
    """Whether a date is the wanted one, as exact as that at least."""
    return all(want in (None, have) for have, want in zip(got, wanted, strict=True))


def _may_be(got: tuple[int, int | None, int | None], wanted: tuple[int, int | None, int | None]) -> bool:
    """Whether a date is the wanted one, less exact."""
    return all(None in (want, have) or want == have for have, want in zip(got, wanted, strict=True))


def _unsure(given: str, gold: str) -> Verdict:
    said = f"{given!r} may mean {gold!r}, and no rule tells whether it does."
    return Verdict(correct=None, rule="abstained", evidence=said)


def _in_figures(given: str, figures: re.Match[str], gold: str, wanted: tuple[int, int | None, int | None]) -> Verdict:
    """A date as 14/03/1871: which is the month is known where one number is too high for it, or both are equal."""
    if figures.group(4):
        one, other, year = int(figures.group(1)), int(figures.group(3)), int(figures.group(4))
        orders = ((one, other), (other, one))
        read = {(year, month, day) for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31}
    else:
        read = {(int(figures.group(5)), int(figures.group(7)), int(figures.group(8)))}
    fitting = {day for day in read if _within(day, wanted)}
    if fitting and fitting != read:
        return Verdict(correct=None, rule="abstained", evidence=f"{given!r} may be {gold!r}, or another day.")
    what = "is" if fitting else "is not"
    return Verdict(correct=bool(fitting), rule="date", evidence=f"{given!r} {what} the date {gold!r}.")


def _one_of(given: str, gold: str, named: bool, others: int, *, rule: str) -> Verdict:
    """The verdict on a sentence that names ``others`` values, the wanted one among them or not."""
    if not named:
        return Verdict(correct=False, rule=rule, evidence=f"{given!r} does not name {gold!r}.")
    if DENIED.search(given) or re.search(r"\bor\b", given, re.IGNORECASE):
        if tells(given):
            return _unsure(given, gold)
        return Verdict(correct=False, rule=rule, evidence=f"{given!r} denies {gold!r}, or leaves open which it is.")
    if others == 1 and not OPEN.search(given) and len(given.split()) <= LONGEST_SAYING and not _is_range(given):
        return Verdict(correct=True, rule=rule, evidence=f"{given!r} names {gold!r} and nothing else of its kind.")
    if _is_range(given):
        return Verdict(correct=False, rule=rule, evidence=f"{given!r} is a range, {gold!r} is none.")
    return Verdict(correct=None, rule="abstained", evidence=f"{given!r} names {gold!r} among other things.")


def _is_range(text: str) -> bool:
    return re.fullmatch(r"\D{0,12}\d[\d,.]*\s*(?:-|–|—|to|until)\s*\d[\d,.]*\D{0,20}", normalize(text)) is not None


_MONEY = re.compile(r"^(-?)(?:us|usd)?\s?([$€£])\s?(\d.*)$")
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds sterling"}
_UNIT_NAMES = (
    (re.compile(r"\bper cent\b"), "percent"),
    (re.compile(r"\b(?:us|u\.s\.) dollars?\b|\busd\b|\bdollar\b"), "dollars"),
    (re.compile(r"\beuro\b|\beur\b"), "euros"),
    (re.compile(r"(?:°|\bdegrees? )\s?c(?:elsius)?\b|\bcentigrade\b"), "celsius"),
    (re.compile(r"(?:°|\bdegrees? )\s?f(?:ahrenheit)?\b"), "fahrenheit"),
)
_OTHER_UNITS = ("dollars", "euros", "pounds sterling", "celsius", "fahrenheit")
"""Units that are compared with none but themselves."""
_ROUNDED = 0.01
_COMPOUND = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([a-z]+)")


@lru_cache(maxsize=4096)
def _quantity(text: str) -> Quantity | None:
    """A number with its unit; money with its sign in front of it, and sums as "1 hour 30 minutes", too."""
    folded = normalize(text)
    if (money := _MONEY.match(folded)) is not None:
        folded = f"{money.group(1)}{money.group(3)} {_CURRENCIES[money.group(2)]}"
        folded = re.sub(r"(?<=\d)\s?(m|mn|bn|k)\b(?= )", lambda m: f" {_SCALES[m.group(1)]}", folded)
    for pattern, name in _UNIT_NAMES:
        folded = pattern.sub(name, folded)
    parts = _COMPOUND.findall(folded)
    if len(parts) > 1 and not re.sub(r"\band\b|[\s,]", "", _COMPOUND.sub("", folded)):
        known = [one for _, unit in parts if (one := UNITS.get(unit)) is not None]
        if len(known) == len(parts) and len({dimension for dimension, _ in known}) == 1:
            numbers = [float(number.replace(",", "")) for number, _ in parts]
            total = sum(number * factor for number, (_, factor) in zip(numbers, known, strict=True))
            return Quantity(total / known[-1][1], parts[-1][1])
    return parse_quantity(folded)


_SCALES = {"m": "million", "mn": "million", "bn": "billion", "k": "thousand"}


def number_verdict(given: str, golds: Sequence[str]) -> Verdict:
    got = _quantity(given)
    wanted = _quantity(golds[0])
    if wanted is None:
        return _unread(given, golds, "number")
    if got is None:
        found = [read for match in NUMBER.finditer(given) if (read := parse_quantity(match.group())) is not None]
        named = any(_equal(read.number, wanted.number) for read in found)
        if not found:
            return Verdict(correct=False, rule="number", evidence=f"{given!r} is not a number; {golds[0]!r} is.")
        return _one_of(given, golds[0], named, len(found), rule="number")
    return _compared(given, got, golds, wanted)


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(other))


def _compared(given: str, got: Quantity, golds: Sequence[str], wanted: Quantity) -> Verdict:
    known = {quantity.unit for quantity in map(_quantity, golds) if quantity}
    same = _equal(got.number, wanted.number)
    if not got.unit or got.unit in known:
        return Verdict(
            correct=same, rule="number", evidence=f"{given!r} {'equals' if same else 'differs from'} {golds[0]!r}."
        )
    mine, theirs = UNITS.get(wanted.unit), UNITS.get(got.unit)
    if mine and theirs:
        if mine == theirs:
            return Verdict(correct=same, rule="number", evidence=f"{given!r} against {golds[0]!r} in the same unit.")
        if mine[0] != theirs[0]:
            return Verdict(
                correct=False, rule="unit", evidence=f"{given!r} measures {theirs[0]}, {golds[0]!r} {mine[0]}."
            )
        expected = wanted.number * mine[1]
        close = abs(got.number * theirs[1] - expected) <= CONVERSION_TOLERANCE * abs(expected)
        return Verdict(
            correct=close, rule="number", evidence=f"{given!r} against {golds[0]!r} after conversion of units."
        )
    if not same:
        return Verdict(correct=False, rule="number", evidence=f"{given!r} differs from {golds[0]!r}.")
    return Verdict(
        correct=None, rule="abstained", evidence=f"{given!r} has a unit that {golds[0]!r} can't be compared with."
    )


def value_verdict(given: str, gold: str) -> Verdict | None:
    """The verdict where the gold answer, of whatever kind it is said to be, is a date or a number; None where not."""
    if (wanted := _day(gold)) is not None and (wanted[1] is not None or YEAR.fullmatch(normalize(gold))):
        return date_verdict(given, gold, exact=False)
    if (quantity := _quantity(gold)) is not None and (not quantity.unit or quantity.unit in (*UNITS, *_OTHER_UNITS)):
        got = _quantity(given)
        if got is not None:
            return _compared(given, got, (gold,), quantity)
        found = [read for match in NUMBER.finditer(given) if (read := parse_quantity(match.group())) is not None]
        near = any(abs(read.number - quantity.number) <= _ROUNDED * abs(quantity.number) for read in found)
        return _unsure(given, gold) if near or _PERIOD.search(given) else None
    return None
