"""A process that asks a model a few hundred questions in batches, and may be killed at it: url, store, calls,
failpoint."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import BatchOptions, Price, Runtime, Sampling
from synth.store import activate
from synth.store.calls import CallStore


async def ask(url: str, store: Path, count: int) -> list[str]:
    batch = BatchOptions(gather=0.1, poll=0.05, least=4)
    runtime = Runtime(endpoints=(url,), price=Price(prompt=1, completion=10), batch=batch, role="judge")
    with CallStore(store) as calls, ModelHub(calls, account="a") as hub:
        model = hub.bind("m", Sampling(max_tokens=64), runtime)

        def chat(number: int) -> Any:
            return model.chat([{"role": "user", "content": f"What is {number}?"}], sample=f"{number:032x}")

        replies = await asyncio.gather(*(bridge.run(chat, number) for number in range(count)))
        return [reply.content for reply in replies]


if __name__ == "__main__":
    url, store, count, failpoint = sys.argv[1:]
    activate(failpoint or None)
    print(json.dumps(asyncio.run(ask(url, Path(store), int(count)))))
