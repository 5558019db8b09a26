"""Templates: the words of a tool with values put in. Only names that are known at load can stand in one.

``{name}`` puts a value in, ``{name:money}`` writes cents as dollars, ``{name:yes}`` a flag as yes or no,
``{name:bag/bags}`` a number with its noun. ``[[ ... ]]`` is left out where a value in it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["PageNote", "fill", "money", "names_in", "one_line"]

_HOLE = re.compile(r"\{([a-z][a-z0-9_]*)(?::([^{}]+))?\}")
_PART = re.compile(r"\[\[(.*?)\]\]", re.S)
_NUMBER = ("money", "yes")
_PAGES = re.compile(r"\(Page (\d+) of (\d+), (\d+) in all\.\)")


@dataclass(frozen=True)
class PageNote:
    """The last line of a list that comes in pages."""

    page: int
    pages: int
    total: int
    """Rows on all pages."""

    def line(self) -> str:
        return f"(Page {self.page} of {self.pages}, {self.total} in all.)"

    @classmethod
    def read(cls, text: str) -> PageNote | None:
        """The note in an observation; None where what it lists is whole."""
        found = _PAGES.search(text)
        return None if found is None else cls(*map(int, found.groups()))


def names_in(template: str) -> set[str]:
    """Names that a template puts in.

    Raises:
        ValueError: a brace that is not a name, or an ending that does not exist.
    """
    rest = _HOLE.sub("", template)
    if "{" in rest or "}" in rest:
        raise ValueError(f"a brace is no {{name}} in {template!r}")
    for _, ending in _HOLE.findall(template):
        if ending and ending not in _NUMBER and ending.count("/") != 1:
            raise ValueError(f"there is no ending {ending!r}: money, yes or noun/nouns")
    return {name for name, _ in _HOLE.findall(template)}


def fill(template: str, values: Mapping[str, Any], *, row: bool = False) -> str:
    """The words. In a ``row`` a value of several lines is written on one."""

    def put(match: re.Match[str]) -> str:
        return _written(values[match.group(1)], match.group(2), row)

    def part(match: re.Match[str]) -> str:
        inside = match.group(1)
        empty = any(values[name] in (None, "") for name, _ in _HOLE.findall(inside))
        return "" if empty else _HOLE.sub(put, inside)

    # The parts first, and each hole once: a value that looks like a hole stays what it is.
    pieces: list[str] = []
    at = 0
    for match in _PART.finditer(template):
        pieces += (_HOLE.sub(put, template[at : match.start()]), part(match))
        at = match.end()
    pieces.append(_HOLE.sub(put, template[at:]))
    return "".join(pieces)


def money(cents: int) -> str:
    """``-1234567`` is ``-$12,345.67``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def _written(value: Any, ending: str | None, row: bool) -> str:
    if value is None:
        return "none"
    if ending == "money":
        return money(int(value))
    if ending == "yes":
        return "yes" if value else "no"
    if ending:
        singular, plural = ending.split("/")
        return f"{value:,} {singular if value == 1 else plural}"
    return one_line(str(value)) if row else str(value)
