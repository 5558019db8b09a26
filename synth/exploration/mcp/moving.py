"""Explores a server by a book: what may be asked for, with words that fit what the server shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.environments.contract import Episode
from synth.environments.mcp.environment import McpEnvironment, McpEpisode
from synth.exploration.exploring.walks import Coverage, Explored, pick
from synth.exploration.mcp.book import Book, Move
from synth.exploration.mcp.filling import Filler, Seen
from synth.exploration.mcp.watching import Call, Watch, look
from synth.identity import canonical_json

__all__ = ["BookProposer", "Filled", "typed"]


@dataclass(frozen=True)
class Filled:
    """A move with everything filled in."""

    move: Move
    arguments: dict[str, Any]
    asks: tuple[str, ...]
    again: tuple[str, ...]
    seen: Mapping[str, Seen]
    """Slot -> the look that showed what it stands for, in the order in which they were made."""
    gold: tuple[str, ...]
    """Names of the things that it is about; of what only makes something, that thing's."""
    answer: str = ""
    said: tuple[str, ...] = ()
    """Every value that was drawn for it: what of them stands in its words, the words say."""

    @property
    def call(self) -> Call:
        assert self.move.tool is not None
        return self.move.tool, self.arguments


class BookProposer:
    """Proposes the moves of a book (``synth.exploration.exploring.walks.Proposer``)."""

    def __init__(self, environment: McpEnvironment, book: Book, watch: Watch) -> None:
        self.environment = environment
        self.book = book
        self.watch = watch
        self.filled: dict[str, Filled] = {}
        """By call, as canonical JSON."""
        self._doing: dict[str, list[Move]] = {}
        for move in book.moves:
            if move.tool is not None:
                self._doing.setdefault(move.tool, []).append(move)

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> dict[str, Any] | None:
        moves = self._doing.get(tool)
        if not moves:
            return None
        move = moves[pick([one.weight for one in moves], generator)]
        filled = self.fill(move, episode, generator)
        if filled is None:
            return None
        self.filled[canonical_json([tool, filled.arguments])] = filled
        return filled.arguments

    def writes(self, tool: str) -> bool:
        return tool in self._doing

    def saw(self, step: Explored) -> None:
        """It asks the server."""

    def of(self, step: Explored) -> Filled:
        """The move that an explored call was."""
        return self.filled[canonical_json([step.call.name, step.call.arguments])]

    def fill(self, move: Move, episode: Episode, generator: np.random.Generator) -> Filled | None:
        """The move with words and things of the state as it is; None where something for it is missing."""
        assert isinstance(episode, McpEpisode)
        book = self.book
        filler = Filler(book, lambda tool, given: look(episode, tool, given), generator, self.watch.last.text)
        arguments = filler.fill(move.arguments)
        answer = filler.fill(move.answer or "")
        if arguments is None or answer is None:
            return None
        schema = self.environment.tool(move.tool) if move.tool is not None else None
        if schema is not None:
            arguments = typed(arguments, schema.schema.parameters)
        names, made = [], []
        for slot, parts in filler.bound.items():
            kind = slot.split("#")[0]
            record = book.records.get(kind)
            if record is not None and not record.arguments_have_holes:
                about = record.about or ((record.names,) if record.names is not None else ())
                names += [parts[name] for name in about if name in parts]
            elif kind in book.new:
                made.append(next(iter(parts.values())))
        said = [filler.fill(list(forms)) or [] for forms in (move.asks, move.again)]
        return Filled(
            move,
            arguments,
            tuple(said[0]),
            tuple(said[1]),
            dict(filler.seen),
            tuple(dict.fromkeys(names or made)),
            answer,
            tuple(dict.fromkeys(value for parts in filler.bound.values() for value in parts.values())),
        )


def typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Texts of a filled template as the types that the tool's schema names."""
    kind = schema.get("type")
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return {name: typed(item, inner.get(name, {})) for name, item in value.items()}
    if isinstance(value, list):
        return [typed(item, schema.get("items", {})) for item in value]
    if isinstance(value, str) and kind in ("integer", "number", "boolean"):
        if kind == "boolean" and value in ("true", "false"):
            return value == "true"
        try:
            return int(value) if kind == "integer" or value.lstrip("-").isdigit() else float(value)
        except ValueError:
            return value
    return value
