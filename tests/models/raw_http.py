"""Forms that an HTTP response may have, and a server that says any of them, or whatever else."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=1\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"
FORMS = {
    "length": (OK + b"Content-Length: 11\r\n\r\nhello world", True),
    "nothing": (OK + b"Content-Length: 0\r\n\r\n", True),
    "close": (OK + b"Connection: close\r\nContent-Length: 11\r\n\r\nhello world", False),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\nhello world", False),
    "old, kept": (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 11\r\n\r\nhello world", True),
    "chunked": (CHUNKED, True),
    "chunked, with a length": (CHUNKED.replace(b"chunked\r\n", b"chunked\r\nContent-Length: 3\r\n", 1), False),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 H\r\nLink: x\r\n\r\n" + CHUNKED, True),
    "said twice": (OK + b"Content-Length: 11\r\ncontent-length: 11\r\n\r\nhello world", True),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 11\r\n\r\nhello world", True),
    "more than asked": (OK + b"Content-Length: 11\r\n\r\nhello worldHTTP/1.1 200 OK\r\n", False),
}
"""Name -> (bytes, whether the connection can be used again). Their body is ``hello world`` or empty."""


@asynccontextmanager
async def server(play: Play, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """``play(reader, writer)`` is what each connection meets."""
    tasks: set[asyncio.Task[Any]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await play(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    host, port = listening.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}/v1/chat/completions"
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """(head, body)"""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
    return head, await reader.readexactly(length)
