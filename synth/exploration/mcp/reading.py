"""What servers answer, as values: JSON, several JSON values one behind the other, or what Python prints of a list."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

__all__ = ["value_of"]

_LONGEST = 200_000
"""Characters that are read as Python's."""
_BLANKS = re.compile(r"\s*")


def value_of(content: str) -> Any:
    """The value that an answer is.

    The SDK gives each item of a list a block of its own, so that its answer is JSON behind JSON; and some servers
    print rows as Python does.

    Raises:
        ValueError: it is no such value.
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
        while at < len(content):
            value, at = decoder.raw_decode(content, at)
            found.append(value)
            at += len(_BLANKS.match(content, at)[0])  # type: ignore[index]  # it matches nothing, too
    except (ValueError, RecursionError):
        return []
    return found
