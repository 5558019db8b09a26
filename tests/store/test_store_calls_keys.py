"""Which reply answers a key."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import closing, suppress
from pathlib import Path

from stand_ins.call_log import replies

from synth.store.calls import CallStore, IntentState, Outcome
from synth.store.calls_file import Attempt, CallFile, Settlement
from synth.store.calls_format import encode


def key(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()


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
            await calls.begin(name, key(0).hex(), "data", "teacher", tokens=1, cost=1)
        done = [calls.settle(name, Outcome.UNKNOWN, reply=name.encode()) for name in ("one", "two")]
        assert await asyncio.gather(*done) == [b"one", b"one"]
        assert [reply.reason for reply in replies(calls)] == [None, "another reply to the same call came first"]

    with CallStore(tmp_path / "calls.sqlite") as calls:
        asyncio.run(main(calls))


def test_what_was_rolled_back_answers_nothing_and_hides_nothing(tmp_path: Path) -> None:
    def reply(file: CallFile, number: int, body: bytes, *, fails: bool = False) -> None:
        attempt = Attempt(f"r{number}", key(number), "data", "teacher", 1, 1)
        file.begin([attempt])
        assert file.settle([Settlement(attempt, IntentState.UNKNOWN, body=encode(key(number), body))]) == {}
        assert file.get(key(number)) is not None
        if fails:
            raise InterruptedError

    with closing(CallFile(tmp_path / "calls.sqlite")) as one, closing(CallFile(tmp_path / "calls.sqlite")) as other:
        for number, body, fails, file in ((0, b"zero", False, one), (1, b"lost", True, one), (2, b"two", False, other)):
            with suppress(InterruptedError), file.transaction():
                reply(file, number, body, fails=fails)
        # The reply that was lost and the other user's had the same number.
        for file in (one, other):
            assert [file.get(key(number)) for number in range(3)] == [b"zero", None, b"two"]
        with one.transaction():
            reply(one, 1, b"one")
        assert [other.get(key(number)) for number in range(3)] == [b"zero", b"one", b"two"]
