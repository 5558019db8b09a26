"""A small server of JSON over HTTP, on threads of the standard library: routes, limits, errors in one form.

A mistake is answered with ``{"error": {"what", "where"?, "mend"?}}`` and status 400 (or 404, 405, 411, 413, 415, or
what a route says); a bug with 500 and no detail. There is no authentication: it listens on loopback unless told
otherwise.
"""

from __future__ import annotations

import ipaddress
import json
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType
from typing import Any, ClassVar

from synth.errors import InputError

__all__ = ["JsonServer", "Route", "WrongRequest", "loopback", "serve"]

MOST_BYTES = 64 * 1024 * 1024
"""Of one request."""
IDLE_SECONDS = 30.0
"""A connection on which nothing comes for so long is closed."""
GRACE_SECONDS = 10.0
"""So long a stopping server waits for the requests that it has begun."""

Route = tuple[str, Callable[[Any, Mapping[str, Any]], Any]]
"""(GET or POST, function of the server and the request's object that gives what is answered)."""


class JsonServer(ThreadingHTTPServer):
    """Answers on its own thread each; :meth:`stop` lets what was begun finish."""

    daemon_threads = True  # idle connections must not hold up the end; what was begun is counted
    allow_reuse_address = True
    request_queue_size = 128

    title: ClassVar[str] = "synth"
    """Begins the lines of the operator and names the server in its answers."""
    routes: ClassVar[Mapping[str, Route]] = {}
    """By path."""
    most_bytes: ClassVar[int] = MOST_BYTES
    headers_read: ClassVar[Mapping[str, str]] = {}
    """Headers that routes are told of: name -> key of the request's object in which the value is put."""

    def __init__(self, host: str, port: int) -> None:
        """``port`` 0 takes a free one.

        Raises:
            InputError: the address can't be listened on.
        """
        self._busy = 0
        self._idle = threading.Condition()
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            mend = "choose another --port, or 0 for a free one"
            raise InputError(f"can't listen ({reason})", where=f"{host}:{port}", mend=mend) from None

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}"

    def begin(self) -> None:
        """A request begins."""
        with self._idle:
            self._busy += 1

    def end(self) -> None:
        """A request is answered."""
        with self._idle:
            self._busy -= 1
            self._idle.notify_all()

    def stop(self) -> bool:
        """Take no more connections, wait for the requests that were begun. True when all of them were answered."""
        self.shutdown()
        with self._idle:
            done = self._idle.wait_for(lambda: self._busy == 0, timeout=GRACE_SECONDS)
        self.server_close()
        return done

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is one line, without what the client sent."""
        kind, error, _ = sys.exc_info()
        if kind is not None and not issubclass(kind, ConnectionError | TimeoutError):
            sys.stderr.write(f"{self.title}: {kind.__name__} while answering: {error}\n")


class WrongRequest(Exception):
    """A request that is answered with ``status`` and one line."""

    def __init__(self, status: HTTPStatus, what: str) -> None:
        super().__init__(what)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    wbufsize = -1  # an answer in one piece: in two, the second waits 40 ms for the first to be acknowledged
    disable_nagle_algorithm = True
    server: JsonServer

    counted = False

    def handle_one_request(self) -> None:
        self.counted = False
        try:
            super().handle_one_request()
        finally:
            if self.counted:
                self.server.end()

    def parse_request(self) -> bool:
        self.counted = True  # from its first line on, a request is waited for
        self.server.begin()
        return super().parse_request()

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_GET

    def handle_expect_100(self) -> bool:
        """The client waits for this word before it sends the rest."""
        told = super().handle_expect_100()
        self.wfile.flush()
        return told

    def version_string(self) -> str:
        return self.server.title.replace(" ", "-")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a trainer asks thousands of times."""

    def _answer(self) -> None:
        body: Any
        try:
            status, body = HTTPStatus.OK, self._result()
        except WrongRequest as error:
            status, body = error.status, {"error": {"what": str(error)}}
            self.close_connection = True  # the body may still be on its way
        except InputError as error:
            parts = {"what": error.what, "where": error.where, "mend": error.mend}
            status, body = HTTPStatus.BAD_REQUEST, {"error": {key: part for key, part in parts.items() if part}}
        except Exception as error:  # a bug: the client gets no traceback, the operator one line
            sys.stderr.write(f"{self.server.title}: {type(error).__name__} in {self.path}: {error}\n")
            status, body = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": {"what": "the server failed"}}
        self._send(status, body)

    def _result(self) -> Any:
        path = self.path.partition("?")[0]
        route = self.server.routes.get(path)
        if route is None:
            known = ", ".join(sorted(self.server.routes))
            raise WrongRequest(HTTPStatus.NOT_FOUND, f"there is no {path[:100]}; there are {known}")
        method, act = route
        if self.command != method:
            raise WrongRequest(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {method}")
        given = dict(self._body()) if method == "POST" else {}
        for name, key in self.server.headers_read.items():
            if name in self.headers:
                given[key] = self.headers[name]
        return act(self.server, given)

    def _body(self) -> Mapping[str, Any]:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise WrongRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json")
        length = self.headers.get("Content-Length")
        if length is None:
            raise WrongRequest(HTTPStatus.LENGTH_REQUIRED, "the request says no Content-Length")
        if not (length.isascii() and length.isdigit()):
            raise WrongRequest(HTTPStatus.BAD_REQUEST, "the Content-Length is no number")
        if len(length) > 18 or int(length) > self.server.most_bytes:
            raise WrongRequest(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"at most {self.server.most_bytes:,} bytes are read: send less at once",
            )
        data = self.rfile.read(int(length))
        if len(data) < int(length):
            raise WrongRequest(HTTPStatus.BAD_REQUEST, "the request ended before its Content-Length")
        try:
            value = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            place = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
            raise InputError(f"is not JSON in UTF-8{place}", where="body") from None
        if not isinstance(value, dict):
            raise InputError(f"is a {type(value).__name__}, not an object", where="body")
        return value

    def _send(self, status: HTTPStatus, body: Any) -> None:
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def serve(server: JsonServer, *, say: Callable[[str], None] = lambda line: None) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun. To be called on the main thread.

    ``say`` is called with the address once connections are taken.
    """
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    try:
        thread.start()
        say(server.url)
        stopped.wait()
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
