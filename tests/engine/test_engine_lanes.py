"""Stages that call models run beside those that do not: equal bytes, and every end as exact as one after the other."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from engine_toys import Answers, AnswersConfig, Built, Summary, SummaryConfig, run_twice
from model_toys import FakeHub, chat_build, chat_plan, replies, sent

from synth.engine import Engine, Executor, LocalExecutor, ModelExecutor, Plan, ProcessesExecutor, Quiet, StageNode
from synth.errors import Interrupted, SynthError
from synth.models.contract import BudgetReached, ChatRequest
from synth.schemas.reports import StageReport
from synth.store import Store
from synth.store.ledger import read_ledger
from synth.store.locks import FileLock

ROWS, TURNS = 20, 4


def both(fail_at: str = "") -> Plan:
    """... questions -> chats, which ask a model; questions -> answers -> summary, which don't."""
    chats = chat_plan()
    inputs = {"questions": "questions", "pages": "pages"}
    answers = StageNode("answers", Answers, AnswersConfig(fail_at=fail_at), inputs)
    summary = StageNode("summary", Summary, SummaryConfig(), {"answers": "answers"})
    return Plan(chats.dataset, chats.seed, chats.source, (*chats.nodes, answers, summary), chats.wanted)


class Watching(Quiet):
    """Calls ``on_advance`` with a label and the units of it that are finished."""

    def __init__(self, on_advance: Callable[[str, int], None] = lambda label, units: None) -> None:
        self._on_advance = on_advance
        self._units: dict[str, int] = {}
        self.began: list[str] = []
        self.ended: list[str] = []
        self.notes: list[str] = []

    def begin(self, label: str, units: int | None, reused: int) -> None:
        self.began.append(label)

    def advance(self, label: str, units: int) -> None:
        self._units[label] = self._units.get(label, 0) + units
        self._on_advance(label, self._units[label])

    def end(self, report: StageReport) -> None:
        self.ended.append(report.label)

    def note(self, line: str) -> None:
        self.notes.append(line)


class Waiting(FakeHub):
    """Answers nothing before ``at`` is set."""

    at: threading.Event
    heard: bool

    async def _send(self, request: ChatRequest) -> None:
        self.heard = await asyncio.to_thread(self.at.wait, 60)
        await super()._send(request)


def run(folder: Path, hub: FakeHub, plan: Plan, progress: Quiet, *, gates: Sequence[str] = (), calls: int = 6) -> None:
    models = ModelExecutor(lambda: hub, in_flight=calls)
    store = Store(folder / "store", ledger=folder / "ledger")
    with Engine(plan, store, LocalExecutor(), progress, models=models) as engine:
        engine.run(gates=gates)


@pytest.fixture(scope="module")
def replied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Built]:
    """The replies to all calls, and what is built of them one stage after the other."""
    folder = tmp_path_factory.mktemp("replied")
    with Engine(
        both(), Store(folder / "store"), LocalExecutor(), models=ModelExecutor(lambda: FakeHub(folder / "calls"))
    ) as engine:
        return folder / "calls", Built.of(engine, tuple(engine.run_stage(node.label) for node in engine.plan.nodes))


def test_what_calls_no_model_runs_while_a_model_is_waited_for(tmp_path: Path) -> None:
    hub, ended = Waiting(tmp_path / "calls"), threading.Event()

    class Ending(Watching):
        def end(self, report: StageReport) -> None:
            super().end(report)
            if report.label == "summary":
                ended.set()

    hub.at, progress = ended, Ending()
    run(tmp_path, hub, both(), progress)
    assert hub.heard, "all other stages were over before the first reply came"
    assert progress.ended[-1] == "chats"
    assert run_twice(read_ledger(tmp_path / "ledger")) == []


def test_the_bytes_and_reports_are_those_of_one_after_the_other(tmp_path: Path, replied: tuple[Path, Built]) -> None:
    calls, built = replied
    executors: Sequence[Executor] = (LocalExecutor(), ProcessesExecutor(2))
    for number, executor in enumerate(executors):
        assert chat_build(tmp_path / str(number), FakeHub(calls, seed=number), both(), executor=executor) == built


def meeting(then: Callable[[], object] = lambda: None) -> Callable[[str, int], None]:
    """The third answer waits until a call of the other lane is out; ``then`` is what happens next."""
    midway = threading.Event()

    def meet(label: str, units: int) -> None:
        if label == "chats":
            midway.set()
        if label == "answers" and units == 3:
            assert midway.wait(60)
            then()

    return meet


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_both_and_the_same_command_goes_on(tmp_path: Path, number: int) -> None:
    hub = FakeHub(tmp_path / "calls", seconds=0.3)
    with pytest.raises(Interrupted, match="stopped in stage 'answers'"):
        run(tmp_path, hub, both(), Watching(meeting(lambda: os.kill(os.getpid(), number))))
    assert hub.at_once == 0
    stored = set(replies(tmp_path / "calls"))
    assert 0 < len(stored) < ROWS * TURNS
    assert stored == set(sent(tmp_path / "calls")), "calls that were out had the time to end"
    before = len(stored)
    again = chat_build(tmp_path / "store", FakeHub(tmp_path / "calls"), both(), ledger=tmp_path / "ledger")
    assert not stored & set(sent(tmp_path / "calls")[before:]), "a stored call was made again"
    assert run_twice(read_ledger(tmp_path / "ledger")) == []
    assert again == chat_build(tmp_path / "fresh", FakeHub(tmp_path / "calls"), both())


