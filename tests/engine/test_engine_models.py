"""Stages that call models: many rows at once on one loop, and nothing depends on the order in which replies come."""

from __future__ import annotations

import asyncio
import io
import os
import resource
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from engine_toys import Built, run_twice
from model_toys import Chats, ChatsConfig, FakeHub, Wordings, agent, chat_build, chat_plan, replies, sent

from synth.engine import Engine, LocalExecutor, ModelExecutor, Plan, ProcessesExecutor, StageNode
from synth.engine.lanes import Lanes
from synth.engine.progress import Quiet
from synth.engine.signals import interruptible
from synth.errors import Interrupted, StoreError
from synth.models.contract import BatchOptions, BudgetReached, EndpointDown
from synth.store import Store
from synth.store.ledger import read_ledger

pytestmark = pytest.mark.thorough

ROWS = 20
TURNS = 4


def answers(built: Built) -> list[dict[str, object]]:
    return pq.read_table(io.BytesIO(built.tables["chats/answers"])).to_pylist()  # type: ignore[no-any-return]


def test_rows_are_worked_on_at_once_and_the_bytes_depend_on_no_order(tmp_path: Path) -> None:
    first = FakeHub(tmp_path / "calls", seed=1)
    built = chat_build(tmp_path / "a", first)
    assert len(answers(built)) == ROWS
    assert first.most_at_once == ROWS, "rows of all shards wait at the same time"
    assert first.closed == 1
    for seed, in_flight in ((2, 1), (3, 3), (4, 7), (5, 512)):
        hub = FakeHub(tmp_path / "calls", seed=seed)
        assert chat_build(tmp_path / f"store-{in_flight}", hub, in_flight=in_flight) == built
    assert len(sent(tmp_path / "calls")) == ROWS * TURNS, "every call was made once"


def test_rows_in_flight_do_not_mix(tmp_path: Path) -> None:
    built = chat_build(tmp_path / "a", FakeHub(tmp_path / "calls"))
    seen: list[str] = []
    for row in answers(built):
        assert row["draw"] == TURNS, "notes of its own"
        seen += str(row["text"]).split(" | ")
    assert len(set(seen)) == ROWS * TURNS, "checkpoints of its own"


def test_no_more_rows_at_once_than_asked_for(tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "calls")
    chat_build(tmp_path / "store", hub, in_flight=3)
    assert hub.most_at_once == 3


def test_rows_whose_calls_go_in_batches_wait_as_many_as_a_batch_takes(tmp_path: Path) -> None:
    asked = agent()
    batched = asked.model_copy(update={"runtime": asked.runtime.model_copy(update={"batch": BatchOptions(calls=12)})})
    hub = FakeHub(tmp_path / "calls")
    chat_build(tmp_path / "store", hub, chat_plan(agent=batched), in_flight=3)
    assert hub.most_at_once == 12


def test_whatever_the_executor_they_run_in_this_process(tmp_path: Path) -> None:
    built = chat_build(tmp_path / "a", FakeHub(tmp_path / "calls"))
    hub = FakeHub(tmp_path / "calls")
    assert chat_build(tmp_path / "b", hub, executor=ProcessesExecutor(2)) == built
    with pytest.raises(ValueError, match="'chats' calls a model, and the engine was given none"):
        Engine(chat_plan(), Store(tmp_path / "c"), LocalExecutor()).run()


def test_numbers_and_tokens_are_those_of_the_rows(tmp_path: Path) -> None:
    built = chat_build(tmp_path / "a", FakeHub(tmp_path / "calls"))
    report = built.reports[-1]
    assert report.numbers["turns"] == ROWS * TURNS
    assert set(report.numbers) == {"turns", "answer"}
    (use,) = report.models
    assert (use.role, use.model, use.calls, use.uncounted_calls) == ("teacher", "toy-1", ROWS * TURNS, 0)
    assert (use.cached_tokens, use.completion_tokens) == (3 * use.calls, 7 * use.calls)
    money = 2.0 * (use.prompt_tokens - use.cached_tokens) + 0.5 * use.cached_tokens + 10.0 * use.completion_tokens
    assert use.cost == pytest.approx(money / 1e6)
    assert use.cost > 0


