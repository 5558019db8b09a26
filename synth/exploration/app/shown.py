"""What observations show of values: where one stands, and calls in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.environments.app.words import money, one_line
from synth.environments.contract import ToolResult
from synth.exploration.pipeline import word_in
from synth.text.words import words

__all__ = ["canonical", "first_line", "holds", "instruction", "line_with"]

_LONG = 3
"""Characters of a key that is known in a line without the rest of it."""


def first_line(results: Sequence[ToolResult], value: Any, column: str) -> tuple[int, str] | None:
    """The line in which a value was seen first, with the number of its observation: of one observation, one that is
    called after ``column`` ("Assignee: ..." for ``assignee_id``). None for a value that may be there by chance."""
    if len(str(value)) < _LONG or isinstance(value, bool):
        return None
    called = set(words(column.removesuffix("_id").replace("_", " ")))
    for number, result in enumerate(results):
        lines = [line for line in result.content.splitlines() if holds(line, value)]
        if lines:
            own = (line for line in lines if called & set(words(line.partition(":")[0])))
            return number, next(own, lines[0]).strip()
    return None


def line_with(shown: str, key: Any, values: Sequence[Any], arguments: Mapping[str, Any]) -> str | None:
    """The line of an observation that shows a key, where it, or what the look-up was given, shows ``values`` too; of a
    key that may stand anywhere by chance, the line alone."""
    whole = shown + "\n" + "\n".join(map(str, arguments.values()))
    for line in (line for line in shown.splitlines() if holds(line, key)):
        around = whole if len(str(key)) >= _LONG else line
        if all(value is None or holds(line, value) or holds(around, value) for value in values):
            return line
    return None


def canonical(name: str, row: Mapping[str, Any]) -> str:
    """What an argument that is not a key is about: it and the row that it is said of."""
    return f"{name} of {sorted((key, str(value)) for key, value in row.items() if key.endswith('_id'))}"


def instruction(about: str, arguments: Mapping[str, Any]) -> str:
    said = "; ".join(f"{name.replace('_', ' ')}: {_said(value)}" for name, value in arguments.items())
    return one_line(about).rstrip(".") + (f" ({said})" if said else "")


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, item.values())) if isinstance(item, dict) else str(item) for item in value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def holds(text: str, value: Any) -> bool:
    """Whether ``text`` holds ``value`` as a word of its own; money also as the application writes it."""
    forms = [str(value)] + ([money(value)] if isinstance(value, int) and not isinstance(value, bool) else [])
    return any(word_in(text, form) is not None for form in forms)
