"""What every server of ours runs on: uvicorn, with bounds on connections, time and memory, and a check of who asks.

A client that trickles costs a connection for a few seconds, never a thread; of too many connections, the one
that has been silent longest is dropped. All bodies together are bounded, and so is what they become once parsed. There
is no authentication: a server listens on loopback unless told otherwise, and ``Host`` and ``Origin`` must name it, so
that no web page reaches it through a visitor's browser (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import json
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import asynccontextmanager, nullcontext
from http import HTTPStatus
from queue import SimpleQueue
from types import FrameType
from typing import Any, ClassVar
from urllib.parse import urlsplit

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from synth.errors import InputError

__all__ = ["App", "HttpServer", "Receive", "Send", "answer", "loopback", "serve"]

CONNECTIONS = 512
"""Open at once, beside one for each session."""
IDLE_SECONDS = 60.0
"""A connection that is kept alive is closed once nothing came for so long."""
GRACE_SECONDS = 10
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
_CHUNK = 32 * 1024
"""Read from a connection at once, before anybody has asked for its body."""

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

for _name in ("mcp", "uvicorn"):
    # For a program that set up logging; without a handler Python would print warnings about clients to stderr.
    logging.getLogger(_name).addHandler(logging.NullHandler())


class HttpServer:
    """An ASGI application on an address. :meth:`serve_forever` blocks; :meth:`stop` lets what was begun finish."""

    head_seconds: ClassVar[float] = 10.0
    """So long a request's head may take, and a client may leave an answer unread."""

    def __init__(
        self,
        app: App,
        host: str,
        port: int,
        *,
        allow_hosts: Collection[str] = (),
        connections: int = CONNECTIONS,
        grace_seconds: int = GRACE_SECONDS,
        lifespan: bool = False,
        every_second: Callable[[], object] = lambda: None,
    ) -> None:
        """
        Args:
            port: 0 takes a free one.
            allow_hosts: Names beside loopback and ``host`` by which the server may be called.
            connections: Open at once.
            grace_seconds: So long a stopping server waits for the requests that it has begun.
            lifespan: Whether ``app`` is told of start and end.
            every_second: Called in a thread of its own while nothing of it is under way.

        Raises:
            InputError: the address can't be listened on.
        """

        async def notify() -> None:
            await asyncio.to_thread(every_second)

        self._socket = _listen(host, port)
        self.server_address: tuple[str, int] = self._socket.getsockname()[:2]
        """Host and port."""
        self._started, self._ended = threading.Event(), threading.Event()
        config = uvicorn.Config(
            _Guard(app, _Hosts(host, allow_hosts), self.head_seconds),
            http=type("Connection", (_Connection,), {"head_seconds": self.head_seconds}),
            ws="none",
            loop="asyncio",
            lifespan="on" if lifespan else "off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=connections + 1,
            timeout_keep_alive=int(IDLE_SECONDS),
            timeout_graceful_shutdown=grace_seconds,
            timeout_notify=1,
            callback_notify=notify,
        )
        self._uvicorn = _Uvicorn(config, self._started.set)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.server_address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def serve_forever(self) -> None:
        """Serve until :meth:`stop` is called, in the calling thread."""
        try:
            asyncio.run(self._uvicorn.serve(sockets=[self._socket]))
        finally:
            self._socket.close()
            self._ended.set()

    def wait_until_ready(self) -> None:
        """Return once connections are taken, or never will be."""
        while not self._started.wait(0.05) and not self._ended.is_set():
            pass

    def stop(self) -> None:
        """Take no more connections and wait, for a while, for the requests that were begun."""
        self._uvicorn.should_exit = True
        self._ended.wait()


class _Uvicorn(uvicorn.Server):
    """Says when it is there, and leaves signals to us: uvicorn would raise them again when it has ended."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def capture_signals(self) -> Any:
        return nullcontext()


class _Connection(H11Protocol):
    """One connection, under limits that the client does not set."""

    head_seconds: ClassVar[float]
    _timer: asyncio.TimerHandle | None = None
    _unsent = 0
    since = 0.0
    """When it was last seen to do nothing, by the loop's clock."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.max_size = _CHUNK  # type: ignore[attr-defined]
        self._watch()
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            waiting = [one for one in self.connections if isinstance(one, _Connection) and one.sends is not None]
            if waiting:  # else uvicorn answers 503
                dropped = min(waiting, key=lambda one: (one.sends, one.since))
                self.connections.discard(dropped)
                dropped.transport.abort()

    @property
    def sends(self) -> bool | None:
        """Whether a body is still on its way; None while a whole request is worked on."""
        if not self.at_work:
            return False
        return True if self.cycle.more_body else None

    @property
    def at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.at_work:
            self._unwatch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.at_work:
            self._watch()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._unwatch()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """A client that only closed its own side still gets its answer."""
        if not self.at_work or self.cycle.more_body or self.cycle.response_started:
            return None
        self.cycle.keep_alive = False
        return True

    def send_400_response(self, msg: str) -> None:
        """In the form of every other mistake."""
        if not (self.at_work and self.cycle.response_started):
            body = _error({"what": "the request is no HTTP"})
            head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            self.transport.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        self._unwatch()
        self.since, self._unsent = self.loop.time(), self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.head_seconds, self._expire)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        unsent = self.transport.get_write_buffer_size()
        if unsent < self._unsent:  # it reads, slowly
            self._watch()
        elif unsent or self.conn.trailing_data[0] or self.cycle is None or self.cycle.more_body:
            self.transport.abort()  # a connection between two requests has a limit of its own


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


class _Guard:
    """Refuses what is not ours to answer, and reads bodies within bounds before ``app`` sees the request."""

    def __init__(self, app: App, hosts: _Hosts, head_seconds: float) -> None:
        self._app = app
        self._head_seconds = head_seconds
        self._hosts = hosts
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
    data = body if isinstance(body, bytes) else _encoded(body)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": data})


def _error(parts: Mapping[str, str]) -> bytes:
    return _encoded({"error": dict(parts)})


def _encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small pieces at once only on sockets that say that they are TCP.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(1024)
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or str(error)
        taken = getattr(error, "errno", None) in (None, errno.EADDRINUSE, errno.EACCES)
        mend = "choose another --port, or 0 for a free one" if taken else "give an address of this machine as --host"
        raise InputError(f"can't listen ({reason})", where=f"{host}:{port}", mend=mend) from None
    return made


def serve(server: HttpServer, *, say: Callable[[str], None] = lambda line: None) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun. To be called on the main thread.

    ``say`` is called with the address once connections are taken.
    """
    stopped: SimpleQueue[int] = SimpleQueue()  # an Event's lock would be taken twice by a signal that meets its wait()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.put(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    try:
        thread.start()
        server.wait_until_ready()
        say(server.url)
        stopped.get()
        server.stop()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
