"""Which reply answers a key: the table in memory, and its copy beside the file."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.identity import derive_generator
from synth.store.calls import CallStore, Outcome, TokenCount
from synth.store.calls_file import CallFile, IntentRow, ReplyRow, Settlement
from synth.store.calls_tables import Answers, KeyTable
from synth.store.calls_values import IntentState, encode

ROWS = 1024  # of a table that is new
# Keys that want the same few rows, at the end and the start of the table, and agree in their ends now and then.
ENDS = st.builds(lambda place, turn: (place % ROWS) + turn * ROWS, st.integers(-4, 4), st.integers(0, 3))
KEYS = st.builds(lambda start, end: start + end.to_bytes(8, "big"), st.binary(min_size=8, max_size=8), ENDS)


def key(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()


@given(st.lists(st.lists(KEYS, min_size=1, max_size=30), max_size=6), st.lists(KEYS))
def test_a_table_finds_what_was_added_one_by_one_or_many_at_once(
    groups: list[list[bytes]], others: list[bytes]
) -> None:
    table, known, reply = KeyTable(), dict[bytes, set[int]](), 0
    for number, keys in enumerate(groups):
        replies = range(reply + 1, reply + 1 + len(keys))
        reply += len(keys)
        for one, its in zip(keys, replies, strict=True):
            known.setdefault(one[-8:], set()).add(its)
            if number % 2:
                table.add(one, its)
        if not number % 2:
            table.extend(keys, replies)
    assert table.count == reply
    copy = KeyTable(bytearray(b"ahead***" + table.rows()), 8)
    for one in [key for keys in groups for key in keys] + others:
        assert sorted(table.find(one)) == sorted(copy.find(one)) == sorted(known.get(one[-8:], ()))


def test_a_table_grows_with_its_keys_and_takes_24_to_48_bytes_for_each() -> None:
    one, many = KeyTable(), KeyTable()
    for number in range(1, 4_001):
        one.add(key(number), number)
        if number % 1_000 == 0:
            many.extend([key(each) for each in range(number - 999, number + 1)], range(number - 999, number + 1))
            for table in (one, many):
                assert all(table.find(key(each)) == [each] for each in range(1, number + 1, 7))
                assert not any(table.find(key(-each)) for each in range(1, 500))
                assert table.count == number
        assert number < 700 or 24 <= len(one.rows()) / number <= 48


@contextmanager
def filled(path: Path, *bodies: str) -> Iterator[tuple[CallStore, sqlite3.Connection]]:
    """A store with a reply to each of the calls 0, 1, ..., and a connection to its file."""
    with CallStore(path) as calls, closing(sqlite3.connect(path, isolation_level=None)) as connection:
        asyncio.run(make_calls(calls, *bodies))
        yield calls, connection


async def make_calls(calls: CallStore, *bodies: str, first: int = 0) -> None:
    for number, body in enumerate(bodies, first):
        await calls.begin(f"r{number} {body}", key(number).hex(), "data", "teacher", tokens=1, cost=1)
        await calls.settle(f"r{number} {body}", Outcome.DELIVERED, usage=TokenCount(1, 0), cost=1, reply=body.encode())


def test_calls_whose_keys_end_alike_have_answers_of_their_own(tmp_path: Path) -> None:
    """In eight bytes: the table can't tell them apart. Settled in one transaction, and by two users."""
    names = [f"{part * 24}{'ab' * 8}" for part in ("11", "22", "33")]

    async def main(one: CallStore, other: CallStore) -> None:
        for store, mine in ((one, names[:2]), (other, names[2:])):
            for name in mine:
                await store.begin(name[:2], name, "data", "teacher", tokens=1, cost=1)
            done = [store.settle(name[:2], Outcome.UNKNOWN, reply=name[:2].encode()) for name in mine]
            told = await asyncio.gather(*done)
            assert [reply and reply.body for reply in told] == [name[:2].encode() for name in mine]
        for store in (one, other):
            found = [await store.get(name) for name in names]
            assert [reply and reply.body for reply in found] == [b"11", b"22", b"33"]
            assert await store.get("44" * 24 + "ab" * 8) is None

    with CallStore(tmp_path / "calls.sqlite") as one, CallStore(tmp_path / "calls.sqlite") as other:
        asyncio.run(main(one, other))


def test_two_replies_to_one_call_in_one_transaction(tmp_path: Path) -> None:
    async def main(calls: CallStore) -> None:
        for name in ("one", "two"):
            await calls.begin(name, key(0).hex(), "data", "teacher", tokens=1, cost=1)
        done = [calls.settle(name, Outcome.UNKNOWN, reply=name.encode()) for name in ("one", "two")]
        assert [reply and reply.body for reply in await asyncio.gather(*done)] == [b"one", b"one"]
        assert [reply.reason for _, reply in calls.replies()] == [None, "another reply to the same call came first"]

    with CallStore(tmp_path / "calls.sqlite") as calls:
        asyncio.run(main(calls))


