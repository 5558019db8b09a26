"""HTTP clients at 2,048 calls in flight against a server that answers after one second.

    python tests/benchmarks/bench_http.py                        five rounds of every client
    python tests/benchmarks/bench_http.py --rounds 7 --calls 8192 --only bare ours aiohttp

The server runs in a process of its own and answers each chat completion with 2 to 20 kB. Each client runs in a fresh
process, and the clients take turns, round by round. Printed are calls per second and CPU per call, and their
ratios to the bare loop of the same round: the median over the rounds, and the least.

    bare     aiohttp, one loop, nothing kept and nothing checked
    ours     Transport over HTTP/1.1 connections of our own
    aiohttp  the same Transport over aiohttp
    httpx    its AsyncClient, if it is installed; only when asked for, since it takes minutes

On 2 cores of a shared machine at load 12, three rounds of 6,144 calls: ours 2.4 times the calls of the bare loop (least
2.2), aiohttp .99 (least .84). In the same round ours makes 1.8 to 2.6 times the calls of aiohttp.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import numpy as np

IN_FLIGHT = 2_048
LATENCY = 1.0
BODIES = 256
WORDS = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8").split()
CLIENTS = ("bare", "ours", "aiohttp", "httpx")

One = Callable[[int], Awaitable[bytes]]


def raise_limit() -> None:
    """As many open files as the system allows: each call has a connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def question(number: int) -> list[dict[str, str]]:
    start = number % (len(WORDS) - 400)
    return [{"role": "user", "content": f"{number}: {' '.join(WORDS[start : start + 300])}"}]


def request(number: int) -> bytes:
    return json.dumps({"model": "m", "messages": question(number), "max_tokens": 8_192}).encode()


def reply(size: int) -> bytes:
    """A whole HTTP response with a chat completion of about ``size`` bytes."""
    text = " ".join(WORDS * 4)[:size]
    usage = {"prompt_tokens": 420, "completion_tokens": size // 4, "total_tokens": 420 + size // 4}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    top = {"id": "chatcmpl-0", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**top, "choices": [choice], "usage": usage}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Answer(asyncio.Protocol):
    """One connection of the server; it does as little as it can, so that the clients are what is measured."""

    replies: list[bytes]
    served = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        length = self.buffer[:end].lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(self.buffer) < end + 4 + int(length or 0):
            return
        self.buffer = b""
        Answer.served += 1
        said = self.replies[Answer.served % BODIES]
        asyncio.get_running_loop().call_later(LATENCY if length else 0, self.answer, said)

    def answer(self, said: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(said)


def serve() -> None:
    """Print the port, then answer until killed."""
    Answer.replies = [reply(int(size)) for size in np.linspace(2_000, 20_000, BODIES)]

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Answer, "127.0.0.1", 0, backlog=8_192)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


# The clients: each makes the same calls


async def timed(one: One, calls: int) -> dict[str, float]:
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            assert len(await one(number)) >= 2_000

    await asyncio.gather(*(one(-1 - number) for number in range(IN_FLIGHT)))  # connections are made before
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


async def bare(host: str, calls: int) -> dict[str, float]:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(number: int) -> bytes:
            async with session.post(f"http://{host}/v1/chat/completions", data=request(number)) as response:
                return await response.read()

        return await timed(one, calls)


async def transport(host: str, calls: int) -> dict[str, float]:
    from synth.models.transport import Transport

    carrier = Transport()

    async def one(number: int) -> bytes:
        url = f"http://{host}/v1/chat/completions"
        return (await carrier.post(url, request(number), {}, timeout=600, most=1 << 24)).body

    try:
        return await timed(one, calls)
    finally:
        await carrier.close()


async def httpx(host: str, calls: int) -> dict[str, float]:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=600, trust_env=False) as client:

        async def one(number: int) -> bytes:
            return (await client.post(f"http://{host}/v1/chat/completions", content=request(number))).content

        return await timed(one, calls)


def child(name: str, host: str, calls: int) -> dict[str, float]:
    over_aiohttp = f"user:password@{host}"
    made = {
        "bare": lambda: bare(host, calls),
        "ours": lambda: transport(host, calls),
        "aiohttp": lambda: transport(over_aiohttp, calls),
        "httpx": lambda: httpx(host, calls),
    }
    return asyncio.run(made[name]())


def run_child(*arguments: str) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def compare(names: list[str], rounds: int, calls: int, host: str) -> None:
    rate: dict[str, list[float]] = {name: [] for name in names}
    cpu: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        print(f"round {number}, load {os.getloadavg()[0]:.1f}", flush=True)
        for name in names:
            found = run_child("--child", name, host, str(calls))
            rate[name].append(calls / found["wall"])
            cpu[name].append(found["cpu"] / calls * 1e6)
            print(f"  {name}: {rate[name][-1]:,.0f} calls/s, {cpu[name][-1]:,.0f} us of CPU each", flush=True)
    print(f"\n{'':12}{'calls/s':>9}{'least':>9}{'to bare':>9}{'least':>9}{'CPU us':>9}{'to bare':>9}")
    for name in names:
        faster = [mine / other for mine, other in zip(rate[name], rate["bare"], strict=True)]
        dearer = [mine / other for mine, other in zip(cpu[name], cpu["bare"], strict=True)]
        columns = [statistics.median(rate[name]), min(rate[name]), statistics.median(faster), min(faster)]
        columns += [statistics.median(cpu[name]), statistics.median(dearer)]
        print(f"{name:12}" + "".join(f"{value:9,.{0 if value > 20 else 2}f}" for value in columns))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=3 * IN_FLIGHT)
    parser.add_argument("--only", nargs="+", choices=CLIENTS, default=list(CLIENTS[:3]))
    parser.add_argument("--child", nargs=3, metavar=("NAME", "HOST", "CALLS"), help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    raise_limit()
    if options.serve:
        serve()
    if options.child:
        name, host, calls = options.child
        print(json.dumps(child(name, host, int(calls))))
        return 0
    names = [name for name in options.only if name != "httpx" or importlib.util.find_spec("httpx")]
    names = ["bare", *(name for name in names if name != "bare")]
    with subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            compare(names, options.rounds, options.calls, f"127.0.0.1:{int(server.stdout.readline())}")
        finally:
            server.kill()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
