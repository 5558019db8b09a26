"""What a task wants of a server's state, which is seen only through the server's own reading tools.

A goal is what a few calls that change nothing (probes) must show at the end. What shows another value in every run
(times, random ids) is left open; who makes the goal finds it by solving the task twice (``synth.exploration.mcp``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from pydantic import Field, model_validator

from synth.environments.contract import ToolCall, ToolResult
from synth.identity import canonical_json, digest
from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = ["McpGoal", "Probe", "call_of", "canonical", "difference", "fits", "open_parts", "template"]

_OPEN = 80
"""Characters that may stand where a goal is left open."""
_MOST_PARTS = 40
"""How many parts a template may have, not counting the gaps that timestamps leave."""
_PIECE = re.compile(r"\w+|\s+|[^\w\s]")
_CLOCK = re.compile(
    r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:[A-Z][a-z]{2} \d\d?|\d\d? [A-Z][a-z]{2}) 20\d\d \d\d:\d\d:\d\d"
    r"(?: (?:GMT|UTC)?[+-]?\d*)?(?: \([^)]{1,60}\))?"
    r"|\b20\d{6}T\d{6}Z?\b|\b1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
    r"|(?<![\w.])\d{1,6}\.\d{3,}\b"
    r"|\b(?:\d+|an?) ?(?:s|sec|second|min|minute|h|hr|hour|d|day|week|month)s? ago\b"
    r"|\b(?i:urgency|uptime|elapsed|age_(?:days|hours|minutes|seconds))\b[\"*]*: ?\**-?\d+(?:\.\d+)?"
)
"""Timestamps and other values that change with time: relative times, urgencies, numbers with three or more decimals.
Two runs within a second agree on them; two runs on different days do not."""


class Probe(Row):
    """A call that looks at the state, and what it must show."""

    tool: NonEmpty
    arguments: JsonObject
    shows: tuple[str, ...] = ()
    """The canonical observation in parts; between two of them anything may stand, within limits. One part = exactly
    that."""
    hash: str | None = None
    """In place of ``shows``, the hash of a canonical observation that must be exactly that: of what stays as it was."""
    error: str | None = None
    """The kind of error that it must be answered with; None = none."""

    @model_validator(mode="after")
    def _either(self) -> Probe:
        if bool(self.shows) == (self.hash is not None):
            raise ValueError("give either shows or hash")
        return self


class McpGoal(Row):
    """What a task wants of the state of a server."""

    probes: tuple[Probe, ...] = Field(min_length=1)
    changes: tuple[str, ...] = ()
    """What was changed, in words, for a verdict."""
    answer: Literal["required", "free"] = "free"
    """``required``: what the agent says must be the gold answer, too."""


def canonical(content: str) -> str:
    """An observation as it is compared. Of JSON neither the order of keys nor that of lists counts: servers list things
    in the order in which they were made, and a request names none. Other text counts as it is."""
    try:
        return canonical_json(_unordered(json.loads(content)))
    except (ValueError, TypeError, RecursionError):
        return content.strip()


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=canonical_json)
    return value


def open_parts(text: str, said: Sequence[str] = ()) -> tuple[str, ...]:
    """``text`` (canonical), open where a moment stands that nobody said."""
    parts, at = [], 0
    for match in _CLOCK.finditer(text):
        if not any(match.group() in words for words in said):
            parts.append(text[at : match.start()])
            at = match.end()
    return (*parts, text[at:])


def template(one: str, other: str, said: Sequence[str] = ()) -> tuple[str, ...] | None:
    """What two observations of equal states have in common, in parts; None where that is less than half of it."""
    if one == other:
        return open_parts(one, said)
    left, right = (["\0" if piece is None else piece for piece in _pieces(text, said)] for text in (one, other))
    parts = [""]
    for kind, start, stop, _, _ in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for piece in left[start:stop] if kind == "equal" else ["\0"]:
            if piece == "\0":
                parts.append("")
            else:
                parts[-1] += piece
    kept = sum(map(len, parts))
    few = len(parts) <= _MOST_PARTS + len(open_parts(one, said))
    return tuple(parts) if kept >= 0.5 * max(len(one), len(other)) and few else None


def _pieces(text: str, said: Sequence[str]) -> list[str | None]:
    """Words and signs; None for a place that is left open."""
    found: list[str | None] = []
    for number, part in enumerate(open_parts(text, said)):
        if number:
            found.append(None)
        found += _PIECE.findall(part)
    return found


def fits(result: ToolResult, probe: Probe) -> bool:
    """Whether an observation is what the probe must show."""
    if result.error != probe.error:
        return False
    text = canonical(result.content)
    return digest("shows", text) == probe.hash if probe.hash is not None else _matches(text, probe.shows)


def _matches(text: str, parts: Sequence[str]) -> bool:
    """In one pass, part by part: no text of a server's makes this slow."""
    if len(parts) == 1:
        return text == parts[0]
    if not text.startswith(parts[0]) or not text.endswith(parts[-1]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        found = text.find(part, at, at + _OPEN + len(part))
        if found < 0:
            return False
        at = found + len(part)
    return 0 <= len(text) - len(parts[-1]) - at <= _OPEN


def difference(result: ToolResult, probe: Probe) -> str:
    """Why an observation does not fit, for the evidence of a verdict: the lines that are missing or too many, where
    both are known."""
    shown = " ".join(result.content.split())[:200]
    if len(probe.shows) != 1 or result.error != probe.error:
        return f"shows {shown!r}"
    have, wanted = (set(text.splitlines()) for text in (canonical(result.content), probe.shows[0]))
    said = [
        f"{word} {line[:120]!r}"
        for word, lines in (("missing", wanted - have), ("not wanted", have - wanted))
        for line in sorted(lines)[:3]
    ]
    return ", ".join(said) or f"shows {shown!r}"


def call_of(probe: Probe, number: int) -> ToolCall:
    """The probe as a call."""
    return ToolCall(id=f"probe_{number}", name=probe.tool, arguments=probe.arguments)
