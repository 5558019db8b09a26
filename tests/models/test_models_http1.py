"""HTTP/1.1: every form that a response may have, whole or in pieces, and every way in which it may not come."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from raw_http import CHUNKED, FORMS, OK, Play, read_request, server

from synth.models.http1 import ConnectTimeout, CutOff, HttpClient, NotConnected, is_plain
from synth.models.http_reader import Garbled, Response


@asynccontextmanager
async def client(idle_seconds: float = 4.0, connect_seconds: float = 5.0) -> AsyncIterator[HttpClient]:
    made = HttpClient({"User-Agent": "test"}, idle_seconds=idle_seconds, connect_seconds=connect_seconds)
    try:
        yield made
    finally:
        await made.close()


def says(*pieces: bytes, keep: bool = True) -> Play:
    """Every request is answered with ``pieces``, each sent for itself; not ``keep`` = then the connection ends."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)
            if not keep:
                return

    return play


async def ask(play: Play, body: bytes | None = b"{}", timeout: float = 5.0) -> Response:
    async with server(play) as url, client() as http:
        return await http.request("POST", url, {}, body, timeout)


# Responses and requests


def test_a_body_may_end_with_the_connection() -> None:
    found = asyncio.run(ask(says(OK + b"\r\nhello", b" world", keep=False)))
    assert found.body == b"hello world"


@pytest.mark.parametrize(
    ("coding", "encoded"),
    [("gzip", gzip.compress(b"hello", mtime=0)), ("deflate", zlib.compress(b"hello")), ("identity", b"hello")],
)
def test_encoded_bodies_are_decoded(coding: str, encoded: bytes) -> None:
    head = f"Content-Encoding: {coding}\r\nContent-Length: {len(encoded)}\r\n\r\n".encode()
    assert asyncio.run(ask(says(OK + head + encoded))).body == b"hello"


def test_names_of_headers_are_in_lower_case_and_repeated_ones_are_joined() -> None:
    found = asyncio.run(ask(says(b"HTTP/1.1 429 x\r\nRETRY-After: 7 \r\nA: 1\r\na:2\r\nContent-Length: 0\r\n\r\n")))
    assert (found.status, found.body) == (429, b"")
    assert found.headers == {"retry-after": "7", "a": "1, 2", "content-length": "0"}


def test_a_request_is_what_it_should_be() -> None:
    seen: list[tuple[bytes, bytes]] = []

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            seen.append(await read_request(reader))
            writer.write(OK + b"Content-Length: 0\r\n\r\n")

    async def main() -> str:
        async with server(play) as url, client() as http:
            await http.request("POST", f"{url}?a=b", {"X-Request-Id": "1"}, "ä".encode(), 5)
            await http.request("GET", url, {}, None, 5)
            return url.split("/")[2]

    host = asyncio.run(main())
    (post, body), (get, nothing) = seen
    assert post.split(b"\r\n") == [
        b"POST /v1/chat/completions?a=b HTTP/1.1",
        f"Host: {host}".encode(),
        b"User-Agent: test",
        b"Content-Length: 2",
        b"X-Request-Id: 1",
        b"",
        b"",
    ]
    assert body.decode() == "ä"
    assert get.startswith(b"GET /v1/chat/completions HTTP/1.1\r\n")
    assert b"Content-Length" not in get
    assert nothing == b""


# What goes wrong


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        OK + b"no colon here\r\n\r\n",
        OK + b"A: 1\r\n folded\r\n\r\n",
        OK + b"Content-Length: eleven\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        OK + b"Transfer-Encoding: gzip\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"x" * 70_000,
        OK + b"X: " + b"x" * 70_000,
        OK + b"Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
        OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        OK + b"Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n" + gzip.compress(b"hello", mtime=0)[:10],
    ],
)
def test_what_is_no_response_is_said_to_be_none(said: bytes) -> None:
    with pytest.raises(Garbled):
        asyncio.run(ask(says(said)))


