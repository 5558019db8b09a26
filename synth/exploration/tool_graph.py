"""Which tool's output feeds which tool's input (ASTRA, arXiv 2601.21558).

Two kinds of evidence, kept apart. *Declared*: an input takes an id, and a tool that can be called without one may show
it; who knows the environment better declares more exactly (``app_feeds``). *Seen*: what stood in an observation of one
tool, and in nothing that the agent said before, was the argument of a later call. A declared feed that no run has used
is a possibility; a seen one that nobody declared is what a tool says in its words. Nothing here knows an environment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from synth.environments.contract import ID_ARGUMENTS, ToolCall, ToolResult, ToolSchema

__all__ = ["Edge", "Feed", "Run", "ToolGraph", "tool_graph"]

Edge = tuple[str, str, str]
"""(source, target, argument)."""
Run = Sequence[Sequence[tuple[ToolCall, ToolResult]]]
"""The calls of a run and their results, by turn: calls of one turn have not seen each other's results."""
_SHORT = 3
"""A value with fewer signs stands in any text by chance."""


@dataclass(frozen=True, order=True)
class Feed:
    """Something that ``source`` shows is what ``argument`` of ``target`` takes."""

    source: str
    target: str
    argument: str
    declared: bool
    seen: int
    """Recorded calls that did so."""


@dataclass(frozen=True)
class ToolGraph:
    """Tools as nodes, feeds as edges."""

    tools: tuple[ToolSchema, ...]
    feeds: tuple[Feed, ...]
    """Sorted by source, target and argument."""

    def into(self, tool: str) -> tuple[Feed, ...]:
        """What feeds ``tool``."""
        return tuple(feed for feed in self.feeds if feed.target == tool)

    def needs(self, tool: str) -> frozenset[str]:
        """Arguments of ``tool`` that must be fed by another one: it can't be called without them.

        Raises:
            KeyError: there is no such tool.
        """
        found = next((one for one in self.tools if one.name == tool), None)
        if found is None:
            raise KeyError(f"no tool {tool!r} among {', '.join(one.name for one in self.tools)}")
        required = frozenset(found.parameters.get("required", ()))
        return required & {feed.argument for feed in self.into(tool)}

    def starts(self) -> tuple[str, ...]:
        """Tools that can be called first, in the order of the environment."""
        return self.next(())

    def next(self, done: Sequence[str]) -> tuple[str, ...]:
        """Tools that can follow ``done``: all that they need is fed by a tool that was called, or nothing is needed."""
        shown = set(done)
        return tuple(
            tool.name
            for tool in self.tools
            if all(
                any(feed.source in shown and feed.argument == name for feed in self.into(tool.name))
                for name in self.needs(tool.name)
            )
        )

    def unfed(self) -> tuple[str, ...]:
        """Tools that no chain of tools leads to: of what they need, some is shown by none that can be called."""
        done = self.starts()
        while (more := self.next(done)) != done:
            done = more
        return tuple(tool.name for tool in self.tools if tool.name not in done)


def tool_graph(
    tools: Sequence[ToolSchema],
    runs: Iterable[Run] = (),
    *,
    declared: Iterable[Edge] | None = None,
    least: int = 1,
) -> ToolGraph:
    """The graph of ``tools``: what is declared, and what at least ``least`` calls of ``runs`` prove.

    A value counts as fed by the observation that showed it first. What the question or an earlier call of the agent's
    own said is fed by nobody, no more than a choice that the tool's own schema lists; refused calls prove nothing.

    Args:
        declared: Who feeds whom by definition. None = by the schemas' arguments that take an id.
    """
    schemas = {tool.name: tool for tool in tools}
    counted: Counter[Edge] = Counter()
    for run in runs:
        counted.update(_seen(schemas, run))
    known = set(_by_schemas(tools) if declared is None else declared)
    edges = known | {edge for edge, count in counted.items() if count >= least}
    feeds = (Feed(*edge, declared=edge in known, seen=counted[edge]) for edge in edges)
    return ToolGraph(tuple(tools), tuple(sorted(feeds)))


def _by_schemas(tools: Sequence[ToolSchema]) -> set[Edge]:
    """For every id that a tool takes, every tool that takes none."""
    takes = {tool.name: set(tool.parameters.get("properties", {})) & ID_ARGUMENTS for tool in tools}
    free = [name for name, ids in takes.items() if not ids]
    return {(source, target, argument) for target, ids in takes.items() for argument in ids for source in free}


def _seen(schemas: Mapping[str, ToolSchema], run: Run) -> Iterator[Edge]:
    shown: list[tuple[str, str]] = []  # (tool, what it said), in order
    own: set[str] = set()
    for turn in run:
        carried = [(call, result) for call, result in turn if call.name in schemas and result.error is None]
        for call, _ in carried:
            listed = schemas[call.name].parameters.get("properties", {})
            for argument, value in call.arguments.items():
                text = _text(value)
                if len(text) < _SHORT or text in own or "enum" in listed.get(argument, {}):
                    continue
                source = _first(shown, text)
                if source is None:
                    own.add(text)
                else:
                    yield source, call.name, argument
        shown += [(call.name, result.content) for call, result in carried]


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _first(shown: Sequence[tuple[str, str]], value: str) -> str | None:
    """The tool that showed ``value`` first, as a word of its own."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])")
    return next((tool for tool, words in shown if pattern.search(words)), None)
