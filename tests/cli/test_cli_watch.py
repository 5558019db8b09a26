"""A build is watched from another shell: while it runs, when it is finished, failed or killed. Its log as JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from shared_builds import LEAN, WORLD, world_store

from synth.cli import main
from synth.engine.json_log import JsonLines
from synth.engine.progress import CallsNow, Quiet
from synth.engine.record import Recorded, read_record
from synth.schemas.reports import RunUse
from synth.store import Store

RUNNING = """
import os, signal, sys
from pathlib import Path
from synth.engine.progress import Quiet
from synth.engine.record import Recorded
from synth.store import Store
record = Recorded(Quiet(), Store(Path(sys.argv[1])), "toy/one")
record.plan(["a", "b"])
record.begin("a", 4, 1)
record.advance("a", 1)
os.kill(os.getpid(), signal.SIGKILL)
"""


def exit_code(command: list[str]) -> int:
    try:
        main(command)
    except SystemExit as end:
        return int(str(end.code or 0))
    return 0


def test_a_running_build_is_seen_and_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "store")
    record = Recorded(Quiet(), store, "toy")
    record.plan(["a", "b", "c"])
    assert exit_code(["watch", "--store", str(store.root)]) == 2
    assert "no build has run in this store" in capsys.readouterr().err
    record.begin("a", 4, 1)
    record.calls("a", CallsNow(3, 2.0, RunUse(calls=7, prompt_tokens=900), spent="spent 0.52 of 1.00"))
    record._record.written = 0.0  # the next is due
    record.advance("a", 2)
    watching = ["watch", "toy", "--store", str(store.root)]
    assert exit_code(watching) == 0
    shown = capsys.readouterr().out
    for words in ("3 of 5", "left", "7 calls", "spent 0.52 of 1.00", "to come: b, c", "toy runs", "0 of 3 stages"):
        assert words in shown
    page = tmp_path / "now.html"
    assert exit_code([*watching, "--once", "--page", str(page)]) == 0
    assert "toy runs" in capsys.readouterr().out
    assert "3 of 5" in page.read_text()
    assert 'http-equiv="refresh"' in page.read_text()
    other = Recorded(Quiet(), store, "toy")
    other.plan(["z"])
    other.begin("z", 1, 0)
    assert read_record(store.root, "toy").record.stages[0].label == "a", "a second build writes nothing"
    record.ended("finished: out/toy")
    record.close()
    assert exit_code(watching) == 0
    assert "toy finished: out/toy" in capsys.readouterr().out
    assert exit_code([*watching, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "finished"


def test_a_killed_build_is_said_to_be_killed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([sys.executable, "-c", RUNNING, str(tmp_path / "store")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert exit_code(["watch", "--store", str(tmp_path / "store")]) == 1
    assert "toy/one was killed after" in capsys.readouterr().out.replace("\n", " ")


def test_a_build_writes_its_record_and_its_log_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    build = ["build", "world-search", "--tasks", "20", "--store", str(world_store(tmp_path)), "--log", "json"]
    for key, value in {**WORLD, **LEAN, "roles.policy.rollouts": 2}.items():
        build += ["--set", f"{key}={json.dumps(value)}"]
    main(build)
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    ended = [event for event in events if event["event"] == "end"]
    assert events[0]["stages"] == [event["stage"] for event in ended]
    assert all(event["report"]["rows_in"] >= event["report"]["kept"] for event in ended)
    look = read_record(tmp_path / "store", "world-search")
    assert (look.state, look.record.end) == ("finished", f"finished: {os.path.join('out', 'world-search')}")
    assert exit_code([*build, "--tasks", "0"]) == 2


@pytest.mark.parametrize(("seconds", "progress", "calls"), [(0.0, [1, 2, 3], [2, 5]), (1e9, [], [])])
def test_lines_of_json_come_at_most_so_often(seconds: float, progress: list[int], calls: list[int]) -> None:
    said = StringIO()
    log = JsonLines(said, seconds=seconds)
    log.begin("a", 3, 0)
    for _ in range(3):
        log.advance("a", 1)
    for number in (2, 5):
        log.calls("a", CallsNow(1, 1.0, RunUse(calls=number)))
    log.note("mind this")
    found = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [one["finished"] for one in found if one["event"] == "progress"] == progress
    assert [one["use"]["calls"] for one in found if one["event"] == "calls"] == calls
    assert (found[0]["to_do"], found[-1]["line"]) == (3, "mind this")
