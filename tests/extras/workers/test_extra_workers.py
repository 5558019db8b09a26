"""Builds that keep their model calls in a real PostgreSQL, as on several machines: each call is paid for once, the cap
holds over all, and when one is killed, or the database, the others finish, or all resume.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults_builds import bound, serve
from shared_builds import hashes
from shared_rows import CASES
from stand_ins.model_server import ModelServer
from test_models_batches import ask, bind, deliveries, expected, of_batches, said, served

import synth
from synth.errors import StoreError
from synth.mocks.model import Faults
from synth.models.client import ModelHub
from synth.store.calls import CallStore, CapReached, Outcome, TokenCount
from synth.store.calls_postgres import PostgresDatabase

pytestmark = pytest.mark.extras

COMMAND = [sys.executable, "-c", "from synth.cli import main; main()"]
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


class Postgres:
    """A server on loopback, by an unprivileged user, in a folder of its own."""

    def __init__(self) -> None:
        self._bin = INSTALLED[-1].parent
        self._folder = Path(tempfile.mkdtemp(prefix="synth-postgres-"))
        self._user = "nobody" if os.getuid() == 0 else None
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"postgresql://synth:secret@127.0.0.1:{self._port}/postgres"
        self._call("initdb", "-U", "synth", "-A", "trust", "--no-sync")
        self.start()

    def _call(self, command: str, *options: str) -> None:
        subprocess.run(
            [self._bin / command, "-D", self._folder / "data", *options],
            user=self._user,
            cwd=self._folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def start(self) -> None:
        settings = f"-p {self._port} -h 127.0.0.1 -k {self._folder} -F"
        self._call("pg_ctl", "start", "-w", "-l", str(self._folder / "log"), "-o", settings)

    def stop(self) -> None:
        """As a crash would."""
        self._call("pg_ctl", "stop", "-w", "-m", "immediate")

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip("psycopg")
    if not INSTALLED:
        pytest.skip("needs the Debian package postgresql")
    server = Postgres()
    yield server
    server.close()


@pytest.fixture
def place(postgres: Postgres) -> Iterator[str]:
    """The address, with no table in it."""
    yield postgres.url
    import psycopg

    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS synth CASCADE")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_in_postgres(case: Callable[[Path, Path | str], None], place: str, tmp_path: Path) -> None:
    case(tmp_path, place)


def key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def test_calls_are_made_once_and_the_cap_holds_over_two_sessions(place: str) -> None:
    async def main(stores: list[CallStore]) -> None:
        made: Counter[str] = Counter()

        async def worker(store: CallStore, number: int) -> None:
            for name in range(40):
                if await store.get(key(f"{name}")) is not None:
                    continue
                request = f"{number}-{name}"
                reply = await store.begin(request, key(f"{name}"), "data", "teacher", tokens=10, cost=3)
                if reply is None:
                    made[f"{name}"] += 1
                    await asyncio.sleep(0.001)
                    usage = TokenCount(4, 2)
                    reply = await store.settle(request, Outcome.DELIVERED, usage=usage, cost=2, reply=request.encode())
                assert reply == await store.get(key(f"{name}"))

        # In one process calls of one key are one call already: one worker per store.
        await asyncio.gather(*(worker(store, number) for number, store in enumerate(stores)))
        assert set(made.values()) == {1}
        for store in stores:
            store.cap("data", cost=90, tokens=None)  # 80 are spent

        async def until_the_cap(store: CallStore, number: int) -> None:
            for name in range(100, 200):
                request = f"{number}-{name}"
                try:
                    await store.begin(request, key(request), "data", "teacher", tokens=10, cost=3)
                except CapReached:
                    return
                await store.settle(request, Outcome.DELIVERED, usage=TokenCount(4, 2), cost=3)
            raise AssertionError("no cap")

        await asyncio.gather(*(until_the_cap(store, number) for number, store in enumerate(stores)))
        assert stores[0].account("data").cost_spent == 89

    with CallStore(place) as one, CallStore(place) as two:
        asyncio.run(main([one, two]))


def test_a_database_that_goes_away_costs_what_was_under_way_and_no_reply(place: str, postgres: Postgres) -> None:
    async def one(store: CallStore, name: str) -> None:
        await store.begin(name, key(name), "data", "teacher", tokens=10, cost=3)
        await store.settle(name, Outcome.UNKNOWN, reply=name.encode())

    async def goes_away(store: CallStore) -> None:
        await one(store, "first")
        await store.begin("second", key("second"), "data", "teacher", tokens=10, cost=3)
        postgres.stop()
        with pytest.raises(StoreError, match=r"the database of calls can't be used .*stored calls are kept") as told:
            await store.settle("second", Outcome.UNKNOWN, reply=b"second")
        assert "secret" not in str(told.value)

    store = CallStore(place)
    asyncio.run(goes_away(store))
    with pytest.raises(StoreError):
        store.close()
    with pytest.raises(StoreError, match="the database of calls can't be used"):
        CallStore(place)
    postgres.start()
    with CallStore(place) as store:
        account = store.account("data")
        assert (account.unknown, account.open) == (2, 0)
        assert asyncio.run(store.get(key("first"))) == b"first"
        assert asyncio.run(store.get(key("second"))) is None


def test_a_session_that_stands_still_loses_what_it_held(place: str) -> None:
    still = PostgresDatabase(place, lease_seconds=1)  # no heartbeat comes within a second
    other = PostgresDatabase(place)
    still.hold("ab" * 8)
    for gone in (False, True):
        with other.transaction(), other.gone("ab" * 8) as found:
            assert found is gone
        time.sleep(1.5)
    with pytest.raises(StoreError, match="idle-session timeout"), still.errors():
        still.execute("SELECT 1")
    still.close()
    other.close()


def test_two_builds_by_the_command_make_the_bytes_of_one(postgres: Postgres, tmp_path: Path) -> None:
    size = ["build", "world-search", "--tasks=8", "--set=source.entities=300", "--set=critical=null"]
    size += [f"--set={name}=null" for name in ("contexts", "distractors", "difficulty")]
    rooms = {
        name: ["--store", f"{tmp_path}/{name}/store", "--out", f"{tmp_path}/{name}/out"]
        for name in "plain a b c".split()
    }
    subprocess.run([*COMMAND, *size, *rooms["plain"]], check=True, capture_output=True)
    with serve(list(synth.load(tmp_path / "plain" / "out").rows("tasks")), Faults()) as served:
        common = [*COMMAND, *size, *bound(served.server.url)]
        subprocess.run([*common, *rooms["a"], f"--calls={tmp_path}/calls.sqlite"], check=True, capture_output=True)
        alone = len(served.server.log.records())
        both = [subprocess.Popen([*common, *rooms[name], "--calls", postgres.url]) for name in "bc"]
        assert [one.wait(300) for one in both] == [0, 0]
        assert len(served.server.log.records()) == 2 * alone
    assert hashes(tmp_path / "a" / "out") == hashes(tmp_path / "b" / "out") == hashes(tmp_path / "c" / "out")


def test_a_batch_under_way_is_found_by_another_machine(place: str) -> None:
    """One sends it and ends; its money stays reserved, and the next one has the replies."""
    faults = of_batches(lost=1.0, line_twice=0.3, out_of_order=1.0)

    async def first(server: ModelServer) -> None:
        with CallStore(place) as calls, ModelHub(calls, account="a") as hub:
            task = asyncio.create_task(ask(bind(hub, server.url), range(100)))
            while not any(batch.remote for batch in calls.batches.all("a")):
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def second(server: ModelServer) -> None:
        with CallStore(place) as calls, ModelHub(calls, account="a") as hub:
            assert (hub.account().open, hub.account().unknown) == (100, 0)
            server.batches.made[0].due = 0.0
            assert said(await ask(bind(hub, server.url), range(100))) == expected(100)
            assert (hub.account().open, hub.account().delivered) == (0, 100)

    with served(faults, batch_seconds=1_000) as server:
        asyncio.run(first(server))
        asyncio.run(second(server))
        assert set(deliveries(server).values()) == {1}
