"""The agent loop: a policy and an environment, turn by turn, until an answer or a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from synth.agents.contract import History, Policy, Prompt, Step, Turn
from synth.environments.contract import Environment, Episode, ToolError
from synth.schemas.injected import InjectedError
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, Verdict

__all__ = ["Limits", "Rollout", "prompt_for", "replay", "rollout"]

_INVALID: frozenset[ToolError] = frozenset({"unknown_tool", "bad_arguments"})


class Limits(Row):
    """When a rollout is stopped."""

    max_turns: int = 24
    """Turns of the whole history. Calls made in the last of them are not carried out."""
    max_invalid: int = 3
    """Turns in a row in which no call was accepted by a tool."""


@dataclass(frozen=True)
class Rollout:
    """What came of it. ``injected`` is for the sealed table only."""

    task: Task
    prompt: Prompt
    history: History
    stop_reason: StopReason
    verdict: Verdict
    injected: tuple[InjectedError, ...] = ()

    @property
    def answer(self) -> str | None:
        return self.history[-1].turn.answer if self.history else None


def prompt_for(environment: Environment, task: Task, system: str) -> Prompt:
    """What an agent is told: ``system`` is rendered by the caller from a prompt file."""
    return Prompt(system=system, question=task.question, tools=environment.tools())


def rollout(
    policy: Policy,
    environment: Environment,
    task: Task,
    *,
    system: str,
    limits: Limits,
    generator_for_turn: Callable[[int], np.random.Generator],
    history: History = (),
    episode: Episode | None = None,
) -> Rollout:
    """Let ``policy`` act until it answers, gives up or reaches a limit.

    ``generator_for_turn(n)`` gives the generator of turn ``n``, n counted over the whole history, so a continuation
    draws from its own names. To continue from a ``history``, give an ``episode`` that stands behind it (restored from
    a snapshot); without one the history is replayed on a fresh episode.

    Raises:
        ValueError: the history is over already, or its replay gives other observations.
    """
    if history and (not history[-1].turn.calls or not history[-1].results):
        raise ValueError("the history is over: its last turn has no observation to go on from")
    own = episode is None
    at = episode if episode is not None else replay(environment, task, history)
    prompt = prompt_for(environment, task, system)
    injected: list[InjectedError] = []
    stop: StopReason | None = None
    try:
        while stop is None:
            number = len(history)
            decision = policy.act(prompt, history, generator_for_turn(number))
            turn = _numbered(decision.turn, number)
            injected += [error.model_copy(update={"turn": number}) for error in decision.injected]
            if not turn.calls:
                history += (Step(turn=turn),)
                stop = StopReason.GAVE_UP if turn.answer is None else StopReason.ANSWERED
            elif number + 1 >= limits.max_turns:
                history += (Step(turn=turn),)
                stop = StopReason.MAX_TURNS
            else:
                history += (Step(turn=turn, results=tuple(at.step(call) for call in turn.calls)),)
                if _invalid_tail(history) >= limits.max_invalid:
                    stop = StopReason.INVALID_CALLS
        verdict = at.check(history[-1].turn.answer)
    finally:
        if own:
            at.close()
    return Rollout(task, prompt, history, stop, verdict, tuple(injected))


def replay(environment: Environment, task: Task, history: History) -> Episode:
    """A fresh episode that has made the calls of ``history``.

    Raises:
        ValueError: an observation differs from the recorded one.
    """
    episode = environment.reset(task)
    for number, step in enumerate(history):
        for call, recorded in zip(step.turn.calls, step.results, strict=True):
            if episode.step(call) != recorded:
                raise ValueError(f"turn {number}: {call.name} answers otherwise than it did when it was recorded")
    return episode


def _numbered(turn: Turn, number: int) -> Turn:
    """Call ids by place, whatever the backend made up: unique in the trajectory, equal in every run."""
    calls = tuple(call.model_copy(update={"id": f"call_{number}_{place}"}) for place, call in enumerate(turn.calls))
    return turn.model_copy(update={"calls": calls})


def _invalid_tail(history: History) -> int:
    count = 0
    for step in reversed(history):
        if not all(result.error in _INVALID for result in step.results):
            break
        count += 1
    return count
