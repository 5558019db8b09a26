"""A stage that talks to a model, and a model whose replies come after random times. No network."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from engine_toys import Answer, Built, Page, Question, QuestionsConfig, plan

from synth.engine import Engine, Executor, Hub, LocalExecutor, ModelExecutor, Plan, StageNode
from synth.identity import derive_generator, key_of
from synth.models import bridge
from synth.models.contract import (
    CallFailed,
    ChatReply,
    ChatRequest,
    FailureKind,
    Finish,
    Model,
    Price,
    Runtime,
    Sampling,
    Usage,
)
from synth.models.statistics import HubStatistics, Tally
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.stages.contract import CandidateStage, Implementation, Outcome, RowStage, StageConfig
from synth.store import Store, activate
from synth.store.calls import CallStore
from synth.store.calls_format import Account
from synth.store.claims import Claims

PRICE = Price(prompt=2.0, completion=10.0, cached=0.5)


def make_agent(*, model: Model, role: str) -> Model:
    """Factory of the toy's collaborator: the model itself."""
    return model


def agent(url: str = "http://nowhere/v1", *, role: str = "teacher", price: Price = PRICE) -> Implementation:
    """The collaborator of the toy stage; ``url`` matters to a real hub only."""
    return Implementation(
        kind="toy",
        factory="model_toys:make_agent",
        options={"role": role},
        model="toy-1",
        runtime=Runtime(endpoints=(url,), price=price),
    )


class ChatsConfig(StageConfig):
    agent: Implementation = agent()
    """Who is asked."""
    turns: int = 4
    """Calls per row, each after the reply to the one before; the row is half done after two."""
    fail_at: str = ""
    """Id of a question at which the stage has a bug, after its first call."""
    failing: str = ""
    """Id of a question whose second call fails."""


class Chats(RowStage[ChatsConfig, Question]):
    """Asks a model a few times about every question."""

    name = "chats"
    version = 1
    config_type = ChatsConfig
    reads = ("questions",)
    over = "questions"
    writes: ClassVar[Mapping[str, type[Row]]] = {"answers": Answer}
    rows_per_shard = 4

    def process(self, row: Question) -> Outcome:
        model = self.context.make(self.config.agent)
        checkpoint, notes = self.context.checkpoint, self.context.metrics
        said: list[str] = []
        for turn in range(self.config.turns):
            part = checkpoint.parts.get(str(turn))
            if part is None:
                text = f"{row.id} {turn} {' '.join(said)}"
                if row.id == self.config.failing and turn == 1:
                    text = "FAIL"
                generator = self.context.generator(row.id, turn)
                part = str(model.chat([{"role": "user", "content": text}], sample=key_of(generator)).content)
                if row.id == self.config.fail_at:
                    raise ZeroDivisionError("a bug of the stage")
                if turn == 1:
                    checkpoint.put("0", said[0])
                    checkpoint.put("1", part)
            said.append(part)
            notes["turns"] = notes.get("turns", 0.0) + 1
        notes["answer"] = float(row.answer)
        answer = Answer(id=row.id, text=" | ".join(said), draw=notes["turns"], provenance=self.context.provenance)
        return Outcome(kept=(answer,))


class Wordings(CandidateStage[ChatsConfig]):
    """Has a model word candidates; a third of them is rejected."""

    name = "wordings"
    version = 1
    config_type = ChatsConfig
    reads = ("index",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"pages": Page}
    candidates_per_shard = 2

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return [self._one(index) for index in range(start, stop)]

    def _one(self, index: int) -> Outcome:
        model = self.context.make(self.config.agent)
        sample = key_of(self.context.generator(index))
        said = str(model.chat([{"role": "user", "content": f"word {index}"}], sample=sample).content)
        self.context.metrics.add("asked")
        if index % 3 == 0:
            rejection = Rejection(stage=self.name, row_id=str(index), reason=Reason.UNNATURAL, detail="no")
            return Outcome(rejected=(rejection,))
        return Outcome(kept=(Page(id=f"w{index}", words=(said,)),))


