"""What every server of ours runs on: uvicorn, with bounds on connections, time and memory, and a check of who asks.

A client that trickles costs a connection for a few seconds, never a thread; of too many connections, the one that has
been silent longest is dropped.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import threading
from collections.abc import Callable, Collection
from contextlib import nullcontext
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from synth.errors import InputError
from synth.serving.bounds import App, Guard, encoded

__all__ = ["CONNECTIONS", "HttpServer", "serve"]

CONNECTIONS = 512
"""Open at once, beside one for each session."""
IDLE_SECONDS = 60.0
"""A connection that is kept alive is closed once nothing came for so long."""
GRACE_SECONDS = 10
_CHUNK = 32 * 1024
"""Read from a connection at once, before anybody has asked for its body."""

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
            Guard(app, host, allow_hosts, self.head_seconds),
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
            body = encoded({"error": {"what": "the request is not HTTP"}})
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
    # The kernel may hand a signal to any thread, and Python runs the handler in the main one, which sleeps: the byte
    # written at once, in whichever thread, wakes it.
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda number, frame: None) for number in numbers}
    wakes_before = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    try:
        thread.start()
        server.wait_until_ready()
        say(server.url)
        while woken.recv(1)[0] not in numbers:
            pass
        server.stop()
    finally:
        signal.set_wakeup_fd(wakes_before)
        woken.close()
        wakes.close()
        for number, handler in before.items():
            signal.signal(number, handler)
