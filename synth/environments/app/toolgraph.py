"""Which tool's output feeds which tool's input, and chains of tools along it (ASTRA, arXiv 2601.21558).

Two kinds of evidence make an edge, and each says how much it is worth:

* **declared**: a tool shows a column that is the key of a table, and another tool takes that key as an argument;
* **observed**: in a walk, a value of an argument stood in an earlier observation and in none before that, and is no
  argument of an earlier call. Values that are said everywhere (a number, a word of a list of choices) are no evidence.

A declared edge that no walk has used is a possibility; an observed one that nobody declared is what a tool says in its
words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.environments.app.definition import Definition, Tool
from synth.environments.app.exploring import Walk

__all__ = ["Feed", "ToolGraph", "tool_graph"]

_SHORTEST = 3
"""Characters of a value that counts as evidence: shorter ones stand somewhere by chance."""


@dataclass(frozen=True, order=True)
class Feed:
    """``source`` shows what ``target`` takes as ``argument``."""

    source: str
    target: str
    argument: str
    declared: bool
    observed: int
    """In how many calls of the walks it carried a value."""


@dataclass(frozen=True)
class ToolGraph:
    tools: tuple[str, ...]
    feeds: tuple[Feed, ...]
    """Sorted."""

    def into(self, tool: str) -> tuple[Feed, ...]:
        """What feeds ``tool``."""
        return tuple(feed for feed in self.feeds if feed.target == tool)

    def out_of(self, tool: str) -> tuple[Feed, ...]:
        return tuple(feed for feed in self.feeds if feed.source == tool)

    def chain(self, generator: np.random.Generator, *, length: int, last: str | None = None) -> tuple[str, ...]:
        """Tools in an order in which each one but the first takes something that the one before shows.

        Walked backwards from ``last`` (any tool that is fed, where none is given), edges drawn by how often they were
        observed; shorter than ``length`` where nothing leads further back.
        """
        fed = sorted({feed.target for feed in self.feeds})
        if last is None:
            if not fed:
                return ()
            last = fed[int(generator.integers(len(fed)))]
        chain = [last]
        while len(chain) < length:
            feeds = [feed for feed in self.into(chain[0]) if feed.source not in chain]
            if not feeds:
                break
            weights = np.array([1.0 + feed.observed for feed in feeds])
            chain.insert(0, feeds[int(generator.choice(len(feeds), p=weights / weights.sum()))].source)
        return tuple(chain)


def tool_graph(definition: Definition, walks: Iterable[Walk] = ()) -> ToolGraph:
    """The graph of an application: what its definition declares and what ``walks`` show."""
    declared = set(_declared(definition))
    observed: Counter[tuple[str, str, str]] = Counter()
    for walk in walks:
        observed.update(_observed(definition, walk))
    feeds = sorted(Feed(*edge, edge in declared, observed[edge]) for edge in declared | set(observed))
    return ToolGraph(tuple(definition.tools), tuple(feeds))


def _declared(definition: Definition) -> Iterable[tuple[str, str, str]]:
    shown = {name: _shown(definition, tool) for name, tool in definition.tools.items()}
    for target, tool in definition.tools.items():
        for argument, spec in tool.arguments.items():
            table = definition.table_of(argument, spec)
            if table is None:
                continue
            for source in definition.tools:
                if source != target and table in shown[source]:
                    yield source, target, argument


def _shown(definition: Definition, tool: Tool) -> set[str]:
    """Tables whose keys stand in what a tool says, other than those that it was given."""
    keys = {table.key[0]: name for name, table in definition.tables.items() if len(table.key) == 1}
    said: list[str] = [listing.row for listing in tool.lists]
    if tool.says is not None:
        said.append(tool.says)
    holes = {name for text in said for name in re.findall(r"\{([a-z][a-z0-9_]*)", text)}
    shown = {keys[name] for name in holes if name in keys and name not in tool.arguments}
    for step in tool.steps:
        # A new key under its own name, and columns of a row that was found.
        if step.new is not None and step.new in holes and step.of is not None:
            shown.add(step.of)
    for name in holes:
        prefix, _, column = name.partition("_")
        if any(step.find == prefix for step in tool.steps):
            referred = {
                spec.references
                for table in definition.tables.values()
                for at, spec in table.columns.items()
                if at == column and spec.references is not None
            }
            shown |= {table for table in referred if table is not None}
    return shown


def _observed(definition: Definition, walk: Walk) -> Iterable[tuple[str, str, str]]:
    known: list[tuple[str, str]] = []
    given: set[str] = set()
    for step in walk.steps:
        tool = definition.tools.get(step.call.name)
        if tool is not None and step.result.error is None:
            for argument, value in step.call.arguments.items():
                spec = tool.arguments.get(argument)
                if spec is None or spec.among or not _tells(value) or value in given:
                    continue
                source = _first(known, str(value))
                if source is not None and source != step.call.name:
                    yield source, step.call.name, argument
        given |= {value for value in step.call.arguments.values() if isinstance(value, str)}
        if step.result.error is None:
            known.append((step.call.name, step.result.content))


def _tells(value: Any) -> bool:
    return (
        isinstance(value, str) and len(value) >= _SHORTEST and any(sign.isdigit() or sign.isupper() for sign in value)
    )


def _first(known: Sequence[tuple[str, str]], value: str) -> str | None:
    """The tool that showed ``value`` first, as a word of its own."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])")
    return next((tool for tool, words in known if pattern.search(words)), None)
