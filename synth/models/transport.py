"""HTTP: one attempt at a time over kept-alive connections. No retry, no redirect, no cookie, no guess."""

from __future__ import annotations

import contextlib
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from synth.errors import InputError
from synth.models.contract import FailureKind
from synth.models.failures import Trouble
from synth.models.http1 import ConnectTimeout, HttpClient, NotConnected, is_plain
from synth.models.http_reader import MOST_BYTES, Body, Garbled, HttpFailure, Response, TooLarge
from synth.redaction import Redactor

if TYPE_CHECKING:
    import aiohttp

__all__ = ["Response", "Transport", "TransportFailed", "check_address", "proxy_for"]

_IDLE_SECONDS = 4.0
"""An idle connection is dropped after this long. uvicorn (vLLM, most servers in Python) drops its end after 5 s, and a
call sent in that moment would be lost with its fate unknown."""
_CONNECT_SECONDS = 30.0
_SLOW = "see that the server runs, or raise the role's timeout; what is finished is kept"
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "synth",
}

_TOKENS = ("token_ids", "prompt_token_ids", "logprobs")
"""Fields in which a text stands once more, in pieces that no key is found in."""


class TransportFailed(Exception):
    """No whole response came."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.detail)
        self.trouble = trouble


class _Request(NamedTuple):
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    timeout: float
    most: int
    proxy: str | None


class Transport:
    """Connections of one event loop. Made on that loop, closed on it.

    Most calls go over connections of our own (``synth.models.http1``); what needs a proxy, or has a password in its
    address, goes through aiohttp. ``redactor`` knows the keys that are sent.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self._redactor = redactor or Redactor()
        # How many connections there are is the business of each endpoint's window.
        self._direct = HttpClient(_HEADERS, idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS)
        self._plain: dict[str, bool] = {}
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: float, most: int, proxy: str | None = None
    ) -> Response:
        """Send ``body``; ``timeout`` is in seconds, for all of it, and ``most`` what the response may have, in bytes.

        Raises:
            TransportFailed: refused, reset, cut off, too large, or out of time.
        """
        return await self._request(_Request("POST", url, headers, body, timeout, most, proxy))

    async def get(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout: float,
        most: int = MOST_BYTES,
        proxy: str | None = None,
    ) -> Response:
        """As :meth:`post`, without a body; for a small response, unless ``most`` says otherwise."""
        return await self._request(_Request("GET", url, headers, None, timeout, most, proxy))

    async def _request(self, request: _Request) -> Response:
        """What all text of a server comes through: no key is in it from here on."""
        plain = self._plain.get(request.url)
        if plain is None:
            plain = self._plain[request.url] = is_plain(request.url)
        try:
            if plain and request.proxy is None:
                response = await self._direct.request(*request[:-1])
            else:
                response = await self._by_aiohttp(request)
        except (HttpFailure, TimeoutError, OSError, ValueError) as error:
            trouble = _trouble(error, request.timeout)
            raise TransportFailed(replace(trouble, detail=self._redactor.text(trouble.detail))) from None
        return _redacted(response, self._redactor)

    async def _by_aiohttp(self, request: _Request) -> Response:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
                auto_decompress=False,
            )
        method, url, headers, body, timeout, most, proxy = request
        limit = aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, _CONNECT_SECONDS))
        try:
            async with self._session.request(
                method, url, data=body, headers=headers, timeout=limit, allow_redirects=False, proxy=proxy
            ) as response:
                lower = {name.lower(): value for name, value in response.headers.items()}
                came = Body(lower.get("content-encoding"), most)
                async for piece in response.content.iter_any():
                    came.feed(piece)
                return Response(response.status, lower, came.whole())
        except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError) as error:
            raise (ConnectTimeout if isinstance(error, TimeoutError) else NotConnected)(str(error)) from error
        except (aiohttp.ClientResponseError, ValueError) as error:
            raise Garbled(_said(error)) from error
        except aiohttp.ClientError as error:
            if isinstance(error, TimeoutError):
                raise
            raise HttpFailure(_said(error)) from error

    async def close(self) -> None:
        await self._direct.close()
        if self._session is not None:
            await self._session.close()


def _redacted(response: Response, redactor: Redactor) -> Response:
    """``response`` without any secret; the same object where it holds none."""
    body = response.body
    if b"\0" in body[:4]:  # JSON in UTF-16 or UTF-32
        body = body.decode(json.detect_encoding(body), "replace").encode("utf-8", "replace")
    body = redactor.data(body)
    headers = {name: redactor.text(value) for name, value in response.headers.items()}
    if body is response.body and headers == response.headers:
        return response
    return Response(response.status, headers, _without_tokens(body))


def _without_tokens(body: bytes) -> bytes:
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        lines = body.splitlines()  # of a batch: one object each
        return b"\n".join(map(_without_tokens, lines)) if len(lines) > 1 else body
    if not isinstance(data, dict):
        return body
    answer = data.get("response")
    if isinstance(answer, dict) and isinstance(answer.get("body"), dict):
        answer["body"] = json.loads(_without_tokens(json.dumps(answer["body"]).encode()))
        return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
    choices = data.get("choices")
    for holder in (data, *(choices if isinstance(choices, list) else ())):
        for name in _TOKENS if isinstance(holder, dict) else ():
            holder.pop(name, None)
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _trouble(error: Exception, timeout: float) -> Trouble:
    """The one classifier of what a client raises. What was never sent costs nothing; all else may."""
    match error:
        case ConnectTimeout():
            return Trouble(FailureKind.TIMEOUT, f"no connection within {min(timeout, _CONNECT_SECONDS):g} s")
        case NotConnected():
            return Trouble(FailureKind.CONNECTION, str(error))
        case TimeoutError():
            detail = f"no reply within {timeout:g} s"
            return Trouble(FailureKind.TIMEOUT, detail, costs=True, overload=True, mend=_SLOW)
        case Garbled():
            return Trouble(FailureKind.MALFORMED, f"no HTTP response: {error}", costs=True)
        case TooLarge():
            return Trouble(FailureKind.MALFORMED, str(error), costs=True)
        case ValueError():
            return Trouble(FailureKind.MALFORMED, _said(error), costs=True)
        case HttpFailure():
            return Trouble(FailureKind.CONNECTION, str(error), costs=True)
    return Trouble(FailureKind.CONNECTION, _said(error), costs=True)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def check_address(address: str, where: str) -> str:
    """An endpoint's address without its last slash.

    Raises:
        InputError: it is none.
    """
    mend = "write it as http://host:port/v1"
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        # `port` raises ValueError where it is not a number.
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.query:
            bare = address.rstrip("/")
            return bare.removesuffix("/chat/completions")
    raise InputError(f"endpoint {address!r} is not an address", where=where, mend=mend)


def proxy_for(address: str) -> str | None:
    """The proxy that the environment names for ``address``; none for this machine."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return None
    if host == "localhost" or host.endswith(".localhost") or proxy_bypass(host):
        return None
    found: Any = getproxies().get(parts.scheme)
    return str(found) if found else None
