"""How running text writes names and values."""

from __future__ import annotations

import re
from datetime import date

from synth.schemas.documents import ValueKind
from synth.text.dates import date_in_words

__all__ = ["article", "with_article", "written_value"]

_ARTICLE = re.compile(r"^(University|Republic|Kingdom|Academy) of |(Institute|Academy|Company|Highlands|Islands)$")


def article(name: str, *, always: bool) -> str:
    """``"the "`` when English puts the definite article before this name in running text, else ``""``; ``always``: it
    does so with names of the kind ("the River Senn")."""
    if name.startswith("The "):
        return ""
    return "the " if always or _ARTICLE.search(name) else ""


def with_article(name: str, *, always: bool) -> str:
    """The name as a sentence mentions it: "the River Senn", "Lake Senn"."""
    return article(name, always=always) + name


def written_value(value: str, kind: ValueKind) -> str:
    """How pages write an edge's value: "14 March 1874", "1874", "1,204,500", "1,204 metres".

    ``value`` is as ``Edge.value`` stores it: ISO date, plain decimal number, number with unit, or text.
    """
    if kind == "date":
        return date_in_words(date.fromisoformat(value))
    if kind == "number":
        return _grouped(value)
    if kind == "quantity":
        number, _, unit = value.partition(" ")
        return f"{_grouped(number)} {unit}"
    return value


def _grouped(number: str) -> str:
    """With commas between thousands; decimals stay as they are."""
    whole, point, rest = number.partition(".")
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(whole.removeprefix('-')):,}{point}{rest}"
