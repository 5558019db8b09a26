"""A build that calls models is killed, anywhere: no stored call is made again, and the bytes are those of the calls."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from engine_toys import run_twice
from model_toys import FakeHub, agent, chat_build, chat_plan, replies, sent
from stand_ins.call_log import intents, served
from stand_ins.model_server import FixedPlayer, ModelServer, Reply, ServerOptions, reconcile, sent_again
from stand_ins.zygote import Zygote

from synth.engine.options import StoreHub
from synth.identity import derive_generator
from synth.store import Store
from synth.store.calls import CallStore, IntentState
from synth.store.ledger import read_ledger

KILLED = -signal.SIGKILL
ROWS, TURNS, IN_FLIGHT = 20, 4, 6
CALLS = ROWS * TURNS


def finishes(folder: Path) -> None:
    """The same once more ends well, and is what a fresh store makes of the same calls."""
    built = chat_build(folder / "store", FakeHub(folder / "calls"), ledger=folder / "ledger")
    assert run_twice(read_ledger(folder / "ledger")) == [], "a finished row or part was made again"
    calls = sent(folder / "calls")
    assert built == chat_build(folder / "fresh", FakeHub(folder / "calls"), in_flight=1)
    assert sent(folder / "calls") == calls, "all that the build needs is stored"
    assert not [path for path in (folder / "store").rglob("*") if ".part-" in path.name or path.suffix == ".journal"]


def test_killed_ten_times_at_random_calls(zygote: Zygote, tmp_path: Path) -> None:
    generator = derive_generator(10, "kills of a build that calls models")
    for number in range(10):
        stored, before = set(replies(tmp_path / "calls")), len(sent(tmp_path / "calls"))
        kill = (int(generator.integers(1, 12)), bool(generator.integers(2)))
        code = zygote.chats(tmp_path, seed=number, kill=kill)
        assert code in (0, KILLED)
        made = sent(tmp_path / "calls")[before:]
        assert not stored & set(made), "a stored call was made again"
        if code == KILLED:
            assert len(made) == len(set(made))
            assert len(set(made) - set(replies(tmp_path / "calls"))) <= IN_FLIGHT, "only calls in flight are lost"
    assert len(sent(tmp_path / "calls")) <= CALLS + 10 * IN_FLIGHT
    finishes(tmp_path)
    assert len(replies(tmp_path / "calls")) == CALLS


@pytest.mark.parametrize(
    "failpoint",
    [
        "journal.created:1",
        "journal.created:5",
        "journal.append.torn:2",
        "journal.append.torn:31",
        "journal.append.after:9",
        "journal.append.after:44",
        "engine.row.processed:1",
        "engine.row.processed:17",
        "journal.dropped:1",
        "journal.dropped:3",
    ],
)
def test_killed_at_a_failpoint_among_rows_in_flight(zygote: Zygote, tmp_path: Path, failpoint: str) -> None:
    assert zygote.chats(tmp_path, failpoint=f"{failpoint}:kill") == KILLED
    stored, before = set(replies(tmp_path / "calls")), len(sent(tmp_path / "calls"))
    finishes(tmp_path)
    assert not stored & set(sent(tmp_path / "calls")[before:])


def test_killed_ten_times_over_http(zygote: Zygote, tmp_path: Path) -> None:
    """With the real hub: the server's log and the books agree request by request, and no stored call is sent again."""
    player = FixedPlayer(lambda request, sample: Reply(content=f"said {sample}"))
    generator = derive_generator(11, "kills over http")
    with ModelServer(player, ServerOptions(latency=(0.0, 0.05))) as server:
        folder = tmp_path
        for _ in range(10):
            kill = (int(generator.integers(1, 12)), float(generator.uniform(0.0, 0.06)))
            assert zygote.chats(folder, url=server.url, kill=kill) in (0, KILLED)
        hub = StoreHub(Store(folder / "store"), "toy")
        plan = chat_plan(agent=agent(server.url))
        built = chat_build(folder / "store", hub, plan, ledger=folder / "ledger")
        records = server.log.records()
    assert len(built.reports) == 4
    assert run_twice(read_ledger(folder / "ledger")) == []
    with CallStore(folder / "store" / "calls.sqlite") as calls:
        begun = intents(calls, "toy")
        assert reconcile(records, begun).problems == ()
        assert sent_again(records, served(calls)) == []
        assert calls.account("toy").unknown > 0, "some were in flight"
        states = [intent.state for intent in begun]
        assert states.count(IntentState.DELIVERED) == CALLS
        assert states.count(IntentState.OPEN) == 0
        assert calls.account("toy").delivered == CALLS == built.reports[-1].models[0].calls
