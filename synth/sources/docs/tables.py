"""Tables of a page, read back from its layout: a row is one line of cells parted by `` | ``.

The row that the markup calls a heading is an anchor of kind ``columns``; a row below it is about the thing in its first
column ("%b | Bytes sent | No").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from synth.schemas.documents import Anchor
from synth.sources.docs.outline import Outline

__all__ = ["Cell", "Table", "tables"]

_PARTED = re.compile(r" \| ")
_LEAST_ROWS = 2


@dataclass(frozen=True)
class Cell:
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Table:
    heading: tuple[str, ...]
    """Cells of the row of headings."""
    rows: tuple[tuple[Cell, ...], ...]
    """The rows below it that have as many cells."""


def tables(outline: Outline, anchors: Sequence[Anchor]) -> Iterator[Table]:
    """Tables with a row of headings and two rows at least below it, in order."""
    text, lines = outline.text, outline.lines
    for anchor in anchors:
        number = outline.line_at(anchor.start) if anchor.kind == "columns" else None
        if number is None:
            continue
        heading = _cells(text, lines[number].start, lines[number].end)
        rows = []
        for line in lines[number + 1 :]:
            cells = _cells(text, line.start, line.end)
            if len(cells) < 2 or text.count("\n", lines[number].end, line.start) != 1:
                break
            number += 1
            if len(cells) == len(heading):
                rows.append(cells)
        if len(rows) >= _LEAST_ROWS and all(cell.text.strip() for cell in heading):
            yield Table(tuple(cell.text.strip() for cell in heading), tuple(rows))


def _cells(text: str, start: int, end: int) -> tuple[Cell, ...]:
    cells = []
    at = start
    for match in _PARTED.finditer(text, start, end):
        cells.append(Cell(text[at : match.start()], at, match.start()))
        at = match.end()
    cells.append(Cell(text[at:end], at, end))
    return tuple(cells)
