"""What a column of a table holds, by its heading and its cells: names, things, measures, text, or remarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from synth.sources.facts.table_files import Cells
from synth.sources.facts.words import plain_label
from synth.text.inflection import singular

__all__ = ["Use", "heading", "plain_cells", "use_of", "with_unit"]

_BARE = {
    "km2": "km²", "sq km": "km²", "km^2": "km²", "sqkm": "km²", "m2": "m²", "sq mi": "square miles", "km": "km",
    "m": "metres", "cm": "cm", "mm": "mm", "kg": "kg", "lbs": "pounds", "lb": "pounds", "ft": "feet", "mph": "mph",
    "kmh": "km/h", "usd": "dollars", "eur": "euros", "pct": "percent", "percent": "percent", "days": "days",
    "hours": "hours", "minutes": "minutes", "seconds": "seconds", "ms": "ms", "kwh": "kWh", "feet": "feet",
    "miles": "miles",
}  # fmt: skip
"""Units as headings end with them -> as a page writes them."""
_UNITS = {
    **_BARE,
    "%": "percent", "g": "grams", "mi": "miles", "years": "years", "min": "minutes", "sec": "seconds", "mb": "MB",
    "gb": "GB", "kb": "KB", "mw": "MW", "gw": "GW", "°c": "°C", "°f": "°F", "ha": "hectares", "hectares": "hectares",
    "metres": "metres", "meters": "metres", "pounds": "pounds", "tonnes": "tonnes",
}  # fmt: skip
"""The same, and those that a heading has in brackets only: "size (gb)"."""


def _any(units: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, units), key=len, reverse=True))


_MEASURED = re.compile(r"(?:length|height|width|depth|elevation|altitude|distance|weight|mass|size|radius|diameter)$")
"""Headings behind which a single letter is a unit."""
_SPELLED = {
    "iso": "ISO code", "iso2": "two-letter ISO code", "iso3": "three-letter ISO code", "isonumeric": "ISO numeric code",
    "alpha 2": "two-letter code", "alpha 3": "three-letter code", "alpha2": "two-letter code",
    "alpha3": "three-letter code", "numeric": "numeric code", "fips": "FIPS code",
    "iata": "IATA code", "icao": "ICAO code", "tld": "top-level domain", "cas": "CAS number", "gdp": "GDP",
    "gnp": "GNP", "hdi": "HDI", "phone": "phone number", "zip": "zip code", "lat": "latitude", "lng": "longitude",
    "lon": "longitude", "long": "longitude", "pop": "population", "lang": "language", "mpg": "miles per gallon",
    "dob": "date of birth", "alt": "altitude", "elev": "elevation", "tzone": "time zone", "timezone": "time zone",
    "tz": "time zone", "addr": "address", "qty": "quantity", "dept": "department", "yr": "year", "faa": "FAA code",
    "hp": "horsepower", "cyl": "cylinders", "temp": "temperature", "min temp": "minimum temperature",
    "max temp": "maximum temperature", "subd": "subdivision", "mfr": "manufacturer", "manuf": "manufacturer",
    "nbhd": "neighborhood",
}  # fmt: skip
"""Headings that are said in full."""
_HEADED = re.compile(
    rf"(.*?)(?: ?[(\[] ?(?:in )?((?i:{_any(_UNITS)})) ?[)\]]| (?:in )?({_any(_BARE)})|(?<=[a-z]{{3}})(km2|m2))"
)
_NUMBER = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?|-?\.\d+")
_DATED = re.compile(r"\d{4}-\d\d-\d\d")
_TRUTH = frozenset(("true", "false", "yes", "no", "t", "f", "y", "n", "0", "1"))
_IDENTIFIES = re.compile(
    r"\b(?:\w*ids?|guid|uuid|\w*codes?|key|zip|phone|fax|isbn|ean|sku|iso\w*|fips|numeric|m49|ticker|tld|symbol|cas|abbreviation)$",
    re.IGNORECASE,
)
"""Headings of what identifies and measures nothing, whatever digits it is written in."""
_SURROGATE = re.compile(r"(?:\w*id|guid|uuid|index|row|rank|unnamed.*)$|.* (?:id|guid|uuid)$", re.IGNORECASE)
"""Headings of columns that are dropped."""
_OTHER_NAME = re.compile(
    r"(?:alias(?:es)?|alt(?:ernative)? spellings?|also known as|aka"
    r"|(?:official|common|full|short|long|native|local|alternative|other) names?)$"
)
_NO_TEXT = re.compile(r"://|[\\^$*{}<>|=@#]|^\.")
_REMARKS = re.compile(
    r"(?:descriptions?|notes?|comments?|remarks?|summary|definition|abstract|text|references|etymology)$"
)
_NAME = 40
"""Names with more characters are few."""
_NEARLY_ALL = 0.9
_SAME = 20
"""So many cells that say the same say it of everything."""
_LONG = 60
"""From so many characters on average a column holds prose."""


class Use(StrEnum):
    """What is made of a column."""

    THING = "thing"
    """Its cells name things of a kind of their own."""
    MEASURE = "measure"
    """Numbers, quantities, dates: things are ordered by them."""
    TEXT = "text"
    """Codes and terms: what only its own row has."""
    ALIAS = "alias"
    """Other names of its rows."""
    REMARK = "remark"
    """Stands on the page and is not asked of: prose, addresses, truth values."""
    KEY = "key"
    """Dropped: row numbers, surrogate keys."""


def heading(column: str) -> str:
    """A column's heading as words: "currencycode" -> "currency code"."""
    label = plain_label(column.strip())
    label = re.sub(r"(?<=^)([a-z]{4,})(code|name|number)$", r"\1 \2", label)
    return _SPELLED.get(label.lower(), label)


