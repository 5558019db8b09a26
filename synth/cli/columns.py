"""Lines and columns that fit into a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

__all__ = ["WIDTH", "filled", "table"]

WIDTH = 100
"""Columns of a terminal that plans fit into."""


def filled(text: str) -> list[str]:
    """The text as lines of at most ``WIDTH`` columns."""
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(rows: Sequence[tuple[str, ...]], *, wrapped: bool = False) -> list[str]:
    """Lines with aligned columns; the first row is the head. With ``wrapped``, the last column goes on below itself
    where a line would be longer than ``WIDTH``."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if wrapped:
        widths[-1] = max(20, WIDTH - sum(widths[:-1]) - 2 * len(widths[:-1]))
        pairs = [(row, textwrap.wrap(row[-1], widths[-1], break_on_hyphens=False) or [""]) for row in rows]
        blank = ("",) * (len(widths) - 1)
        rows = [(*(blank if n else row[:-1]), line) for row, parts in pairs for n, line in enumerate(parts)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
