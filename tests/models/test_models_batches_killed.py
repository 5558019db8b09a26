"""A process with a batch under way is killed, anywhere: the next one pays for nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stand_ins.call_log import served
from stand_ins.model_server import Faults, ModelServer, ServerOptions
from test_models_batches import Echo, deliveries, expected, of_batches

from synth.store import FAILPOINTS
from synth.store.calls import CallStore

pytestmark = pytest.mark.thorough

CALLS = 200
POINTS = sorted(name for name in FAILPOINTS if name.startswith("batch."))


def child(server: ModelServer, store: Path, failpoint: str = "") -> subprocess.Popen[str]:
    script = Path(__file__).with_name("batches_child.py")
    command = [sys.executable, str(script), server.url, str(store), str(CALLS), failpoint]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def replies(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    found: list[str] = json.loads(out)
    return found


def killed(process: subprocess.Popen[str]) -> None:
    _, err = process.communicate(timeout=100)
    assert process.returncode == -signal.SIGKILL, err


@pytest.fixture
def serving() -> Iterator[Callable[..., ModelServer]]:
    running: list[ModelServer] = []

    def serve(faults: Faults | None = None, **options: float) -> ModelServer:
        running.append(ModelServer(Echo(), ServerOptions(faults=faults or Faults(), **options)))
        running[-1].start()
        return running[-1]

    yield serve
    for server in running:
        server.stop()


def books_are_right(store: Path) -> None:
    with CallStore(store) as calls:
        account = calls.account("a")
        batches = calls.batches.all("a")
        assert (account.delivered, account.unknown, account.open, account.cost_open) == (CALLS, 0, 0, 0)
        assert sum(batch.delivered for batch in batches) == CALLS
        assert sum(batch.cost for batch in batches) == account.cost_exact
        assert all(batch.open == batch.cost_open == 0 for batch in batches)
        assert len(served(calls)) == CALLS


@pytest.mark.parametrize("point", [*POINTS, "batch.collected:3"])
def test_killed_at_a_failpoint(tmp_path: Path, serving: Callable[..., ModelServer], point: str) -> None:
    server = serving()
    count = "" if ":" in point else ":1"
    killed(child(server, tmp_path / "calls", f"{point}{count}:kill"))
    made = len(server.batches.made)
    assert made == (point not in ("batch.begun", "batch.uploaded"))
    with CallStore(tmp_path / "calls") as calls:
        account, (batch,) = calls.account("a"), calls.batches.all()
        done = {"batch.collected": 64, "batch.collected:3": 192}.get(point, 0)
        assert (account.delivered, account.open, account.unknown) == (done, CALLS - done, 0)
        assert (batch.remote is None) == (point in ("batch.begun", "batch.uploaded", "batch.created"))
    assert replies(child(server, tmp_path / "calls")) == expected(CALLS)
    assert len(server.batches.made) == 1
    assert set(deliveries(server).values()) == {1}
    books_are_right(tmp_path / "calls")


def test_killed_again_and_again(tmp_path: Path, serving: Callable[..., ModelServer]) -> None:
    server = serving(of_batches(lost=0.5, expired=0.3, line_twice=0.2, out_of_order=0.5), batch_seconds=0.05)
    for point in POINTS * 2:
        process = child(server, tmp_path / "calls", f"{point}:1:kill")
        process.communicate(timeout=100)
        assert process.returncode in (0, -signal.SIGKILL)
    assert replies(child(server, tmp_path / "calls")) == expected(CALLS)
    assert set(deliveries(server).values()) == {1}
    books_are_right(tmp_path / "calls")


def test_killed_while_it_waits(tmp_path: Path, serving: Callable[..., ModelServer]) -> None:
    server = serving(batch_seconds=1.0)
    process = child(server, tmp_path / "calls")
    while not server.batches.made:
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    killed(process)
    assert replies(child(server, tmp_path / "calls")) == expected(CALLS)
    assert len(server.batches.made) == 1
    assert set(deliveries(server).values()) == {1}
    books_are_right(tmp_path / "calls")


def test_two_processes_share_a_batch(tmp_path: Path, serving: Callable[..., ModelServer]) -> None:
    server = serving(batch_seconds=0.3)
    both = [child(server, tmp_path / "calls") for _ in range(2)]
    assert [replies(process) for process in both] == [expected(CALLS)] * 2
    assert set(deliveries(server).values()) == {1}
    books_are_right(tmp_path / "calls")
