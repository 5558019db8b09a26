"""Numbers in digits and in words, and quantities with units, as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.text.forms import normalize

__all__ = ["NUMBER", "NUMBER_WORDS", "NUMERALS", "UNITS", "Quantity", "number_words", "parse_quantity", "ungrouped"]

NUMERALS = tuple(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty""".split()
)
"""Numbers as words; the place is the number."""
NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")
"""A number in running text, with or without digit groups."""

_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
UNITS: dict[str, tuple[str, float]] = {}
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
            UNITS[_name] = (_dimension, _factor)
for _prefix in ("square", "sq"):
    for _name, _factor in {
        "metre": 1.0,
        "meter": 1.0,
        "kilometre": 1e6,
        "kilometer": 1e6,
        "mile": 2589988.110336,
    }.items():
        UNITS[f"{_prefix} {_name}"] = UNITS[f"{_prefix} {_name}s"] = ("area", _factor)
    UNITS[f"{_prefix} km"] = ("area", 1e6)
    UNITS[f"{_prefix} m"] = ("area", 1.0)

_WHOLE = re.compile(
    r"(?P<sign>[-−+]?)(?P<number>\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<rest>.*)", re.S
)


@dataclass(frozen=True)
class Quantity:
    number: float
    unit: str
    """As written, lower-cased; empty when there is none."""


_SMALL = {word: number for number, word in enumerate(NUMERALS[:20])} | {"none": 0, "dozen": 12}
_TENS = {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_GREAT = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
NUMBER_WORDS = frozenset((*NUMERALS, *_TENS, "hundred", *_GREAT))
"""All words that whole numbers are written with."""


def number_words(text: str) -> tuple[int, str] | None:
    """A whole number written in words at the start of ``text``, and what comes behind it; None when there is none.

    "twenty-one rivers" is (21, "rivers"), "two hundred and five" (205, "").
    """
    words = re.findall(r"[^\s-]+|-", normalize(text))
    total = part = 0
    last = at = 0
    while at < len(words):
        word = words[at]
        if word == "-" or (word == "and" and last in (100, 1000) and at + 1 < len(words)):
            at += 1
            continue
        if word in _SMALL and last in (0, 10, 100, 1000) and (last != 10 or 0 < _SMALL[word] < 10):
            part += _SMALL[word]
            last = 1
        elif word in _TENS and last in (0, 100, 1000):
            part += _TENS[word]
            last = 10
        elif word == "hundred" and last in (0, 1, 10) and part < 100:
            part = 100 * (part or 1)
            last = 100
        elif word in _GREAT and (part or not total):
            total += (part or 1) * _GREAT[word]
            part, last = 0, 1000
        else:
            break
        at += 1
    if last == 0:
        return None
    return total + part, " ".join(words[at:]).replace(" - ", "-")


def parse_quantity(text: str) -> Quantity | None:
    """A number in digits or words, perhaps with a scale word and a unit; None when ``text`` is anything else."""
    folded = re.sub(r"^(?:about|around|approximately|roughly|some|exactly) ", "", normalize(text))
    worded = number_words(folded)
    if worded is not None:
        folded = f"{worded[0]} {worded[1]}".strip()
    match = _WHOLE.fullmatch(folded)
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


def ungrouped(text: str) -> str:
    """``text`` with its numbers written without digit groups: "12,045" as "12045"."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
