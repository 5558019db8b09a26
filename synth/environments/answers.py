"""Is an answer right? Rules only: each verdict names the rule that decided and what it compared.

No rule matches a part of an answer, in either direction: a substring match passes "not Paris" and "Paris or London",
and a judge that looks for the word "correct" accepts "incorrect" (both are defects of published verifiers). Where no
rule can decide, the verdict abstains (``correct`` None).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["check_task", "judge", "normalize", "parse_date", "parse_quantity"]

CONVERSION_TOLERANCE = 0.005
"""Relative; only where the answer is in another unit than the gold answer, so that a rounded conversion passes."""

_LEAD_IN = re.compile(
    r"^(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:final\s+)?"
    r"(?:answer\s*(?:is|:|=|would be|should be)\s*:?\s*|it\s+(?:is|was)\s+|it['’]s\s+)",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’`*_«» \t\r\n"
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"),
    re.compile(rf"(?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: day)?(?: of)? (?P<n>{_MONTH})\.?,? (?P<y>\d{{3,4}})"),
    re.compile(rf"(?P<n>{_MONTH})\.? (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{3,4}})"),
    re.compile(rf"(?P<n>{_MONTH})\.?,? (?P<y>\d{{3,4}})"),
    re.compile(r"(?P<y>\d{3,4})"),
)
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _table in {
    "length": {
        1e-3: "mm millimetre millimetres millimeter millimeters",
        1e-2: "cm centimetre centimetres centimeter centimeters",
        1.0: "m metre metres meter meters",
        1e3: "km kilometre kilometres kilometer kilometers",
        0.3048: "ft foot feet",
        1609.344: "mi mile miles",
    },
    "area": {
        1.0: "m2 m² sqm",
        1e4: "ha hectare hectares",
        1e6: "km2 km²",
        4046.8564224: "acre acres",
    },
    "mass": {
        1e-3: "g gram grams gramme grammes",
        1.0: "kg kilogram kilograms kilogramme kilogrammes",
        1e3: "t tonne tonnes",
        0.45359237: "lb pound pounds",
    },
    "time": {
        1.0: "s second seconds",
        60.0: "min minute minutes",
        3600.0: "h hour hours",
        86400.0: "d day days",
        31557600.0: "year years",
    },
    "volume": {1.0: "l litre litres liter liters", 1e3: "m3 m³"},
    "power": {1.0: "w watt watts", 1e3: "kw kilowatt kilowatts", 1e6: "mw megawatt megawatts"},
    "share": {1.0: "% percent"},
}.items():
    for _factor, _names in _table.items():
        for _name in _names.split():
            _UNITS[_name] = (_dimension, _factor)
for _prefix in ("square", "sq"):
    for _name, _factor in {
        "metre": 1.0,
        "meter": 1.0,
        "kilometre": 1e6,
        "kilometer": 1e6,
        "mile": 2589988.110336,
    }.items():
        _UNITS[f"{_prefix} {_name}"] = _UNITS[f"{_prefix} {_name}s"] = ("area", _factor)
    _UNITS[f"{_prefix} km"] = ("area", 1e6)
    _UNITS[f"{_prefix} m"] = ("area", 1.0)

_NUMBER = re.compile(
    r"(?P<sign>[-−+]?)(?P<number>\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<rest>.*)", re.S
)


@dataclass(frozen=True)
class Quantity:
    number: float
    unit: str
    """As written, lower-cased; empty when there is none."""


def normalize(text: str) -> str:
    """NFKC, case folded, one space between words, no outer quotes, final full stop or leading article."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    previous = None
    while previous != folded:
        previous = folded
        folded = folded.strip(_QUOTES).rstrip(".").strip()
    return re.sub(r"^(?:the|an?) (?=\S)", "", folded)


def parse_date(text: str) -> tuple[int, int | None, int | None] | None:
    """(year, month, day), with None for what is not said; None when ``text`` is no date in a form without ambiguity."""
    folded = normalize(text)
    for pattern in _DATES:
        match = pattern.fullmatch(folded)
        if match is None:
            continue
        groups = match.groupdict()
        month = _MONTHS[groups["n"]] if groups.get("n") else int(groups["m"]) if groups.get("m") else None
        day = int(groups["d"]) if groups.get("d") else None
        if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
            return None
        return int(groups["y"]), month, day
    return None


