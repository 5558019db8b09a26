"""The store of model calls: torn, damaged and foreign files, full and read-only disks."""

from __future__ import annotations

import asyncio
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from stand_ins.call_log import Intent, intents, replies

from synth.errors import StoreError
from synth.identity import derive_generator
from synth.store.calls import CallStore, IntentState, Outcome, TokenCount

pytestmark = pytest.mark.thorough

CALLS = 60
PATHS = [str(folder) for folder in Path(__file__).parents[:2]]
"""Where a child finds this module and the stand-ins."""


def key(number: int) -> str:
    return f"{number:064x}"


def body(number: int) -> bytes:
    return f"reply {number} ".encode() * (1 + number % 97)


async def make_calls(calls: CallStore, first: int = 0, last: int = CALLS) -> None:
    """One after the other, so that each is a transaction or two of its own."""
    for number in range(first, last):
        await calls.begin(f"r{number}", key(number), "data", "teacher", tokens=99, cost=99)
        usage = TokenCount(number, 1)
        await calls.settle(f"r{number}", Outcome.DELIVERED, usage=usage, cost=number, reply=body(number))


@pytest.fixture(scope="module")
def died(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is on the disk when a process dies after ``CALLS`` calls, all of them in the write-ahead log."""
    path = tmp_path_factory.mktemp("died") / "calls.sqlite"
    script = (
        "import asyncio, os, signal, sys; sys.path[:0] = sys.argv[2:]\n"
        "from test_store_calls_damage import make_calls\n"
        "from synth.store.calls import CallStore\n"
        "store = CallStore(sys.argv[1])\n"
        "asyncio.run(make_calls(store))\n"
        "asyncio.run(store.begin('open', '00' * 32, 'data', 'teacher', tokens=5, cost=50))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path), *PATHS])
    assert ended.returncode == -9
    return path


def copy_of(path: Path, folder: Path) -> Path:
    folder.mkdir()
    for name in ("calls.sqlite", "calls.sqlite-wal"):
        shutil.copy(path.with_name(name), folder / name)
    return folder / "calls.sqlite"


def stored(path: Path) -> tuple[int, list[Intent]]:
    """How many of the calls are stored, after a check that they are the first ones and the books are right."""

    async def look(calls: CallStore) -> int:
        found = [await calls.get(key(number)) for number in range(CALLS)]
        there = [reply for reply in found if reply is not None]
        assert there == [body(number) for number in range(len(there))]
        return len(there)

    with CallStore(path) as calls:
        count = asyncio.run(look(calls))
        begun = intents(calls)
        account = calls.account("data")
        assert account.cost_exact == sum(range(count))
        assert (account.delivered, account.open) == (count, 0)
        assert account.calls == len(begun)
        # It goes on from there.
        asyncio.run(make_calls(calls, count, CALLS))
        assert calls.account("data").cost_exact == sum(range(CALLS))
    return count, begun


def test_a_dead_process_loses_nothing_and_what_it_left_open_is_unknown(died: Path, tmp_path: Path) -> None:
    count, intents = stored(copy_of(died, tmp_path / "copy"))
    assert count == CALLS
    assert intents[-1].state is IntentState.UNKNOWN
    assert intents[-1].cost_bound == 50


@pytest.mark.parametrize("seed", range(12))
def test_a_log_that_was_cut_anywhere_is_healed_to_the_calls_before(died: Path, tmp_path: Path, seed: int) -> None:
    path = copy_of(died, tmp_path / "copy")
    log = path.with_name("calls.sqlite-wal")
    draw = derive_generator(seed, "cut")
    # The schema is in the log too: cut behind it. In front of it the file is simply new.
    with open(log, "r+b") as file:
        file.truncate(int(draw.integers(0, log.stat().st_size)))
    count, _ = stored(path)
    assert count <= CALLS


@pytest.mark.parametrize("seed", range(12))
def test_a_log_with_a_wrong_byte_is_healed_to_the_calls_before(died: Path, tmp_path: Path, seed: int) -> None:
    path = copy_of(died, tmp_path / "copy")
    log = path.with_name("calls.sqlite-wal")
    data = bytearray(log.read_bytes())
    data[int(derive_generator(seed, "byte").integers(0, len(data)))] ^= 0x41
    log.write_bytes(data)
    count, _ = stored(path)
    assert count <= CALLS


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_one_line_or_never_a_wrong_reply(died: Path, tmp_path: Path, seed: int) -> None:
    path = copy_of(died, tmp_path / "copy")
    with CallStore(path):
        pass  # all is moved from the log into the file
    data = bytearray(path.read_bytes())
    draw = derive_generator(seed, "damage")
    if seed % 4 == 0:
        del data[int(draw.integers(1, len(data))) :]
    else:
        for place in draw.integers(0, len(data), size=int(draw.integers(1, 200))):
            data[place] ^= int(draw.integers(1, 256))
    path.write_bytes(data)

    async def look(calls: CallStore) -> None:
        for number in range(CALLS):
            reply = await calls.get(key(number))
            assert reply in (None, body(number))

    said = f"{path}: "
    try:
        with CallStore(path) as calls:
            asyncio.run(look(calls))
            intents(calls)
            replies(calls)
    except StoreError as error:
        said = str(error)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said


def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("this is not a database " * 500)
    with pytest.raises(StoreError, match=r"text\.sqlite: this is not a store of calls"):
        CallStore(text)
    assert text.read_text() == "this is not a database " * 500
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(StoreError, match=r"other\.sqlite: this is not a store of calls"):
        CallStore(other)
    assert other.read_bytes() == before


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with CallStore(path):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(StoreError, match="it has format 7, and this version of synth reads format 4"):
        CallStore(path)


def test_a_folder_that_is_not_there_or_can_not_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "missing" / "calls.sqlite", tmp_path / "file" / "calls.sqlite", Path("/proc/calls.sqlite")):
        with pytest.raises(StoreError, match="it can't be opened or made"):
            CallStore(bad)


def test_a_full_disk_is_one_line_and_nothing_that_was_stored_is_lost(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the write fails where it would fail there."""
    path = tmp_path / "calls.sqlite"
    script = (
        "import asyncio, resource, sys; sys.path[:0] = sys.argv[2:]\n"
        "from test_store_calls_damage import fill\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))\n"
        "asyncio.run(fill(sys.argv[1]))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path), *PATHS], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    count, said = ended.stdout.split(" ", 1)
    assert said.startswith(f"{path}: ")
    assert "free space" in said
    assert said.count("\n") == 1
    assert int(count) > 5
    found, _ = stored(path)
    assert found >= int(count)


async def fill(path: str) -> None:
    """Make calls until one can't be written; print how many were and what was said. It can be settled later."""
    store = CallStore(path)
    number = 0
    try:
        while True:
            await make_calls(store, number, number + 1)
            number += 1
    except StoreError as error:
        print(number, error, flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.close()


def test_keys_of_the_same_end_are_never_served_each_other_s_reply(tmp_path: Path) -> None:
    """The index holds half of a key; whether the other half fits is checked when the reply is read."""
    one, other = "11" * 16 + "ab" * 16, "22" * 16 + "ab" * 16

    async def main(calls: CallStore) -> None:
        await calls.begin("one", one, "data", "teacher", tokens=1, cost=1)
        await calls.settle("one", Outcome.DELIVERED, usage=TokenCount(1, 0), cost=1, reply=b"of one")
        assert await calls.get(one) == b"of one"
        with pytest.raises(StoreError, match="another call"):
            await calls.get(other)

    with CallStore(tmp_path / "calls.sqlite") as calls:
        asyncio.run(main(calls))
