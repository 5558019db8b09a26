"""What tables state, and what they call the fields in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from synth.environments.web.nodes import CHOICES, TEXT_BOXES, Node, holds_usable, plain, usable_in

__all__ = ["facts_in", "label_of"]

_NAME = re.compile(r"[^\W\d_]{2}")
_LONGEST_LABEL = 40


def facts_in(table: Node, heading: str) -> Iterator[tuple[str, str, str]]:
    """What the cells of a table say, as (what it is about, term, value): where it has one row of heads, each cell of
    the row that a column of links names, else its first cell; and pairs of a head and a cell, of what ``heading``
    names. Pairs beside fields are a form, whose words are hints."""
    rows = list(_rows(table))
    if not any(cell.role == "columnheader" for row in rows for cell in row.children):
        if not any(one.role in TEXT_BOXES | CHOICES for one in usable_in(table)):
            yield from _pairs(rows, heading)
        return
    head, *rows = [row for row in rows if row.children]
    heads = [plain(cell.words()) for cell in head.children]  # those that sort are links or buttons
    if len(heads) < 2 or any(cell.role != "columnheader" for cell in head.children):
        return
    rows = [row for row in rows if len(row.children) == len(heads)]
    columns = [[row.children[at] for row in rows] for at in range(len(heads))]
    names = next((at for at, column in enumerate(columns) if _names(column)), None)
    asked = [bool(name) and not _is_action(column) for name, column in zip(heads, columns, strict=True)]
    for row in rows:
        cells = [plain(cell.words()) for cell in row.children]
        told = [bool(said) and _is_value(cell) for cell, said in zip(row.children, cells, strict=True)]
        first = next((at for at, one in enumerate(told) if one), len(cells))  # a box to tick may stand before it
        about = first if names is None else names
        for at, said in enumerate(cells):
            if at != about and told[at] and asked[at]:
                yield cells[about], heads[at], said


def _pairs(rows: Sequence[Node], heading: str) -> Iterator[tuple[str, str, str]]:
    for row in rows:
        for head, cell in zip(row.children[::2], row.children[1::2], strict=False):
            term, said = plain(head.words()).removesuffix(":"), plain(cell.words())
            pair = (head.role, cell.role) == ("rowheader", "cell") and _is_value(cell)
            if pair and term and said and len(row.children) % 2 == 0:
                yield heading, term, said


def _rows(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.role == "row":
            yield child
        else:
            yield from _rows(child)


def _is_value(cell: Node) -> bool:
    """Whether its words say something: all that can be done in it is to follow one link."""
    return all(one.role == "link" for one in usable_in(cell)) and sum(1 for _ in usable_in(cell)) < 2


def _is_action(column: Sequence[Node]) -> bool:
    """Whether its cells are links in the same words ("Edit"), which say nothing of their row."""
    return all(holds_usable(cell) for cell in column) and len({plain(cell.words()) for cell in column}) < 2


def _names(column: Sequence[Node]) -> bool:
    """Whether its cells are links by which people call the rows: words, another in each row."""
    said = [plain(cell.words()) for cell in column]
    links = all(holds_usable(cell) and _is_value(cell) for cell in column)
    return links and all(map(_NAME.search, said)) and len({*said}) == len(said) > 0


def label_of(cell: Node) -> str:
    """What a cell calls the field in the next one: that of a form that is laid out as a table."""
    text = plain(cell.words())
    calls = cell.role == "rowheader" or (cell.role in ("cell", "gridcell") and text.endswith(":"))
    text = text.removesuffix(":").strip()
    return text if calls and len(text) <= _LONGEST_LABEL and not holds_usable(cell) else ""
