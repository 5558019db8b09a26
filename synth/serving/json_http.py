"""JSON over HTTP by routes, errors in one form.

A mistake is answered with ``{"error": {"what", "where"?, "mend"?}}`` and status 400 (or 403, 404, 405, 408, 411, 413,
415, 503, or what a route says); a bug with 500 and no detail. Bounds and checks are those of ``synth.serving.http``.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, ClassVar

from synth.errors import InputError
from synth.serving.bounds import Receive, Send, answer, encoded
from synth.serving.http import CONNECTIONS, HttpServer

__all__ = ["JsonServer", "Route", "WrongRequest"]

Route = tuple[str, Callable[[Any, Mapping[str, Any]], Any]]
"""(GET or POST, function of the server and the request's object that gives what is answered)."""


class WrongRequest(Exception):
    """A request that is answered with ``status`` and one line."""

    def __init__(self, status: HTTPStatus, what: str) -> None:
        super().__init__(what)
        self.status = status


class JsonServer(HttpServer):
    """Answers on threads, as many as ``workers``."""

    title: ClassVar[str] = "synth"
    """Begins the lines of the operator."""
    routes: ClassVar[Mapping[str, Route]] = {}
    """By path."""
    headers_read: ClassVar[Mapping[str, str]] = {}
    """Headers that routes are told of: name -> key of the request's object in which the value is put."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        allow_hosts: Collection[str] = (),
        workers: int = 16,
        every_second: Callable[[], object] = lambda: None,
    ) -> None:
        """As :class:`HttpServer`; ``workers``: requests that are worked on at once."""
        super().__init__(
            self._app,
            host,
            port,
            allow_hosts=allow_hosts,
            connections=CONNECTIONS + workers,
            every_second=every_second,
        )
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="synth-http")

    def serve_forever(self) -> None:
        try:
            super().serve_forever()
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def _app(self, scope: Any, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        loop = asyncio.get_running_loop()
        status, data = await loop.run_in_executor(
            self._threads, self._reply, scope["method"], scope["path"], headers, body
        )
        await answer(send, status, data)

    def _reply(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[HTTPStatus, bytes]:
        found: Any
        try:
            status, found = HTTPStatus.OK, self._result(method, path, headers, body)
        except WrongRequest as error:
            status, found = error.status, {"error": {"what": str(error)}}
        except InputError as error:
            parts = {"what": error.what, "where": error.where, "mend": error.mend}
            status, found = HTTPStatus.BAD_REQUEST, {"error": {key: part for key, part in parts.items() if part}}
        except Exception as error:  # a bug: the client gets no traceback, the operator one line
            sys.stderr.write(f"{self.title}: {type(error).__name__} in {path[:100]!r}: {error}\n")
            status, found = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": {"what": "the server failed"}}
        return status, encoded(found)

    def _result(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        route = self.routes.get(path)
        if route is None:
            known = ", ".join(sorted(self.routes))
            raise WrongRequest(HTTPStatus.NOT_FOUND, f"there is no {path[:100]}; there are {known}")
        wanted, act = route
        if method != wanted:
            raise WrongRequest(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {wanted}")
        given = dict(_object(headers.get("content-type", ""), body)) if wanted == "POST" else {}
        for name, key in self.headers_read.items():
            if name.lower() in headers:
                given[key] = headers[name.lower()]
        return act(self, given)


def _object(content_type: str, body: bytes) -> Mapping[str, Any]:
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise WrongRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json")
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        place = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"is not JSON in UTF-8{place}", where="body") from None
    if not isinstance(value, dict):
        raise InputError(f"is a {type(value).__name__}, not an object", where="body")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(f"{text[:40]} is too large")
    return found
