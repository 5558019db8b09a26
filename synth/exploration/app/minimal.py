"""Replays: the same calls from the same beginning, fewer of them, or in another order.

A solution is 1-minimal when no single call that changes something can be left out, judged by the hash of the end state
(:func:`synth.exploration.minimal.minimal` finds one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeVar

from synth.environments.app.environment import AppEnvironment, AppEpisode
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.app.walking import violations
from synth.schemas.tasks import Task

__all__ = ["Replay", "orders", "removable", "replay"]

_MOST_ORDERS = 24
_T = TypeVar("_T")


@dataclass(frozen=True)
class Replay:
    """What came of calls in a fresh episode."""

    results: tuple[ToolResult, ...]
    end: str
    """Hash of the end state."""
    violated: tuple[str, ...]
    stopped: tuple[str | None, ...]
    """By call, the rule that stopped it."""

    @property
    def clean(self) -> bool:
        """No call went wrong and nothing was violated."""
        return not self.violated and all(result.error is None for result in self.results)


def replay(environment: AppEnvironment, task: Task, calls: Sequence[ToolCall]) -> Replay:
    """Carry out ``calls`` in a fresh episode of ``task``."""
    episode: AppEpisode = environment.reset(task)
    try:
        results, stopped = [], []
        for call in calls:
            results.append(episode.step(call))
            stopped.append(episode.refused_by)
        return Replay(tuple(results), episode.state_hash(), tuple(violations(episode)), tuple(stopped))
    finally:
        episode.close()


def removable(items: Sequence[_T], reaches: Callable[[Sequence[_T]], bool]) -> int | None:
    """The first item without which the rest still reaches it; None where there is none."""
    return next((at for at in range(len(items)) if reaches([*items[:at], *items[at + 1 :]])), None)


def orders(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Other orders of ``items``, all of up to four."""
    for number, order in enumerate(permutations(range(len(items)))):
        if 0 < number < _MOST_ORDERS:
            yield [items[at] for at in order]
