"""A run as the tiny decoder reads it: ``<user> question <end>``, then turns and observations.

What is the same in every run (system prompt, tool schemas) carries no information for a model of one environment and is
left out; so are thoughts. A turn is ``<agent> answer <end>`` or ``<agent> <call> name{arguments} <end>``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from efficacy_lab.words import AGENT, CALL, END, TOOL, USER, Conversation, Tables
from synth.identity import canonical_json

__all__ = ["Action", "Encoded", "Step", "Transcript", "action_of", "call", "encoded", "texts_of"]


@dataclass(frozen=True)
class Action:
    """A call of a tool, or the final answer."""

    tool: str | None
    """None = an answer."""
    text: str
    """Arguments as canonical JSON, or the answer."""

    @property
    def written(self) -> str:
        return (self.tool or "") + self.text


@dataclass(frozen=True)
class Step:
    """A call and what was observed."""

    action: Action
    observation: str


@dataclass(frozen=True)
class Encoded:
    """Token ids and which of them the model has to give."""

    ids: npt.NDArray[np.int32]
    """``(length,)``."""
    targets: npt.NDArray[np.bool_]
    """``(length,)``: what the agent wrote, its end included, in turns that are targets."""


def call(tool: str, **arguments: str | int) -> Action:
    """A call of ``tool``."""
    return Action(tool, canonical_json(arguments))


class Transcript:
    """One run as token ids, growing turn by turn."""

    def __init__(self, tables: Tables, question: str, steps: Sequence[Step] = ()) -> None:
        """
        Raises:
            SlotsUsedUp: the conversation has too many rare words; also from :meth:`add` and :meth:`turn`.
        """
        self.conversation = Conversation(tables, question)
        self.ids = [USER, *self.conversation.ids(question), END]
        for step in steps:
            self.add(step)

    def add(self, step: Step) -> None:
        """Read a call and its observation."""
        self.ids += [*self.turn(step.action), TOOL, *self.conversation.ids(step.observation), END]

    def turn(self, action: Action) -> list[int]:
        """The ids of a turn of the agent."""
        return [AGENT, *([CALL] if action.tool else []), *self.conversation.ids(action.written), END]


def encoded(
    tables: Tables, question: str, steps: Sequence[Step], last: Action | None = None, first: int = 0
) -> Encoded:
    """``steps`` and a ``last`` turn as a training row; turns from number ``first`` on are targets.

    Raises:
        SlotsUsedUp: see :class:`Transcript`.
    """
    transcript = Transcript(tables, question)
    targets = [False] * len(transcript.ids)
    for number, action in enumerate([*(step.action for step in steps), *([last] if last else [])]):
        before = len(transcript.ids)
        turn = transcript.turn(action)
        targets += [False, *([number >= first] * (len(turn) - 1))]  # that it is the agent's turn is given
        if number < len(steps):
            transcript.add(steps[number])
            targets += [False] * (len(transcript.ids) - before - len(turn))
        else:
            transcript.ids += turn
    return Encoded(np.asarray(transcript.ids, dtype=np.int32), np.asarray(targets, dtype=np.bool_))


def texts_of(question: str, steps: Sequence[Step], last: Action | None = None) -> list[str]:
    """All texts of a run: what the vocabulary is learned from."""
    actions = [part for step in steps for part in (step.action.written, step.observation)]
    return [question, *actions, *([last.written] if last else [])]


def action_of(ids: Sequence[int], conversation: Conversation) -> Action | None:
    """What the model wrote behind ``<agent>``, without the ``<end>``; None where that is no turn."""
    if CALL not in ids:
        return Action(None, conversation.text(ids))
    if ids[0] != CALL or CALL in ids[1:]:
        return None
    name, brace, rest = conversation.text(ids[1:]).partition("{")
    try:
        return Action(name.strip(), canonical_json(json.loads(brace + rest)))
    except ValueError:
        return None
