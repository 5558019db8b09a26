"""Fills the holes of a book: with words, and with what the server's own tools show."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from synth.environments.contract import ToolResult
from synth.exploration.mcp.book import HOLE, Book, Look, Record, holes
from synth.exploration.walks import choose
from synth.identity import canonical_json

__all__ = ["Filler", "Seen", "probe_calls", "things"]

Parts = dict[str, str]
Looking = Callable[[str, dict[str, Any]], ToolResult]
_MOST_PROBES = 60
"""Calls that a probe with holes may stand for."""


@dataclass(frozen=True)
class Seen:
    """A look that was made for a hole, and what it showed."""

    tool: str
    arguments: dict[str, Any]
    content: str


@dataclass
class Filler:
    """Draws values for slots; a slot that has one keeps it."""

    book: Book
    look: Looking
    generator: np.random.Generator
    state: str = ""
    """What the state shows: new things have names that do not stand in it."""
    bound: dict[str, Parts] = field(default_factory=dict)
    """Slot -> the parts of what was drawn for it; a word has one part, named ``""``."""
    seen: dict[str, Seen] = field(default_factory=dict)
    """Slot -> the look that showed it."""

    def fill(self, value: Any) -> Any:
        """``value`` with its holes filled; None where one can't be."""
        for slot, _ in holes(value):
            if not self._bind(slot):
                return None
        return self._put(value)

    def _put(self, value: Any) -> Any:
        if isinstance(value, str):
            return HOLE.sub(lambda match: self.bound[match[1]].get(match[2] or "", ""), value)
        if isinstance(value, dict):
            return {name: self._put(item) for name, item in value.items()}
        return [self._put(item) for item in value] if isinstance(value, list | tuple) else value

    def _bind(self, slot: str) -> bool:
        if slot in self.bound:
            return True
        kind = slot.split("#")[0]
        taken = [canonical_json(parts) for name, parts in self.bound.items() if name.split("#")[0] == kind]
        if kind in self.book.records:
            record = self.book.records[kind]
            arguments = self.fill(record.arguments)
            if arguments is None:
                return False
            shown = self.look(record.tool, arguments)
            found = [] if shown.error is not None else list(things(record, shown.content))
            options = [
                parts for parts in found if canonical_json(parts) not in taken and _named_alone(record, parts, found)
            ]
            if not options:
                return False
            self.seen[slot] = Seen(record.tool, arguments, shown.content)
        else:
            fresh = kind in self.book.new
            listed = self.book.new[kind] if fresh else self.book.words[kind]
            options = [dict(value) if isinstance(value, dict) else {"": value} for value in listed]
            options = [
                parts
                for parts in options
                if canonical_json(parts) not in taken
                and not (fresh and next(iter(parts.values())) in self.state)
                and parts.get("needs", "") in self.state
            ]
            if not options:
                return False
        self.bound[slot] = choose(self.generator, options)
        return True


def _named_alone(record: Record, parts: Parts, found: list[Parts]) -> bool:
    if record.names is None:
        return True
    name = parts[record.names].casefold()
    return sum(other[record.names].casefold() == name for other in found) == 1


def things(record: Record, content: str) -> Iterator[Parts]:
    """What a look shows, by its parts, in order. Text that is not as the record says shows nothing."""
    if record.pattern is not None:
        found: Iterator[Mapping[str, str | None]] = (
            match.groupdict() for match in re.finditer(record.pattern, content, re.MULTILINE)
        )
    else:
        assert record.each is not None
        try:
            found = _walk(json.loads(content), record.each.split("."), {})
        except ValueError:
            return
    for parts in found:
        plain = {name: value for name, value in parts.items() if value is not None}
        if all(re.fullmatch(pattern, plain.get(name, "")) for name, pattern in record.where.items()):
            yield plain


def _walk(value: Any, way: list[str], parts: Parts) -> Iterator[Parts]:
    if isinstance(value, dict):
        parts = parts | {name: str(item) for name, item in value.items() if isinstance(item, str | int | float)}
    elif not way:
        parts = parts | {"item": str(value)}
    if not way:
        yield parts
        return
    name, listed = way[0].removesuffix("[]"), way[0].endswith("[]")
    inner = value.get(name) if isinstance(value, dict) and name else value
    if listed:
        for item in inner if isinstance(inner, list) else ():
            yield from _walk(item, way[1:], parts)
    elif inner is not None:
        yield from _walk(inner, way[1:], parts)


def probe_calls(book: Book, look: Looking) -> list[tuple[str, dict[str, Any]]]:
    """The calls that look at the state as it is now: each probe once, or once for each thing its hole stands for."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for probe in book.probes:
        for arguments in _expanded(book, probe, look):
            found.setdefault(canonical_json([probe.tool, arguments]), (probe.tool, arguments))
    return list(found.values())


def _expanded(book: Book, probe: Look, look: Looking) -> Iterator[dict[str, Any]]:
    slots = sorted({slot for slot, _ in holes(probe.arguments)})
    if not slots:
        yield probe.arguments
        return
    (slot,) = slots  # one is enough, and bounded
    record = book.records[slot]
    shown = look(record.tool, record.arguments)
    nothing = Filler(book, look, np.random.default_rng(0))
    for parts in list(things(record, shown.content))[:_MOST_PROBES]:
        nothing.bound = {slot: parts}
        yield nothing.fill(probe.arguments)
