"""Which tool's output feeds which tool's input (ASTRA, arXiv 2601.21558): from schemas and from recorded calls.

Two sources, kept apart. *Schemas* say which inputs take an id: a tool that can be called without one may show it.
*Observed values* prove it: what stood in an observation of one tool, and in nothing that the agent said before, was the
argument of a later call. Walks over the graph give chains of tools that can be carried out. Nothing here knows an
environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from synth.agents.contract import History
from synth.environments.contract import ID_ARGUMENTS, ToolSchema
from synth.environments.rendering import find_links

__all__ = ["Feed", "ToolGraph", "tool_graph"]

_SHORT = 3
"""A value with fewer signs stands in any text by chance."""


@dataclass(frozen=True)
class Feed:
    """Something that ``source`` shows is what ``argument`` of ``target`` takes."""

    source: str
    target: str
    argument: str
    seen: int
    """Recorded calls that did so."""
    declared: bool
    """Whether the schemas alone say so: ``argument`` takes an id, and ``source`` can be called without one."""


@dataclass(frozen=True)
class ToolGraph:
    """Tools as nodes, feeds as edges."""

    tools: tuple[ToolSchema, ...]
    feeds: tuple[Feed, ...]
    """Sorted by source, target and argument."""

    def needs(self, tool: str) -> frozenset[str]:
        """Arguments of ``tool`` that must be fed by another one: it can't be called without them."""
        schema = self._schema(tool)
        required = frozenset(schema.parameters.get("required", ()))
        return required & {feed.argument for feed in self.feeds if feed.target == tool}

    def starts(self) -> tuple[str, ...]:
        """Tools that can be called first, in the order of the environment."""
        return tuple(tool.name for tool in self.tools if not self.needs(tool.name))

    def next(self, done: Sequence[str]) -> tuple[str, ...]:
        """Tools that can follow ``done``: all that they need is fed by a tool that was called, or nothing is needed."""
        shown = set(done)
        return tuple(
            tool.name
            for tool in self.tools
            if all(
                any(feed.source in shown for feed in self.feeds if (feed.target, feed.argument) == (tool.name, name))
                for name in self.needs(tool.name)
            )
        )

    def chain(
        self, length: int, generator: np.random.Generator, *, seen: Mapping[str, int] | None = None
    ) -> tuple[str, ...]:
        """A chain of ``length`` tools that can be carried out one after the other. Each is drawn with a weight that
        falls with how often ``seen`` counts it and how often it stands in the chain; one that the last tool feeds
        counts three times as much as one that stands beside it. Shorter only where no tool can be called at all.

        Raises:
            ValueError: the length is negative.
        """
        if length < 0:
            raise ValueError(f"a chain has at least 0 tools, not {length}")
        done: list[str] = []
        while len(done) < length:
            options = self.next(done)
            if not options:
                break
            fed = {feed.target for feed in self.feeds if done and feed.source == done[-1]}
            weights = np.array(
                [
                    (3.0 if name in fed else 1.0) / (1 + (seen or {}).get(name, 0) + 2 * done.count(name))
                    for name in options
                ]
            )
            done.append(options[int(generator.choice(len(options), p=weights / weights.sum()))])
        return tuple(done)

    def _schema(self, tool: str) -> ToolSchema:
        """
        Raises:
            KeyError: there is no such tool.
        """
        found = next((one for one in self.tools if one.name == tool), None)
        if found is None:
            raise KeyError(f"no tool {tool!r} among {', '.join(one.name for one in self.tools)}")
        return found


def tool_graph(tools: Sequence[ToolSchema], histories: Iterable[History] = (), *, least: int = 1) -> ToolGraph:
    """The graph of ``tools``: what their schemas say, and what at least ``least`` calls of ``histories`` prove.

    A value counts as fed by the observation that showed it first. What the question or an earlier call of the agent's
    own said is fed by nobody; refused calls prove nothing.
    """
    names = {tool.name for tool in tools}
    counted: dict[tuple[str, str, str], int] = {}
    for history in histories:
        shown: dict[str, str] = {}
        own: set[str] = set()
        for step in history:
            for call, result in zip(step.turn.calls, step.results, strict=False):
                if call.name not in names or result.error is not None:
                    continue
                for argument, value in call.arguments.items():
                    text = _text(value)
                    source = shown.get(text) if text not in own else None
                    if source is not None:
                        key = source, call.name, argument
                        counted[key] = counted.get(key, 0) + 1
                    elif len(text) >= _SHORT:
                        own.add(text)
            for call, result in zip(step.turn.calls, step.results, strict=False):
                if call.name in names and result.error is None:
                    for text in _values(result.content):
                        shown.setdefault(text, call.name)
    declared = _declared(tools)
    keys = declared | {key for key, count in counted.items() if count >= least}
    feeds = tuple(Feed(*key, seen=counted.get(key, 0), declared=key in declared) for key in sorted(keys))
    return ToolGraph(tuple(tools), feeds)


def _declared(tools: Sequence[ToolSchema]) -> set[tuple[str, str, str]]:
    """(source, target, argument) for every id that a tool takes, from every tool that takes none."""
    takes = {tool.name: set(tool.parameters.get("properties", {})) & ID_ARGUMENTS for tool in tools}
    free = [name for name, ids in takes.items() if not ids]
    return {(source, target, argument) for target, ids in takes.items() for argument in ids for source in free}


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _values(content: str) -> set[str]:
    """What an observation offers as an argument: targets of links, and words and numbers of its text."""
    found = {item.target for item in find_links(content)}
    found |= {item.target.split("#", 1)[0] for item in find_links(content)}
    found |= set(re.findall(r"[^\s\"'`,;:()\[\]{}<>]+", content))
    return {text.rstrip(".") for text in found if len(text) >= _SHORT}
