"""The server: requests to routes, faults before and after them, answers in the forms of the Hub."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from synth.mocks.hub.faults import Fault, FaultKind, FaultPlan
from synth.mocks.hub.repositories import Repositories
from synth.mocks.hub.routes import Answer, Request, answer
from synth.mocks.hub.xet import XetStorage

__all__ = ["HubServer", "Record"]

_ID = r"(?P<repo>[^/]+/[^/]+)"
_ROUTES = [
    ("GET", "whoami", r"/api/whoami-v2"),
    ("POST", "create", r"/api/repos/create"),
    ("POST", "yaml", r"/api/validate-yaml"),
    ("POST", "preupload", rf"/api/datasets/{_ID}/preupload/(?P<revision>[^/]+)"),
    ("POST", "commit", rf"/api/datasets/{_ID}/commit/(?P<revision>[^/]+)"),
    ("POST", "branch", rf"/api/datasets/{_ID}/branch/(?P<revision>[^/]+)"),
    ("POST", "paths info", rf"/api/datasets/{_ID}/paths-info/(?P<revision>[^/]+)"),
    ("GET", "tree", rf"/api/datasets/{_ID}/tree/(?P<revision>[^/]+)(?:/(?P<path>.+))?"),
    ("GET", "info", rf"/api/datasets/{_ID}(?:/revision/(?P<revision>[^/]+))?"),
    ("POST", "batch", rf"/datasets/{_ID}\.git/info/lfs/objects/batch"),
    ("POST", "verify", rf"/datasets/{_ID}\.git/info/lfs/verify"),
    ("PUT", "put", r"/storage/(?P<content>[0-9a-f]{64})"),
    ("GET", "xet token", rf"/api/datasets/{_ID}/xet-write-token/(?P<revision>[^/]+)"),
    ("GET", "xet chunk", r"/v1/chunks/.*"),
    ("POST", "xet xorb", r"/v1/xorbs/default/(?P<content>[0-9a-f]{64})"),
    ("POST", "xet shard", r"/v1/shards"),
    ("GET", "resolve", rf"/datasets/{_ID}/resolve/(?P<revision>[^/]+)/(?P<path>.+)"),
    ("HEAD", "resolve", rf"/datasets/{_ID}/resolve/(?P<revision>[^/]+)/(?P<path>.+)"),
]


@dataclass(frozen=True)
class Record:
    """A request that came."""

    method: str
    route: str
    target: str
    """Path and query as they came."""
    status: int | None
    """None when no answer was sent."""
    fault: FaultKind | None


class HubServer:
    """A Hub on a port of the loopback interface, for the time of a ``with`` block.

    Args:
        folder: Where repositories lie.
        token: The one token that it takes.
        faults: What goes wrong.
        port: 0 takes a free one.

    Raises:
        OSError: the port is not free.
    """

    def __init__(self, folder: Path, *, token: str, faults: Iterable[Fault] = (), port: int = 0) -> None:
        self.repositories = Repositories(folder)
        self.token = token
        self.xet = XetStorage()
        self.plan = FaultPlan(faults)
        self.records: list[Record] = []
        self.stopping = threading.Event()
        self.hanging = threading.Event()
        """Set once a request hangs."""
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.hub = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def count(self, route: str) -> int:
        """Requests of a route that were answered with success."""
        return sum(1 for record in self.records if record.route == route and (record.status or 500) < 300)


def _route(method: str, path: str) -> tuple[str, re.Match[str] | None]:
    for wanted, route, pattern in _ROUTES:
        match = re.fullmatch(pattern, path) if method == wanted else None
        if match:
            return route, match
    return "unknown", None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    hub: HubServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """The records say it all."""

    def do_GET(self) -> None:
        self._handle()

    do_HEAD = do_POST = do_PUT = do_GET

    def _handle(self) -> None:
        hub = self.server.hub
        parts = urlsplit(self.path)
        route, match = _route(self.command, parts.path)
        if match is None:
            self._body()
            self._record(route, 404, None)
            self._send(Answer(404, {"error": "no such route"}))
            return
        fault = hub.plan.next(route)
        if fault is not None and fault.kind is FaultKind.RESET:
            self._record(route, None, fault)
            self._break()
            return
        body = self._body()
        if fault is not None and fault.kind in (FaultKind.RATE_LIMITED, FaultKind.UNAVAILABLE, FaultKind.HANG):
            self._refuse(route, fault)
            return
        values = {name: unquote(value) for name, value in match.groupdict().items() if value is not None}
        request = Request(
            route=route,
            values=values,
            query=parse_qs(parts.query),
            body=body,
            headers={name.lower(): value for name, value in self.headers.items()},
            url=hub.url,
            token=hub.token,
            xet=hub.xet,
        )
        if fault is not None and fault.kind is FaultKind.STRANGER:
            repositories = hub.repositories
            note = repositories.regular(b"Somebody else was here.\n")
            repositories.commit(values["repo"], values["revision"], None, "a note", {"NOTES.md": note}, ())
        if fault is not None and fault.kind is FaultKind.TWIN:
            answer(request, hub.repositories)
        made = answer(request, hub.repositories)
        if fault is not None and fault.kind is FaultKind.LOST_REPLY:
            self._record(route, None, fault)
            self._break()
            return
        self._record(route, made.status, fault)
        self._send(made)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            whole = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _refuse(self, route: str, fault: Fault) -> None:
        if fault.kind is FaultKind.HANG:
            self._record(route, None, fault)
            self.server.hub.hanging.set()
            self.server.hub.stopping.wait()
            self.close_connection = True
            return
        limited = fault.kind is FaultKind.RATE_LIMITED
        status = 429 if limited else 503
        self._record(route, status, fault)
        headers = {"Retry-After": str(fault.retry_after)} if limited else {}
        self._send(Answer(status, {"error": "come back later"}, headers))

    def _break(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _record(self, route: str, status: int | None, fault: Fault | None) -> None:
        record = Record(self.command, route, self.path, status, fault.kind if fault else None)
        self.server.hub.records.append(record)

    def _send(self, made: Answer) -> None:
        data = made.body if isinstance(made.body, bytes) else json.dumps(made.body).encode()
        self.send_response(made.status)
        for name, value in made.headers.items():
            self.send_header(name, value)
        if "Content-Length" not in made.headers:
            self.send_header("Content-Length", str(len(data)))
        if not isinstance(made.body, bytes):
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