@pytest.mark.parametrize("budget", [0, 1, 13, 40, 79])
@pytest.mark.parametrize("error", [BudgetReached, EndpointDown])
def test_an_end_keeps_what_was_finished_and_the_next_run_goes_on(
    tmp_path: Path, budget: int, error: type[BudgetReached | EndpointDown]
) -> None:
    undisturbed = chat_build(tmp_path / "a", FakeHub(tmp_path / "calls"))
    hub = FakeHub(tmp_path / "other", budget=budget, end=error("no more", where="account toy", mend="wait"))
    with pytest.raises(error, match="account toy: no more"):
        chat_build(tmp_path / "b", hub, ledger=tmp_path / "ledger", in_flight=9)
    assert len(sent(tmp_path / "other")) == budget
    assert len(replies(tmp_path / "other")) == budget, "calls in flight had the time to end"
    built = chat_build(tmp_path / "b", FakeHub(tmp_path / "other"), ledger=tmp_path / "ledger")
    assert len(sent(tmp_path / "other")) == ROWS * TURNS
    assert run_twice(read_ledger(tmp_path / "ledger")) == []
    assert built.reports == undisturbed.reports, "tokens too: calls of an interrupted row count once"
    assert built == chat_build(tmp_path / "c", FakeHub(tmp_path / "other"))


def test_rows_in_flight_are_cut_off_after_the_grace(tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "calls", seconds=1000.0, budget=5, end=BudgetReached("no more"))
    with pytest.raises(BudgetReached):
        chat_build(tmp_path / "store", hub, grace=0.0)
    assert len(sent(tmp_path / "calls")) == 5
    assert hub.at_once == 0, "cut off, and cleaned up"


def test_a_bug_ends_the_run_at_once_with_its_place(tmp_path: Path) -> None:
    victim = str(answers(chat_build(tmp_path / "a", FakeHub(tmp_path / "calls")))[7]["id"])
    with pytest.raises(ZeroDivisionError) as caught:
        chat_build(tmp_path / "b", FakeHub(tmp_path / "calls"), chat_plan(fail_at=victim))
    assert any(f"stage 'chats' (chats version 1), row {victim}" in note for note in caught.value.__notes__)


def test_a_call_that_failed_rejects_its_row(tmp_path: Path) -> None:
    victim = str(answers(chat_build(tmp_path / "a", FakeHub(tmp_path / "calls")))[7]["id"])
    built = chat_build(tmp_path / "b", FakeHub(tmp_path / "calls"), chat_plan(failing=victim))
    assert victim not in {row["id"] for row in answers(built)}
    report = built.reports[-1]
    assert (report.kept, report.rejected) == (ROWS - 1, {"endpoint_failed": 1})
    (rejection,) = [
        row for row in pq.read_table(io.BytesIO(built.rejected)).to_pylist() if row["reason"] == "endpoint_failed"
    ]
    assert rejection["row_id"] == victim
    assert rejection["detail"] == "server: 500 from nowhere (after 8 attempts)"
    assert report.models[0].calls == (ROWS - 1) * TURNS + 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", [1, 30, 70])
def test_a_signal_ends_the_run_and_the_same_command_goes_on(tmp_path: Path, number: int, after: int) -> None:
    class Signalling(FakeHub):
        async def _send(self, request: object) -> None:
            await super()._send(request)  # type: ignore[arg-type]
            if len(replies(tmp_path / "calls")) == after:
                os.kill(os.getpid(), number)
                assert heard.wait(60)

    class Stopping(ModelExecutor):
        def stop(self) -> bool:
            found = super().stop()
            heard.set()
            return found

    heard, hub = threading.Event(), Signalling(tmp_path / "calls")
    store, models = Store(tmp_path / "store", ledger=tmp_path / "ledger"), Stopping(lambda: hub, in_flight=6)
    with (
        pytest.raises(Interrupted, match=r"stopped in stage 'chats'.*everything that was finished is kept"),
        Engine(chat_plan(), store, LocalExecutor(), models=models) as engine,
    ):
        engine.run()
    assert hub.at_once == 0
    stored = set(replies(tmp_path / "calls"))
    assert 0 < len(stored) < ROWS * TURNS
    assert stored == set(sent(tmp_path / "calls")), "calls that were out had the time to end"
    before = len(sent(tmp_path / "calls"))
    built = chat_build(tmp_path / "store", FakeHub(tmp_path / "calls"), ledger=tmp_path / "ledger")
    assert not stored & set(sent(tmp_path / "calls")[before:]), "a stored call was made again"
    assert run_twice(read_ledger(tmp_path / "ledger")) == []
    assert built == chat_build(tmp_path / "fresh", FakeHub(tmp_path / "calls"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_names_the_stage_although_the_thread_that_hears_it_lags_behind(number: int) -> None:
    class Lagging(Lanes):
        def _next(self, bound: bool) -> str | None:
            if not bound and False not in self._left.values():
                assert killed.wait(60)
            return super()._next(bound)

    def run_stage(label: str) -> Any:
        seen.append(label)
        if label == "chats":
            os.kill(os.getpid(), number)
            killed.set()
            assert asked.wait(60)
        return label

    def stop() -> bool:
        asked.set()
        return True

    seen: list[str] = []
    asked, killed = threading.Event(), threading.Event()
    lanes = Lagging(chat_plan(), run_stage, gates=(), stop=stop)
    with pytest.raises(Interrupted, match="stopped in stage 'chats'"), interruptible(lanes.stopped):
        lanes.run()
    assert seen[-1] == "chats"


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_run_at_once(tmp_path: Path, first: int, second: int) -> None:
    notes: list[str] = []

    class Noting(Quiet):
        def note(self, line: str) -> None:
            notes.append(line)
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), second)

    class Hanging(FakeHub):
        async def _send(self, request: object) -> None:
            if self.at_once == 5:
                os.kill(os.getpid(), first)
            await super()._send(request)  # type: ignore[arg-type]

    hub = Hanging(tmp_path / "calls", seconds=100_000.0)
    models = ModelExecutor(lambda: hub, in_flight=6, grace=50_000.0)
    with (
        pytest.raises(Interrupted, match="everything that was finished is kept"),
        Engine(chat_plan(), Store(tmp_path / "store"), LocalExecutor(), models=models, progress=Noting()) as engine,
    ):
        engine.run()
    assert len(notes) == 1
    assert "once more (Ctrl-C) ends it at once" in notes[0]
    assert hub.at_once == 0
    assert replies(tmp_path / "calls") == {}


