"""What observations show of values: where one stands, and calls in words."""

from __future__ import annotations

import re
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
    called after ``column`` ("Assignee: ..." for ``assignee_id``). A line that is called after something else, as in
    "Reporter: ...", counts only where no observation has the value in another. None for a value that may be there by
    chance."""
    if len(str(value)) < _LONG or isinstance(value, bool):
        return None
    called = set(words(column.removesuffix("_id").replace("_", " ")))
    otherwise: tuple[int, str] | None = None
    for number, result in enumerate(results):
        lines = [line.strip() for line in result.content.splitlines() if holds(line, value)]
        own = next((line for line in lines if called & set(words(line.partition(":")[0]))), None)
        own = own or next((line for line in lines if not _is_labelled(line, value)), None)
        if own is not None:
            return number, own
        if lines and otherwise is None:
            otherwise = number, lines[0]
    return otherwise


def _is_labelled(line: str, value: Any) -> bool:
    """Whether a line says in a word or two before a colon what the value in it is to the thing that is shown."""
    label = re.match(r"([A-Za-z]+(?: [a-z]+)?): ", line)
    return label is not None and not holds(label[1], value)


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
