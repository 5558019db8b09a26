"""A seeded explorer of any environment: it tries what was not tried yet, and keeps the steps that had an effect.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723): weights favour tools, arguments and values
that were used least, and calls without effect go to a pool that is not tried again from the same state. A call has an
effect when it changes the state or shows something that the exploration had not seen; one without is undone, so that
the recorded steps are exactly those that replay to the same end. Nothing here knows an environment.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from synth.environments.contract import (
    ID_ARGUMENTS,
    Environment,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
)
from synth.environments.rendering import find_links
from synth.identity import canonical_json
from synth.schemas.tasks import Task

__all__ = ["Coverage", "Exploration", "Explored", "ExplorerConfig", "explore", "state_key"]

_COUNTERS = ("calls",)
"""Keys of a snapshot's state that say how often something was called, not what is the case."""
_TOKEN = re.compile(r"[\w][\w./#-]*[\w]")


class ExplorerConfig(BaseModel):
    """How an explorer works."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    steps: int = Field(default=10, ge=1, le=1000)
    """Effective steps after which it stops (OS-Genesis: 10 on phones, 5 on the web)."""
    tries: int = Field(default=60, ge=1)
    """Calls after which it stops, effective or not."""
    optional: float = Field(default=0.3, ge=0, le=1)
    """Share of the arguments that may be left out which it gives."""


@dataclass(frozen=True)
class Explored:
    """One effective step: state before, action, state after."""

    before: str
    """:func:`state_key` of the state."""
    call: ToolCall
    result: ToolResult
    after: str

    @property
    def changed(self) -> bool:
        """Whether the state changed; else it only showed something new."""
        return self.before != self.after


@dataclass
class Coverage:
    """What was tried so far; given from one exploration to the next, so that they part ways."""

    tools: Counter[str] = field(default_factory=Counter)
    """Calls by tool, effective or not."""
    arguments: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(tool, argument) -> calls that gave it."""
    values: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(tool, argument, value) -> calls."""
    states: Counter[str] = field(default_factory=Counter)
    """State -> how often it was reached."""
    effective: int = 0
    refused: int = 0
    idle: set[tuple[str, str]] = field(default_factory=set)
    """The no-effect pool: (state, call) that was refused there, whoever tried it."""

    def report(self, tools: Sequence[ToolSchema]) -> dict[str, Any]:
        """How much of ``tools`` was covered: numbers and what is left, as JSON."""
        pairs = [(tool.name, name) for tool in tools for name in tool.parameters.get("properties", {})]
        return {
            "tools": [sum(bool(self.tools[tool.name]) for tool in tools), len(tools)],
            "arguments": [sum(bool(self.arguments[pair]) for pair in pairs), len(pairs)],
            "values": len(self.values),
            "states": len(self.states),
            "calls": self.tools.total(),
            "effective": self.effective,
            "refused": self.refused,
            "no_effect_pool": len(self.idle),
            "untried": sorted(
                [tool.name for tool in tools if not self.tools[tool.name]]
                + [f"{tool}.{name}" for tool, name in pairs if self.tools[tool] and not self.arguments[tool, name]]
            ),
        }


@dataclass(frozen=True)
class Exploration:
    """What one exploration did: its effective steps, in order."""

    task_id: str
    steps: tuple[Explored, ...]
    end: Snapshot


def state_key(snapshot: Snapshot) -> str:
    """What is the case in a state: its text without counters of calls."""
    try:
        state = json.loads(snapshot.state)
    except json.JSONDecodeError:
        return snapshot.state
    if isinstance(state, dict):
        state = {name: value for name, value in state.items() if name not in _COUNTERS}
    return canonical_json(state)


def explore(
    environment: Environment,
    task: Task,
    generator: np.random.Generator,
    *,
    config: ExplorerConfig | None = None,
    coverage: Coverage | None = None,
    hints: Iterable[str] = (),
) -> Exploration:
    """Walk through ``environment`` from the start of ``task``.

    Args:
        generator: Everything is drawn from it: equal generators and coverage give equal explorations.
        coverage: What earlier explorations tried; counted on.
        hints: Words to begin with, where tools take words that no observation has shown (names, amounts).
    """
    config, coverage = config or ExplorerConfig(), coverage if coverage is not None else Coverage()
    pool = _Pool(hints)
    seen: set[str] = set()
    shown: set[tuple[str, str]] = set()  # calls that show nothing new in this exploration; in another one they may
    steps: list[Explored] = []
    episode = environment.reset(task)
    try:
        here = episode.snapshot()
        coverage.states[state_key(here)] += 1
        for _ in range(config.tries):
            if len(steps) == config.steps:
                break
            idle = coverage.idle | shown
            call = _draw(environment.tools(), pool, coverage, idle, state_key(here), len(steps), config, generator)
            if call is None:
                break
            _count(coverage, call)
            result = episode.step(call)
            there = episode.snapshot()
            before, after = state_key(here), state_key(there)
            if result.error is None and (before != after or result.content not in seen):
                steps.append(Explored(before, call, result, after))
                seen.add(result.content)
                pool.add(result.content)
                coverage.effective += 1
                coverage.states[after] += before != after
                here = there
            else:
                coverage.refused += result.error is not None
                (coverage.idle if result.error is not None else shown).add((before, _key(call)))
                episode.restore(here)
    finally:
        episode.close()
    return Exploration(task.id, tuple(steps), here)


class _Pool:
    """Values that arguments may take: what observations showed, and hints."""

    def __init__(self, hints: Iterable[str]) -> None:
        self.ids: dict[str, None] = {}
        self.words: dict[str, None] = dict.fromkeys(hint for hint in hints if hint.strip())
        self.numbers: dict[int, None] = {}

    def add(self, content: str) -> None:
        for item in find_links(content):
            self.ids.setdefault(item.target)
            self.words.setdefault(item.anchor)
        for token in _TOKEN.findall(content):
            if token.isdigit():
                self.numbers.setdefault(int(token))
            else:
                self.words.setdefault(token)


def _key(call: ToolCall) -> str:
    return canonical_json([call.name, call.arguments])


def _count(coverage: Coverage, call: ToolCall) -> None:
    coverage.tools[call.name] += 1
    for name, value in call.arguments.items():
        coverage.arguments[call.name, name] += 1
        coverage.values[call.name, name, canonical_json(value)] += 1


def _draw(
    tools: Sequence[ToolSchema],
    pool: _Pool,
    coverage: Coverage,
    idle: AbstractSet[tuple[str, str]],
    state: str,
    number: int,
    config: ExplorerConfig,
    generator: np.random.Generator,
) -> ToolCall | None:
    """A call that is not in the pool ``idle`` of calls without effect in this state; None where none is found."""
    for _ in range(32):
        tool = tools[_pick([1 / (1 + coverage.tools[one.name]) for one in tools], generator)] if tools else None
        arguments = None if tool is None else _arguments(tool, pool, coverage, config, generator)
        if tool is None or arguments is None:
            continue
        call = ToolCall(id=f"step_{number}", name=tool.name, arguments=arguments)
        if (state, _key(call)) not in idle:
            return call
    return None


def _arguments(
    tool: ToolSchema, pool: _Pool, coverage: Coverage, config: ExplorerConfig, generator: np.random.Generator
) -> dict[str, Any] | None:
    """Arguments for one call; None where there is nothing yet that a required one could take."""
    required = set(tool.parameters.get("required", ()))
    found: dict[str, Any] = {}
    for name, schema in sorted(tool.parameters.get("properties", {}).items()):
        if name not in required:
            share = config.optional / (1 + 0.1 * coverage.arguments[tool.name, name])
            if float(generator.random()) >= share:
                continue
        options = list(_options(name, schema, pool))
        if not options:
            if name in required:
                return None
            continue
        used = [coverage.values[tool.name, name, canonical_json(value)] for value in options]
        found[name] = options[_pick([1 / (1 + 3 * count) for count in used], generator)]
    return found


def _options(name: str, schema: Mapping[str, Any], pool: _Pool) -> Iterator[Any]:
    kind = schema.get("type")
    if "enum" in schema:
        yield from schema["enum"]
    elif kind == "boolean":
        yield from (False, True)
    elif kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10**9)
        yield from sorted({value for value in (low, low + 1, *pool.numbers) if low <= value <= high})
    elif kind == "string":
        longest = schema.get("maxLength", 400)
        values = pool.ids if name in ID_ARGUMENTS else pool.ids | pool.words | {str(n): None for n in pool.numbers}
        yield from (value for value in values if len(value) <= longest)


def _pick(weights: Sequence[float], generator: np.random.Generator) -> int:
    total = np.asarray(weights, dtype=np.float64)
    return int(generator.choice(len(total), p=total / total.sum()))
