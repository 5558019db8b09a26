"""Clients that trickle, and names by which a server is called, in this process."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest

from synth.annotate.rewards.server import RewardServer


class Hasty(RewardServer):
    head_seconds: ClassVar[float] = 0.2


@pytest.fixture
def server() -> Iterator[Hasty]:
    running = Hasty("127.0.0.1", 0, allow_hosts=["Trainer-7.example"])
    yield from _served(running)


def _served(running: Hasty) -> Iterator[Hasty]:
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.stop()
    thread.join()


def rest(server: Hasty, *parts: bytes) -> bytes:
    """What comes after ``parts``, until the server closes."""
    with socket.create_connection(server.server_address, timeout=20) as connection:
        found = b""
        for part in parts:
            connection.sendall(part)
            found += connection.recv(1 << 16)
        while chunk := connection.recv(1 << 16):
            found += chunk
    return found


def test_a_head_that_does_not_come_ends_the_connection(server: Hasty) -> None:
    assert rest(server) == b""
    assert rest(server, b"GET /health HT") == b""


def test_a_second_head_that_does_not_come_ends_it_too(server: Hasty) -> None:
    first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert rest(server, first + b"GET /hea").startswith(b"HTTP/1.1 200")


def test_a_body_that_does_not_come_is_answered(server: Hasty) -> None:
    head = b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
    answer = rest(server, head)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"the body came too slowly" in answer


@pytest.mark.parametrize(
    ("name", "status"), [("trainer-7.example", 200), ("TRAINER-7.EXAMPLE:80", 200), ("trainer-8.example", 403)]
)
def test_other_names_are_allowed_by_name(server: Hasty, name: str, status: int) -> None:
    connection = http.client.HTTPConnection(*server.server_address, timeout=20)
    for headers in ({"Host": name}, {"Origin": f"https://{name}"}):
        connection.request("GET", "/health", headers=headers)
        answer = connection.getresponse()
        assert answer.status == status
        assert (b"--allow-host NAME" in answer.read()) == (status == 403)
    connection.close()
