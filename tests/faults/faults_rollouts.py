"""Rollouts of a model-backed policy, many at a time, over a call store: what is killed again and again.

Every rollout that ends adds a line to a journal; those that it holds already are not made again.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.agents.loop import Limits, rollout
from synth.agents.model.policy import ModelConfig, ModelPolicy
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import ChatReply, ChatRequest, Model, Patience, Price, Runtime, Sampling
from synth.prompting import load_prompt
from synth.schemas.tasks import Task
from synth.store.calls import CallStore
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

ACCOUNT = "rollouts"
PRICE = Price(prompt=1.0, completion=3.0, cached=0.5)
# Shorter than in earnest, so that a test of a thousand faults takes seconds.
PATIENCE = Patience(first_delay=0.02, longest_delay=0.5)


@dataclass(frozen=True)
class Wanted:
    url: str
    calls: str
    """File of the call store."""
    out: str
    """The journal."""
    samples: int
    """Rollouts per task."""
    at_once: int = 24
    """Rollouts in flight."""
    timeout: float = 1.5
    """Seconds per attempt."""
    kill_after: int | None = None
    """Calls that this process pays for before it is killed; None = it is not."""
    kill_delay: float = 0.0
    """Seconds from there to the kill."""


class _Watched(Model):
    """A model whose process dies so many new replies after its start, whatever else is under way."""

    def __init__(self, model: Model, hub: ModelHub, wanted: Wanted, asked: list[str]) -> None:
        self.name, self.sampling = model.name, model.sampling
        self._model = model
        self._hub = hub
        self._wanted = wanted
        self._asked = asked
        self._doomed = False

    def ask(self, request: ChatRequest) -> ChatReply:
        self._asked.append(request.sample)
        reply = self._model.ask(request)
        new = sum(role.calls - role.from_store for role in self._hub.statistics().roles)
        if self._wanted.kill_after is not None and new >= self._wanted.kill_after and not self._doomed:
            self._doomed = True
            threading.Timer(self._wanted.kill_delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return reply


def names(wanted: Wanted) -> list[tuple[Task, int]]:
    return [(task, number) for task in small_tasks() for number in range(wanted.samples)]


def name_of(task: Task, number: int) -> str:
    return f"{task.id}/{number}"


def read_journal(path: Path) -> dict[str, dict[str, Any]]:
    """What ended, by name; a torn last line is none."""
    found: dict[str, dict[str, Any]] = {}
    if path.exists():
        for line in path.read_bytes().rpartition(b"\n")[0].split(b"\n"):
            if line:
                entry = json.loads(line)
                assert entry["name"] not in found
                found[entry["name"]] = entry
    return found


@contextmanager
def _journal(path: Path) -> Iterator[Any]:
    """Open for appending, without the torn end of a write that was cut short."""
    if path.exists():
        whole = path.read_bytes().rpartition(b"\n")
        os.truncate(path, len(whole[0]) + len(whole[1]))
    with path.open("ab", buffering=0) as file:
        yield file


def play(wanted: Wanted) -> None:
    """Make all rollouts that the journal lacks."""
    documents = small_documents()
    environment = SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)
    system = load_prompt("agents/search").render(instructions=environment.instructions())
    done = read_journal(Path(wanted.out))
    with (
        CallStore(wanted.calls) as calls,
        ModelHub(calls, account=ACCOUNT, patience=PATIENCE) as hub,
        _journal(Path(wanted.out)) as journal,
    ):
        model = hub.bind(
            "policy",
            Sampling(max_tokens=400),
            Runtime(endpoints=(wanted.url,), timeout=wanted.timeout, attempts=12, price=PRICE),
        )

        def one(task: Task, number: int) -> None:
            asked: list[str] = []
            policy = ModelPolicy(_Watched(model, hub, wanted, asked), ModelConfig(send_reasoning="reasoning"))
            entry: dict[str, Any] = {"name": name_of(task, number)}
            made = rollout(
                policy,
                environment,
                task,
                system=system,
                limits=Limits(),
                generator_for_turn=lambda turn: derive_generator(11, task.id, number, turn),
            )
            if made.rejected is None:
                steps = [step.model_dump(mode="json") for step in made.history]
                entry |= {"stop": made.stop_reason.value, "steps": steps}
            else:
                entry |= {"reason": made.rejected.reason.value, "detail": made.rejected.detail}
            journal.write(json.dumps({**entry, "asked": asked}).encode() + b"\n")

        async def every() -> None:
            places = asyncio.Semaphore(wanted.at_once)

            async def placed(task: Task, number: int) -> None:
                async with places:
                    await bridge.run(one, task, number)

            missing = [(task, number) for task, number in names(wanted) if name_of(task, number) not in done]
            await asyncio.gather(*(placed(task, number) for task, number in missing))

        asyncio.run(every())
