"""However much an endpoint sends, little of it is taken, and the call fails as any other."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from raw_http import OK, Play, read_request, server
from small_hubs import QUESTION, bind
from stand_ins.call_log import intents

from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import CallFailed, EndpointDown, Patience
from synth.models.http_reader import Body, Garbled, Reader, TooLarge
from synth.models.transport import Transport, TransportFailed
from synth.store.calls import CallStore, IntentState

MEGABYTE = 1 << 20
ONCE = Patience(seconds=0, attempts=1)
Pieces = Callable[[], Iterator[bytes]]


def _endless(head: bytes, piece: bytes) -> Pieces:
    def pieces() -> Iterator[bytes]:
        yield OK + head
        while True:
            yield piece

    return pieces


def _interim() -> Iterator[bytes]:
    while True:
        yield b"HTTP/1.1 103 Wait\r\nX: " + b"a" * 8_000 + b"\r\n\r\n"


def _bomb() -> Iterator[bytes]:
    """64 MB in 64 KB."""
    packed = gzip.compress(b"a" * (64 * MEGABYTE), mtime=0)
    yield OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed


def _chunked_bomb() -> Iterator[bytes]:
    packed = zlib.compress(b"a" * (64 * MEGABYTE))
    yield OK + b"Content-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n"
    for at in range(0, len(packed), 8_000):
        piece = packed[at : at + 8_000]
        yield b"%x\r\n" % len(piece) + piece + b"\r\n"
    yield b"0\r\n\r\n"


def _endless_gzip() -> Iterator[bytes]:
    """What cannot be packed, without end."""
    yield OK + b"Content-Encoding: gzip\r\n\r\n"
    pack = zlib.compressobj(0, zlib.DEFLATED, 31)
    while True:
        yield pack.compress(b"a" * 65_536)


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS: dict[str, Pieces] = {
    "length": _endless(b"Content-Length: %d\r\n\r\n" % (1 << 40), b"a" * 65_536),
    "to the end": _endless(b"\r\n", b"a" * 65_536),
    "chunks": _endless(CHUNKED, b"ffff\r\n" + b"a" * 65_535 + b"\r\n"),
    "one chunk": _endless(CHUNKED + b"fffffffffff\r\n", b"a" * 65_536),
    "remarks": _endless(CHUNKED, b"1;" + b"x" * 60_000 + b"\r\na\r\n"),  # chunks of one byte, each with 60 KB
    "trailers": _endless(CHUNKED + b"0\r\n", b"X: " + b"a" * 60_000 + b"\r\n"),
    "interim": _interim,
    "headers": _endless(b"", b"".join(b"X-%d: a\r\n" % number for number in range(5_000))),
    "bomb": _bomb,
    "chunked bomb": _chunked_bomb,
    "endless gzip": _endless_gzip,
}
MOST_SENT = 64 * MEGABYTE
"""A server of these tests gives up here: what is taken of it must end long before."""


@asynccontextmanager
async def closing(transport: Transport) -> AsyncIterator[Transport]:
    try:
        yield transport
    finally:
        await transport.close()


def taking(pieces: Pieces, taken: list[int]) -> Play:
    """Answers a request with ``pieces``; ``taken`` = the bytes that each connection took."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = len(taken)
        taken.append(0)
        await read_request(reader)
        for piece in pieces():
            writer.write(piece)
            await writer.drain()
            taken[place] += len(piece)
            if taken[place] > MOST_SENT:
                break

    return play


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("who", ["", "user:password@"], ids=["ours", "aiohttp"])
async def test_a_reply_without_bounds_is_a_failed_call(kind: str, who: str, tmp_path: Any) -> None:
    if who and kind in ("interim", "remarks"):
        pytest.skip("aiohttp drops what stands about a body unread, for as long as the call may take")
    said = r"malformed: (the response has more than|no HTTP response)" + ("|ClientPayloadError" if who else "")
    taken: list[int] = []
    async with server(taking(ENDLESS[kind], taken)) as url:
        address = url.replace("//", f"//{who}").removesuffix("/chat/completions")
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, patience=ONCE) as hub:
            model = bind(hub, address, timeout=20)
            with pytest.raises(EndpointDown, match=said):
                await bridge.run(model.chat, QUESTION, sample="0")
            (intent,) = intents(calls)
            account = hub.account()
    assert intent.state is IntentState.UNKNOWN
    assert account.cost_spent == intent.cost_bound
    assert max(taken) < 16 * MEGABYTE


