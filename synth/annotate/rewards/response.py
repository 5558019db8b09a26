"""What a response says, and what of it is the final answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from synth.environments.answers import final_answer
from synth.errors import InputError

__all__ = ["OBSERVATIONS", "Response", "read_response", "text_of"]

OBSERVATIONS = r"<tool_response>.*?(?:</tool_response>|\Z)"
"""What tools said inside a decoded response (chat templates of the Hermes and Qwen families). Trainers that decode all
turns of an agent as one text, as verl does, leave it in; a policy must not earn the rubric by what a page says."""


@dataclass(frozen=True)
class Response:
    """One response, read."""

    text: str
    """All that the policy wrote, thoughts included, without what tools answered."""
    answer: str | None
    """The final answer; None when there is none."""


def read_response(response: Any, *, observations: str | None = None, where: str = "response") -> Response:
    """Read a response: a text, or a list of chat messages (of these, those of the assistant count).

    The final answer is what stands in the last ``<answer>`` element, or the last ``\\boxed{}``, or behind the last line
    that begins with "Answer:" (with the list below it); else the whole text after the thoughts, or the whole last
    message. Several answers in one place are one answer: whether "Paris or London" is right is for the verdict to say.

    Args:
        observations: Regular expression of what tools said inside a text; None = there is no such thing in it.

    Raises:
        InputError: it is neither a text nor messages.
    """
    if isinstance(response, str):
        text = response if observations is None else _pattern(observations).sub("\n", response)
        return Response(text, final_answer(text))
    if not isinstance(response, Sequence) or isinstance(response, bytes):
        what = f"is a {type(response).__name__}, neither a text nor a list of messages"
        raise InputError(what, where=where)
    written: list[str] = []
    last: str | None = None
    for place, message in enumerate(response):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise InputError("is not a message with a role", where=f"{where}[{place}]")
        last = None
        if message["role"] != "assistant":
            continue
        content = text_of(message.get("content"), f"{where}[{place}].content")
        thought = message.get("reasoning_content")
        written += [part for part in (thought if isinstance(thought, str) else "", content) if part]
        if not message.get("tool_calls"):
            last = content
    return Response("\n\n".join(written), None if last is None else final_answer(last))


@cache
def _pattern(observations: str) -> re.Pattern[str]:
    try:
        return re.compile(observations, re.S)
    except re.error as error:
        raise InputError(f"is not a regular expression: {error}", where="observations") from None


def text_of(content: Any, where: str) -> str:
    """The text of a message's content.

    Raises:
        InputError: it is of another form.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        return "\n".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))
    raise InputError(f"is a {type(content).__name__}, not a text", where=where)
