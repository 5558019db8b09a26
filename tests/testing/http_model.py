"""The plainest client there can be: what an agent needs of a model, one request at a time."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from synth.models.contract import ChatReply, ChatRequest, Finish, RawCall, Sampling, ToolChoice, Usage


class HttpModel:
    """A model (``synth.models.contract.Model``) behind a URL. No retry, no store; a refused request raises."""

    def __init__(self, url: str, name: str = "any") -> None:
        self.name = name
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._path = parts.path
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)

    def close(self) -> None:
        self._connection.close()

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        sample: str,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: ToolChoice | None = None,
        response_format: Mapping[str, Any] | None = None,
        sampling: Sampling | None = None,
        session: str = "",
    ) -> ChatReply:
        request = ChatRequest(
            model=self.name,
            messages=tuple(messages),
            tools=tuple(tools),
            tool_choice=tool_choice,
            response_format=response_format,
            sampling=sampling or Sampling(),
            sample=sample,
        )
        headers = {"Content-Type": "application/json", "X-Synth-Sample": sample, "X-Request-Id": request.key[:16]}
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
