"""Pictures of what a model that sees was shown, in its conversation.

The last ones of the history go along, each behind the text that it belongs to, in a message of the user: servers take
no picture in one of a tool. An earlier one is left out once there are newer ones, so a server's prefix cache ends where
the oldest was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.agents.contract import History, Step
from synth.agents.model.wire import Message

__all__ = ["PICTURED", "with_pictures"]

PICTURED = "This is what it looks like now."
"""Stands before the pictures of what a tool has shown."""


def with_pictures(messages: Sequence[Message], history: History, most: int) -> list[Message]:
    """The conversation with the last ``most`` pictures that ``history`` holds, as ``image_url`` with a data URL.

    Args:
        messages: Of ``history``, as ``synth.agents.model.wire.messages_of`` gives them; more may stand behind them.
    """
    seen = [_pictures_of(step) for step in history]
    left_out = max(0, sum(map(len, seen)) - most)
    made = list(messages[:2])  # the system prompt and the question
    rest = list(messages[2:])
    for found in seen:
        shown = found[left_out:]
        left_out -= len(found) - len(shown)
        made.append(rest.pop(0))
        while rest and rest[0]["role"] == "tool":
            made.append(rest.pop(0))
        told = rest.pop(0) if rest and rest[0]["role"] == "user" else None
        if shown:
            text = PICTURED if told is None else told["content"]
            made.append({"role": "user", "content": [{"type": "text", "text": text}, *map(_part, shown)]})
        elif told is not None:
            made.append(told)
    return [*made, *rest]


def _pictures_of(step: Step) -> list[str]:
    """Pictures that a step's results hold, as data URLs."""
    pages = (result.page for result in step.results)
    return [page.screenshot for page in pages if page is not None and page.screenshot is not None]


def _part(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}
