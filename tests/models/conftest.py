"""Small servers that answer as a test says."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from small_hubs import completion

from synth.models import bridge

Answer = Callable[["Server", "Asked"], Awaitable[web.StreamResponse | None]]


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs on a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    number: int
    """0 for the first request of this server."""
    request_id: str
    sample: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    request: web.Request

    @property
    def text(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass
class Server:
    address: str = ""
    """Up to and with /v1."""
    asked: list[Asked] = field(default_factory=list)
    models_status: int = 200
    """What GET /models answers."""
    inside: int = 0
    most: int = 0
    """Most requests at once."""

    def said(self, content: str | None = "yes", **given: Any) -> web.Response:
        return web.json_response(completion(content, **given))


@asynccontextmanager
async def _serve(answer: Answer) -> AsyncIterator[Server]:
    server = Server()

    async def chat(request: web.Request) -> web.StreamResponse:
        headers = request.headers
        asked = Asked(
            number=len(server.asked),
            request_id=headers.get("X-Request-Id", ""),
            sample=headers.get("X-Synth-Sample", ""),
            headers=headers,
            body=json.loads(await request.read()),
            request=request,
        )
        server.asked.append(asked)
        server.inside += 1
        server.most = max(server.most, server.inside)
        try:
            response = await answer(server, asked)
            if response is None:  # hang up
                assert request.transport is not None
                request.transport.abort()
                response = web.Response()
            return response
        finally:
            server.inside -= 1

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []}, status=server.models_status)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.address = f"http://{host}:{port}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
        await asyncio.sleep(0)


@pytest.fixture
def serve() -> Callable[[Answer], AbstractAsyncContextManager[Server]]:
    """``async with serve(answer) as server``: ``answer(server, asked)`` gives the response, or None to hang up."""
    return _serve


async def _chat_all(model: Any, texts: Any, *, session: Any = lambda text: "") -> list[Any]:
    """One call per text, all at once; an exception stands where a call has none."""

    def chat(text: str) -> Any:
        return model.chat([{"role": "user", "content": text}], sample="0", session=session(text))

    return await asyncio.gather(*(bridge.run(chat, text) for text in texts), return_exceptions=True)


@pytest.fixture
def chat_all() -> Callable[..., Awaitable[list[Any]]]:
    return _chat_all
