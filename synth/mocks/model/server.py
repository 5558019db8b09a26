"""A model server on loopback that speaks the protocol, and breaks it on a plan."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from pydantic import NonNegativeFloat

from synth.identity import digest
from synth.mocks.model.batches import MockBatches
from synth.mocks.model.faults import CONTENT_FAULTS, FaultKind, Faults, spoil
from synth.mocks.model.log import DELIVERED, RequestLog
from synth.mocks.model.players import Player
from synth.mocks.model.protocol import ProtocolError, call_of, check_request, most_tokens, prompt_tokens
from synth.mocks.model.replies import Reply, cut, render, tokens_of
from synth.schemas.row import Row

__all__ = ["ModelServer", "ServerOptions"]

MOST_BYTES = 64 * 1024 * 1024
"""Of one request."""
_DRIPS = 8
_HTML = b"<!DOCTYPE html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"


class ServerOptions(Row):
    """How a server behaves."""

    port: int = 0
    """0 takes a free one."""
    latency: NonNegativeFloat | tuple[NonNegativeFloat, NonNegativeFloat] = 0.0
    """Seconds before an answer, or from which to which they are drawn, by call and attempt."""
    faults: Faults = Faults()
    api_key: str | None = None
    """What ``Authorization: Bearer`` must hold; None = anything goes."""
    batch_seconds: NonNegativeFloat = 0.0
    """How long a batch takes."""
    strict_alternation: bool = False
    """Refuse two messages of one role in a row, as some chat templates do."""


class ModelServer:
    """Serves ``/v1/chat/completions`` from a thread of this process.

        with ModelServer(FixedPlayer(Reply(content="42"))) as server:
            ...  # server.url, server.log

    Args:
        player: Who answers: one player under any name, or players by model name.
        options: How it behaves.
    """

    def __init__(
        self,
        player: Player | Mapping[str, Player],
        options: ServerOptions | None = None,
    ) -> None:
        self._players: Mapping[str, Player] | None = player if isinstance(player, Mapping) else None
        self._player: Player | None = None if isinstance(player, Mapping) else player
        self.options = options or ServerOptions()
        self.log = RequestLog()
        self.errors: list[Exception] = []
        """What players raised: mistakes of a test."""
        self.batches = MockBatches(self)
        """What was uploaded, and what became of it."""
        self._port = self.options.port
        self._attempts: Counter[str] = Counter()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """Its address up to and with ``/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen.

        Raises:
            OSError: the port is not free.
        """
        listening: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(listening)), name="model-server")
        self._thread.start()
        self._port = listening.result()

    def stop(self) -> None:
        """Close all connections; what hangs is let go."""
        if self._thread is None or self._loop is None or self._stopped is None:
            return
        # A loop that is closed already has nothing to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        self._thread = None

    async def _serve(self, listening: concurrent.futures.Future[int]) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.add_routes(self.batches.routes())
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=4096)
            try:
                await site.start()
            except OSError as error:
                listening.set_exception(error)
                return
            listening.set_result(runner.addresses[0][1])
            await self._stopped.wait()
        finally:
            await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        sample = request.headers.get("X-Synth-Sample")
        call = call_of(sample, body)
        number = self.log.arrive(request.headers.get("X-Request-Id"), call, sample)
        exchange = _Exchange(self, request, number, call, sample)
        try:
            return await exchange.run(body)
        except ConnectionError:
            exchange.note("aborted")
            raise
        except asyncio.CancelledError:
            exchange.note("aborted")
            raise

    def check_key(self, request: web.Request) -> None:
        """
        Raises:
            ProtocolError: it holds another key than is wanted.
        """
        key = self.options.api_key
        if key is not None and request.headers.get("Authorization", "") != f"Bearer {key}":
            raise ProtocolError("Incorrect API key provided.", status=401, code="invalid_api_key")

    def next_attempt(self, call: str) -> int:
        """How many attempts at ``call`` were let in before this one."""
        attempt = self._attempts[call]
        self._attempts[call] += 1
        return attempt

    def answer(
        self, reply: Reply, wanted: dict[str, Any], call: str, attempt: int, prompt: int, most: int
    ) -> tuple[dict[str, Any], tuple[int, int], FaultKind | None]:
        """(body, tokens used, fault of content) of what a player said. Whatever its transport does, a model says the
        same in every attempt at a call."""
        faults = self.options.faults
        content = faults.content(call)
        assert content is None or content in CONTENT_FAULTS
        spoilt = None if content is None else spoil(reply, content, wanted, faults.share(call))
        if spoilt is None:
            content = None
        reply = cut(reply if spoilt is None else spoilt, most)
        body = render(
            reply,
            wanted,
            name=f"chatcmpl-{call}-{attempt}",
            digits=call,
            created=int(time.time()),
            prompt_tokens=prompt,
            usage=content is not FaultKind.USAGE_MISSING,
        )
        return body, (prompt, len(tokens_of(reply))), content

    def player_of(self, model: str) -> Player:
        player = self._player if self._players is None else self._players.get(model)
        if player is None:
            raise ProtocolError(
                f"The model {model!r} does not exist.", param="model", status=404, code="model_not_found"
            )
        return player


class _Exchange:
    """One request on its way through the server."""

    def __init__(self, server: ModelServer, request: web.Request, number: int, call: str, sample: str | None) -> None:
        self._server = server
        self._request = request
        self._number = number
        self._call = call
        self._sample = sample
        self._noted = False
        self._facts: dict[str, Any] = {}

    def note(self, outcome: str, **facts: Any) -> None:
        if not self._noted:
            self._noted = True
            self._facts |= facts
            self._server.log.answer(self._number, outcome=outcome, **self._facts)

    async def run(self, body: bytes) -> web.StreamResponse:
        server = self._server
        try:
            wanted = self._checked(body)
            player = server.player_of(wanted["model"])
            prompt = prompt_tokens(len(body), wanted["messages"])
            most = most_tokens(wanted)
        except ProtocolError as error:
            return self._error("refused", error.status, error.body)
        return await self._let_in(wanted, player, prompt, most)

    def _checked(self, body: bytes) -> dict[str, Any]:
        options = self._server.options
        self._server.check_key(self._request)
        if self._request.content_type != "application/json":
            raise ProtocolError("The content type must be application/json.", status=415)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            raise ProtocolError("The body is no JSON.") from None
        return check_request(value, strict_alternation=options.strict_alternation)

    async def _let_in(self, wanted: dict[str, Any], player: Player, prompt: int, most: int) -> web.StreamResponse:
        server, faults = self._server, self._server.options.faults
        attempt = server.next_attempt(self._call)
        self._facts["attempt"] = attempt
        fault = faults.transport(self._call, attempt)
        await asyncio.sleep(self._latency(attempt))
        if fault is not None:
            self._facts["fault"] = fault
        if fault is FaultKind.HANG:
            return await self._hang()
        if fault is FaultKind.RESET_BEFORE:
            self.note(fault.value)
            return self._reset()
        if fault is not None and fault in _STATUS:
            status, words, code = _STATUS[fault]
            headers = {"Retry-After": faults.retry_after} if fault is FaultKind.RETRY_AFTER else {}
            return self._error(fault.value, status, _error_body(words, code), headers)
        try:
            reply = player.reply(wanted, self._sample)
        except Exception as error:
            server.errors.append(error)
            words = f"The player failed: {type(error).__name__}: {error}"
            return self._error("failed", 500, _error_body(words, "player_failed"))
        answer, used, content = server.answer(reply, wanted, self._call, attempt, prompt, most)
        if content is not None and fault in (None, FaultKind.SLOW_BODY):
            self._facts["fault"] = content
        return await self._send(answer, used, fault, content)

    def _latency(self, attempt: int) -> float:
        latency = self._server.options.latency
        if not isinstance(latency, tuple):
            return latency
        low, high = latency
        return low + (high - low) * int(digest("latency", self._call, attempt)[:13], 16) / 16**13

    async def _send(
        self, answer: dict[str, Any], used: tuple[int, int], fault: FaultKind | None, content: FaultKind | None
    ) -> web.StreamResponse:
        if fault is FaultKind.EMPTY_CHOICES:
            answer["choices"] = []
        body = json.dumps(answer, ensure_ascii=False).encode()
        kind = "application/json"
        if fault is FaultKind.TORN_JSON:
            body = body[: len(body) // 2]
        elif fault is FaultKind.WRONG_CONTENT_TYPE:
            body, kind = _HTML, "text/html"
        if fault not in (FaultKind.SLOW_BODY, FaultKind.RESET_AFTER):
            self._facts |= {"usage": used, "status": 200}
            if self._gone():
                raise ConnectionResetError("the client went away")
            self.note(fault.value if fault is not None else DELIVERED)
            return web.Response(body=body, content_type=kind)
        self._facts |= {"usage": used, "status": 200}
        response = web.StreamResponse(headers={"Content-Type": kind, "Content-Length": str(len(body))})
        await response.prepare(self._request)
        if fault is FaultKind.RESET_AFTER:
            half = body[: len(body) // 2]
            await response.write(half)
            # What was written must have left before the reset, which throws away whatever waits.
            await asyncio.sleep(0.02)
            self.note(fault.value)
            return self._reset(response)
        size = -(-len(body) // _DRIPS)
        for start in range(0, len(body), size):
            await asyncio.sleep(self._server.options.faults.slow / _DRIPS)
            if self._gone():
                raise ConnectionResetError("the client went away")
            await response.write(body[start : start + size])
        await response.write_eof()
        self.note(DELIVERED)
        return response

    def _gone(self) -> bool:
        transport = self._request.transport
        return transport is None or transport.is_closing()

    async def _hang(self) -> web.StreamResponse:
        """Until the client gives up, or the server stops."""
        self.note(FaultKind.HANG.value)
        stopped = self._server._stopped
        assert stopped is not None
        while not self._gone() and not stopped.is_set():
            await asyncio.sleep(0.02)
        return self._reset()

    def _reset(self, response: web.StreamResponse | None = None) -> web.StreamResponse:
        """Close with RST: the client's read fails rather than ends."""
        transport = self._request.transport
        if transport is not None:
            sock: socket.socket | None = transport.get_extra_info("socket")
            if sock is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        return response or web.Response()

    def _error(
        self, outcome: str, status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None
    ) -> web.Response:
        data = json.dumps(body).encode()
        self.note(outcome, status=status)
        return web.Response(body=data, status=status, content_type="application/json", headers=headers)


_STATUS: Mapping[FaultKind, tuple[int, str, str]] = {
    FaultKind.RATE_LIMITED: (429, "Rate limit reached for requests.", "rate_limit_exceeded"),
    FaultKind.RETRY_AFTER: (429, "Rate limit reached for requests.", "rate_limit_exceeded"),
    FaultKind.SERVER_ERROR: (500, "The server had an error while processing your request.", "server_error"),
    FaultKind.UNAVAILABLE: (503, "The engine is currently overloaded, please try again later.", "unavailable"),
}


def _error_body(words: str, code: str) -> dict[str, Any]:
    return {"error": {"message": words, "type": code, "param": None, "code": code}}
