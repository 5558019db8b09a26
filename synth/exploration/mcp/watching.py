"""How a server's state is seen and how calls are tried on it: every trial is a fresh server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from synth.environments.contract import Episode, ToolCall, ToolResult
from synth.environments.mcp.environment import McpEnvironment, McpEpisode
from synth.environments.mcp.goals import Probe, canonical, fits, open_parts, template
from synth.exploration.mcp.book import Book
from synth.exploration.mcp.filling import probe_calls
from synth.identity import digest
from synth.schemas.tasks import Task

__all__ = ["Call", "State", "Watch", "all_fit", "blank", "look", "probes_of"]

Call = tuple[str, dict[str, Any]]
Shown = tuple[str, dict[str, Any], ToolResult]


def blank(name: str) -> Task:
    """A task that asks nothing: an episode must be somebody's, and an explorer has none yet."""
    return Task.model_construct(id=name, question="", answer="", details={}, answer_parts=(), answer_aliases=())


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
        episode = self.environment.reset(blank("trial"))
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
    look that has too little in common is no probe."""
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
