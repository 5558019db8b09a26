"""The store of model calls: several processes at once, and processes that are killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from calls_child import key_of_call
from stand_ins.call_log import intents

from synth.identity import derive_generator
from synth.store.calls import CallStore, CapReached, IntentState, Outcome

pytestmark = pytest.mark.thorough


class Children:
    def __init__(self) -> None:
        script = Path(__file__).with_name("calls_child.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, path: Path, children: list[dict[str, Any]], kill_after: float | None = None) -> None:
        assert self.process.stdin
        request = {"path": str(path), "children": children, "kill_after": kill_after}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def wait(self) -> list[int]:
        """Exit codes; negative = the signal that ended it."""
        assert self.process.stdout
        codes: list[int] = json.loads(self.process.stdout.readline())
        return codes

    def run(self, path: Path, children: list[dict[str, Any]], kill_after: float | None = None) -> list[int]:
        self.start(path, children, kill_after)
        return self.wait()


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    started = Children()
    yield started
    assert started.process.stdin
    assert started.process.stdout
    started.process.stdin.close()
    started.process.wait(60)
    started.process.stdout.close()


def events(log: Path) -> list[dict[str, Any]]:
    """All but a last line that a kill cut off."""
    lines = log.read_text("utf-8").split("\n")[:-1] if log.exists() else []
    return [json.loads(line) for line in lines]


def books_are_right(store: CallStore) -> None:
    """The counters say what the intents say."""
    begun = intents(store, "data")
    account = store.account("data")
    states = Counter(intent.state for intent in begun)
    assert (account.delivered, account.unknown, account.open, account.free) == tuple(
        states[state] for state in (IntentState.DELIVERED, IntentState.UNKNOWN, IntentState.OPEN, IntentState.FREE)
    )
    for state, cost, tokens in (
        (IntentState.UNKNOWN, account.cost_unknown, account.tokens_unknown),
        (IntentState.OPEN, account.cost_open, account.tokens_open),
    ):
        assert cost == sum(intent.cost_bound for intent in begun if intent.state is state)
        assert tokens == sum(intent.tokens_bound for intent in begun if intent.state is state)
    delivered = [intent for intent in begun if intent.state is IntentState.DELIVERED]
    assert account.cost_exact == sum(intent.cost or 0 for intent in delivered)
    assert account.prompt_tokens == sum(intent.tokens.prompt for intent in delivered if intent.tokens)


def test_killed_ten_times_it_loses_nothing_and_sends_nothing_twice(tmp_path: Path, children: Children) -> None:
    path = tmp_path / "calls.sqlite"
    served: dict[str, str] = {}
    begun: dict[str, int] = {}
    settled: dict[str, str] = {}
    hits = 0
    for kill in range(10):
        log = tmp_path / f"{kill}.log"
        after = float(derive_generator(kill, "kill").uniform(0.0, 0.25))
        codes = children.run(path, [{"log": str(log), "seed": kill, "calls": 20_000, "at_once": 64}], after)
        assert codes == [-9]  # it has work for many times as long
        for event in events(log):
            if event["event"] == "sent":
                assert event["key"] not in served, "a stored call was sent again"
                begun[event["request"]] = event["bound"]
            elif event["event"] == "settled":
                settled[event["request"]] = event["ending"]
                if event["body"] is not None:
                    served[event["key"]] = event["body"]
            elif event["event"] == "hit":
                hits += 1
                served.setdefault(event["key"], event["body"])  # settled, and killed before it was told
                assert served[event["key"]] == event["body"]
        with CallStore(path) as store:
            assert store.account("data").open == 0
            books_are_right(store)
            known = {intent.request_id: intent for intent in intents(store)}
            bodies = dict(asyncio.run(_get_all(store, list(served))))
        assert bodies == served
        for request, bound in begun.items():
            assert known[request].cost_bound == bound
            ending = settled.get(request)
            if ending in ("served", "recorded", "free"):
                assert known[request].state is (IntentState.FREE if ending == "free" else IntentState.DELIVERED)
            elif ending is not None:
                assert known[request].state is IntentState.UNKNOWN
    assert len(settled) > 200
    assert len(begun) > len(settled)
    assert hits > 0


async def _get_all(store: CallStore, keys: list[str]) -> list[tuple[str, str]]:
    found = []
    for key in keys:
        reply = await store.get(key)
        assert reply is not None, "an acknowledged reply is lost"
        found.append((key, reply.decode()))
    return found


def test_two_processes_with_the_same_calls_see_the_same_replies(tmp_path: Path, children: Children) -> None:
    path, calls = tmp_path / "calls.sqlite", 1_000
    logs = [tmp_path / "0.log", tmp_path / "1.log"]
    work = [{"log": str(log), "seed": seed, "calls": calls, "at_once": 32} for seed, log in enumerate(logs)]
    assert children.run(path, work) == [0, 0]
    seen = [{event["key"]: event["body"] for event in events(log) if event.get("body")} for log in logs]
    both = seen[0].keys() & seen[1].keys()
    assert len(both) > calls / 3
    assert all(seen[0][key] == seen[1][key] for key in both)
    paid = Counter(
        event["key"] for log in logs for event in events(log) if event.get("ending") in ("served", "no usage")
    )
    assert set(paid.values()) == {1}, "a call was made in both processes at once"
    with CallStore(path) as store:
        books_are_right(store)
        assert store.account("data").open == 0
        assert store.account("data").calls == sum(event["event"] == "sent" for log in logs for event in events(log))
        assert dict(asyncio.run(_get_all(store, list(both)))) == {key: seen[0][key] for key in both}


@pytest.mark.parametrize("unit", ["cost", "tokens"])
def test_two_processes_never_exceed_a_cap(tmp_path: Path, children: Children, unit: str) -> None:
    path, cap = tmp_path / "calls.sqlite", 60_000
    with CallStore(path):
        pass
    spent = {
        "cost": "cost_exact + cost_unknown + cost_open",
        "tokens": "prompt_tokens + completion_tokens + tokens_unknown + tokens_open",
    }[unit]
    watch = sqlite3.connect(path)
    # Every state that a process ever commits passes here.
    watch.executescript(
        f"CREATE TABLE most (amount INTEGER); INSERT INTO most VALUES (0);"
        f"CREATE TRIGGER watch AFTER UPDATE ON accounts BEGIN "
        f"UPDATE most SET amount = max(amount, (SELECT sum({spent}) FROM accounts)); END;"
    )
    watch.close()
    logs = [tmp_path / "0.log", tmp_path / "1.log"]
    work = [{"log": str(log), "seed": n, "calls": 20_000, "at_once": 64, unit: cap} for n, log in enumerate(logs)]
    assert children.run(path, work) == [0, 0]
    watch = sqlite3.connect(path)
    most = watch.execute("SELECT amount FROM most").fetchone()[0]
    watch.close()
    assert cap - 1_000 < most <= cap  # a call may need 1,000: it was used up, and never exceeded
    for log in logs:
        refused = [event for event in events(log) if event["event"] == "cap"]
        assert len(refused) == 64
        assert all(event["unit"] == unit and event["spent"] + event["wanted"] > cap for event in refused)
    with CallStore(path) as store:
        books_are_right(store)
        account = store.account("data")
        assert {"cost": account.cost_bound, "tokens": account.tokens_spent + account.tokens_open}[unit] <= cap
        store.cap("data", **({"cost": cap, "tokens": None} if unit == "cost" else {"cost": None, "tokens": cap}))
        with pytest.raises(CapReached):
            asyncio.run(store.begin("next run", key_of_call("more"), "data", "judge", tokens=1_000, cost=1_000))


def test_nobody_waits_for_room_that_a_killed_process_held(tmp_path: Path, children: Children) -> None:
    """Its call may have cost: that room never comes back, and who waits for it is told."""
    path, log = tmp_path / "calls.sqlite", tmp_path / "0.log"

    async def wait_for_room(store: CallStore) -> None:
        children.start(path, [{"log": str(log), "hold": 900}], kill_after=0.5)
        while not store.account("data").open:
            await asyncio.sleep(0.001)
        store.cap("data", cost=1_000, tokens=None)
        waiting = asyncio.create_task(store.begin("a", key_of_call("a"), "data", "judge", tokens=0, cost=101))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await store.begin("b", key_of_call("b"), "other data", "judge", tokens=0, cost=101)
        await store.settle("b", Outcome.FREE)
        with pytest.raises(CapReached) as caught:
            await waiting
        assert (caught.value.spent, caught.value.wanted) == (900, 101)
        await store.begin("c", key_of_call("c"), "data", "judge", tokens=0, cost=100)

    with CallStore(path) as store:
        asyncio.run(asyncio.wait_for(wait_for_room(store), 60))
        assert children.wait() == [-9]
        assert (store.account("data").unknown, store.account("data").open) == (1, 1)


def test_a_child_that_outlives_its_parent_does_not_stand_for_it(tmp_path: Path, children: Children) -> None:
    path, log = tmp_path / "calls.sqlite", tmp_path / "0.log"
    assert children.run(path, [{"log": str(log), "hold": 900, "orphan": True}], kill_after=0) == [-9]
    orphan = events(log)[0]["orphan"]
    os.kill(orphan, 0)  # it lives
    try:
        with CallStore(path) as store:
            assert (store.account("data").unknown, store.account("data").open) == (1, 0)
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_many_processes_make_the_same_file_at_once(tmp_path: Path, children: Children) -> None:
    for attempt in range(25):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        work = [{"log": str(folder / f"{seed}.log"), "seed": seed, "calls": 2, "at_once": 2} for seed in range(4)]
        assert children.run(folder / "calls.sqlite", work) == [0] * 4


def test_many_processes_open_a_filled_file_at_once_and_send_nothing_again(tmp_path: Path, children: Children) -> None:
    path, log = tmp_path / "calls.sqlite", tmp_path / "old.log"
    assert children.run(path, [{"log": str(log), "seed": 9, "calls": 200, "at_once": 16}]) == [0]
    before = {event["key"]: event["body"] for event in events(log) if event.get("body")}
    logs = [tmp_path / f"{seed}.log" for seed in range(4)]
    work = [{"log": str(log), "seed": seed, "calls": 200, "at_once": 8} for seed, log in enumerate(logs)]
    assert children.run(path, work) == [0] * 4
    for log in logs:
        sent = {event["key"] for event in events(log) if event["event"] == "sent"}
        hits = {event["key"]: event["body"] for event in events(log) if event["event"] == "hit"}
        assert not sent & before.keys(), "a stored call was sent again"
        assert hits.keys() >= before.keys()
        assert all(hits[key] == body for key, body in before.items())
    with CallStore(path) as store:
        books_are_right(store)
