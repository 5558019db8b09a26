"""Requests that no honest client sends, to both servers: no traceback, no 500, no thread each, bounded memory."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

MB = 1 << 20
_MOST = 300 * MB
SERVERS = ("reward", "serve-env")
_PATHS = {"reward": b"/score", "serve-env": b"/step"}


@dataclass
class Running:
    process: psutil.Process
    ports: dict[str, int]
    base: int

    def peak(self) -> int:
        """Bytes that the process has held at most."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1024

    def send(self, server: str, data: bytes, *, shut: bool = False) -> bytes:
        """All that is answered until the server closes, or says nothing for a while."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.ports[server]), timeout=5) as connection:
            with suppress(ConnectionError):
                connection.sendall(data)
            if shut:
                connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError, TimeoutError):
                while chunk := connection.recv(1 << 16):
                    answer += chunk
                    if _whole(answer):
                        break
        return answer

    def ask(self, server: str, path: bytes = b"/health") -> int:
        answer = self.send(server, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return int(answer.split()[1])


def _whole(answer: bytes) -> bool:
    head, found, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(found and length and len(body) >= int(length[1]))


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    script = str(Path(__file__).with_name("both_servers.py"))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        ports = dict(zip(SERVERS, map(int, process.stdout.readline().split()), strict=True))
        found = Running(psutil.Process(process.pid), ports, 0)
        for server in SERVERS:
            assert found.ask(server) == 200
        found.base = found.peak()
        yield found
        peak = found.peak()
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, b"")
    assert peak - found.base < _MOST, f"{(peak - found.base) / MB:.0f} MB over the base"


def post(body: bytes, *headers: bytes, path: bytes = b"PATH", length: bytes | None = None) -> bytes:
    stated = str(len(body)).encode() if length is None else length
    lines = [
        b"POST " + path + b" HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Content-Length: " + stated,
        *headers,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def get(*headers: bytes, path: bytes = b"/health", version: bytes = b"1.1") -> bytes:
    return b"\r\n".join([b"GET " + path + b" HTTP/" + version, *headers]) + b"\r\n\r\n"


def valued(server: str, value: bytes) -> bytes:
    """A request of the right form with ``value`` where a value goes."""
    if server == "reward":
        return b'{"items": [{"response": "Answer: x", "id": ' + value + b"}]}"
    return b'{"session": "x", "calls": [{"name": "search", "arguments": {"query": ' + value + b"}}]}"


LOCAL = b"Host: localhost"
REQUESTS: dict[str, bytes] = {
    "another host": get(b"Host: attacker.example"),
    "another host with our port": get(b"Host: attacker.example:8178"),
    "a host that begins like ours": get(b"Host: localhost.attacker.example"),
    "a host behind a user": get(b"Host: localhost@attacker.example"),
    "a host of half a bracket": get(b"Host: [::1"),
    "an address that is not loopback": get(b"Host: 192.0.2.1"),
    "an empty host": get(b"Host:"),
    "no host": get(),
    "no host in HTTP/1.0": get(version=b"1.0"),
    "two hosts": get(LOCAL, b"Host: attacker.example"),
    "another origin": get(LOCAL, b"Origin: https://attacker.example"),
    "the origin null": get(LOCAL, b"Origin: null"),
    "the origin of a file": get(LOCAL, b"Origin: file://"),
    "an origin that is not an address": get(LOCAL, b"Origin: http://[localhost"),
    "a huge length": post(b"", length=b"999999999999999"),
    "a length of 5,000 digits": post(b"", length=b"9" * 5_000),
    "a negative length": post(b"", length=b"-1"),
    "a length in words": post(b"{}", length=b"many"),
    "two lengths": post(b"{}", b"Content-Length: 3"),
    "a length beside chunks": post(b"0\r\n\r\n", b"Transfer-Encoding: chunked"),
    "no length": b"POST PATH HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n",
    "chunks without end": b"POST PATH HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"10000\r\n" * 1
    + b" " * 65_536
    + b"\r\n",
    "a chunk of a wrong size": b"POST PATH HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a header of 1 MB": get(LOCAL, b"X: " + b"a" * MB),
    "50,000 headers": get(LOCAL, *[b"X: a"] * 50_000),
    "no HTTP at all": b"\x00\xff\xfe" * 1_000 + b"\r\n\r\n",
    "a hello of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500,
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an unknown method": b"BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a way to a tunnel": b"CONNECT attacker.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an upgrade to WebSocket": get(LOCAL, b"Connection: Upgrade", b"Upgrade: websocket", path=b"/socket"),
    "a path that leads out": get(LOCAL, path=b"/../../../../etc/passwd"),
    "a path that leads out, escaped": get(LOCAL, path=b"/%2e%2e/%2e%2e/etc/passwd%00"),
    "a path of half a character": get(LOCAL, path=b"/%ff%fe"),
    "another server's address": get(LOCAL, path=b"http://attacker.example/health"),
    "a form": b"POST PATH HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 3\r\n\r\na=1",
    "bytes that are not UTF-8": post(b'{"items": "\xff\xfe\x80"}'),
    "UTF-16": post('{"items": []}'.encode("utf-16")),
    "gzip": post(b"\x1f\x8b\x08" + bytes(50), b"Content-Encoding: gzip"),
    "a list": post(b"[]"),
    "a word": post(b'"items"'),
    "nothing": post(b""),
    "lists in lists": post(b"[" * 200_000 + b"]" * 200_000),
    "objects in objects": post(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "a key that is half a character": post(b'{"\\ud800": 1}'),
    "5 million lists": post(b"[" + b"[]," * (5 * MB) + b"1]"),
    "14 MB that four bytes a character hold": post(b'{"x": "' + "\U0001f600".encode() + b"a" * (14 * MB) + b'"}'),
    "over the limit by a byte": post(b" " * (16 * MB + 1)),
}
VALUES: dict[str, bytes] = {
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "a number beyond any": b"1e999",
    "5,000 digits": b"9" * 5_000,
    "400 digits": b"9" * 400,
    "an object": b'{"a": []}',
    "true": b"true",
    "an unknown id": b'"no-such"',
}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_hostile_request_is_refused(name: str, server: str, running: Running) -> None:
    answer = running.send(server, REQUESTS[name].replace(b"PATH", _PATHS[server], 1))
    if answer:
        assert answer.startswith(b"HTTP/1.1 4"), answer[:200]
        assert b"Traceback" not in answer
    assert running.ask(server) == 200


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("name", VALUES)
def test_a_hostile_value_is_refused(name: str, server: str, running: Running) -> None:
    answer = running.send(server, post(valued(server, VALUES[name]), path=_PATHS[server]))
    assert answer.startswith(b"HTTP/1.1 4"), answer[:200]
    assert set(json.loads(answer.partition(b"\r\n\r\n")[2])) == {"error"}


@pytest.mark.parametrize(("name", "status"), [("Host: [::1]:8178", 200), ("Host: 127.0.0.1", 200), ("Host: x", 403)])
def test_it_is_called_by_loopback_names(name: str, status: int, running: Running) -> None:
    for server in SERVERS:
        assert running.send(server, get(name.encode())).split()[1] == str(status).encode()
    page = get(LOCAL, b"Origin: http://localhost:3000")
    assert running.send("serve-env", page).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("server", SERVERS)
def test_800_half_open_connections_are_no_threads(server: str, running: Running) -> None:
    before = running.process.num_threads()
    held = []
    try:
        for number in range(800):
            held.append(socket.create_connection(("127.0.0.1", running.ports[server]), timeout=5))
            held[-1].sendall(b"POST /score HTTP/1.1\r\nHost: local" if number % 2 else post(b"{", length=b"99"))
        assert running.ask(server) == 200
        assert running.process.num_threads() <= before + 8
    finally:
        for connection in held:
            connection.close()


@pytest.mark.parametrize("server", SERVERS)
def test_many_large_bodies_at_once_are_bounded(server: str, running: Running) -> None:
    bodies = [REQUESTS["14 MB that four bytes a character hold"], REQUESTS["5 million lists"]] * 4
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda body: running.send(server, body.replace(b"PATH", _PATHS[server], 1)), bodies))
    assert {answer.split()[1] for answer in answers if answer} <= {b"400", b"413", b"503"}
    assert running.peak() - running.base < _MOST


@pytest.mark.parametrize("server", SERVERS)
def test_requests_in_one_go_are_answered_in_order(server: str, running: Running) -> None:
    with socket.create_connection(("127.0.0.1", running.ports[server]), timeout=5) as connection:
        connection.sendall(get(LOCAL) * 20 + get(LOCAL, b"Connection: close", path=b"/last"))
        found = b""
        while chunk := connection.recv(1 << 16):
            found += chunk
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"200"] * 20 + [b"404"]


@pytest.mark.parametrize("server", SERVERS)
def test_a_client_that_only_closes_its_own_side_gets_its_answer(server: str, running: Running) -> None:
    assert running.send(server, get(LOCAL), shut=True).startswith(b"HTTP/1.1 200")
    assert running.send(server, post(b'{"items": [', length=b"500"), shut=True) == b""
