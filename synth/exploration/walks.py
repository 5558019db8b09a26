"""Seeded exploration of any environment: it tries what was little tried, and knows which calls had an effect.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723): weights favour tools, arguments and values
that were used least, and calls without effect go to a pool that is not tried again from the same state. A call has an
effect when it changes the state or, of a tool that is called for what it shows, shows something that the walk had not
seen. The loop stands here, and nothing in it knows an environment; who chooses the arguments is a :class:`Proposer`,
and what a state is may be told by whoever knows better than the snapshot.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from pydantic import Field

from synth.environments.contract import Environment, Episode, ToolCall, ToolResult
from synth.identity import canonical_json, derive_generator, digest
from synth.schemas.described import Described
from synth.schemas.tasks import Task

__all__ = [
    "Coverage",
    "Explored",
    "Explorer",
    "ExplorerConfig",
    "Proposer",
    "Walk",
    "choose",
    "draw",
    "pick",
    "state_key",
]

T = TypeVar("T")
_COUNTERS = ("calls",)
"""Keys of a snapshot's state that say how often something was called, not what is the case."""
_TRIES = 32
"""Proposals per call that may turn out to be known as useless; then the walk ends."""


class ExplorerConfig(Described):
    """How an explorer works."""

    effective: int | None = Field(default=None, ge=1, le=1000)
    """Effective calls after which a walk stops (OS-Genesis: 10 on phones, 5 on the web). None = no such limit."""
    calls: int = Field(default=60, ge=1)
    """Calls after which a walk stops, effective or not."""
    writes: float | None = Field(default=None, ge=0, le=1)
    """Share of the calls that go to tools that write, where that is known. None = by weight alone."""
    idle: float = Field(default=1.0, ge=0, le=1)
    """What a call without effect counts against its tool, beside 1 for one with effect. Low where calls mostly fail for
    their arguments."""
    undo: bool = False
    """True: a call without effect is taken back, so that exactly the effective ones lead to the end of the walk. Where
    a refused call changes nothing anyway, it costs time and gains nothing."""


@dataclass(frozen=True)
class Explored:
    """A call that was tried."""

    call: ToolCall
    result: ToolResult
    before: str
    """The state before it, as text: equal states have equal texts."""
    after: str
    effective: bool
    """It changed the state, or (of a tool that reads) showed something that this walk had not seen."""

    @property
    def changed(self) -> bool:
        """Whether the state changed; else it only showed something."""
        return self.before != self.after


@dataclass(frozen=True)
class Walk:
    """One exploration of one episode."""

    task: Task
    steps: tuple[Explored, ...]
    """Every call that was tried, in order; of those without effect, what they would have led to is taken back where
    the explorer is told to."""

    @property
    def effective(self) -> tuple[Explored, ...]:
        return tuple(step for step in self.steps if step.effective)

    @property
    def changing(self) -> tuple[Explored, ...]:
        """Effective steps that changed the state."""
        return tuple(step for step in self.steps if step.effective and step.changed)