@pytest.mark.parametrize(
    ("said", "where"),
    [
        (b"", "before the response"),
        (OK[:-3], "within the headers"),
        (OK + b"Content-Length: 9\r\n\r\nhello", r"within the body \(5 bytes of 9\)"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "within the body"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "before the response"),
    ],
)
def test_a_response_that_is_cut_off_is_none(said: bytes, where: str) -> None:
    with pytest.raises(CutOff, match=where):
        asyncio.run(ask(says(said, keep=False)))


def test_a_reset_cuts_it_off() -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.transport.abort()

    with pytest.raises(CutOff):
        asyncio.run(ask(play))


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


def test_silence_ends_with_the_timeout() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(ask(silence, timeout=0.05))


def test_the_timeout_is_for_all_of_it() -> None:
    drops = [OK, b"Content-Length: 1000\r\n\r\n", *([b"x"] * 1000)]
    with pytest.raises(TimeoutError):
        asyncio.run(ask(says(*drops), timeout=0.2))


async def test_a_shorter_timeout_counts_on_a_connection_that_had_a_longer_one() -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK + b"Content-Length: 0\r\n\r\n")
        await asyncio.sleep(60)

    async with server(play) as url, client() as http:
        await http.request("POST", url, {}, b"", 600)
        with pytest.raises(TimeoutError):
            await http.request("POST", url, {}, b"", 0.05)


async def test_a_longer_timeout_counts_on_a_connection_that_had_a_shorter_one() -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for wait in (0.0, 0.4):
            await read_request(reader)
            await asyncio.sleep(wait)
            writer.write(OK + b"Content-Length: 0\r\n\r\n")
        await asyncio.sleep(60)

    async with server(play) as url, client() as http:
        await http.request("POST", url, {}, b"", 0.2)
        assert (await http.request("POST", url, {}, b"", 30)).status == 200


async def test_nobody_listens() -> None:
    async with server(says(b"")) as url:
        pass
    async with client() as http:
        with pytest.raises(NotConnected):
            await http.request("POST", url, {}, b"", 5)


async def test_a_host_that_does_not_exist() -> None:
    async with client() as http:
        for _ in range(2):  # a failure is not remembered
            with pytest.raises(NotConnected):
                await http.request("POST", "http://nowhere.invalid/v1", {}, b"", 5)


async def test_a_connection_that_does_not_come_about_was_never_used() -> None:
    """A server whose queue of connections is full lets others wait."""

    loop = asyncio.get_running_loop()
    async with client(connect_seconds=0.05) as http:

        async def never(*_: Any) -> None:
            await asyncio.sleep(60)

        loop.sock_connect = never  # type: ignore[method-assign]
        with pytest.raises(ConnectTimeout):
            await http.request("POST", "http://127.0.0.1:9/v1", {}, b"", 5)


async def test_tls_with_a_server_that_speaks_none() -> None:
    async with server(says(OK)) as url, client(connect_seconds=0.2) as http:
        with pytest.raises(NotConnected) as raised:
            await http.request("POST", url.replace("http:", "https:"), {}, b"", 5)
        assert isinstance(raised.value.__cause__, ssl.SSLError | OSError)


async def test_a_header_with_a_line_break_is_refused_before_anything_is_sent() -> None:
    async with client() as http:
        with pytest.raises(ValueError, match="line break"):
            await http.request("POST", "http://127.0.0.1:9/", {"A": "1\r\nB: 2"}, b"", 5)


# Connections


def counting(play: Play, made: list[None]) -> Play:
    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.append(None)
        await play(reader, writer)

    return counted


@pytest.mark.parametrize(("form", "connections"), [("length", 1), ("chunked", 1), ("close", 3), ("more than asked", 3)])
async def test_connections_are_used_again_where_the_server_allows_it(form: str, connections: int) -> None:
    made: list[None] = []

    async with server(counting(says(FORMS[form][0]), made)) as url, client() as http:
        for _ in range(3):
            assert (await http.request("POST", url, {}, b"x", 5)).body == b"hello world"
    assert len(made) == connections


