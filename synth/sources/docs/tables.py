"""Tables of a page, read back from its layout: a row is one line of cells parted by `` | ``.

A table of things has the name of the thing in its first column and the kind of thing in that column's heading
("package | size | description"); its title stands in the line above ("Table 9.4. List of system log analyzers").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from synth.sources.docs.outline import Outline

__all__ = ["Cell", "Table", "tables"]

_PARTED = re.compile(r" \| ")
_TITLE = re.compile(r"(?:Table|Tab\.) [A-Z]?\d*(?:[.-]\d+)*[.:]? +(?P<name>\S.*)")
_LEAST_ROWS = 2


@dataclass(frozen=True)
class Cell:
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Table:
    title: Cell
    """The title without "Table 9.4."."""
    number: str
    """What stands before the title ("Table 9.4.")."""
    heading: tuple[str, ...]
    """Cells of the first row."""
    rows: tuple[tuple[Cell, ...], ...]
    """The other rows that have as many cells as the first."""

    @property
    def start(self) -> int:
        return self.title.start

    @property
    def end(self) -> int:
        return self.rows[-1][-1].end


def tables(outline: Outline) -> Iterator[Table]:
    """Titled tables of two rows at least below the heading, in order."""
    text, lines = outline.text, outline.lines
    number = 0
    while number < len(lines):
        first = number
        while number < len(lines) and _is_row(text, lines[number].start, lines[number].end):
            number += 1
        if number == first:
            number += 1
            continue
        title = _TITLE.fullmatch(text, lines[first - 1].start, lines[first - 1].end) if first else None
        heading = _cells(text, lines[first].start, lines[first].end)
        rows = [_cells(text, line.start, line.end) for line in lines[first + 1 : number]]
        whole = tuple(row for row in rows if len(row) == len(heading))
        if title is not None and len(whole) >= _LEAST_ROWS:
            name = Cell(title["name"].rstrip("."), title.start("name"), title.end("name"))
            said = text[title.start() : title.start("name")].strip()
            yield Table(name, said, tuple(cell.text for cell in heading), whole)


def _is_row(text: str, start: int, end: int) -> bool:
    return " | " in text[start:end]


def _cells(text: str, start: int, end: int) -> tuple[Cell, ...]:
    cells = []
    at = start
    for match in _PARTED.finditer(text, start, end):
        cells.append(Cell(text[at : match.start()], at, match.start()))
        at = match.end()
    cells.append(Cell(text[at:end], at, end))
    return tuple(cells)
