"""Lists in running text: "A, B and C"."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["first_lines", "listed"]


def listed(items: Sequence[str], last: str = "and", *, comma: bool = False) -> str:
    """ "A", "A and B", "A, B and C"; with ``comma`` also before ``last``: "A, and B", for items that hold an "and" of
    their own. Empty for no item."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])}{',' if comma else ''} {last} {items[-1]}"


def first_lines(lines: Sequence[str], most: int = 8) -> str:
    """The first few of them on one line, and how many more there are."""
    shown = "; ".join(lines[:most])
    return f"{shown}; and {len(lines) - most} more" if len(lines) > most else shown
