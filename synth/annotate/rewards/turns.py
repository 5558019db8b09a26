"""A response turn by turn: what the policy wrote, and what was answered in between."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from synth.annotate.rewards.response import OBSERVATIONS, text_of
from synth.environments.observed import observe
from synth.environments.shown import Shown

__all__ = ["SaidTurn", "read_turns"]

_TAG = re.compile(r"^\s*<[^>]+>\n?|\n?</[^>]+>\s*$")


@dataclass(frozen=True)
class SaidTurn:
    """One turn, and the observations that followed it."""

    text: str
    """Thought and words."""
    observations: tuple[str, ...] = ()

    @cached_property
    def shown(self) -> tuple[Shown, ...]:
        """The observations, read."""
        return tuple(observe(text) for text in self.observations)


def read_turns(response: Any, observations: str | None = None) -> tuple[SaidTurn, ...]:
    """The turns of a response that :func:`synth.annotate.rewards.response.read_response` has taken.

    Args:
        observations: Regular expression of what tools said inside a text; None = chat templates of the Hermes family.
    """
    turns: list[SaidTurn] = []
    if isinstance(response, str):
        at = 0
        for found in re.finditer(observations or OBSERVATIONS, response, re.S):
            _heard(turns, response[at : found.start()], _TAG.sub("", found.group()))
            at = found.end()
        if response[at:].strip() or not turns:
            turns.append(SaidTurn(response[at:]))
        return tuple(turns)
    for message in response:
        if message["role"] == "assistant":
            turns.append(SaidTurn(_written(message)))
        elif message["role"] == "tool":
            _heard(turns, "", text_of(message.get("content"), "content"))
    return tuple(turns)


def _heard(turns: list[SaidTurn], written: str, heard: str) -> None:
    """Several tools answer one turn where nothing is written between."""
    if written.strip() or not turns:
        turns.append(SaidTurn(written))
    turns[-1] = SaidTurn(turns[-1].text, (*turns[-1].observations, heard))


def _written(message: Mapping[str, Any]) -> str:
    thought = message.get("reasoning_content")
    parts = (thought if isinstance(thought, str) else "", text_of(message.get("content"), "content"))
    return "\n\n".join(part for part in parts if part)
