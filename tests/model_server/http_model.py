"""The plainest client there can be: what an agent needs of a model, one request at a time."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from synth.models.contract import ChatReply, ChatRequest, Finish, Model, RawCall, Usage


class HttpModel(Model):
    """A model behind a URL. No retry, no store; a refused request raises."""

    def __init__(self, url: str, name: str = "any") -> None:
        self.name = name
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._path = parts.path
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)

    def close(self) -> None:
        self._connection.close()

    def ask(self, request: ChatRequest) -> ChatReply:
        headers = {
            "Content-Type": "application/json",
            "X-Synth-Sample": request.sample,
            "X-Request-Id": request.key[:16],
        }
        self._connection.request("POST", f"{self._path}/chat/completions", request.body.encode(), headers)
        response = self._connection.getresponse()
        body = json.loads(response.read())
        assert response.status == 200, body
        (choice,) = body["choices"]
        message = choice["message"]
        calls = [(call["id"], call["function"]) for call in message.get("tool_calls", ())]
        return ChatReply(
            content=message["content"],
            reasoning=message.get("reasoning"),
            refusal=message.get("refusal"),
            tool_calls=tuple(RawCall(id=name, name=one["name"], arguments=one["arguments"]) for name, one in calls),
            finish=Finish(choice["finish_reason"]),
            usage=Usage(prompt_tokens=body["usage"]["prompt_tokens"], completion_tokens=1),
            call=request.key,
        )