def test_a_second_signal_ends_what_calls_models_at_once(tmp_path: Path) -> None:
    waiting = threading.Event()

    class Hanging(FakeHub):
        async def _send(self, request: ChatRequest) -> None:
            if self.at_once == 5:
                waiting.set()
            await super()._send(request)

    class Noting(Watching):
        def note(self, line: str) -> None:
            super().note(line)
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)

    def interrupt(label: str, units: int) -> None:
        # Both signals come while the main thread waits: one that falls between the opening of a file and its `with`
        # leaves the file to the garbage collector, which pytest takes for a leak.
        if label == "answers" and units == 3:
            assert waiting.wait(60)
            os.kill(os.getpid(), signal.SIGINT)

    hub, progress = Hanging(tmp_path / "calls", seconds=100_000.0), Noting(interrupt)
    with pytest.raises(Interrupted, match="stopped in stage 'answers'"):
        run(tmp_path, hub, both(), progress)
    assert "once more (Ctrl-C) ends it at once" in progress.notes[0]
    assert (hub.at_once, replies(tmp_path / "calls")) == (0, {})


def test_a_bug_of_another_stage_lets_paid_calls_end_and_begins_none(tmp_path: Path) -> None:
    with Engine(both(), Store(tmp_path / "before"), LocalExecutor()) as engine:
        engine.run_stage("questions")
        victim = engine.table("questions", "questions").row(10).id
    with pytest.raises(ZeroDivisionError) as caught:
        run(tmp_path, FakeHub(tmp_path / "calls", seconds=0.3), both(victim), Watching(meeting()))
    assert caught.value.__notes__ == [f"in stage 'answers' (answers version 1), row {victim}"]
    assert set(sent(tmp_path / "calls")) == set(replies(tmp_path / "calls"))
    assert 0 < len(sent(tmp_path / "calls")) < ROWS * TURNS


def test_a_cap_ends_the_build_after_the_stage_under_way(tmp_path: Path) -> None:
    raised = threading.Event()

    class Capped(FakeHub):
        async def _send(self, request: ChatRequest) -> None:
            try:
                await super()._send(request)
            except SynthError:
                raised.set()
                raise

    def wait(label: str, units: int) -> None:
        assert label != "answers" or raised.wait(60)

    capped = Capped(tmp_path / "calls", budget=9, end=BudgetReached("the cap is reached", where="account toy"))
    progress = Watching(wait)
    with pytest.raises(BudgetReached, match="of the 20 rows that chats had to do are finished"):
        run(tmp_path, capped, both(), progress)
    assert progress.ended[-1] == "answers", "what calls no model is not thrown away"
    assert len(sent(tmp_path / "calls")) == 9
    chat_build(tmp_path / "store", FakeHub(tmp_path / "calls"), both(), ledger=tmp_path / "ledger")
    assert len(sent(tmp_path / "calls")) == ROWS * TURNS
    assert run_twice(read_ledger(tmp_path / "ledger")) == []


def test_behind_a_gate_nothing_begins_before_it_is_passed(tmp_path: Path) -> None:
    progress = Watching()
    run(tmp_path, FakeHub(tmp_path / "calls"), both(), progress, gates=("questions", "chats"))
    assert progress.began.index("answers") > progress.began.index("chats")
    assert progress.ended.index("chats") < progress.ended.index("answers")


def test_whoever_waits_for_another_build_ends_with_his_own(tmp_path: Path) -> None:
    """Nothing is raised in the thread of the models: it looks by itself whether the build ends."""
    with Engine(both(), Store(tmp_path / "store"), LocalExecutor()) as engine:
        engine.run_stage("questions")
        folder = engine.store.stage("chats", engine.fingerprint("chats").value)
        folder.create({})
    waited = threading.Event()

    class Noting(Watching):
        def note(self, line: str) -> None:
            super().note(line)
            waited.set()

    def stop(label: str, units: int) -> None:
        if label == "answers":
            assert waited.wait(60)
            os.kill(os.getpid(), signal.SIGINT)

    progress = Noting(stop)
    with FileLock(folder.path / "write.lock"), pytest.raises(Interrupted, match="stopped in stage 'answers'"):
        run(tmp_path, FakeHub(tmp_path / "calls"), both(), progress)
    assert progress.notes == ["chats: another build is working on this stage in the same store; waiting for it"]
