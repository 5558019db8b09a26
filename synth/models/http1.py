"""HTTP/1.1 for one purpose: a request of some KB, one whole response, again and again over the same connections.

A general client builds a request, a response, two streams and their parts for each call; that takes more CPU than all
else that a call needs. Here a request is one write and a response one future. What it reads is RFC 9112: lengths,
chunks, bodies that end with the connection, interim responses. It follows no redirect and makes no attempt twice.

At 2,048 calls in flight and 1 s latency it makes 2.6 times the calls of aiohttp under the same transport (median of
three rounds, least 1.8; 65 against 276 us of CPU a call), and whole calls through the hub 1.3 times
(``tests/benchmarks/bench_throughput.py``). It goes when it wins by 10 % or less.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from synth.models.http_reader import MOST_BYTES, HttpFailure, Reader, Response, TooLarge

__all__ = ["ConnectTimeout", "CutOff", "HttpClient", "NotConnected", "is_plain"]

_ADDRESS_SECONDS = 300.0
"""How long the addresses of a host are remembered."""
_CLOSING_ROUNDS = 100
"""Rounds of the loop at most in which connections that were aborted are told so; a few are enough."""
_MOST_HELD = 128 << 20
"""Bytes that all responses under way may hold together."""
_TRY_SECONDS = 3.0
"""How long one address of several may take to connect before the next one is tried."""


class NotConnected(HttpFailure):
    """There is no connection: nothing was sent."""


class ConnectTimeout(NotConnected):
    """No connection came about in time."""


class CutOff(HttpFailure):
    """The connection ended before the response did."""


class _Origin(NamedTuple):
    """Where a connection goes."""

    host: str
    port: int
    secure: bool


class _Target(NamedTuple):
    """What an address means."""

    origin: _Origin
    path: str
    host_header: str


def is_plain(url: str) -> bool:
    """Whether :class:`HttpClient` can call ``url``: no password in it, and only ASCII."""
    parts = urlsplit(url)
    return url.isascii() and parts.username is None and not any(character.isspace() for character in url)


def _target(url: str) -> _Target:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    host = parts.hostname or ""
    port = parts.port or (443 if secure else 80)
    path = parts.path or "/"
    return _Target(_Origin(host, port, secure), f"{path}?{parts.query}" if parts.query else path, parts.netloc)


class HttpClient:
    """Connections of one event loop. Made on that loop, closed on it. There are as many as there are calls at once.

    Args:
        headers: sent with every request; a ``Content-Type`` of a request's own takes its place.
        idle_seconds: a connection that was not used for so long is closed.
        connect_seconds: a connection has to come about in so many.
    """

    def __init__(self, headers: Mapping[str, str], *, idle_seconds: float, connect_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._headers = dict(headers)
        self._idle_seconds = idle_seconds
        self._connect_seconds = connect_seconds
        self._idle: dict[_Origin, deque[_Connection]] = {}
        self._connections: set[_Connection] = set()
        self._targets: dict[str, _Target] = {}
        self._heads: dict[tuple[str, str, bool], str] = {}
        self._addresses: dict[tuple[str, int], tuple[float, asyncio.Task[list[Any]]]] = {}
        self._tls: ssl.SSLContext | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self.held = 0
        """Bytes of responses under way."""

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        most: int = MOST_BYTES,
    ) -> Response:
        """Send one request and wait for its whole response, ``timeout`` seconds for all of it and ``most`` bytes of it.

        Raises:
            NotConnected: nothing was sent.
            CutOff: the connection ended first; what the server did is unknown.
            Garbled: something came that is not a response.
            TooLarge: more came than may come.
            TimeoutError: it was sent, and no whole response came in time.
            ValueError: a header has a line break in it.
        """
        deadline = self._loop.time() + timeout
        target = self._targets.get(url)
        if target is None:
            target = self._targets[url] = _target(url)
        own_type = "Content-Type" in headers
        head = self._heads.get((method, url, own_type))
        if head is None:
            start = f"{method} {target.path} HTTP/1.1\r\nHost: {target.host_header}\r\n"
            given = {name: value for name, value in self._headers.items() if not (own_type and name == "Content-Type")}
            head = self._heads[method, url, own_type] = start + _lines(given)
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        data = f"{head}{length}{_lines(headers)}\r\n".encode()
        connection = self._take(target.origin)
        if connection is None:
            connection = await self._connect(target.origin, deadline)
        return await connection.exchange(data + body if body else data, deadline, most)

    async def close(self) -> None:
        """Close all connections; calls under way end with ``CutOff``."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for _, task in self._addresses.values():
            task.cancel()
        self._addresses.clear()
        for connection in list(self._connections):
            connection.abort()
        for _ in range(_CLOSING_ROUNDS):
            if not self._connections:
                break
            await asyncio.sleep(0)

    # Connections that wait for the next call

    def _take(self, origin: _Origin) -> _Connection | None:
        """The one that was used last: so those that are not needed grow old."""
        idle = self._idle.get(origin)
        oldest = self._loop.time() - self._idle_seconds
        while idle:
            connection = idle.pop()
            if connection.usable and connection.idle_since > oldest:
                return connection
            connection.abort()
        return None

    def put(self, connection: _Connection) -> None:
        """``connection`` may be used again."""
        connection.idle_since = self._loop.time()
        idle = self._idle.get(connection.origin)
        if idle is None:
            idle = self._idle[connection.origin] = deque()
        idle.append(connection)
        if self._sweeper is None:
            self._sweeper = self._loop.call_later(self._idle_seconds, self._sweep)

    def made(self, connection: _Connection) -> None:
        self._connections.add(connection)

    def lost(self, connection: _Connection) -> None:
        """``connection`` is closed, by whomever."""
        self._connections.discard(connection)
        if connection.idle_since > 0 and connection in (idle := self._idle.get(connection.origin, deque())):
            idle.remove(connection)

    def _sweep(self) -> None:
        oldest = self._loop.time() - self._idle_seconds
        self._sweeper = None
        for idle in self._idle.values():
            while idle and idle[0].idle_since <= oldest:
                idle.popleft().abort()
        if any(self._idle.values()):
            self._sweeper = self._loop.call_later(self._idle_seconds / 2, self._sweep)

    # New connections

    async def _connect(self, origin: _Origin, deadline: float) -> _Connection:
        limit = min(deadline, self._loop.time() + self._connect_seconds)
        try:
            async with asyncio.timeout_at(limit):
                return await self._connect_any(origin)
        except TimeoutError as error:
            raise ConnectTimeout(f"no connection to {origin.host}:{origin.port} in time") from error
        except (OSError, UnicodeError) as error:
            raise NotConnected(f"no connection to {origin.host}:{origin.port}: {error}") from error

    async def _connect_any(self, origin: _Origin) -> _Connection:
        """Through the first address of the host that answers."""
        found = await self._resolve(origin)
        for number, (family, _, protocol, _, address) in enumerate(found):
            last = number == len(found) - 1
            try:
                async with asyncio.timeout(None if last else _TRY_SECONDS):
                    return await self._connect_to(origin, family, protocol, address)
            except OSError:  # a TimeoutError is one
                if last:
                    self._addresses.pop((origin.host, origin.port), None)  # perhaps it moved
                    raise
        raise OSError("the host has no address")

    async def _connect_to(self, origin: _Origin, family: int, protocol: int, address: Any) -> _Connection:
        sock = socket.socket(family, socket.SOCK_STREAM, protocol)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # replies may take minutes
            await self._loop.sock_connect(sock, address)
            if origin.secure and self._tls is None:
                self._tls = ssl.create_default_context()
            _, connection = await self._loop.create_connection(
                lambda: _Connection(self, origin, self._loop),
                sock=sock,
                ssl=self._tls if origin.secure else None,
                server_hostname=origin.host if origin.secure else None,
            )
        except BaseException:
            sock.close()
            raise
        return connection

    async def _resolve(self, origin: _Origin) -> list[Any]:
        """The host's addresses; hundreds of connections that are made at once ask for them once."""
        name = (origin.host, origin.port)
        until, task = self._addresses.get(name, (0.0, None))
        if task is None or self._loop.time() > until or (task.done() and (task.cancelled() or task.exception())):
            asked = self._loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
            task = self._loop.create_task(asked)
            self._addresses[name] = (self._loop.time() + _ADDRESS_SECONDS, task)
        return await asyncio.shield(task)


