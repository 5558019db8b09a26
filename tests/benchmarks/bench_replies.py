"""What a hostile endpoint costs: memory, time, and how long the event loop stands still, by kind of reply.

    python tests/benchmarks/bench_replies.py
    python tests/benchmarks/bench_replies.py --megabytes 10000 gzip endless

Each kind is served from a process of its own and called once, with one attempt, by another process; figures are those
of the caller: resident memory beyond what it had before the call, wall seconds, and the longest time between two ticks
of a timer of 10 ms. ``--megabytes`` bounds what an endless reply sends, and is what the bombs unfold to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import CallFailed, EndpointDown, Patience, Runtime, Sampling

MEGABYTE = 1 << 20
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHOICE = b'{"choices": [{"message": {"role": "assistant", "content": "'


def endless(megabytes: int) -> Iterator[bytes]:
    """A length is promised, and kept."""
    yield OK + b"Content-Length: %d\r\n\r\n" % (megabytes * MEGABYTE)
    for _ in range(megabytes):
        yield b"a" * MEGABYTE


def chunked(megabytes: int) -> Iterator[bytes]:
    """Chunks without end."""
    yield OK + b"Transfer-Encoding: chunked\r\n\r\n"
    for _ in range(megabytes):
        yield b"100000\r\n" + b"a" * MEGABYTE + b"\r\n"


def headers(megabytes: int) -> Iterator[bytes]:
    """Interim responses without end."""
    for _ in range(megabytes):
        yield (b"HTTP/1.1 100 Continue\r\nX: " + b"a" * 1000 + b"\r\n\r\n") * 1000


def bomb(megabytes: int) -> Iterator[bytes]:
    """gzip of one letter, again and again."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = pack.compress(CHOICE) + b"".join(pack.compress(b"a" * MEGABYTE) for _ in range(megabytes)) + pack.flush()
    yield OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed


def nested(megabytes: int) -> Iterator[bytes]:
    """JSON that is small as text and large as objects."""
    body = b'{"choices": [' + (b"[" * 500 + b"]" * 500 + b",") * (megabytes * 1000) + b"0]}"
    yield OK + b"Content-Length: %d\r\n\r\n" % len(body) + body


def drip(megabytes: int) -> Iterator[bytes]:
    """A byte now and then, for ever."""
    yield OK + b"Content-Length: 1000000\r\n\r\n"
    while True:
        yield b"a"
        time.sleep(0.05)


KINDS: dict[str, Callable[[int], Iterator[bytes]]] = {
    "endless": endless, "chunked": chunked, "headers": headers, "gzip": bomb, "nested": nested, "drip": drip,
}  # fmt: skip


def serve(kind: str, megabytes: int, port: Connection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port.send(listening.getsockname()[1])
        while True:
            connection, _ = listening.accept()
            with connection:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(65_536)
                try:
                    for piece in KINDS[kind](megabytes):
                        connection.sendall(piece)
                except OSError:
                    continue


def call(port: int, said: Connection) -> None:
    async def main() -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        longest = 0.0

        async def watch() -> None:
            nonlocal longest
            while True:
                before = loop.time()
                await asyncio.sleep(0.01)
                longest = max(longest, loop.time() - before - 0.01)

        with ModelHub(patience=Patience(seconds=0, attempts=1)) as hub:
            runtime = Runtime(endpoints=(f"http://127.0.0.1:{port}/v1",), attempts=1, timeout=60)
            model = hub.bind("m", Sampling(), runtime)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            watching, began = asyncio.create_task(watch()), loop.time()
            await asyncio.sleep(0.02)
            try:
                await bridge.run(model.chat, [{"role": "user", "content": "Who wrote it?"}], sample="0")
                end = "a reply"
            except (CallFailed, EndpointDown) as failed:
                end = str(failed)[:200]
            seconds = loop.time() - began
            watching.cancel()
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "MB": round((after - before) / 1024),
            "seconds": round(seconds, 2),
            "blocked": round(longest, 2),
            "end": end,
        }

    said.send(asyncio.run(main()))


def measure(kind: str, megabytes: int) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    port, told = context.Pipe(False)
    answer, said = context.Pipe(False)
    server = context.Process(target=serve, args=(kind, megabytes, told), daemon=True)
    server.start()
    client = context.Process(target=call, args=(port.recv(), said), daemon=True)
    client.start()
    try:
        return dict(answer.recv())
    finally:
        server.kill()
        client.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--megabytes", type=int, default=500)
    given = parser.parse_args()
    for kind in given.kinds:
        print(json.dumps({"kind": kind, **measure(kind, given.megabytes)}), flush=True)


if __name__ == "__main__":
    main()
