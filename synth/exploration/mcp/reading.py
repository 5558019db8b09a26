"""Answers of servers as values: JSON, several JSON values in a row, or a list as Python prints it."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

__all__ = ["value_of"]

_LONGEST = 200_000
"""Characters that are read as Python's."""
_MARK = re.compile(r"\S")


def value_of(content: str) -> Any:
    """The value that an answer is.

    The Python SDK sends each item of a list in a block of its own, which makes the answer one JSON value after
    another; other servers print rows as Python does.

    Raises:
        ValueError: it is none of these.
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        pass
    found = _several(content)
    if len(found) > 1:
        return found
    if content[:1] in ("[", "{") and len(content) <= _LONGEST:
        try:
            return ast.literal_eval(content)
        except (SyntaxError, MemoryError, RecursionError):
            pass
    raise ValueError("no value")


def _several(content: str) -> list[Any]:
    """All values of ``content``; none where anything else stands in it."""
    decoder, found, at = json.JSONDecoder(), [], 0
    try:
        while mark := _MARK.search(content, at):
            value, at = decoder.raw_decode(content, mark.start())
            found.append(value)
    except (ValueError, RecursionError):
        return []
    return found