@pytest.mark.parametrize("who", ["", "user:password@"], ids=["ours", "aiohttp"])
async def test_a_reply_in_drips_ends_with_the_timeout(who: str) -> None:
    """However often a byte comes: the time is for all of it."""

    left = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK + b"Content-Length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.01)
        except ConnectionError:
            left.set()

    async with server(drip) as url, closing(Transport()) as transport:
        reply = transport.post(url.replace("//", f"//{who}"), b"{}", {}, timeout=0.2, most=MEGABYTE)
        with pytest.raises(TransportFailed, match=r"no reply within 0\.2 s"):
            await asyncio.wait_for(reply, 20)
        await asyncio.wait_for(left.wait(), 20)


async def test_what_a_reply_may_have_follows_from_the_request(serve: Any, chat_all: Any) -> None:
    """A reply of many tokens is large and welcome; the same to a call of few tokens is not."""

    async def answer(server: Any, asked: Any) -> Any:
        return server.said("a" * (2 * MEGABYTE))

    async with serve(answer) as server:
        with ModelHub(patience=ONCE) as hub:
            (reply,) = await chat_all(bind(hub, server.address, max_tokens=32_768), ["x"])
            assert len(reply.content) == 2 * MEGABYTE
        with ModelHub(patience=ONCE) as hub:
            (end,) = await chat_all(bind(hub, server.address, max_tokens=8, attempts=1), ["x"])
            assert isinstance(end, CallFailed)
            assert end.detail.startswith("the response has more than 1,05")


async def test_all_replies_under_way_have_one_bound() -> None:
    """A hundred endless replies, each within its own bound, are stopped together."""
    most = 4 * MEGABYTE

    gate = asyncio.Event()

    async def nearly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK + b"Content-Length: %d\r\n\r\n" % most + b"a" * (most - 1))
        await gate.wait()

    async with server(nearly) as url, closing(Transport()) as transport:
        calls = [asyncio.create_task(transport.post(url, b"", {}, timeout=60, most=most)) for _ in range(40)]
        (first, *_), _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        failure = first.exception()
        assert isinstance(failure, TransportFailed)
        assert "under way have more than 134,217,728 bytes" in str(failure)
        assert sum(call.done() for call in calls) < 20
        gate.set()
        await asyncio.wait(calls)


def test_a_body_is_taken_up_to_its_bound() -> None:
    for size, packed in ((100, b"a" * 100), (100, gzip.compress(b"a" * 100, mtime=0))):
        coding = "gzip" if packed[:1] == b"\x1f" else None
        body = Body(coding, size)
        body.feed(packed)
        assert body.whole() == b"a" * size
        with pytest.raises(TooLarge, match="more than 99 bytes"):
            Body(coding, size - 1).feed(packed)
    torn = Body("gzip", 100)
    torn.feed(gzip.compress(b"hello", mtime=0)[:-3])
    with pytest.raises(Garbled, match="ends early"):
        torn.whole()


def test_as_many_headers_as_servers_send() -> None:
    def head(count: int) -> bytes:
        return OK + b"".join(b"X: a\r\n" for _ in range(count)) + b"Content-Length: 0\r\n\r\n"

    assert Reader().feed(head(200)) is not None
    with pytest.raises(Garbled, match="more than 256 headers"):
        Reader().feed(head(300))


async def test_an_error_body_is_bounded_too(serve: Any, chat_all: Any) -> None:
    """It is read for its words: a large one is shown from its beginning, and not taken apart."""

    async def answer(server: Any, asked: Any) -> Any:
        return web.Response(status=400, body=json.dumps({"error": {"message": "no " * 100_000}}).encode())

    async with serve(answer) as server:
        with ModelHub(patience=ONCE) as hub:
            (end,) = await chat_all(bind(hub, server.address), ["x"])
    assert str(end).startswith('request: HTTP 400: {"error": {"message": "no no no')
    assert len(str(end)) < 400