async def test_as_many_connections_as_calls_at_once() -> None:
    made: list[None] = []

    async with server(counting(says(FORMS["length"][0]), made)) as url, client() as http:
        for _ in range(2):
            await asyncio.gather(*(http.request("POST", url, {}, b"x", 5) for _ in range(20)))
    assert len(made) == 20


async def test_an_idle_connection_is_dropped() -> None:
    made: list[None] = []

    async with server(counting(says(FORMS["length"][0]), made)) as url, client(idle_seconds=0.05) as http:
        await http.request("POST", url, {}, b"x", 5)
        while http._connections:
            await asyncio.sleep(0.01)
        await http.request("POST", url, {}, b"x", 5)
    assert len(made) == 2


@pytest.mark.parametrize("unasked", [b"", b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"])
async def test_a_connection_that_the_server_ends_while_idle_is_not_used(unasked: bytes) -> None:
    made: list[None] = []

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(FORMS["length"][0])
        await asyncio.sleep(0.02)
        writer.write(unasked)

    async with server(counting(play, made)) as url, client() as http:
        await http.request("POST", url, {}, b"x", 5)
        while http._connections:
            await asyncio.sleep(0.01)
        await http.request("POST", url, {}, b"x", 5)
    assert len(made) == 2


async def test_a_cancelled_call_takes_its_connection_with_it() -> None:
    """Its late response must not be read as another call's."""
    asked: list[bytes] = []

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            asked.append((await read_request(reader))[1])
            if asked == [b"first"]:
                await asyncio.sleep(0.1)
            writer.write(OK + b"Content-Length: %d\r\n\r\n%b" % (len(asked[-1]), asked[-1]))

    async with server(play) as url, client() as http:
        call = asyncio.create_task(http.request("POST", url, {}, b"first", 5))
        while not asked:
            await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await http.request("POST", url, {}, b"second", 5)).body == b"second"


async def test_closing_ends_calls_under_way() -> None:
    sent = asyncio.Event()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        sent.set()
        await silence(reader, writer)

    async with server(hear) as url:
        async with client() as http:
            call = asyncio.create_task(http.request("POST", url, {}, b"", 60))
            await sent.wait()
        with pytest.raises(CutOff):
            await call


def test_a_name_is_looked_up_once_for_many_connections() -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        real = loop.getaddrinfo
        count = 0

        async def counted(*arguments: Any, **more: Any) -> Any:
            nonlocal count
            count += 1
            return await real(*arguments, **more)

        loop.getaddrinfo = counted  # type: ignore[method-assign]
        async with server(says(FORMS["length"][0])) as url, client() as http:
            local = url.replace("127.0.0.1", "localhost")
            await asyncio.gather(*(http.request("POST", local, {}, b"x", 5) for _ in range(10)))
        return count

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("https://[::1]/v1", True),
        ("http://user:secret@host/v1", False),
        ("http://müller.example/v1", False),
        ("http://host/a b", False),
    ],
)
def test_unusual_addresses_are_left_to_others(url: str, plain: bool) -> None:
    assert is_plain(url) is plain


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl that could make a certificate")
async def test_tls(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a certificate that is trusted, and without trust in it."""
    certificate = tmp_path / "certificate.pem"
    made = subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(tmp_path / "key.pem"), "-out", str(certificate)),
        ],
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(certificate, tmp_path / "key.pem")

    made: list[None] = []
    async with server(counting(says(CHUNKED), made), served) as url:
        secure = url.replace("http://127.0.0.1", "https://localhost")
        async with client() as http:
            with pytest.raises(NotConnected, match="certificate"):
                await http.request("POST", secure, {}, b"x", 5)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with client() as http:
            for _ in range(2):
                assert (await http.request("POST", secure, {}, b"x" * 200_000, 5)).body == b"hello world"
    assert len(made) == 1  # a handshake that fails makes none
