"""Where a value stands: in words, in a line of what was shown, and at which path of a call's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["leaves", "line_with", "word_in"]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every plain value in arguments: ``items.0.amount``."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, f"{path}.{number}")
    else:
        yield path, value


def word_in(text: str, value: str, *, any_case: bool = False) -> str | None:
    """``value`` as it stands in ``text``, as words of its own: who has read "Ferryman" has not read "ferry"."""
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE if any_case else 0)
    return None if found is None else found.group()


def line_with(lines: Iterable[str], value: str, *, any_case: bool = False) -> str | None:
    """The first line that holds ``value``, without the blanks around it."""
    return next((line.strip() for line in lines if word_in(line, value, any_case=any_case) is not None), None)
