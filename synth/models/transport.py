"""HTTP: one attempt at a time over kept-alive connections. No retry, no redirect, no cookie, no guess."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from synth.errors import InputError
from synth.models.contract import FailureKind
from synth.models.failures import Trouble

__all__ = ["Response", "Transport", "TransportFailed", "check_address", "proxy_for"]

_IDLE_SECONDS = 4.0
"""An idle connection is dropped after this long. uvicorn (vLLM, most servers in Python) drops its end after 5 s, and a
call sent in that moment would be lost with its fate unknown."""
_CONNECT_SECONDS = 30.0
_SLOW = "see that the server runs, or raise the role's timeout; what is finished is kept"
_HOST_SECONDS = 300
"""How long the address of a host is remembered."""


class Response:
    """Status, headers and the whole body."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class TransportFailed(Exception):
    """No whole response came."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.detail)
        self.trouble = trouble


class Transport:
    """Connections of one event loop. Made on that loop, closed on it."""

    def __init__(self) -> None:
        # How many connections there are is the business of each endpoint's window.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS, ttl_dns_cache=_HOST_SECONDS)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"Content-Type": "application/json", "Accept": "application/json"},
        )
        self._timeouts: dict[float, aiohttp.ClientTimeout] = {}

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: float, proxy: str | None = None
    ) -> Response:
        """Send ``body``; ``timeout`` is in seconds, for all of it.

        Raises:
            TransportFailed: refused, reset, cut off, or out of time.
        """
        return await self._request("POST", url, headers, timeout, proxy, body)

    async def get(self, url: str, headers: Mapping[str, str], *, timeout: float, proxy: str | None = None) -> Response:
        """As :meth:`post`, without a body."""
        return await self._request("GET", url, headers, timeout, proxy, None)

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], timeout: float, proxy: str | None, body: bytes | None
    ) -> Response:
        limit = self._timeouts.get(timeout)
        if limit is None:
            limit = aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, _CONNECT_SECONDS))
            self._timeouts[timeout] = limit
        try:
            async with self._session.request(
                method, url, data=body, headers=headers, timeout=limit, allow_redirects=False, proxy=proxy
            ) as response:
                return Response(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise TransportFailed(_trouble(error, timeout)) from error

    async def close(self) -> None:
        await self._session.close()


def _trouble(error: Exception, timeout: float) -> Trouble:
    """The one classifier of what aiohttp raises. What was never sent costs nothing; all else may."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    match error:
        case aiohttp.ConnectionTimeoutError():
            return Trouble(FailureKind.TIMEOUT, f"no connection within {min(timeout, _CONNECT_SECONDS):g} s")
        case aiohttp.ClientConnectorError() | aiohttp.ClientProxyConnectionError():
            return Trouble(FailureKind.CONNECTION, said)
        case TimeoutError():
            detail = f"no reply within {timeout:g} s"
            return Trouble(FailureKind.TIMEOUT, detail, costs=True, overload=True, mend=_SLOW)
        case aiohttp.ClientResponseError() | ValueError():
            return Trouble(FailureKind.MALFORMED, said, costs=True)
    return Trouble(FailureKind.CONNECTION, said, costs=True)


def check_address(address: str, where: str) -> str:
    """An endpoint's address without its last slash.

    Raises:
        InputError: it is none.
    """
    mend = "write it as http://host:port/v1"
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        # `port` raises ValueError where it is no number.
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.query:
            bare = address.rstrip("/")
            return bare.removesuffix("/chat/completions")
    raise InputError(f"endpoint {address!r} is no address", where=where, mend=mend)


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
