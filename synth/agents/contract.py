"""What an agent is: a policy that reads a history and takes a turn. All state is the history.

Because a policy keeps nothing between turns, it can continue from any step of any recorded trajectory (branching),
and because its generator is derived per turn by the caller, a continuation draws from its own names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.errors import SynthError, fault_of, is_ours, returned
from synth.models.contract import CallFailed, FailureKind
from synth.schemas.injected import InjectedError
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.summaries import ShownSummary

__all__ = ["Decision", "History", "Policy", "Prompt", "Step", "Turn", "TurnRejected", "act"]


class Turn(Row):
    """What an agent does in one turn: think, perhaps say something, then call tools or give the final answer."""

    thought: str | None = None
    said: str | None = None
    """Text beside the calls."""
    calls: tuple[ToolCall, ...] = ()
    """Empty in the last turn."""
    answer: str | None = None
    """The final message to the user. Set exactly when ``calls`` is empty; None with no calls = gave up."""


class Step(Row):
    """A turn and what the environment answered: one result per call, in order."""

    turn: Turn
    results: tuple[ToolResult, ...] = ()


History = tuple[Step, ...]


class Prompt(Row):
    """What the agent was told: the same for every turn."""

    system: str
    question: str
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True)
class Decision:
    """A turn, and for scripted agents what was done wrong on purpose in it (goes to the sealed side table)."""

    turn: Turn
    injected: tuple[InjectedError, ...] = ()
    source: ModelTurn | None = None
    """Of a model's turn, where it comes from."""
    shown: tuple[ShownSummary, ...] = ()
    """Summaries that it read in the place of observations of the history."""


class TurnRejected(Exception):
    """An agent came to no turn, through no choice of its own: nothing can be said about how it would have ended. A run
    or continuation that needed the turn is neither a success nor a failure."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail

    @classmethod
    def of(cls, failed: CallFailed) -> TurnRejected:
        """What a call without a reply means for the turn."""
        overflow = failed.kind is FailureKind.CONTEXT
        reason = Reason.CONTEXT_OVERFLOW if overflow else Reason.ENDPOINT_FAILED
        return cls(reason, f"{failed.kind.value}: {failed.detail}")


def act(policy: Policy, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
    """The next turn of ``policy``; a call that brought no reply is a rejected turn, whoever made it.

    Raises:
        TurnRejected: there is none.
        InputError: a policy of the user's raised something else, or returned no decision.
    """
    try:
        decision = policy.act(prompt, history, generator)
    except CallFailed as error:
        raise TurnRejected.of(error) from error
    except (TurnRejected, SynthError):
        raise
    except Exception as error:
        if is_ours(policy):
            raise
        raise fault_of(policy, "act", error) from error
    return decision if is_ours(policy) else returned(policy, "act", decision, Decision)


class Policy(Protocol):
    """Acts. Pure: the same prompt, history and generator state give the same turn."""

    privileged: bool
    """True when it may look at the gold walk (given when it was made) to choose among options that it has seen."""

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        """The next turn.

        Raises:
            TurnRejected: a model gave nothing that could be carried out.
        """
