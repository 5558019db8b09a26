"""The agent loop: a policy and an environment, turn by turn, until an answer or a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import Field

from synth.agents.contract import History, Policy, Prompt, Step, Turn, TurnRejected, act
from synth.environments.contract import Environment, Episode, ToolError
from synth.schemas.injected import InjectedError
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, Row
from synth.schemas.summaries import ShownSummary
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
    tokens: int | None = Field(default=None, ge=1)
    """Completion tokens that a model may use in all turns of a run, those of its helpers included, as far as its server
    counts them: when they are used up, no further turn is asked for, and the run is rejected."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall time of a run: when it is over, no further turn is asked for, and the run is rejected. The one limit that is
    not the same in every build."""


@dataclass(frozen=True)
class Rollout:
    """What came of it. ``injected`` is for the sealed table only."""

    task: Task
    prompt: Prompt
    history: History
    stop_reason: StopReason
    verdict: Verdict
    injected: tuple[InjectedError, ...] = ()
    sources: tuple[ModelTurn, ...] = ()
    """Where the turns come from, of a model's run; of a continuation, its own turns only."""
    rejected: TurnRejected | None = None
    """Why there was no further turn, when the run was stopped by that. ``history`` is what came before."""
    facts: JsonObject = field(default_factory=dict)
    """What the environment says must be recorded of the run (``Episode.facts``)."""
    shown: tuple[ShownSummary, ...] = ()
    """What the agent read in the place of observations, each once."""

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

    A turn that was rejected ends the run (``stop_reason`` ``rejected``), with no verdict on it; so does an environment
    that is gone.

    Raises:
        ValueError: the history is over already, or its replay gives other observations.
    """
    if history and (not history[-1].turn.calls or not history[-1].results):
        raise ValueError("the history is over: its last turn has no observation to go on from")
    own = episode is None
    at = episode if episode is not None else replay(environment, task, history)
    at.begin(system, generator_for_turn)
    prompt = prompt_for(environment, task, system)
    injected: list[InjectedError] = []
    sources: list[ModelTurn] = []
    shown: dict[str, ShownSummary] = {}
    stop: StopReason | None = None
    rejected: TurnRejected | None = None
    began = time.monotonic()
    try:
        while stop is None:
            number = len(history)
            try:
                _check_spent(limits, sources, at.tokens(), began)
                decision = act(policy, prompt, history, generator_for_turn(number))
            except TurnRejected as error:
                stop, rejected = StopReason.REJECTED, error
                break
            if decision.source is not None:
                sources.append(decision.source)
            shown |= {one.call_id: one for one in decision.shown}
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
                gone = at.lost()
                if gone is not None:
                    stop, rejected = StopReason.REJECTED, TurnRejected(Reason.ENVIRONMENT_ERROR, gone)
                elif _invalid_tail(history) >= limits.max_invalid:
                    stop = StopReason.INVALID_CALLS
        if rejected is None:
            verdict = at.check(history[-1].turn.answer)
        else:
            verdict = Verdict(correct=None, rule="abstained", evidence=str(rejected))
        facts = at.facts()
    finally:
        if own:
            at.close()
    return Rollout(
        task,
        prompt,
        history,
        stop,
        verdict,
        tuple(injected),
        tuple(sources),
        rejected,
        facts,
        tuple(shown.values()),
    )


def _check_spent(limits: Limits, sources: Sequence[ModelTurn], helped: int, began: float) -> None:
    """
    Raises:
        TurnRejected: tokens or time are used up.
    """
    used = helped + sum(source.completion_tokens or 0 for source in sources)
    if limits.tokens is not None and used >= limits.tokens:
        raise TurnRejected(Reason.TOKEN_LIMIT, f"{used:,} of {limits.tokens:,} tokens after {len(sources)} turns")
    if limits.seconds is not None and sources and time.monotonic() - began >= limits.seconds:
        raise TurnRejected(Reason.TIME_LIMIT, f"{limits.seconds:g} seconds were over after {len(sources)} turns")


def replay(environment: Environment, task: Task, history: History, recorded: JsonObject | None = None) -> Episode:
    """A fresh episode that has made the calls of ``history``. ``recorded`` is what the run's record says of its
    environment.

    Raises:
        ValueError: an observation differs from the recorded one.
    """
    episode = environment.resume(task, recorded or {})
    for number, step in enumerate(history):
        for call, before in zip(step.turn.calls, step.results, strict=True):
            if not environment.same(episode.step(call), before):
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
