"""Requests to the model server, made with a plain HTTP client."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import aiohttp

SEARCH: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "k": {"type": "integer"}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}


def call_message(*ids: str) -> dict[str, Any]:
    """An assistant message that calls ``search`` once per id."""
    function = {"name": "search", "arguments": '{"query":"Orl"}'}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function} for name in ids],
    }


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": 'No results for "Orl".'}


def body(**changes: Any) -> dict[str, Any]:
    """A request that every server takes, with changes."""
    return {"model": "any", "messages": [{"role": "user", "content": "Where is the Orl?"}], **changes}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["error"]
        assert set(found) == {"message", "type", "param", "code"}
        return found

    @property
    def choice(self) -> dict[str, Any]:
        (found,) = self.json["choices"]
        return dict(found)

    @property
    def message(self) -> dict[str, Any]:
        return dict(self.choice["message"])


async def send(
    session: aiohttp.ClientSession, url: str, request: Any, *, sample: str | None = None, name: str | None = None
) -> Answer:
    data = request if isinstance(request, bytes) else json.dumps(request).encode()
    headers = {"Content-Type": "application/json"}
    headers |= {"X-Synth-Sample": sample} if sample is not None else {}
    headers |= {"X-Request-Id": name} if name is not None else {}
    async with session.post(f"{url}/chat/completions", data=data, headers=headers) as response:
        return Answer(response.status, dict(response.headers), await response.read())


def ask(url: str, request: Any, *, timeout: float = 30.0, **more: Any) -> Answer:
    """One request on a connection of its own; a failure of transport raises what the client raises."""

    async def one() -> Answer:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout)) as session:
            return await send(session, url, request, **more)

    return asyncio.run(one())


def ask_all(url: str, requests: list[tuple[Any, str]]) -> list[Answer | Exception]:
    """All of (request, sample) at once, each on a connection of its own: one that a fault has closed behind its reply
    would fail the next request before it reaches the server."""

    async def every() -> list[Any]:
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=30)) as session:
            made = [send(session, url, request, sample=sample, name=f"r-{sample}") for request, sample in requests]
            return await asyncio.gather(*made, return_exceptions=True)

    return asyncio.run(every())
