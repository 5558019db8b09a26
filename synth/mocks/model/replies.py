"""What a model says, and the body that a server makes of it.

A token is four characters here: so counts, cuts at ``max_tokens``, token ids and log probabilities agree with one
another, whatever was said.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Call", "Reply", "cut", "render", "tokens_of"]

_TOKEN = 4


@dataclass(frozen=True)
class Call:
    """A tool call as it goes over the wire: nothing about it need be right."""

    name: str
    arguments: str
    """Text of the field, JSON if all is well."""
    id: str | None = None
    """None = the server makes one up that is unique."""

    @classmethod
    def of(cls, name: str, /, **arguments: Any) -> Call:
        """A well-formed call."""
        return cls(name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True)
class Reply:
    """One message of a model."""

    content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    """None = ``tool_calls`` where there are some, else ``stop``."""

    @property
    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")


def _pieces(reply: Reply) -> list[str]:
    """Everything that was generated, in the order of generation."""
    said = [reply.reasoning, reply.content, reply.refusal]
    return [text for text in said if text] + [text for call in reply.calls for text in (call.name, call.arguments)]


def tokens_of(reply: Reply) -> list[str]:
    """The tokens of a reply, in order; they join to all that it says. At least one: a reply ends with a token."""
    found = [text[at : at + _TOKEN] for text in _pieces(reply) for at in range(0, len(text), _TOKEN)]
    return found or [""]


def cut(reply: Reply, max_tokens: int) -> Reply:
    """``reply``, or what of it fits into ``max_tokens``: then it ends with ``length``, perhaps amid the arguments of a
    call."""
    left = max_tokens

    def take(text: str | None) -> str | None:
        nonlocal left
        if not text:
            return text
        taken = text[: left * _TOKEN]
        left -= -(-len(taken) // _TOKEN)
        return taken or None

    if len(tokens_of(reply)) <= max_tokens:
        return reply
    shorter = replace(reply, reasoning=take(reply.reasoning), content=take(reply.content), refusal=take(reply.refusal))
    calls: list[Call] = []
    for call in reply.calls:
        # A parser sees a call once its name is whole.
        name = take(call.name)
        if name != call.name:
            break
        calls.append(replace(call, arguments=take(call.arguments) or ""))
    return replace(shorter, calls=tuple(calls), finish="length")


def render(
    reply: Reply,
    request: Mapping[str, Any],
    *,
    name: str,
    digits: str,
    created: int,
    prompt_tokens: int,
    usage: bool = True,
) -> dict[str, Any]:
    """The body of the answer to ``request``; ``name`` is its id. The ids of tool calls are made of ``digits``: an agent
    may quote them, so they must be equal in every attempt at a call."""
    tokens = tokens_of(reply)
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": call.id if call.id is not None else f"call_{digits}_{place}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for place, call in enumerate(reply.calls)
        ]
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}
    if request.get("logprobs"):
        choice["logprobs"] = {"content": [_logprob(token) for token in tokens]}
    if request.get("return_token_ids"):
        choice["token_ids"] = [_token_id(token) for token in tokens]
    body: dict[str, Any] = {
        "id": name,
        "object": "chat.completion",
        "created": created,
        "model": request["model"],
        "choices": [choice],
    }
    if request.get("prompt_logprobs") is not None:
        body["prompt_logprobs"] = [None, *map(_read, tokens_said(request))]
    if usage:
        body["usage"] = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": len(tokens),
            "total_tokens": prompt_tokens + len(tokens),
        }
    return body


def _token_id(token: str) -> int:
    return zlib.crc32(token.encode()) % 32_000


def tokens_said(request: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The words of a request's last message, each with whether an earlier message says it, too."""
    *before, last = (str(message.get("content") or "") for message in request["messages"])
    known = set(re.findall(r"\w+", " ".join(before)))
    for token in re.findall(r"\w+|\W", last):
        yield token, token in known or not token.strip().isalnum()


def _read(said: tuple[str, bool]) -> dict[str, Any]:
    """Of the prompt's tokens: a word that was said before is likelier than any other."""
    token, known = said
    value = -0.05 if known else -3 + _logprob(token)["logprob"]
    return {str(_token_id(token)): {"logprob": value, "rank": 1, "decoded_token": token}}


def _logprob(token: str) -> dict[str, Any]:
    value = -(_token_id(token) % 1000) / 500
    return {"token": token, "logprob": value, "bytes": list(token.encode()), "top_logprobs": []}