class _Connection(asyncio.Protocol):
    """One connection: one request at a time."""

    def __init__(self, client: HttpClient, origin: _Origin, loop: asyncio.AbstractEventLoop) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self._client = client
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[Response] | None = None
        self._reader = Reader()
        self._held = 0
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, data: bytes, deadline: float, most: int) -> Response:
        """Send ``data``, wait for a response of ``most`` bytes at most until ``deadline`` (the loop's clock)."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise NotConnected("the connection was closed before anything was sent")
        done: asyncio.Future[Response] = self._loop.create_future()
        self._done = done
        self._reader = Reader(most)
        self._deadline = deadline
        # One timer for all requests of a connection: it is set anew only when it fires, or would fire too late.
        if self._timer is None or self._timer.when() > deadline:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(deadline, self._tick)
        transport.write(data)
        try:
            return await done
        except asyncio.CancelledError:
            if self._done is done:
                self._done = None
                self.abort()
            raise

    def abort(self) -> None:
        """Close it at once."""
        if self._transport is not None:
            self._transport.abort()

    def _tick(self) -> None:
        self._timer = None
        if self._done is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._tick)
        else:
            self._fail(TimeoutError("no whole response in time"))

    def _hold(self, held: int) -> None:
        self._client.held += held - self._held
        self._held = held

    def _finish(self, response: Response) -> None:
        self._hold(0)
        done, self._done = self._done, None
        transport = self._transport
        assert transport is not None
        if self._reader.reusable and not transport.is_closing() and not transport.get_write_buffer_size():
            self._client.put(self)
        else:
            transport.abort()
        if done is not None and not done.done():
            done.set_result(response)

    def _fail(self, error: Exception) -> None:
        self._hold(0)
        done, self._done = self._done, None
        self.abort()
        if done is not None and not done.done():
            done.set_exception(error)

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._client.made(self)

    def data_received(self, data: bytes) -> None:
        if self._done is None:
            self.abort()  # nobody asked
            return
        try:
            response = self._reader.feed(data)
        except HttpFailure as error:
            self._fail(error)
            return
        if response is not None:
            self._finish(response)
            return
        self._hold(self._reader.held)
        if self._client.held > _MOST_HELD:
            self._fail(TooLarge(f"the responses under way have more than {_MOST_HELD:,} bytes"))

    def eof_received(self) -> None:
        self._ended(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._ended(error)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._transport = None
        self._hold(0)
        self._client.lost(self)

    def _ended(self, error: Exception | None) -> None:
        if self._done is None:
            return
        try:
            response = self._reader.end() if error is None else None
        except HttpFailure as failure:
            self._fail(failure)
            return
        if response is not None:
            self._finish(response)
        else:
            said = f"{type(error).__name__}: {error}" if error is not None else "the server closed the connection"
            self._fail(CutOff(f"{said} {self._reader.where}"))


def _lines(headers: Mapping[str, str]) -> str:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError("a header has a line break in it")
    return lines
