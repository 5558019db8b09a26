"""Which requests a server of ours answers: a check of who asks, and bounds on bodies.

All bodies together are bounded, and so is what they become once parsed. There is no authentication: a server listens on
loopback unless told otherwise, and ``Host`` and ``Origin`` must name it, so that no web page reaches it through a
visitor's browser (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

__all__ = ["App", "Guard", "Receive", "Send", "answer", "encoded", "loopback"]

MOST_BYTES = 16 * 1024 * 1024
"""Of one body."""
BYTES_A_SECOND = 256 * 1024
"""A body that comes slower, after its first ``head_seconds``, is given up."""
WAIT_SECONDS = 60.0
"""So long a body waits for its turn."""
_BODIES = 2 * MOST_BYTES
"""Of all bodies together but small ones, of which there are no more than connections."""
_PARSED = 200 * 1024 * 1024
"""Of all that bodies become, by :func:`_cost`."""
_SMALL = 64 * 1024

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Any, Receive, Send], Awaitable[None]]


class _Hosts:
    """Names by which a server may be called, and from which pages."""

    def __init__(self, host: str, allowed: Collection[str]) -> None:
        self._names = {host.lower().strip("[]"), *(name.lower().strip("[]") for name in allowed)}
        self._open = not loopback(host)

    def refusal(self, headers: Mapping[bytes, bytes]) -> str | None:
        """Why a request is refused; None = it is not."""
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._known(f"//{host}"):
            return f"the Host {host[:100]!r} is not allowed: start the server with --allow-host NAME"
        origin = headers.get(b"origin")
        if origin is not None and not self._known(origin.decode("latin-1"), origin=True):
            said = origin.decode("latin-1")[:100]
            return f"the Origin {said!r} is not allowed: start the server with --allow-host NAME"
        return None

    def _known(self, address: str, *, origin: bool = False) -> bool:
        try:
            parts = urlsplit(address)
            name = (parts.hostname or "").rstrip(".")
        except ValueError:
            return False
        if origin and parts.scheme not in ("http", "https"):
            return False
        # An address in digits can't be rebound; on a server that is open to others it may be any of the machine's.
        return loopback(name) or name in self._names or (self._open and not origin and _is_address(name))


class Guard:
    """Refuses what is not ours to answer, and reads bodies within bounds before ``app`` sees the request."""

    def __init__(self, app: App, host: str, allow_hosts: Collection[str], head_seconds: float) -> None:
        self._app = app
        self._head_seconds = head_seconds
        self._hosts = _Hosts(host, allow_hosts)
        self._bodies, self._parsed = _Room(_BODIES), _Room(_PARSED)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refused = self._hosts.refusal(headers)
        if refused is not None:
            await answer(send, HTTPStatus.FORBIDDEN, {"error": {"what": refused}})
            return
        stated = headers.get(b"content-length", b"0")  # the parser has seen that these are digits
        length = int(stated) if len(stated) < 19 else MOST_BYTES + 1
        if b"content-length" not in headers and (scope["method"] == "POST" or b"transfer-encoding" in headers):
            await answer(send, HTTPStatus.LENGTH_REQUIRED, {"error": {"what": "the request says no Content-Length"}})
            return
        if length > MOST_BYTES:
            what = f"at most {MOST_BYTES:,} bytes are read: send less at once"
            await answer(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": {"what": what}})
            return
        try:
            async with self._bodies.take(length if length > _SMALL else 0):
                async with asyncio.timeout(self._head_seconds + length / BYTES_A_SECOND):
                    body = await _read(receive)
                if body is None:
                    return
                cost = _cost(body)
                if cost > _PARSED:
                    what = "the body holds more values than are read at once: send less"
                    await answer(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": {"what": what}})
                    return
                async with self._parsed.take(cost):
                    await self._app(scope, _again(body, receive), send)
        except _Busy:
            what = "the server holds as much as it may: ask again"
            await answer(send, HTTPStatus.SERVICE_UNAVAILABLE, {"error": {"what": what}})
        except TimeoutError:
            await answer(send, HTTPStatus.REQUEST_TIMEOUT, {"error": {"what": "the body came too slowly"}})


class _Busy(Exception):
    """No room was found in time."""


class _Room:
    """Bytes that all requests may hold together; who finds no room waits, in turn."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._turn = asyncio.Lock()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def take(self, size: int) -> AsyncIterator[None]:
        """
        Raises:
            _Busy: there was none for :data:`WAIT_SECONDS`.
        """
        try:
            async with asyncio.timeout(WAIT_SECONDS), self._turn, self._changed:
                await self._changed.wait_for(lambda: self._free >= size)
                self._free -= size
        except TimeoutError:
            raise _Busy from None
        try:
            yield
        finally:
            self._free += size
            async with self._changed:
                self._changed.notify_all()


def _cost(body: bytes) -> int:
    """Bytes that a body of JSON takes at most once it is parsed: its text (four bytes a character where one is beyond
    Latin-1), that text once more in its values, and an object for every comma, colon and bracket."""
    wide = not body.isascii() or b"\\u" in body
    return len(body) * (8 if wide else 2) + 64 * sum(body.count(mark) for mark in (b",", b":", b"[", b"{"))


async def _read(receive: Receive) -> bytes | None:
    """The body; None when the client went away."""
    found = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        found += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(found)


def _again(body: bytes, receive: Receive) -> Receive:
    """``receive`` with a body that was read already."""
    given = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def answer(send: Send, status: HTTPStatus, body: Any) -> None:
    """Send ``body`` as JSON."""
    data = body if isinstance(body, bytes) else encoded(body)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": data})


def encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
