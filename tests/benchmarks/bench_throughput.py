"""Calls per second through one endpoint: ours beside a bare loop, and our HTTP client beside aiohttp.

    python tests/benchmarks/bench_throughput.py                       a quick look
    python tests/benchmarks/bench_throughput.py --at-once 2048 --latency 1 --rounds 3 --only bare http1 aiohttp ours

A server in a process of its own answers each request of about 2 KB after ``--latency`` with a reply of about 1 KB; it
does as little as it can, so that the clients are what is measured. Each contender runs in a fresh process and makes the
same calls, 256 at once; rounds take turns. Ratios are to the bare loop of the same round, so what else the machine does
meanwhile falls on all of them; medians over rounds are printed, and the least.

    bare        aiohttp, one loop, nothing kept
    ours        ModelHub: call store (intents, replies, account) and a row journal with one row per call
    http1       our Transport alone, over connections of our own
    aiohttp     the same Transport over aiohttp: what http1 must beat by more than 10 % to stay

Exit status 1 when ours makes fewer calls per second than ``--wanted`` times the bare loop's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, cast

SYSTEM = "You answer questions with the tools that you are given, and say so when nothing can be found. " * 16
TEXT = "It was written in the year in which the bridge was opened, so the second document must be meant. " * 8


def messages(number: int) -> list[dict[str, str]]:
    question = f"Question {number}: who wrote the book that was printed in the town where the bridge was built? " * 4
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]


def serve(latency: float) -> None:
    """Print the port, then answer until killed."""
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 420, "completion_tokens": 160, "total_tokens": 580}
    top = {"id": "chatcmpl-0", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**top, "choices": [choice], "usage": usage}).encode()
    said = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    class Answer(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast(asyncio.Transport, transport)
            self.buffer = b""

        def data_received(self, data: bytes) -> None:
            self.buffer += data
            end = self.buffer.find(b"\r\n\r\n")
            length = self.buffer[: max(end, 0)].lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            if end >= 0 and len(self.buffer) >= end + 4 + int(length or 0):
                self.buffer = b""
                asyncio.get_running_loop().call_later(latency if length else 0, self.answer)

        def answer(self) -> None:
            if not self.transport.is_closing():
                self.transport.write(said)

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Answer, "127.0.0.1", 0, backlog=8192)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


# One contender each: makes the calls and returns how long it took, in wall and CPU seconds.


async def timed(work: Callable[[], Awaitable[Any]]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


async def workers(count: int, numbers: Iterator[int], one: Callable[[int], Awaitable[Any]]) -> None:
    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(count)))


async def bare(address: str, calls: int, at_once: int) -> dict[str, float]:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session:

        async def one(number: int) -> None:
            plain = {"model": "m", "messages": messages(number), "max_tokens": 2048}
            async with session.post(f"{address}/chat/completions", json=plain) as response:
                reply = await response.json()
            assert reply["choices"][0]["message"]["content"] == TEXT

        await workers(at_once, iter(range(-at_once, 0)), one)  # connections are made before
        return await timed(lambda: workers(at_once, iter(range(calls)), one))


async def transport(address: str, calls: int, at_once: int) -> dict[str, float]:
    from synth.models.transport import Transport

    carrier = Transport()

    async def one(number: int) -> None:
        body = json.dumps({"model": "m", "messages": messages(number), "max_tokens": 2048}).encode()
        response = await carrier.post(f"{address}/chat/completions", body, {}, timeout=600, most=1 << 24)
        assert response.body.endswith(b"}")

    try:
        await workers(at_once, iter(range(-at_once, 0)), one)  # connections are made before
        return await timed(lambda: workers(at_once, iter(range(calls)), one))
    finally:
        await carrier.close()


async def ours(address: str, calls: int, at_once: int) -> dict[str, float]:
    from synth.models import bridge
    from synth.models.client import ModelHub
    from synth.models.contract import Price, Runtime, Sampling
    from synth.store.calls import CallStore
    from synth.store.journal import Journal

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with (
            CallStore(path / "calls.sqlite") as store,
            Journal(path / "rows") as journal,
            ModelHub(store) as hub,
        ):
            runtime = Runtime(endpoints=(address,), price=Price(prompt=0.1, completion=0.4), concurrency=at_once)
            model = hub.bind("m", Sampling(), runtime)
            numbers = iter(range(calls))
            delivered = hub.account().delivered

            def rows() -> None:
                for number in numbers:
                    # No round finds the replies of another one.
                    reply = model.chat(messages(number), sample=f"{os.getpid():016x}{number:016x}")
                    assert reply.content == TEXT.strip()
                    journal.append(reply.model_dump_json().encode())

            async def all_of_them() -> None:
                await asyncio.gather(*(bridge.run(rows) for _ in range(at_once)))

            found = await timed(all_of_them)
            assert hub.account().delivered - delivered == calls
            return found


def child(name: str, address: str, calls: int, at_once: int) -> dict[str, float]:
    if name == "aiohttp":
        address = address.replace("//", "//user:password@")  # what has a password goes over aiohttp
    known = {"bare": bare, "http1": transport, "aiohttp": transport, "ours": ours}
    return asyncio.run(known[name](address, calls, at_once))


# All of them


def run_child(*arguments: str) -> dict[str, float] | None:
    """The child's figures; None when it failed or took more than ten minutes."""
    ours = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(ours)}
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, check=False)
    except subprocess.TimeoutExpired:
        print(f"  {' '.join(arguments)}: no end within 600 s", flush=True)
        return None
    if done.returncode:
        print(f"  {' '.join(arguments)}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def compare(options: argparse.Namespace, address: str) -> bool:
    rate: dict[str, list[float]] = {name: [] for name in options.only}
    cpu: dict[str, list[float]] = {name: [] for name in options.only}
    ratio: dict[str, list[float]] = {name: [] for name in options.only}
    cpu_ratio: dict[str, list[float]] = {name: [] for name in options.only}
    for number in range(options.rounds):
        print(f"round {number}, load {os.getloadavg()[0]:.1f}", flush=True)
        for name in options.only:
            calls = options.calls
            found = run_child("--child", name, address, str(calls), str(options.at_once))
            if found is None:
                continue
            rate[name].append(calls / found["wall"])
            cpu[name].append(found["cpu"] / calls * 1e6)
            if rate["bare"]:
                ratio[name].append(rate[name][-1] / rate["bare"][-1])
                cpu_ratio[name].append(cpu[name][-1] / cpu["bare"][-1])
    print(f"\n{'':16}{'calls/s':>9}{'to bare':>9}{'least':>9}{'CPU us/call':>13}{'to bare':>9}")
    for name in options.only:
        if ratio[name]:
            figures = [statistics.median(column[name]) for column in (rate, ratio, cpu, cpu_ratio)]
            print(
                f"{name:16}{figures[0]:9,.0f}{figures[1]:9.2f}{min(ratio[name]):9.2f}{figures[2]:13,.0f}{figures[3]:9.2f}"
            )
    if ratio.get("http1") and ratio.get("aiohttp"):
        beats = [mine / other for mine, other in zip(ratio["http1"], ratio["aiohttp"], strict=True)]
        print(f"http1 over aiohttp: {statistics.median(beats):.2f}, least {min(beats):.2f}")
    if not ratio.get("ours"):
        return "ours" not in options.only
    wanted: float = options.wanted
    return statistics.median(ratio["ours"]) >= wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5_000)
    parser.add_argument("--at-once", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=["bare", "ours"], metavar="NAME")
    parser.add_argument("--wanted", type=float, default=0.65)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # each call has a connection
    if options.serve:
        return serve(options.latency)
    if options.child:
        name, address, calls, at_once = options.child
        return print(json.dumps(child(name, address, int(calls), int(at_once))))
    command = [sys.executable, __file__, "--serve", "--latency", str(options.latency)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        well = compare(options, address)
    finally:
        server.kill()
        server.wait()
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
