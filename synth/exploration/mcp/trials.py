"""How a server's state is seen, how calls are tried on it (every trial is a fresh server), and what a walk may try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.environments.contract import Episode, ToolCall, ToolResult
from synth.environments.mcp.environment import McpEnvironment, McpEpisode
from synth.environments.mcp.goals import Probe, canonical, fits, open_parts, template
from synth.exploration.argument_schemas import spelled_out
from synth.exploration.mcp.already import is_so
from synth.exploration.mcp.book import Book, Filler, Move, Seen, probe_calls, things
from synth.exploration.mcp.listings import verb_of
from synth.exploration.pipeline import blank_task
from synth.exploration.walks import Coverage, Explored, pick
from synth.identity import canonical_json, digest
from synth.lexicon.reading import phrases

__all__ = ["BookProposer", "Call", "Filled", "State", "Watch", "all_fit", "look", "probes_of", "typed"]

_REMOVES = frozenset(phrases("word_lists")["removing_verbs"])
Call = tuple[str, dict[str, Any]]
Shown = tuple[str, dict[str, Any], ToolResult]


@dataclass(frozen=True)
class State:
    """What the probes showed."""

    shown: tuple[Shown, ...]

    @property
    def text(self) -> str:
        return "\n".join(canonical(result.content) for _, _, result in self.shown)

    @property
    def key(self) -> str:
        """Equal for states that show the same, moments apart."""
        seen = [(tool, arguments, open_parts(canonical(r.content)), r.error) for tool, arguments, r in self.shown]
        return digest("mcp-state", [[tool, arguments, list(parts), error] for tool, arguments, parts, error in seen])


class Watch:
    """Looks at episodes through the probes of a book, and starts fresh servers for trials."""

    def __init__(self, environment: McpEnvironment, book: Book) -> None:
        self.environment = environment
        self.book = book
        self.starts = 0
        """Servers that were started for trials so far."""
        self.last: State = State(())

    def state(self, episode: Episode) -> State:
        """What the episode's server shows now. The record of the episode does not hold these calls."""
        assert isinstance(episode, McpEpisode)
        calls = probe_calls(self.book, lambda tool, arguments: look(episode, tool, arguments))
        self.last = State(tuple((tool, arguments, look(episode, tool, arguments)) for tool, arguments in calls))
        return self.last

    def key(self, episode: Episode) -> str:
        return self.state(episode).key

    def trial(self, calls: Sequence[Call]) -> tuple[tuple[ToolResult, ...], State]:
        """Make ``calls`` on a fresh server, and look."""
        self.starts += 1
        episode = self.environment.reset(blank_task("trial", "mcp", {}))
        try:
            results = tuple(
                episode.step(ToolCall(id=f"trial_{number}", name=tool, arguments=arguments))
                for number, (tool, arguments) in enumerate(calls)
            )
            return results, self.state(episode)
        finally:
            episode.close()


def look(episode: McpEpisode, tool: str, arguments: dict[str, Any]) -> ToolResult:
    """A call for what it shows, off the record."""
    return episode.look(ToolCall(id="look", name=tool, arguments=arguments))


def probes_of(one: State, other: State, said: Sequence[str]) -> tuple[Probe, ...] | None:
    """What two equal ends have in common: a probe for each look; None where they were looked at in different ways. A
    look that has too little in common is not a probe."""
    if [(tool, arguments) for tool, arguments, _ in one.shown] != [(tool, given) for tool, given, _ in other.shown]:
        return None
    found = []
    for (tool, arguments, first), (_, _, second) in zip(one.shown, other.shown, strict=True):
        parts = template(canonical(first.content), canonical(second.content), said)
        if parts is not None and first.error == second.error:
            found.append(Probe(tool=tool, arguments=arguments, shows=parts, error=first.error))
    return tuple(found)


def all_fit(state: State, probes: Sequence[Probe]) -> bool:
    """Whether a state shows what all probes must show. A state that is looked at otherwise is another one."""
    results = {digest(tool, arguments): result for tool, arguments, result in state.shown}
    asked = [digest(probe.tool, probe.arguments) for probe in probes]
    return all(key in results and fits(results[key], probe) for key, probe in zip(asked, probes, strict=True))


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
    bound: Mapping[str, Mapping[str, str]]
    """Slot -> the parts of what was drawn for it."""
    answer: str = ""
    said: tuple[str, ...] = ()
    """Every value that was drawn for it: what of them stands in its words, the words say."""

    @property
    def call(self) -> Call:
        assert self.move.tool is not None
        return self.move.tool, self.arguments

    def is_so(self, book: Book, state: State) -> bool:
        """Whether all that it asks for is so in ``state``."""
        shown = [(arguments, result.content) for _, arguments, result in state.shown]
        return self.move.tool is not None and is_so(
            book, self.move.tool, self.move.arguments, self.arguments, self.bound, shown
        )


class BookProposer:
    """Proposes the moves of a book (``synth.exploration.walks.Proposer``)."""

    def __init__(self, environment: McpEnvironment, book: Book, watch: Watch) -> None:
        self.environment = environment
        self.book = book
        self.watch = watch
        self.filled: dict[str, Filled] = {}
        """By call, as canonical JSON."""
        self.begin: State | None = None
        """What the state shows at first. Who asks for several things has seen that: none has a name that only one of
        the calls gives it."""
        self._said: set[str] = set()
        self._touched: set[str] = set()
        """Names of what was changed: a request that then deletes one of these would make the change pointless."""
        self._doing: dict[str, list[Move]] = {}
        for move in book.moves:
            if move.tool is not None:
                self._doing.setdefault(move.tool, []).append(move)

    def tool(self, episode: Episode, generator: np.random.Generator) -> str | None:
        return None

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> dict[str, Any] | None:
        moves = self._doing.get(tool)
        if not moves:
            return None
        move = moves[pick([one.weight for one in moves], generator)]
        filled = self.fill(move, episode, generator)
        if filled is None or filled.is_so(self.book, self.watch.last) or not self._known(filled):
            return None
        self.filled[canonical_json([tool, filled.arguments])] = filled
        return filled.arguments

    def writes(self, tool: str) -> bool:
        return tool in self._doing

    def saw(self, step: Explored) -> None:
        """What it says, later calls may be about."""
        if step.changed:
            self._said |= set(self.of(step).said)
            self._touched |= set(self._names(self.of(step)).values())

    def _known(self, filled: Filled) -> bool:
        """Whether what it is about had its name from the beginning, or by what was said; and whether, of what is
        removed, nothing else was asked for."""
        begin, names = self.begin or self.watch.last, self._names(filled)
        for slot, name in names.items():
            record = self.book.records[slot.split("#")[0]]
            contents = [result.content for tool, _, result in begin.shown if tool == record.tool]
            called = {parts.get(record.names or "") for content in contents for parts in things(record, content)}
            if contents and name not in self._said | called:
                return False
        last = list(names.values())[-1:]
        return not (verb_of(filled.move.tool or "") in _REMOVES and last and last[0] in self._touched)

    def _names(self, filled: Filled) -> dict[str, str]:
        """Slot -> the name of what was drawn for it."""
        found = {}
        for slot, parts in filled.bound.items():
            record = self.book.records.get(slot.split("#")[0])
            if record is not None and record.names is not None:
                found[slot] = parts[record.names]
        return found

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
            arguments = typed(arguments, spelled_out(schema.schema.parameters))
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
            dict(filler.bound),
            answer,
            tuple(dict.fromkeys(value for parts in filler.bound.values() for value in parts.values())),
        )


def typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Texts of a filled template as the types that the tool's schema, spelled out, names."""
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
