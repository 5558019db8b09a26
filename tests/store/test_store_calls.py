"""The store of model calls: what callers of one process see."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Coroutine
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest
from stand_ins.call_log import Intent, StoredReply, intents, replies

from synth.store.calls import CallStore, CapReached, IntentState, Outcome, TokenCount
from synth.store.calls_database import Checkpoints
from synth.store.calls_file import Attempt, CallFile, Settlement
from synth.store.calls_format import encode, from_nano, nano_units

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def key(name: object) -> str:
    return hashlib.sha256(str(name).encode()).hexdigest()


async def call(
    calls: CallStore, name: str, *, attempt: int = 0, account: str = "data", body: bytes | None = None, **given: Any
) -> bytes | None:
    """One whole call that is delivered."""
    request = f"{name}-{attempt}"
    await calls.begin(request, key(name), account, "teacher", tokens=100, cost=1_000)
    usage, cost = given.pop("usage", TokenCount(30, 12, 5)), given.pop("cost", 420)
    return await calls.settle(request, Outcome.DELIVERED, usage=usage, cost=cost, reply=body or name.encode(), **given)


def test_a_settled_reply_is_served_from_then_on_and_in_the_next_process(tmp_path: Path) -> None:
    async def first(calls: CallStore) -> None:
        assert await calls.get(key("a")) is None
        reply = await call(calls, "a", body=b'{"said": "caf\xc3\xa9"}')
        assert reply == b'{"said": "caf\xc3\xa9"}'
        assert await calls.get(key("a")) == reply
        assert await calls.get(key("b")) is None

    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(first(calls))
    with CallStore(tmp_path / "calls.sqlite") as calls:
        assert run(calls.get(key("a"))) == b'{"said": "caf\xc3\xa9"}'
        account = calls.account("data")
    assert (account.calls, account.delivered, account.prompt_tokens, account.completion_tokens) == (1, 1, 30, 12)
    assert (account.cached_tokens, account.cost_exact, account.cost_bound, account.overruns) == (5, 420, 420, 0)


def test_a_refusal_is_recorded_and_booked_and_never_served(tmp_path: Path) -> None:
    async def both(calls: CallStore) -> None:
        assert await call(calls, "a", attempt=1, body=b"no", reason="refusal") is None
        assert await calls.get(key("a")) is None
        assert await call(calls, "a", attempt=2, body=b"yes") == b"yes"
        assert await calls.get(key("a")) == b"yes"

    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(both(calls))
        assert replies(calls) == [StoredReply("a-1", key("a"), b"no", "refusal"), StoredReply("a-2", key("a"), b"yes")]
        assert calls.account("data").cost_exact == 840


def test_of_one_call_in_two_stores_at_once_one_is_made_and_both_have_its_reply(tmp_path: Path) -> None:
    async def both(first: CallStore, second: CallStore) -> None:
        for outcome, served in ((Outcome.FREE, False), (Outcome.UNKNOWN, True)):
            name = f"first {outcome}"
            await first.begin(name, key("a"), "data", "teacher", tokens=1, cost=1)
            other = asyncio.create_task(second.begin(outcome, key("a"), "data", "teacher", tokens=1, cost=1))
            await asyncio.sleep(0.1)
            assert not other.done()
            await first.settle(name, outcome, reply=b"it" if served else None)
            assert await other == (b"it" if served else None)
            if not served:
                await second.settle(outcome, Outcome.FREE)

    path = tmp_path / "calls.sqlite"
    with CallStore(path) as first, CallStore(path) as second:
        run(both(first, second))
        assert (first.account("data").unknown, first.account("data").free) == (1, 2)


def test_each_outcome_is_booked_as_it_should_and_roles_apart(tmp_path: Path) -> None:
    async def all_three(calls: CallStore) -> None:
        for role in ("teacher", "judge"):
            for outcome in Outcome:
                await calls.begin(f"{role} {outcome}", key(outcome), "data", role, tokens=100, cost=1_000)
        await calls.begin("open", key("open"), "data", "judge", tokens=7, cost=70)
        for role in ("teacher", "judge"):
            await calls.settle(f"{role} delivered", Outcome.DELIVERED, usage=TokenCount(60, 30), cost=900)
            await calls.settle(f"{role} unknown", Outcome.UNKNOWN, reply=b"no usage came")
            await calls.settle(f"{role} free", Outcome.FREE)

    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(all_three(calls))
        judge, teacher = calls.accounts()
        assert (judge.role, teacher.role) == ("judge", "teacher")
        for role in (judge, teacher):
            assert (role.delivered, role.unknown, role.free) == (1, 1, 1)
            assert (role.tokens_spent, role.cost_spent, role.overruns) == (90 + 100, 900 + 1_000, 0)
        assert (judge.open, judge.tokens_open, judge.cost_open, judge.calls) == (1, 7, 70, 4)
        total = calls.account("data")
        assert (total.role, total.calls, total.cost_exact, total.cost_bound) == (None, 7, 1_800, 3_870)
        assert calls.account("nobody").calls == 0
        begun = intents(calls, "data")
        assert intents(calls, "nobody") == []
        assert begun == intents(calls)
    assert begun[0] == Intent(
        *("teacher delivered", key("delivered"), "data", "teacher"),
        *(IntentState.DELIVERED, 100, 1_000, TokenCount(60, 30), 900),
    )
    assert [intent.state for intent in begun[1:3]] == [IntentState.UNKNOWN, IntentState.FREE]
    assert begun[-1].state is IntentState.OPEN


def test_what_is_open_when_the_store_is_closed_is_unknown(tmp_path: Path) -> None:
    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(calls.begin("a", key("a"), "data", "teacher", tokens=5, cost=50))
    with CallStore(tmp_path / "calls.sqlite") as calls:
        account = calls.account("data")
    assert (account.open, account.unknown, account.tokens_spent, account.cost_spent) == (0, 1, 5, 50)
    assert list((tmp_path / "calls.sqlite.owners").iterdir()) == []


def test_an_open_call_of_another_live_store_is_left_alone(tmp_path: Path) -> None:
    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(calls.begin("a", key("a"), "data", "teacher", tokens=5, cost=50))
        with CallStore(tmp_path / "calls.sqlite") as other:
            assert (other.account("data").open, other.account("data").unknown) == (1, 0)
        run(calls.settle("a", Outcome.FREE))
        assert calls.account("data").cost_bound == 0


@pytest.mark.parametrize("cap", [{"cost": 999, "tokens": None}, {"cost": None, "tokens": 99}, {"cost": 0, "tokens": 0}])
def test_a_call_that_can_never_fit_is_refused_at_once(tmp_path: Path, cap: dict[str, int | None]) -> None:
    with CallStore(tmp_path / "calls.sqlite") as calls:
        calls.cap("data", **cap)
        with pytest.raises(CapReached) as caught:
            run(call(calls, "a"))
        assert caught.value.cap == cap[caught.value.unit]
        assert calls.account("data").calls == 0
        assert run(call(calls, "a", account="other")) is not None
        calls.cap("data", cost=1_000, tokens=100)
        assert run(call(calls, "a")) is not None
        with pytest.raises(CapReached) as caught:
            run(call(calls, "b"))
        assert (caught.value.spent, caught.value.wanted) == (420, 1_000)


def test_a_call_waits_for_room_that_open_calls_may_free_and_goes_before_later_ones(tmp_path: Path) -> None:
    async def several(calls: CallStore) -> list[str]:
        calls.cap("data", cost=100, tokens=None)
        ended: list[str] = []

        async def begin(name: str, cost: int) -> None:
            try:
                await calls.begin(name, key(name), "data", "teacher", tokens=1, cost=cost)
                ended.append(name)
            except CapReached:
                ended.append(f"no {name}")

        await begin("first", 60)
        others = [asyncio.create_task(begin(name, cost)) for name, cost in (("big", 80), ("small", 20), ("huge", 90))]
        await asyncio.sleep(0.15)
        assert ended == ["first"]
        await calls.settle("first", Outcome.DELIVERED, usage=TokenCount(1, 0), cost=15)
        await asyncio.sleep(0.15)
        assert ended == ["first", "big"]
        await calls.settle("big", Outcome.UNKNOWN)
        await asyncio.gather(*others)
        return ended

    with CallStore(tmp_path / "calls.sqlite") as calls:
        assert run(several(calls)) == ["first", "big", "no small", "no huge"]
        assert calls.account("data").cost_bound == 95


def test_a_begin_that_is_cancelled_leaves_nothing_open(tmp_path: Path) -> None:
    async def several(calls: CallStore) -> None:
        def begin(name: str) -> asyncio.Task[None]:
            return asyncio.create_task(calls.begin(name, key(name), "data", "teacher", tokens=1, cost=10))

        queued = begin("queued")
        await asyncio.sleep(0)
        queued.cancel()  # before the transaction
        await asyncio.wait([queued])
        committed = begin("committed")
        while not calls.account("data").open:
            await asyncio.sleep(0)
        committed.cancel()  # after it, and the caller doesn't know yet
        await asyncio.wait([committed])
        assert committed.cancelled()
        calls.cap("data", cost=10, tokens=None)
        await calls.begin("queued", key("queued"), "data", "teacher", tokens=1, cost=10)  # its name is free again
        waits = begin("waits")
        await asyncio.sleep(0.1)
        waits.cancel()
        await asyncio.wait([waits])
        await calls.settle("queued", Outcome.FREE)

    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(several(calls))
        account = calls.account("data")
        assert (account.open, account.free, account.calls, account.cost_bound) == (0, 2, 2, 0)


def test_a_settlement_is_booked_though_its_caller_is_cancelled(tmp_path: Path) -> None:
    async def one(calls: CallStore) -> None:
        await calls.begin("a", key("a"), "data", "teacher", tokens=1, cost=10)
        task = asyncio.create_task(
            calls.settle("a", Outcome.DELIVERED, usage=TokenCount(1, 0), cost=9, reply=b"paid for")
        )
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(one(calls))
    with CallStore(tmp_path / "calls.sqlite") as calls:
        assert calls.account("data").cost_exact == 9
        assert run(calls.get(key("a"))) == b"paid for"


def test_one_loop_after_the_other(tmp_path: Path) -> None:
    with CallStore(tmp_path / "calls.sqlite") as calls:
        for number in range(3):
            assert run(call(calls, f"call {number}")) is not None
        assert calls.account("data").delivered == 3


def test_what_does_not_belong_together_is_an_error(tmp_path: Path) -> None:
    async def wrong(calls: CallStore) -> None:
        await calls.begin("a", key("a"), "data", "teacher", tokens=1, cost=1)
        with pytest.raises(ValueError, match="begun already"):
            await calls.begin("a", key("a"), "data", "teacher", tokens=1, cost=1)
        with pytest.raises(ValueError, match="can't need"):
            await calls.begin("b", key("b"), "data", "teacher", tokens=-1, cost=1)
        with pytest.raises(ValueError, match="not open"):
            await calls.settle("b", Outcome.FREE)
        with pytest.raises(ValueError, match="usage and cost"):
            await calls.settle("a", Outcome.DELIVERED, reply=b"")
        with pytest.raises(ValueError, match="usage and cost"):
            await calls.settle("a", Outcome.UNKNOWN, usage=TokenCount(1, 1), cost=1)
        with pytest.raises(ValueError, match="not free"):
            await calls.settle("a", Outcome.FREE, reply=b"")
        with pytest.raises(ValueError, match="can't have used"):
            await calls.settle("a", Outcome.DELIVERED, usage=TokenCount(1, 1, 2), cost=1)
        with pytest.raises(ValueError, match="can't have cost"):
            await calls.settle("a", Outcome.DELIVERED, usage=TokenCount(1, 1), cost=-1)
        await calls.settle("a", Outcome.FREE)
        with pytest.raises(ValueError, match="not open"):
            await calls.settle("a", Outcome.FREE)

    with CallStore(tmp_path / "calls.sqlite") as calls:
        run(wrong(calls))
        assert calls.account("data").free == calls.account("data").calls == 1


def test_money_is_exact() -> None:
    assert nano_units(5) == 5_000_000_000
    assert nano_units(0.1) + nano_units(0.2) == nano_units("0.3")
    assert nano_units(Decimal("0.0000000001")) == 1
    assert from_nano(1_105_000) == Decimal("0.001105")
    for bad in (-1, float("nan"), float("inf"), "much"):
        with pytest.raises(ValueError, match="not an amount of money"):
            nano_units(bad)


def test_the_log_is_moved_into_the_file_while_calls_go_on(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    names = iter(range(100_000))

    async def many(calls: CallStore, count: int) -> None:
        mine = iter([f"call {next(names)}" for _ in range(count)])

        async def worker() -> None:
            for name in mine:
                await call(calls, name)

        await asyncio.gather(*(worker() for _ in range(64)))

    with CallStore(path) as calls:
        new = path.stat().st_size
        run(many(calls, 2_800))
        while path.stat().st_size == new:  # a thread is at it
            run(many(calls, 10))
        assert calls.account("data").delivered == next(names)


def test_the_log_is_used_anew_though_somebody_always_writes(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("CREATE TABLE blobs (blob BLOB)")
        checkpoints = Checkpoints(path)
        for _ in range(10):
            checkpoints.written(10_000)
            while checkpoints.running:
                if not checkpoints.holding:
                    with contextlib.suppress(sqlite3.OperationalError):  # held since
                        writer.execute("INSERT INTO blobs VALUES (zeroblob(10000))")
                time.sleep(0.0002)
            writer.execute("INSERT INTO blobs VALUES (zeroblob(1000000))")
        checkpoints.check()
        with path.with_name("file.sqlite-wal").open("rb") as log:
            log.seek(12)  # of its header: how often it was begun anew
            assert int.from_bytes(log.read(4), "big") >= 9


def test_a_checkpoint_comes_with_time_or_with_pages_and_only_for_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("CREATE TABLE blobs (blob BLOB)")
        sizes = [path.stat().st_size]
        for checkpoints, pages in (
            (Checkpoints(path, seconds=1e9), 1),
            (Checkpoints(path, seconds=0), 0),
            (Checkpoints(path, seconds=0), 1),
            (Checkpoints(path, seconds=1e9), 10_000),
        ):
            writer.execute("INSERT INTO blobs VALUES (zeroblob(100000))")
            checkpoints.written(pages)
            checkpoints.join()
            checkpoints.check()
            sizes.append(path.stat().st_size)
    assert sizes[0] == sizes[1] == sizes[2] < sizes[3] < sizes[4]


# Which reply answers a key


def test_calls_whose_keys_end_alike_have_answers_of_their_own(tmp_path: Path) -> None:
    """Settled in one transaction, and by two users."""
    names = [f"{part * 24}{'ab' * 8}" for part in ("11", "22", "33")]

    async def main(one: CallStore, other: CallStore) -> None:
        for store, mine in ((one, names[:2]), (other, names[2:])):
            for name in mine:
                await store.begin(name[:2], name, "data", "teacher", tokens=1, cost=1)
            done = [store.settle(name[:2], Outcome.UNKNOWN, reply=name[:2].encode()) for name in mine]
            told = await asyncio.gather(*done)
            assert told == [name[:2].encode() for name in mine]
        for store in (one, other):
            found = [await store.get(name) for name in names]
            assert found == [b"11", b"22", b"33"]
            assert await store.get("44" * 24 + "ab" * 8) is None

    with CallStore(tmp_path / "calls.sqlite") as one, CallStore(tmp_path / "calls.sqlite") as other:
        asyncio.run(main(one, other))


def test_two_replies_to_one_call_in_one_transaction(tmp_path: Path) -> None:
    async def main(calls: CallStore) -> None:
        for name in ("one", "two"):
            await calls.begin(name, key(0), "data", "teacher", tokens=1, cost=1)
        done = [calls.settle(name, Outcome.UNKNOWN, reply=name.encode()) for name in ("one", "two")]
        assert await asyncio.gather(*done) == [b"one", b"one"]
        assert [reply.reason for reply in replies(calls)] == [None, "another reply to the same call came first"]

    with CallStore(tmp_path / "calls.sqlite") as calls:
        asyncio.run(main(calls))


def test_what_was_rolled_back_answers_nothing_and_hides_nothing(tmp_path: Path) -> None:
    def reply(file: CallFile, number: int, body: bytes, *, fails: bool = False) -> None:
        attempt = Attempt(f"r{number}", bytes.fromhex(key(number)), "data", "teacher", 1, 1)
        file.begin([attempt])
        assert (
            file.settle([Settlement(attempt, IntentState.UNKNOWN, body=encode(bytes.fromhex(key(number)), body))]) == {}
        )
        assert file.get(bytes.fromhex(key(number))) is not None
        if fails:
            raise InterruptedError

    with (
        contextlib.closing(CallFile(tmp_path / "calls.sqlite")) as one,
        contextlib.closing(CallFile(tmp_path / "calls.sqlite")) as other,
    ):
        for number, body, fails, file in ((0, b"zero", False, one), (1, b"lost", True, one), (2, b"two", False, other)):
            with contextlib.suppress(InterruptedError), file.transaction():
                reply(file, number, body, fails=fails)
        # The reply that was lost and the other user's had the same number.
        for file in (one, other):
            assert [file.get(bytes.fromhex(key(number))) for number in range(3)] == [b"zero", None, b"two"]
        with one.transaction():
            reply(one, 1, b"one")
        assert [other.get(bytes.fromhex(key(number))) for number in range(3)] == [b"zero", b"one", b"two"]