class FakeHub:
    """Models whose replies are never the same twice: equal results show that a reply came from the file of calls.

    Args:
        folder: Holds the replies by key (``calls``) and a line per request that was sent (``sent``).
        seconds: The longest that a reply takes.
        seed: Of the times that replies take.
        place: Where the rows are shared with other builds; None = nowhere.
        budget: After so many requests of this hub, the error ``end`` is raised instead.
        company: No reply comes before it is so, or a minute has gone by.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seconds: float = 0.005,
        seed: int = 0,
        place: Path | str | None = None,
        budget: int | None = None,
        end: Exception | None = None,
        company: Callable[[], bool] = lambda: True,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._calls, self._sent = folder / "calls", folder / "sent"
        self._known = dict(json.loads(line) for line in _lines(self._calls))
        self._seconds = seconds
        self._generator = derive_generator(seed, "fake hub")
        self._numbers = itertools.count()
        self._budget = budget
        self._end = end
        self._company = company
        self._tally = Tally("teacher", "toy-1")
        self.at_once = 0
        self.most_at_once = 0
        self.closed = 0
        self._ending = False
        self._shared = None if place is None else CallStore(place)

    @property
    def claims(self) -> Claims:
        assert self._shared is not None
        return self._shared.claims

    @asynccontextmanager
    async def ending(self, seconds: float) -> AsyncIterator[None]:
        self._ending = True
        try:
            async with asyncio.timeout(seconds):
                while self.at_once:
                    await asyncio.sleep(0.001)
        except TimeoutError:
            pass
        try:
            yield
        finally:
            self._ending = False

    def bind(self, name: str, sampling: Sampling, runtime: Runtime) -> Model:
        return FakeModel(self, name, sampling)

    def close(self) -> None:
        self.closed += 1
        if self._shared is not None:
            self._shared.close()

    def account(self) -> Account:
        return Account("toy", None, delivered=self._tally.calls - self._tally.from_store)

    def statistics(self) -> HubStatistics:
        return HubStatistics((self._tally.read(),), ())

    async def complete(self, request: ChatRequest) -> ChatReply:
        if request.key in self._known:
            self._tally.from_store += 1
        else:
            await self._send(request)
        self._tally.calls += 1
        return ChatReply(
            content=self._known[request.key],
            finish=Finish.STOP,
            usage=Usage(
                prompt_tokens=len(request.body) + int(request.sample[:2], 16), completion_tokens=7, cached_tokens=3
            ),
            call=request.key,
        )

    async def _send(self, request: ChatRequest) -> None:
        if self._ending:
            raise asyncio.CancelledError
        number = next(self._numbers)
        if self._budget is not None and number >= self._budget:
            assert self._end is not None
            raise self._end
        _append(self._sent, request.key)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        began = time.monotonic()
        try:
            while not self._company() and time.monotonic() - began < 60:
                await asyncio.sleep(0.005)
            await asyncio.sleep(float(self._generator.random()) * self._seconds)
        finally:
            self.at_once -= 1
        if request.messages[0]["content"] == "FAIL":
            raise CallFailed(FailureKind.SERVER, "500 from\nnowhere (after 8 attempts)")
        reply = f"{os.getpid():09d}-{number:06d}"
        _append(self._calls, json.dumps([request.key, reply]))
        self._known[request.key] = reply


class FakeModel(Model):
    def __init__(self, hub: FakeHub, name: str, sampling: Sampling) -> None:
        self._hub, self.name, self.sampling = hub, name, sampling

    def ask(self, request: ChatRequest) -> ChatReply:
        return bridge.wait(self._hub.complete(request))


def _lines(path: Path) -> list[str]:
    """Whole lines: a process that was killed may have left half of one."""
    return [line for line in path.read_text().split("\n")[:-1] if line] if path.exists() else []


def _append(path: Path, line: str) -> None:
    """In one write, before the next step."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, (line + "\n").encode())
    finally:
        os.close(descriptor)


def sent(folder: Path) -> list[str]:
    """Keys of all requests that were ever sent, in order."""
    return _lines(folder / "sent")


def replies(folder: Path) -> dict[str, str]:
    """Reply by key, of all that are stored."""
    return dict(json.loads(line) for line in _lines(folder / "calls"))


def chat_plan(wanted: int = 20, **config: Any) -> Plan:
    """pages -> index -> questions -> chats."""
    toy = plan(wanted, questions=QuestionsConfig(modulus=100_000))
    nodes = tuple(node for node in toy.nodes if node.label not in ("answers", "summary"))
    chats = StageNode("chats", Chats, ChatsConfig(**config), {"questions": "questions"})
    return Plan(toy.dataset, toy.seed, toy.source, (*nodes, chats), wanted)


def chat_build(
    store: Path,
    hub: Hub,
    plan: Plan | None = None,
    *,
    in_flight: int = 512,
    executor: Executor | None = None,
    grace: float = 30.0,
    ledger: Path | None = None,
    failpoint: str | None = None,
    shared: bool = False,
) -> Built:
    """Build ``plan`` with the models of ``hub``, and read everything back."""
    activate(failpoint)
    models = ModelExecutor(lambda: hub, in_flight=in_flight, grace=grace, shared=shared)
    try:
        with Engine(
            plan or chat_plan(), Store(store, ledger=ledger), executor or LocalExecutor(), models=models
        ) as engine:
            return Built.of(engine, engine.run())
    finally:
        activate(None)
