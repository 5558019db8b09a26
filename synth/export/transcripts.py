"""Conversations as plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from synth.export.contract import About
from synth.export.messages import Message

__all__ = ["transcript", "written"]


def transcript(messages: Sequence[Message], about: About) -> str:
    """All that came after the system prompt, the question included."""
    parts: list[str] = []
    for message in messages:
        if message.role == "user":
            parts.append(f"<user>\n{message.content}\n</user>")
        elif message.role != "system":
            parts += written(message, about)
    return "\n".join(parts)


def written(message: Message, about: About) -> Iterator[str]:
    """A turn or an observation as text, calls in the form that many open models write them."""
    if message.role == "tool":
        yield f"<tool_response>\n{message.content}\n</tool_response>"
        return
    if about.thoughts and message.thought:
        yield f"<think>\n{message.thought}\n</think>"
    if message.content:
        yield message.content
    for call in message.calls:
        inner = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
        yield f"<tool_call>\n{inner}\n</tool_call>"
