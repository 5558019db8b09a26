"""Phrases with alternatives: ``[I see|There is] {title} [here|]`` stands for four; alternatives may be nested."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

__all__ = ["Template", "template"]

_SPACES = re.compile(r" {2,}")
_BEFORE_MARK = re.compile(r" (?=[,.;:?!])")
_LOOSE = " ,.;:?!"
_SLOT = re.compile(r"\{\w+\}")


@dataclass(frozen=True)
class Template:
    """A phrase as its parts: text, or the templates of which one is chosen."""

    parts: tuple[str | tuple[Template, ...], ...]

    def draw(self, choose: Callable[[int], int]) -> str:
        """One phrase. ``choose(n)`` returns a number from 0 to n - 1."""
        return _tidy(self._drawn(choose))

    def all(self) -> tuple[str, ...]:
        """Every phrase that it stands for, in the order in which the alternatives are written."""
        return tuple(dict.fromkeys(map(_tidy, self._all())))

    def regex(self) -> str:
        """A pattern of all of them, with a group for what stands in each slot. A blank beside alternatives may be
        missing, as it is where one of them is empty."""
        return self._regex()

    def landmarks(self) -> tuple[str, ...]:
        """Pieces of text of which everything that ``regex`` matches holds at least one; none where slots are all."""
        return self._landmarks

    @cached_property
    def _landmarks(self) -> tuple[str, ...]:
        found: list[tuple[str, ...]] = []
        for part in self.parts:
            if isinstance(part, str):
                found.append((max((piece.strip(" ") for piece in _SLOT.split(part)), key=len),))
            else:
                each = [one._landmarks for one in part]
                found.append(tuple(piece for one in each for piece in one) if all(each) else ())
        told = [pieces for pieces in found if pieces and all(pieces)]
        return max(told, key=lambda pieces: min(map(len, pieces)), default=())

    def _drawn(self, choose: Callable[[int], int]) -> str:
        return "".join(part if isinstance(part, str) else part[choose(len(part))]._drawn(choose) for part in self.parts)

    def _all(self) -> tuple[str, ...]:
        options = [(part,) if isinstance(part, str) else [t for one in part for t in one._all()] for part in self.parts]
        return tuple("".join(one) for one in product(*options))

    def _regex(self) -> str:
        found: list[str] = []
        for at, part in enumerate(self.parts):
            if isinstance(part, str):
                before, after = (
                    _may_be_missing(self.parts[n]) if 0 <= n < len(self.parts) else False for n in (at - 1, at + 1)
                )
                found.append(_escaped(part, before, after))
            else:
                found.append(f"(?:{'|'.join(one._regex() for one in part)})")
        return "".join(found)


@cache
def template(text: str) -> Template:
    """The template that ``text`` writes.

    Raises:
        ValueError: a bracket has no other half.
    """
    found, end = _parse(text, 0)
    if end < len(text) or len(found) != 1:
        raise ValueError(f"a bracket or bar that stands alone: {text!r}")
    return found[0]


def _parse(text: str, start: int) -> tuple[list[Template], int]:
    """The alternatives from ``start`` to the closing bracket, or to the end; and where they end."""
    options: list[Template] = []
    parts: list[str | tuple[Template, ...]] = []
    begun = at = start
    while at < len(text) and text[at] != "]":
        if text[at] in "[|":
            parts.append(text[begun:at])
            if text[at] == "|":
                options.append(Template(tuple(part for part in parts if part)))
                parts = []
            else:
                inner, at = _parse(text, at + 1)
                if at == len(text):
                    raise ValueError(f"a bracket that is not closed: {text!r}")
                parts.append(tuple(inner))
            begun = at + 1
        at += 1
    parts.append(text[begun:at])
    return [*options, Template(tuple(part for part in parts if part))], at


def _tidy(text: str) -> str:
    return _BEFORE_MARK.sub("", _SPACES.sub(" ", text)).strip()


def _may_be_missing(part: str | tuple[Template, ...]) -> bool:
    """Whether one of several alternatives is empty, or brings its own blank or mark."""
    return not isinstance(part, str) and any(
        not text or text[0] in _LOOSE or text[-1] == " " for one in part for text in one._all()
    )


def _escaped(text: str, before: bool, after: bool) -> str:
    """``before``, ``after``: whether a blank at the start, or at the end, may be missing."""
    if text == " ":
        return " ?" if before or after else " "
    inner = "(.+?)".join(map(re.escape, _SLOT.split(text.strip(" "))))
    first = (" ?" if before else " ") if text.startswith(" ") else ""
    last = (" ?" if after else " ") if text.endswith(" ") else ""
    return f"{first}{inner}{last}"
