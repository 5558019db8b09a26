"""What one may ask of a server, in words: a YAML file that goes with a kind of server, or is made from its schemas.

A book says which values calls may take (words), what the server's own tools show (records), what can be asked for
(moves) and how one looks at the state (probes). It holds no task: which moves have an effect, which calls are needed
and what the end state is, exploration and replay find out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationError, model_validator

from synth.environments.contract import ToolResult
from synth.errors import InputError
from synth.exploration.mcp.reading import value_of
from synth.exploration.walks import choose
from synth.identity import canonical_json
from synth.inputs import parse_yaml
from synth.schemas.described import Described

__all__ = [
    "HOLE",
    "Book",
    "Filler",
    "Look",
    "Move",
    "Record",
    "Seen",
    "holes",
    "load_book",
    "probe_calls",
    "shipped_books",
    "things",
]

_BOOKS = Path(__file__).parent / "books"
HOLE = re.compile(r"\{([a-z_]+(?:#[1-9])?)(?:\.([A-Za-z_]+))?\}")
"""``{slot}``, ``{slot.part}``; ``{slot#2}`` is another one of the same kind."""
Text = Annotated[str, Field(min_length=1, max_length=2_000)]


class Look(Described):
    """A call that only shows something."""

    tool: Text
    """The tool's name, as agents see it."""
    arguments: dict[str, Any] = {}
    """Its arguments; texts in them may have holes."""


class Record(Look):
    """Things that a look shows, one of which a hole stands for."""

    pattern: str | None = None
    """Regular expression with named groups (the parts), found wherever it matches in a line (``^`` and ``$`` are its
    ends)."""
    each: str | None = None
    """For values (JSON, or rows as Python prints them), in place of a pattern: the way to the things,
    ``entities[].observations[]``. Parts are the plain fields passed on the way, and ``item`` for a list of plain
    values. ``*column[]`` are all lists of an object, and ``column`` is the key of each."""
    names: str | None = None
    """The part by which people name it: it must name one thing only. None = it is not named by anything."""
    about: tuple[str, ...] = ()
    """Parts that say which things a task with it is about, so that no two splits share one. Empty = ``names``."""
    where: dict[str, str] = {}
    """Part -> regular expression that all of it must match."""

    @property
    def arguments_have_holes(self) -> bool:
        """Whether it is looked for in something that is itself looked up."""
        return any(True for _ in holes(self.arguments))

    @model_validator(mode="after")
    def _one_way(self) -> Record:
        if (self.pattern is None) == (self.each is None):
            raise ValueError("give either a pattern or each")
        for pattern in (*([self.pattern] if self.pattern else []), *self.where.values()):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        return self


class Move(Described):
    """Something that a user may ask for."""

    tool: str | None = None
    """The tool that does it; None = something is to be found out."""
    arguments: dict[str, Any] = {}
    answer: str | None = None
    """Of what is to be found out: the hole that the answer fills."""
    asks: tuple[Text, ...] = Field(min_length=1)
    """Ways to ask. Of what is to be done: a clause that could follow "please", without an end mark. Of what is to be
    found out: whole questions. Every value that stands in nothing that the tools show must be in each of them."""
    again: tuple[Text, ...] = ()
    """Ways to ask right behind a move about the same thing ("and give it high priority")."""
    weight: float = Field(default=1.0, gt=0)
    """How often, beside the others."""

    @model_validator(mode="after")
    def _done_or_found(self) -> Move:
        if (self.tool is None) == (self.answer is None):
            raise ValueError("give either a tool (something is done) or an answer (something is found out)")
        return self


class Book(Described):
    """What may be asked of one kind of server."""

    servers: tuple[Text, ...] = Field(min_length=1)
    """Names that such servers give themselves."""
    new: dict[str, tuple[str | dict[str, str], ...]] = {}
    """Slot -> values that are taken only where the state does not show them yet (names of things to make). Of a value
    in parts the first is the name, and what it has as ``needs`` must be there."""
    words: dict[str, tuple[str | dict[str, str], ...]] = {}
    """Slot -> values, taken whatever the state shows."""
    records: dict[str, Record] = {}
    """Slot -> things that are there."""
    probes: tuple[Look, ...] = Field(min_length=1)
    """How the state is looked at. A hole of a record stands for each of its things in turn."""
    moves: tuple[Move, ...] = Field(min_length=1)
    openings: tuple[Text, ...] = ()
    """Sentences that may stand before a request."""

    @model_validator(mode="after")
    def _holes(self) -> Book:
        slots = {*self.new, *self.words, *self.records}
        used = [
            *((f"records.{name}", record.arguments) for name, record in self.records.items()),
            *((f"probes.{n}", probe.arguments) for n, probe in enumerate(self.probes)),
            *((f"moves.{n}", [m.arguments, m.answer, m.asks, m.again]) for n, m in enumerate(self.moves)),
        ]
        for place, value in used:
            for slot, _ in holes(value):
                if slot.split("#")[0] not in slots:
                    raise ValueError(f"{place}: there is no slot {slot!r} in new, words or records")
        return self


def holes(value: Any) -> Iterator[tuple[str, str | None]]:
    """(slot, part) of every hole in the texts of ``value``, in order."""
    if isinstance(value, str):
        yield from ((match[1], match[2]) for match in HOLE.finditer(value))
    elif isinstance(value, dict):
        for item in value.values():
            yield from holes(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from holes(item)


def load_book(text: str, where: str) -> Book:
    """A book from the text of its file.

    Raises:
        InputError: it is not a book.
    """
    try:
        return Book.model_validate(parse_yaml(text, where, mend="mend the line"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        what = str(first["msg"]).removeprefix("Value error, ")
        raise InputError(f"{place}: {what}" if place else what, where=where) from None


@cache
def shipped_books() -> tuple[Book, ...]:
    """The books that come with this package."""
    return tuple(load_book(path.read_text("utf-8"), path.name) for path in sorted(_BOOKS.glob("*.yaml")))


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
            found = _walk(value_of(content), record.each.split("."), {})
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
    if name.startswith("*"):
        for key, items in value.items() if isinstance(value, dict) else ():
            for item in items if isinstance(items, list) else ():
                yield from _walk(item, way[1:], parts | {name[1:]: key})
        return
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
    filler = Filler(book, look, np.random.default_rng(0))
    for bound in islice(_bindings(filler, probe.arguments, {}), _MOST_PROBES):
        filler.bound = bound
        yield filler.fill(probe.arguments)


def _bindings(filler: Filler, value: Any, bound: dict[str, Parts]) -> Iterator[dict[str, Parts]]:
    """Everything that the holes of ``value`` may stand for: things that hang below others for each of those."""
    book = filler.book
    slot = next((slot for slot, _ in holes(value) if slot not in bound), None)
    if slot is None:
        yield bound
        return
    record = book.records.get(slot)
    if record is None:
        for word in (*book.new.get(slot, ()), *book.words.get(slot, ())):
            yield from _bindings(filler, value, bound | {slot: dict(word) if isinstance(word, dict) else {"": word}})
        return
    for outer in _bindings(filler, record.arguments, bound):
        filler.bound = outer
        shown = filler.look(record.tool, filler.fill(record.arguments))
        for parts in list(things(record, shown.content)):
            yield from _bindings(filler, value, outer | {slot: parts})