def test_what_was_rolled_back_answers_nothing_and_hides_nothing(tmp_path: Path) -> None:
    def reply(file: CallFile, number: int, body: bytes, *, fails: bool = False) -> None:
        intent = IntentRow(file.next_intent(), f"r{number}", key(number), file.slot("data", "teacher"), 1, 1)
        file.begin([intent])
        row = ReplyRow(encode(key(number), body), None)
        assert file.settle([Settlement(intent, IntentState.UNKNOWN, None, None, row)]) == []
        assert file.get(key(number)) is not None
        if fails:
            raise InterruptedError

    with closing(CallFile(tmp_path / "calls.sqlite")) as one, closing(CallFile(tmp_path / "calls.sqlite")) as other:
        for number, body, fails, file in ((0, b"zero", False, one), (1, b"lost", True, one), (2, b"two", False, other)):
            with suppress(InterruptedError), file.transaction():
                reply(file, number, body, fails=fails)
        # The reply that was lost and the other user's had the same number.
        for file in (one, other):
            found = [file.get(key(number)) for number in range(3)]
            assert [reply and reply.body for reply in found] == [b"zero", None, b"two"]
        with one.transaction():
            reply(one, 1, b"one")
        found = [other.get(key(number)) for number in range(3)]
        assert [reply and reply.body for reply in found] == [b"zero", b"one", b"two"]


def test_a_copy_of_the_table_saves_reading_the_list_and_what_came_since_is_read(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with filled(tmp_path / "calls.sqlite", "zero", "one", "two") as (calls, connection):
        first = Answers(connection, copy, worth=3)
        first.write_copy()
        assert not copy.exists(), "nothing was looked up"
        assert first.get(key(0)) == b"zero"
        first.write_copy()
        asyncio.run(make_calls(calls, "three", "four", first=3))
        connection.execute("DELETE FROM keys WHERE reply IN (1, 2)")
        assert Answers(connection, tmp_path / "none").get(key(0)) is None
        second = Answers(connection, copy, worth=3)
        found = [second.get(key(number)) for number in range(6)]
        assert found == [b"zero", b"one", b"two", b"three", b"four", None]
        before = copy.read_bytes()
        second.write_copy()
        assert copy.read_bytes() == before, "two new keys are not worth it"
        asyncio.run(make_calls(calls, "five", first=5))
        assert second.get(key(5)) == b"five"
        second.write_copy()
        after = copy.read_bytes()
        assert after != before
        third = Answers(connection, copy, worth=1)
        asyncio.run(make_calls(calls, "six", first=6))
        assert third.get(key(6)) == b"six"
        third.write_copy()
        assert copy.read_bytes() == after, "nor is one that is less than a quarter"


@pytest.mark.parametrize("damage", ["none", "other calls", "cut", "head", "row"])
def test_a_copy_that_is_damaged_or_of_other_calls_is_not_used(tmp_path: Path, damage: str) -> None:
    bodies = ["zero", "one", "two", "three"]
    for seed in range(5):
        copy, draw = tmp_path / f"copy {seed}", derive_generator(seed, damage)
        with filled(tmp_path / f"{seed}.sqlite", *bodies) as (_, connection):
            if damage == "other calls":
                with CallStore(tmp_path / f"other {seed}.sqlite") as other:
                    asyncio.run(make_calls(other, *bodies, first=10))
                with closing(sqlite3.connect(tmp_path / f"other {seed}.sqlite", isolation_level=None)) as theirs:
                    write_copy(theirs, copy)
            else:
                write_copy(connection, copy)
            data = bytearray(copy.read_bytes())
            if damage == "cut":
                del data[int(draw.integers(0, len(data))) :]
            elif damage in ("head", "row"):
                data[int(draw.integers(*((0, 40) if damage == "head" else (40, len(data)))))] ^= 1 << seed
            copy.write_bytes(data)
            # Whoever reads the list can't know the first call; whoever has only another's copy knows none.
            connection.execute("UPDATE keys SET key = zeroblob(16) WHERE reply = 1")
            answers = Answers(connection, copy)
            zero = b"zero" if damage == "none" else None
            assert [answers.get(key(number)) for number in range(4)] == [zero, b"one", b"two", b"three"]


def write_copy(connection: sqlite3.Connection, copy: Path) -> None:
    answers = Answers(connection, copy, worth=1)
    answers.get(key(0))
    answers.write_copy()


def test_a_copy_that_can_not_be_written_fails_nothing(tmp_path: Path) -> None:
    with filled(tmp_path / "calls.sqlite", "zero") as (_, connection):
        answers = Answers(connection, tmp_path / "missing" / "copy", worth=1)
        assert answers.get(key(0)) == b"zero"
        answers.write_copy()
        assert answers.get(key(0)) == b"zero"