@dataclass
class Coverage:
    """What was tried so far; may be given from one explorer to the next, so that they part ways."""

    tried: Counter[str] = field(default_factory=Counter)
    """Calls by tool, effective or not."""
    effective: Counter[str] = field(default_factory=Counter)
    """Effective calls by tool."""
    arguments: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(tool, argument) -> calls that gave it."""
    values: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(tool, argument, value as canonical JSON) -> calls."""
    worked: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The same of effective calls."""
    states: set[str] = field(default_factory=set)
    """Different states that were reached."""
    idle: set[str] = field(default_factory=set)
    """The no-effect pool: states and calls that had none there, whoever tried it."""


class Proposer(Protocol):
    """Chooses the arguments of calls. One proposer serves one walk."""

    def tool(self, episode: Episode, generator: np.random.Generator) -> str | None:
        """The tool of the next call, where what is used tells it. None = one that had an effect rarely."""

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> dict[str, Any] | None:
        """Arguments for a call of ``tool``; None where there is nothing yet that a required one could take."""

    def writes(self, tool: str) -> bool | None:
        """Whether a tool is there to change something: what it shows is then no effect. None = not known."""

    def saw(self, step: Explored) -> None:
        """Is told of each effective call."""


class Explorer:
    """Explores one environment, walk after walk, and remembers where it was."""

    def __init__(
        self,
        environment: Environment,
        proposer: Callable[[], Proposer],
        *,
        seed: int = 0,
        config: ExplorerConfig | None = None,
        coverage: Coverage | None = None,
        state: Callable[[Episode], str] | None = None,
    ) -> None:
        """
        Args:
            proposer: Makes the proposer of a walk.
            seed: Equal seeds and equal walks in equal order give equal explorations.
            coverage: What others tried; counted on.
            state: What is the case in an episode, as text. None = :func:`state_key` of its snapshot.
        """
        self.environment = environment
        self.seed = seed
        self.config = config or ExplorerConfig()
        self.coverage = coverage if coverage is not None else Coverage()
        self._proposer = proposer
        self._state = state or (lambda episode: state_key(episode.snapshot().state))
        self._walks = 0

    def walk(self, task: Task, calls: int | None = None) -> Walk:
        """Explore a fresh episode of ``task``, with at most ``calls`` calls (None = as the config says)."""
        generator = derive_generator(self.seed, "explore", self.environment.name, task.id, self._walks)
        self._walks += 1
        proposer, coverage = self._proposer(), self.coverage
        known = coverage.idle
        seen: set[str] = set()
        shown: set[str] = set()  # calls that show nothing new in this walk; in another one they may
        done: list[Explored] = []
        effective = 0
        episode = self.environment.reset(task)
        try:
            before = self._state(episode)
            coverage.states.add(before)
            for number in range(self.config.calls if calls is None else calls):
                if effective == self.config.effective:
                    break
                call = self._propose(proposer, episode, before, number, (known, shown), generator)
                if call is None:
                    break
                here = episode.snapshot() if self.config.undo else None
                result = episode.step(call)
                after = self._state(episode)
                changed, fresh = before != after, result.content not in seen
                writes = proposer.writes(call.name)
                step = Explored(
                    call, result, before, after, result.error is None and (changed or (not writes and fresh))
                )
                done.append(step)
                seen.add(result.content)
                self._note(step)
                if step.effective:
                    effective += 1
                    proposer.saw(step)
                elif result.error != "failure":  # a tool that broke says nothing about the call
                    (known if result.error is not None or writes else shown).add(_useless(before, call))
                if here is not None and not step.effective:
                    episode.restore(here)
                else:
                    before = after
        finally:
            episode.close()
        return Walk(task, tuple(done))

    def _note(self, step: Explored) -> None:
        coverage, call = self.coverage, step.call
        coverage.tried[call.name] += 1
        coverage.effective[call.name] += step.effective
        coverage.states |= {step.after} if step.effective or not self.config.undo else set()
        for name, value in call.arguments.items():
            key = call.name, name, canonical_json(value)
            coverage.arguments[call.name, name] += 1
            coverage.values[key] += 1
            coverage.worked[key] += step.effective

    def _propose(
        self,
        proposer: Proposer,
        episode: Episode,
        state: str,
        number: int,
        idle: tuple[set[str], set[str]],
        generator: np.random.Generator,
    ) -> ToolCall | None:
        """A call that is not known to have no effect in this state; None where none is found."""
        for _ in range(_TRIES):
            name = proposer.tool(episode, generator) or self._tool(proposer, generator)
            arguments = None if name is None else proposer.arguments(name, episode, self.coverage, generator)
            if name is None or arguments is None:
                continue
            call = ToolCall(id=f"explore_{number}", name=name, arguments=arguments)
            if not any(_useless(state, call) in pool for pool in idle):
                return call
        return None

    def _tool(self, proposer: Proposer, generator: np.random.Generator) -> str | None:
        """Tools that had an effect rarely come first; those that never have are not tried for ever."""
        every = [tool.name for tool in self.environment.tools()]
        names = every
        if self.config.writes is not None:
            writes = bool(generator.random() < self.config.writes)
            names = [name for name in every if proposer.writes(name) in (writes, None)] or every
        tried, effective = self.coverage.tried, self.coverage.effective
        weights = [1 / (1 + effective[name] + self.config.idle * (tried[name] - effective[name])) for name in names]
        return names[pick(weights, generator)] if names else None


def pick(weights: Iterable[float], generator: np.random.Generator) -> int:
    """An index, drawn with a probability in proportion to its weight."""
    total = np.asarray(tuple(weights), dtype=np.float64)
    return int(generator.choice(len(total), p=total / total.sum()))


def choose(generator: np.random.Generator, items: Sequence[T]) -> T:
    """One of ``items``."""
    return items[int(generator.integers(len(items)))]


def draw(generator: np.random.Generator, weights: Mapping[Any, float]) -> Any:
    """A name, drawn with a probability in proportion to its weight."""
    names = sorted(weights, key=str)
    return names[pick([weights[name] for name in names], generator)]


def state_key(state: str) -> str:
    """What is the case in a snapshot's ``state``: its text without counters of calls."""
    try:
        found = json.loads(state)
    except json.JSONDecodeError:
        return state
    if isinstance(found, dict):
        found = {name: value for name, value in found.items() if name not in _COUNTERS}
    return canonical_json(found)


def _useless(state: str, call: ToolCall) -> str:
    return digest("useless", state, call.name, call.arguments)