def _are_years(column: str, cells: Cells) -> bool:
    """Whether a column of dates means their years."""
    texts = [text for each in cells for text in each]
    return "year" in column.lower() and bool(texts) and all(re.fullmatch(r"\d{4}-01-01", text) for text in texts)


def plain_cells(column: str, cells: Cells) -> Cells:
    """Lists that were written into one cell taken apart: at ``;`` and ``|``, and at commas where parts come back. Of
    dates that stand for their years the years."""
    if any(len(each) > 1 for each in cells):
        return cells
    if _are_years(column, cells):
        return [tuple(text[:4] for text in each) for each in cells]
    texts = [each[0] if each else "" for each in cells]
    told = [text for text in texts if text]
    for mark in (";", "|", ","):
        split = [[part.strip() for part in text.split(mark)] for text in told]
        parts = Counter(part for each in split for part in each)
        several = sum(len(each) > 1 for each in split)
        if (
            several < (2 if mark == "," else 1)
            or 100 * sum(len(part) > _NAME for part in parts) > len(parts)
            or all(_NUMBER.fullmatch(text) for text in told)
        ):
            continue
        coming_back = several >= 0.1 * len(told) and len(parts) <= 0.7 * parts.total()
        if mark != "," or coming_back or (several > 1 and _are_full_names(parts)):
            return [tuple(part for one in text.split(mark) if (part := one.strip())) for text in texts]
    return cells


def _are_full_names(parts: Counter[str]) -> bool:
    """Whether parts are names of people with all that belongs to them: "Bruce Graham, Noni White", and not "Graham,
    Bruce" or "Paris, France"."""
    full = sum(
        count for part, count in parts.items() if re.fullmatch(r"(?:[^\W\d_a-z][\w.'’-]*)(?: \w[\w.'’-]*){1,3}", part)
    )
    return full >= _NEARLY_ALL * parts.total()


def use_of(column: str, cells: Cells) -> Use:
    """What is made of a column with these cells, the empty ones left out."""
    label = heading(column)
    texts = [text for each in cells for text in each]
    distinct = set(texts)
    if not texts or _SURROGATE.fullmatch(label.lower()):
        return Use.KEY
    if {text.lower() for text in distinct} <= _TRUTH:
        return Use.REMARK
    if (
        _REMARKS.search(label.lower())
        or sum(map(len, texts)) > _LONG * len(texts)
        or 2 * sum(bool(_NO_TEXT.search(text)) for text in texts) > len(texts)
    ):
        return Use.REMARK
    if _OTHER_NAME.fullmatch(label.lower()):
        return Use.ALIAS
    numbers = sum(bool(_NUMBER.fullmatch(text)) for text in texts)
    if len(distinct) == 1 and len(texts) >= _SAME:
        return Use.REMARK  # what is true of all tells nothing apart
    if numbers >= _NEARLY_ALL * len(texts) and any(len(each) > 1 for each in cells):
        return Use.REMARK  # a series
    identifies = _IDENTIFIES.search(label) is not None
    if not identifies and (numbers == len(texts) or all(_DATED.fullmatch(text) for text in texts)):
        return Use.MEASURE
    if numbers == len(texts):
        return Use.TEXT
    apart = plain_cells(column, cells)
    listed = any(len(each) > 1 for each in apart)
    return _worded([text for each in apart for text in each], identifies=identifies, listed=listed)


def _worded(texts: Sequence[str], *, identifies: bool, listed: bool) -> Use:
    """Words: names of things where they come back or are written like names, else terms of their rows."""
    distinct = set(texts)
    if listed or len(distinct) <= 0.6 * len(texts):
        return Use.THING
    if sum(len(text.split()) for text in distinct) > 5 * len(distinct):
        return Use.REMARK
    named = sum(bool(re.match(r"[^\W_a-z0-9]", text)) and bool(re.search(r"[a-z]|\w\w\w\w", text)) for text in distinct)
    return Use.THING if not identifies and named >= 0.8 * len(distinct) else Use.TEXT


def with_unit(column: str, cells: Cells) -> tuple[str, str]:
    """The heading without its unit, and the unit as a page writes it: "area_km2" -> ("area", "km²"). What is counted
    says so: "cylinders" -> "number of cylinders"."""
    label = heading(column)
    label = "UTC offset" if label == "time zone" else label  # a number of hours, maybe beside a column of names
    texts = [text for each in cells for text in each]
    if any(_DATED.fullmatch(text) for text in texts):
        return label, ""
    found = _HEADED.fullmatch(label)
    unit = next((each for each in found.groups()[1:] if each), "") if found is not None else ""
    if found is None or not found[1] or re.search(r"\b(?:per|in|of|no)$", found[1]):
        counted = singular(label) != label and " " not in label and all(text.isdecimal() for text in texts)
        return f"number of {label}" if counted else label, ""
    if len(unit) == 1 and unit != "%" and found[3] and not _MEASURED.search(found[1]):
        return label, ""
    return found[1].strip(), _UNITS[unit.lower()]
