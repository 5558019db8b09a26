"""The model server in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from server_calls import ask, ask_all, body
from stand_ins.model_server import (
    EchoSpec,
    FaultKind,
    Faults,
    ModelServer,
    ModelServerProcess,
    ServerOptions,
    ServerSpec,
)
from stand_ins.model_server.players import EchoPlayer
from stand_ins.model_server.serve import main

TESTS = Path(__file__).parents[1]


def test_it_answers_logs_and_ends(tmp_path: Path) -> None:
    faults = Faults(seed=1, rates={FaultKind.SERVER_ERROR: 0.3})
    spec = ServerSpec(
        players={"echo": EchoSpec(size=8)}, options=ServerOptions(faults=faults), log=str(tmp_path / "log.jsonl")
    )
    requests = [(body(model="echo"), str(number)) for number in range(40)]
    with ModelServerProcess(spec) as server:
        answers = ask_all(server.url, requests)
        pid = server.pid
        records = server.records()
    with ModelServer(EchoPlayer(8), ServerOptions(faults=faults)) as local:
        expected = ask_all(local.url, requests)
    assert [answer.status for answer in answers] == [answer.status for answer in expected]  # type: ignore[union-attr]
    assert {answer.status for answer in answers} == {200, 500}  # type: ignore[union-attr]
    assert {answer.message["content"] for answer in answers if answer.status == 200} == {"Where is"}  # type: ignore[union-attr]
    assert {record.request_id for record in records} == {f"r-{number}" for number in range(40)}
    assert all(record.answered is not None for record in records)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_ends_with_who_started_it(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from stand_ins.model_server import *\n"
        "server = ModelServerProcess(ServerSpec(players={'echo': EchoSpec()})).__enter__()\n"
        "print(server.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    made = subprocess.run([sys.executable, "-c", code], cwd=TESTS, stdout=subprocess.PIPE, text=True, check=False)
    assert made.returncode == -signal.SIGKILL
    pid = int(made.stdout)
    status = Path(f"/proc/{pid}/stat")
    # Gone, or a zombie whose new parent has not looked yet.
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_from_a_file_until_a_signal(tmp_path: Path, number: int) -> None:
    path = tmp_path / "spec.json"
    path.write_text(ServerSpec(players={"echo": EchoSpec()}).model_dump_json())
    with subprocess.Popen(
        [sys.executable, "-m", "stand_ins.model_server.serve", str(path)], cwd=TESTS, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert ask(url, body(model="echo")).status == 200
        process.send_signal(number)
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "players"),
        ('{"players": {"x": {"kind": "parrot"}}}', "players"),
        ('{"players": {"x": {"kind": "echo"}}, "options": {"faults": {"rates": {"nonsense": 1}}}}', "rates"),
        ('{"players": {"x": {"kind": "scripted", "role": "policy", "dataset": "/nowhere"}}}', "no such folder"),
        (None, "can't be read"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, words: str
) -> None:
    path = tmp_path / "spec.json"
    if text is not None:
        path.write_text(text)
    assert main([str(path)]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_port_that_is_taken_is_one_line() -> None:
    with ModelServer(EchoPlayer()) as first:
        port = int(first.url.rpartition(":")[2].partition("/")[0])
        second = ModelServerProcess(ServerSpec(players={"echo": EchoSpec()}, port=port))
        with pytest.raises(RuntimeError, match=rf"port {port}: can't listen \(Address already in use\)$"):
            second.__enter__()
