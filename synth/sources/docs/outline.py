"""The layout of a document read back: its lines, what is prose, and which entries it defines.

See :mod:`synth.sources.docs.layout` for the layout. Nothing here looks at markup, so that it also works on documents
of another origin, which then simply have fewer entries.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

from synth.schemas.documents import Anchor
from synth.text.sentences import spans

__all__ = ["Entry", "Line", "Outline"]

_LINE = re.compile(r"[^\n]+")
_SEE_ALSO = re.compile(r"see also:?$", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    start: int
    """Where the visible text of the line begins."""
    end: int
    indent: int
    heads: bool
    """A term or the title of a remark: the next line, with no blank between, stands further right."""
    prose: bool
    """Reads like sentences: no code, no row of a table, no signature."""


@dataclass(frozen=True)
class Entry:
    """A definition: the line of its term, and the lines below it that stand further right."""

    anchor: Anchor
    line: int
    first: int
    """Number of the first line of the definition."""
    stop: int
    """Number just past its last line."""
    indent: int


class Outline:
    """Lines and entries of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        raw = []
        for match in _LINE.finditer(text):
            body = match.group()
            indent = len(body) - len(body.lstrip(" "))
            if indent < len(body):
                raw.append((match.start() + indent, match.start() + len(body.rstrip()), indent))
        self.lines: list[Line] = []
        for number, (start, end, indent) in enumerate(raw):
            heads = False
            if number + 1 < len(raw):
                after, _, deeper = raw[number + 1]
                heads = deeper == indent + 4 and text.count("\n", end, after) == 1
            self.lines.append(Line(start, end, indent, heads, _is_prose(text[start:end])))
        self._starts = [line.start for line in self.lines]

    def line_at(self, place: int) -> int | None:
        """Number of the line whose visible text holds ``place``."""
        number = bisect_right(self._starts, place) - 1
        if number >= 0 and place < self.lines[number].end:
            return number
        return None

    def entry(self, anchor: Anchor) -> Entry | None:
        """The definition that belongs to a term; None when nothing stands under it."""
        number = self.line_at(anchor.start)
        if number is None:
            return None
        indent = self.lines[number].indent
        first = number + 1
        # Several terms may share a definition: they follow each other without a blank line.
        while first < len(self.lines) and self.lines[first].indent == indent and not self.lines[first - 1].heads:
            gap = self.text.count("\n", self.lines[first - 1].end, self.lines[first].start)
            if gap != 1:
                return None
            first += 1
        stop = first
        while stop < len(self.lines) and self.lines[stop].indent >= indent + 4:
            stop += 1
        return Entry(anchor, number, first, stop, indent) if stop > first else None

    def own_lines(self, entry: Entry) -> list[int]:
        """Lines of the definition itself: not of lists, code, remarks and entries inside it."""
        return [
            number
            for number in range(entry.first, entry.stop)
            if self.lines[number].indent == entry.indent + 4 and not self.lines[number].heads
        ]

    def lines_between(self, start: int, end: int) -> range:
        """Numbers of the lines that begin in ``[start, end)``."""
        return range(bisect_left(self._starts, start), bisect_left(self._starts, end))

    @cached_property
    def see_also(self) -> list[tuple[int, int]]:
        """Spans of the remarks titled "See also"."""
        found = []
        for number, line in enumerate(self.lines):
            if line.heads and _SEE_ALSO.match(self.text[line.start : line.end]):
                stop = number + 1
                while stop < len(self.lines) and self.lines[stop].indent > line.indent:
                    stop += 1
                found.append((self.lines[number + 1].start, self.lines[stop - 1].end))
        return found

    def sentences(self, number: int) -> list[tuple[int, int]]:
        """Spans of the sentences of a line; a bullet in front is left out."""
        line = self.lines[number]
        start = line.start
        if match := _BULLET.match(self.text, start, line.end):
            start = match.end()
        return spans(self.text, start, line.end)


_BULLET = re.compile(r"(?:- |\d+\. )+")
_CODE_LIKE = re.compile(
    r">>> |\.\.\. |\$ |#include|def |class \w+[(:]|import |from \w+ import |return\b[^.]*$|[{}<]|\w+ = |@\w+$"
)
_WORDS = re.compile(r"[A-Za-z][a-z’']+")


def _is_prose(text: str) -> bool:
    if " | " in text or _CODE_LIKE.match(text):
        return False
    words = _WORDS.findall(text)
    return len(words) >= 3 and sum(map(len, words)) >= 0.5 * (len(text) - text.count(" "))
