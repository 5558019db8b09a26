"""A model that gives the replies that a test lists, as bodies that a server would send: no server, no waiting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from synth.mocks.model.players import Player
from synth.mocks.model.replies import render
from synth.models.contract import CallFailed, ChatReply, ChatRequest, Model
from synth.models.parse import parse_chat

__all__ = ["Listed", "Played", "body"]


def body(message: Mapping[str, Any], finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    """A body of ``/v1/chat/completions``."""
    return {
        "model": "toy-1",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        **more,
    }


class Listed(Model):
    """Gives the bodies in order (a failure is raised), and keeps what it was asked."""

    def __init__(self, replies: Iterable[Mapping[str, Any] | CallFailed], name: str = "toy-1") -> None:
        self.name = name
        self.asked: list[ChatRequest] = []
        self._replies = iter(replies)

    def ask(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        reply = next(self._replies)
        if isinstance(reply, CallFailed):
            raise reply
        return parse_chat(json.dumps(reply).encode(), request.key)


class Played(Model):
    """A player of the model server without the server; it keeps what it was asked."""

    def __init__(self, player: Player, name: str = "toy-1") -> None:
        self.name = name
        self.asked: list[ChatRequest] = []
        self._player = player

    def ask(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        plain = json.loads(request.body)
        said = self._player.reply(plain, request.sample)
        answer = render(said, plain, name="played", digits=request.key[:8], created=0, prompt_tokens=100)
        return parse_chat(json.dumps(answer).encode(), request.key)
