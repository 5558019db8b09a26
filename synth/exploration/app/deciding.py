"""What in an observation decides a request: the lines that a rule depends on, and the amount that a call costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from synth.environments.app.requests import Confirm

__all__ = ["Amount", "deciding", "priced", "sum_in"]

_QUOTE = 110
"""Characters of a line that a rule goes by; a longer one ends before."""
_PRICE = 240
"""Characters of a line that says what something costs."""
_WHOLE = 5
"""Lines of a list that is quoted as a whole, since what is looked for is not on it."""


@dataclass(frozen=True)
class Amount:
    """What a planned call charges or refunds."""

    what: str
    """``charge`` or ``refund``."""
    amount: str
    asks: tuple[str, ...]
    number: int
    """Of the call, among the plan's calls or its attempts."""
    attempt: bool


def deciding(shown: str, pieces: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of an observation that hold one of ``pieces``; and what shows that none does: all of it, if it is
    short, else its first line."""
    lines = [(line, quote) for line in shown.splitlines() if (quote := _quotable(line, _QUOTE)) is not None]
    held = [quote for line, quote in lines if any(piece in line for piece in pieces)]
    return held, [quote for _, quote in lines[: len(lines) if len(lines) <= _WHOLE else 1]]


def priced(confirm: Confirm, shown: str) -> str | None:
    """The line of an observation that says what a call costs."""
    lines = (_quotable(line, _PRICE) for line in shown.splitlines())
    return next((line for line in lines if line is not None and confirm.amount in line), None)


def sum_in(confirm: Confirm, line: str) -> str:
    """The sum behind the words that announce it; empty where nothing is charged or refunded."""
    found = re.match(r"\$[\d,]+\.\d\d", line.partition(confirm.amount)[2])
    return "" if found is None or found.group() == "$0.00" else found.group()


def _quotable(line: str, most: int) -> str | None:
    """A line as it is quoted; None where it is empty or holds a quotation itself."""
    text = line.strip().removeprefix("- ").rstrip(".:")
    if len(text) > most:
        text = text[: max(text.rfind(", ", 0, most), 0)]
    return text if text and '"' not in text else None