def test_a_caller_that_stands_on_a_loop_may_build(tmp_path: Path) -> None:
    """As in a notebook."""
    built = chat_build(tmp_path / "a", FakeHub(tmp_path / "calls"))

    async def cell() -> Built:
        return chat_build(tmp_path / "b", FakeHub(tmp_path / "calls"))

    before = threading.active_count()
    assert asyncio.run(cell()) == built
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "failpoint",
    [
        "journal.created:2",
        "journal.append.torn:5",
        "journal.append.after:30",
        "store.shard.table_written:1",
        "store.shard.before_rename:3",
    ],
)
def test_a_full_disk_is_one_line_and_costs_no_call(tmp_path: Path, failpoint: str) -> None:
    """Wherever it shows: while rows are handed out, while one is written down, in the thread that commits."""
    with Engine(chat_plan(), Store(tmp_path / "store"), LocalExecutor()) as engine:
        engine.run_stage("questions")
    with pytest.raises(StoreError, match="no space left on the device") as caught:
        chat_build(tmp_path / "store", FakeHub(tmp_path / "calls"), failpoint=f"{failpoint}:enospc", in_flight=5)
    assert caught.value.exit_code == 4
    stored = set(replies(tmp_path / "calls"))
    assert set(sent(tmp_path / "calls")) == stored, "what was in flight had the time to end"
    built = chat_build(tmp_path / "store", FakeHub(tmp_path / "calls"))
    assert len(sent(tmp_path / "calls")) == ROWS * TURNS
    assert built == chat_build(tmp_path / "fresh", FakeHub(tmp_path / "calls"))


def test_candidates_may_call_models_too(tmp_path: Path) -> None:
    toy = chat_plan(20)
    nodes = (*toy.nodes[:2], StageNode("wordings", Wordings, ChatsConfig(), {"index": "index"}))
    wordings = Plan(toy.dataset, toy.seed, toy.source, nodes, 20)
    first = FakeHub(tmp_path / "calls", seed=1)
    built = chat_build(tmp_path / "a", first, wordings)
    assert first.most_at_once >= 10, "shards of candidates wait at the same time"
    report = built.reports[-1]
    assert report.kept == 20
    assert report.models[0].calls == report.numbers["asked"] == 30 <= len(sent(tmp_path / "calls"))
    again = FakeHub(tmp_path / "calls", seed=2)
    assert chat_build(tmp_path / "b", again, wordings, in_flight=1) == built


def test_many_shards_need_few_files(tmp_path: Path) -> None:
    """More shards are in the making than this process may open files."""

    class Small(Chats):
        rows_per_shard = 1

    small = chat_plan(300, turns=1)
    nodes = (*small.nodes[:-1], type(small.nodes[-1])("chats", Small, small.nodes[-1].config, small.nodes[-1].inputs))
    small = type(small)(small.dataset, small.seed, small.source, nodes, small.wanted)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Engine(small, Store(tmp_path / "store"), LocalExecutor(), models=None) as engine:
        engine.run_stage("questions")
    most = len(os.listdir("/proc/self/fd")) + 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        hub = FakeHub(tmp_path / "calls", seconds=0.1)
        built = chat_build(tmp_path / "store", hub, small)
        assert hub.most_at_once == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(answers(built)) == 300
    assert not list((tmp_path / "store").rglob("*.journal"))


def test_at_least_one_row_in_flight() -> None:
    with pytest.raises(ValueError, match="in_flight is 0"):
        ModelExecutor(lambda: pytest.fail("nobody needs it"), in_flight=0)