def parse_quantity(text: str) -> Quantity | None:
    """A number, perhaps with a scale word and a unit; None when ``text`` is anything else."""
    folded = re.sub(r"^(?:about|around|approximately|roughly|some) ", "", normalize(text))
    match = _NUMBER.fullmatch(folded)
    if match is None:
        return None
    value = float(re.sub(r"[,\s]", "", match.group("number")))
    if match.group("sign") in "-−" and match.group("sign"):
        value = -value
    words = match.group("rest").split()
    while words and words[0] in _SCALES:
        value *= _SCALES[words.pop(0)]
    unit = " ".join(words)
    if unit and not re.fullmatch(r"[^\W\d_%²³][\w²³]*(?: [^\W\d_]\w*)?|%|[mk]m[23²³]", unit):
        return None
    return Quantity(value, unit)


def judge(
    answer: str | None,
    *,
    gold: str,
    aliases: Sequence[str] = (),
    kind: ValueKind = "text",
    items: Sequence[str] | None = None,
) -> Verdict:
    """Compare ``answer`` with the gold answer.

    ``items`` makes the gold answer a set: the answer must list exactly these, in any order.
    """
    if answer is None or not normalize(answer):
        return Verdict(correct=False, rule="no_answer", evidence="There is no answer.")
    given = _LEAD_IN.sub("", answer.strip().strip(_QUOTES), count=1) or answer
    if items is not None:
        return _set(given, items)
    if normalize(given) == normalize(gold) or normalize(answer) == normalize(gold):
        return Verdict(correct=True, rule="exact", evidence=f"{answer!r} is {gold!r} after normalization.")
    for alias in aliases:
        if normalize(alias) in (normalize(given), normalize(answer)):
            return Verdict(correct=True, rule="alias", evidence=f"{answer!r} is the alias {alias!r} of {gold!r}.")
    if kind in ("date", "year"):
        return _date(given, gold)
    if kind in ("number", "quantity"):
        return _number(given, (gold, *aliases))
    return Verdict(correct=False, rule="mismatch", evidence=f"{answer!r} is neither {gold!r} nor an alias of it.")


def _date(given: str, gold: str) -> Verdict:
    wanted, got = parse_date(gold), parse_date(re.sub(r"^(?:in|on|from|since) ", "", normalize(given)))
    if wanted is None:
        return Verdict(
            correct=None, rule="abstained", evidence=f"The gold answer {gold!r} is no date that the rules read."
        )
    if got == wanted:
        return Verdict(correct=True, rule="date", evidence=f"{given!r} and {gold!r} are the same date.")
    return Verdict(correct=False, rule="date", evidence=f"{given!r} is not the date {gold!r}.")


def _number(given: str, golds: Sequence[str]) -> Verdict:
    got = parse_quantity(given)
    wanted = parse_quantity(golds[0])
    if wanted is None:
        return Verdict(correct=None, rule="abstained", evidence=f"The gold answer {golds[0]!r} is no number.")
    if got is None:
        return Verdict(correct=False, rule="number", evidence=f"{given!r} is not a number; {golds[0]!r} is.")
    known = {quantity.unit for quantity in map(parse_quantity, golds) if quantity}
    same = abs(got.number - wanted.number) <= 1e-9 * max(1.0, abs(wanted.number))
    if not got.unit or got.unit in known:
        return Verdict(
            correct=same, rule="number", evidence=f"{given!r} {'equals' if same else 'differs from'} {golds[0]!r}."
        )
    mine, theirs = _UNITS.get(wanted.unit), _UNITS.get(got.unit)
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


def _set(given: str, items: Sequence[str]) -> Verdict:
    wanted = {normalize(item) for item in items}
    parts = re.split(r"\s*(?:[;\n]|,(?!\d{3}\b)|\band\b|&)\s*", given)
    got = {normalize(re.sub(r"^(?:[-*•]|\d+[.)])\s+", "", part)) for part in parts} - {""}
    if got == wanted:
        return Verdict(correct=True, rule="set", evidence=f"All {len(wanted)} items are there and nothing else.")
    if normalize(given) in wanted and len(wanted) == 1:
        return Verdict(correct=True, rule="set", evidence="The one item is there.")
    missing, extra = sorted(wanted - got), sorted(got - wanted)
    return Verdict(correct=False, rule="set", evidence=f"Missing: {missing}; not wanted: {extra}.")


def check_task(task: Task, answer: str | None) -> Verdict:
    """The verdict on ``answer`` to ``task``. ``task.details["answer_items"]`` (a list) makes it a set question."""
    items = task.details.get("answer_items")
    return judge(
        answer,
        gold=task.answer,
        aliases=task.answer_aliases,
        kind=task.answer_kind,
        items=[str(item) for item in items] if isinstance(items, list) else None,
    )
