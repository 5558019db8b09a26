"""The store of model calls: CPU per call at 256 in flight, and how it grows to 10^6 replies.

    python tests/benchmarks/bench_calls.py                   files of 10^4, 10^5 and 10^6 replies
    python tests/benchmarks/bench_calls.py --sizes 10000 100000 --dir /tmp

One file per size is filled. Then, in turn, each has a sample of whole calls (look-up that misses, begin, settle with a
reply of about 1 KB), 256 at once and without a server, and of look-ups at random that hit: so all sizes meet the same
load of the machine. CPU seconds of the process, less the same loop of tasks without the store; medians over the rounds.

Beside them, what growing costs anybody: a Python dict with as many keys of 32 bytes and bodies of the same length, and
a bare SQLite table (key, body) with one prepared SELECT, nothing decoded and nothing checked. What lies in 600 MB is
not in the processor's caches: a look-up waits for memory, whoever makes it. On 2 cores of a shared EPYC, 10^6 against
10^4: dict 2.1 times, bare table 1.8. Our call took 66 us at 10^5 replies and 75 us while 10^6 were written, a look-up
that hits 19 and 25 us; the process grew by 35 MB in both.

With ``--limit``, the exit status is 1 when a call or a look-up in the last file costs more than that many times what it
costs in the first.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from synth.identity import derive_generator
from synth.store.calls import CallStore, Outcome, TokenCount

IN_FLIGHT = 256
FILL_AT_ONCE = 4_096
SAMPLE = 1_000
ROUNDS = 11
WORDS = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8").split()


def key(number: int) -> str:
    return hashlib.sha256(f"call {number}".encode()).hexdigest()


def reply(number: int, draw: np.random.Generator) -> bytes:
    """A chat completion as servers send it, of about 1 KB, with a tool call and some hundred words of reasoning."""
    start, count = int(draw.integers(0, len(WORDS) - 150)), int(draw.integers(10, 110))
    message = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning_content": " ".join(WORDS[start : start + count]),
        "tool_calls": [
            {
                "id": f"call_{draw.bytes(12).hex()}",
                "type": "function",
                "function": {"name": "search", "arguments": json.dumps({"query": " ".join(WORDS[start : start + 8])})},
            }
        ],
    }
    prompt, completion = (int(tokens) for tokens in draw.integers(50, 4_000, size=2))
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    body = {
        "id": f"chatcmpl-{draw.bytes(16).hex()}",
        "object": "chat.completion",
        "created": 1_763_000_000 + number,
        "model": "a-model",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}],
        "usage": usage,
        "system_fingerprint": None,
    }
    return json.dumps(body).encode()


async def at_once(numbers: Iterator[int], work: Callable[[int], Coroutine[Any, Any, None]], workers: int) -> None:
    async def worker() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(worker() for _ in range(workers)))


def cpu_us(numbers: Iterable[int], work: Callable[[int], Coroutine[Any, Any, None]]) -> float:
    """Microseconds of CPU for each of ``SAMPLE``."""
    cpu = time.process_time()
    asyncio.run(at_once(iter(numbers), work, IN_FLIGHT))
    return (time.process_time() - cpu) / SAMPLE * 1e6


class File:
    """A store of ``size`` replies, and what was measured on it."""

    def __init__(self, folder: Path, size: int, bodies: list[bytes]) -> None:
        self.path = folder / f"{size}.sqlite"
        self.size = size
        self.bodies = bodies
        self.store = CallStore(self.path)
        asyncio.run(at_once(iter(range(size)), self.call, FILL_AT_ONCE))
        self.store.close()
        self.bytes = self.path.stat().st_size
        cpu = time.process_time()
        self.store = CallStore(self.path)
        asyncio.run(self.store.get(key(-1)))
        self.opening = (time.process_time() - cpu) * 1e3
        self.there = size
        self.calls: list[float] = []
        self.look_ups: list[float] = []

    async def call(self, number: int) -> None:
        name = key(number)
        request = f"{name[:16]}-{name[16:24]}-{number:010x}"
        assert await self.store.get(name) is None
        await self.store.begin(request, name, "bench", "teacher", tokens=4_000, cost=1_000_000)
        await asyncio.sleep(0)
        body = self.bodies[number % len(self.bodies)]
        await self.store.settle(request, Outcome.DELIVERED, usage=TokenCount(1_000, 200), cost=400_000, reply=body)

    async def look_up(self, number: int) -> None:
        assert await self.store.get(key(number)) == self.bodies[number % len(self.bodies)]

    def sample(self, draw: np.random.Generator, base: float) -> None:
        self.calls.append(cpu_us(range(self.there, self.there + SAMPLE), self.call) - base)
        self.there += SAMPLE
        self.look_ups.append(cpu_us(draw.integers(0, self.size, SAMPLE).tolist(), self.look_up))


class Bare:
    """A dict, and a bare table of SQLite, with ``size`` bodies of ``length`` bytes each."""

    def __init__(self, folder: Path, size: int, length: int, draw: np.random.Generator) -> None:
        self.size = size
        self.keys = draw.bytes(32 * size)
        order = draw.permutation(size).tolist()  # neighbours in memory are not neighbours in the order of look-ups
        self.dict = {self.key(number): draw.bytes(length) for number in order}
        self.file = sqlite3.connect(folder / f"{size}.bare.sqlite", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -32768", f"mmap_size = {1 << 40}"):
            self.file.execute(f"PRAGMA {pragma}")
        self.file.execute("CREATE TABLE replies (key BLOB PRIMARY KEY, body BLOB NOT NULL)")
        self.file.execute("BEGIN")
        self.file.executemany("INSERT INTO replies VALUES (?, ?)", self.dict.items())
        self.file.execute("COMMIT")
        self.file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.dicts: list[float] = []
        self.tables: list[float] = []

    def key(self, number: int) -> bytes:
        return self.keys[32 * number : 32 * number + 32]

    def sample(self, draw: np.random.Generator) -> None:
        look, read = self.dict, self.file.execute
        keys = [self.key(number) for number in draw.integers(0, self.size, SAMPLE).tolist()]
        cpu = time.process_time()
        for one in keys:
            look[one].count(b"\0")  # a body that is not read was not fetched
        self.dicts.append((time.process_time() - cpu) / SAMPLE * 1e6)
        keys = [self.key(number) for number in draw.integers(0, self.size, SAMPLE).tolist()]
        cpu = time.process_time()
        for one in keys:
            read("SELECT body FROM replies WHERE key = ?", (one,)).fetchone()[0].count(b"\0")
        self.tables.append((time.process_time() - cpu) / SAMPLE * 1e6)


async def nothing(number: int) -> None:
    key(number)
    for _ in range(2):
        await asyncio.sleep(0)


def measure(folder: Path, sizes: list[int]) -> list[dict[str, float]]:
    draw = derive_generator(0, "bench")
    bodies = [reply(number, draw) for number in range(2_000)]
    files = [File(folder, size, bodies) for size in sizes]
    bare = [Bare(folder, file.size, file.bytes // file.size - 120, draw) for file in files]
    bases = []
    for _ in range(ROUNDS):
        bases.append(cpu_us(range(SAMPLE), nothing))
        for file in files:
            file.sample(draw, bases[-1])
        for other in bare:
            other.sample(draw)
    rows = []
    for file, other in zip(files, bare, strict=True):
        file.store.close()
        row = {
            "replies": file.size,
            "call_us": statistics.median(file.calls),
            "look_up_us": statistics.median(file.look_ups),
            "baseline_us": statistics.median(bases),
            "dict_us": statistics.median(other.dicts),
            "sqlite_us": statistics.median(other.tables),
            "opening_ms": file.opening,
            "bytes_per_reply": file.bytes / file.size,
            "of_bytes": sum(map(len, bodies)) / len(bodies),
        }
        rows.append(row)
        print(json.dumps({name: round(value, 1) for name, value in row.items()}), flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--dir", type=Path, default=None, help="where the files are made (about 2 GB)")
    parser.add_argument("--limit", type=float, default=None)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        rows = measure(Path(folder), given.sizes)
    ratios = {name: rows[-1][name] / rows[0][name] for name in ("call_us", "look_up_us", "dict_us", "sqlite_us")}
    print(json.dumps({"last size against the first": {name: round(ratios[name], 2) for name in ratios}}))
    return int(given.limit is not None and max(ratios["call_us"], ratios["look_up_us"]) > given.limit)


if __name__ == "__main__":
    raise SystemExit(main())
