"""Processes that use a store of calls, forked from a warm one: each can be killed.

Reads one request per line: ``{"path", "children": [{"log", ...}], "kill_after"}``. Forks a child for each entry of
``children``, waits for all, answers with their exit codes. With ``kill_after``, each child is killed that many seconds
after the first line of its log. What a child was told goes to its log, one line per event, as soon as it was told.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from synth.identity import derive_generator
from synth.store.calls import CallStore, CapReached, Outcome, TokenCount


def key_of_call(name: object) -> str:
    return hashlib.sha256(str(name).encode()).hexdigest()


class Log:
    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, **event: Any) -> None:
        os.write(self.descriptor, (json.dumps(event) + "\n").encode())


async def one_call(store: CallStore, log: Log, name: str, request: str, draw: np.random.Generator) -> None:
    """Make the call ``name`` unless it is stored, as a client would; say what was acknowledged."""
    key = key_of_call(name)
    known = await store.get(key)
    if known is not None:
        log.write(event="hit", key=key, body=known.decode())
        return
    bound = int(draw.integers(1, 1_000))
    known = await store.begin(request, key, "data", "teacher", tokens=bound, cost=bound)
    if known is not None:
        log.write(event="hit", key=key, body=known.decode())
        return
    log.write(event="sent", key=key, request=request, bound=bound)
    await asyncio.sleep(float(draw.uniform(0, 0.005)))
    ending = draw.choice(["served", "served", "served", "recorded", "unknown", "no usage", "free"])
    body = f"{request} says {'something ' * int(draw.integers(1, 60))}"
    usage, cost = TokenCount(int(draw.integers(0, bound + 1)), 0), int(draw.integers(0, bound + 1))
    served = None
    if ending == "free":
        await store.settle(request, Outcome.FREE)
    elif ending == "unknown":
        await store.settle(request, Outcome.UNKNOWN)
    elif ending == "no usage":
        served = await store.settle(request, Outcome.UNKNOWN, reply=body.encode())
    else:
        reason = "refusal" if ending == "recorded" else None
        served = await store.settle(
            request, Outcome.DELIVERED, usage=usage, cost=cost, reply=body.encode(), reason=reason
        )
    log.write(
        event="settled", key=key, request=request, ending=ending, cost=cost, body=served.decode() if served else None
    )


async def work(path: str, child: dict[str, Any]) -> None:
    """Go through ``calls`` names in an order of its own, ``at_once`` at a time, until done or out of budget; or keep
    one call of cost ``hold`` open."""
    log = Log(child["log"])
    if "hold" in child:
        with CallStore(path) as store:
            await store.begin("held", key_of_call("held"), "data", "teacher", tokens=0, cost=child["hold"])
            born, bears = os.pipe()
            orphan = os.fork() if child.get("orphan") else 1
            if not orphan:
                os.write(bears, b".")
                time.sleep(60)  # outlives its parent, with a copy of all that was open
                os._exit(0)
            if child.get("orphan"):
                os.read(born, 1)  # killed before it ran, it would have had no time to let go of anything
            log.write(event="sent", orphan=orphan)
            await asyncio.sleep(3_600)
    order = derive_generator(child["seed"], "order").permutation(child["calls"])
    names = iter(order.tolist())
    with CallStore(path) as store:
        store.cap("data", cost=child.get("cost"), tokens=child.get("tokens"))

        async def worker(number: int) -> None:
            for name in names:
                draw = derive_generator(child["seed"], "call", number, name)
                try:
                    await one_call(store, log, f"call {name}", f"{child['seed']}/{number}/{name}", draw)
                except CapReached as reached:
                    log.write(event="cap", spent=reached.spent, wanted=reached.wanted, unit=reached.unit)
                    return

        await asyncio.gather(*(worker(number) for number in range(child["at_once"])))
        log.write(event="end")


def fork(path: str, child: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        asyncio.run(work(path, child))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        pids = [fork(request["path"], child) for child in request["children"]]
        if request.get("kill_after") is not None:
            for pid, child in zip(pids, request["children"], strict=True):
                log = Path(child["log"])
                while not (log.exists() and log.stat().st_size):
                    time.sleep(0.001)
                time.sleep(request["kill_after"])
                os.kill(pid, signal.SIGKILL)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        print(json.dumps(codes), flush=True)


if __name__ == "__main__":
    main()
