"""``synth serve-env``: recorded runs of a dataset, made again by somebody else, have the observations that they had."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.agents.trajectory import history_of
from synth.api import BuildResult
from synth.dataset.reader import load
from synth.errors import InputError
from synth.pipelines.reopen import open_environment, reopen
from synth.schemas.trajectories import TrajectoryRow

pytestmark = pytest.mark.thorough

COMMAND = [sys.executable, "-c", "from synth.cli import main; main()", "serve-env"]
_RUNS = 12


def runs(small: BuildResult) -> list[TrajectoryRow]:
    """As many good ones as bad ones."""
    rows = list(synth.load(small.path).rows("trajectories"))
    return [row for good in (True, False) for row in islice((row for row in rows if row.success is good), _RUNS // 2)]


@pytest.fixture(scope="module")
def address(small: BuildResult) -> Iterator[str]:
    process = subprocess.Popen(
        [*COMMAND, str(small.path), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("search at http://127.0.0.1:"), process.stderr and process.stderr.read()
        yield line.split("http://")[1].split()[0]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()
        process.communicate()


def ask(connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> Any:
    connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    found = json.loads(answer.read())
    assert answer.status == 200, found
    return found


def test_recorded_runs_over_http(small: BuildResult, address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=60)
    outcomes = set()
    for row in runs(small):
        prompt, history = history_of(row)
        begun = ask(connection, "/reset", {"task": row.task_id})
        assert begun["question"] == prompt.question
        assert begun["tools"] == list(row.tool_schemas)
        for step in history:
            if not step.results:
                continue
            calls = [{"name": call.name, "arguments": call.arguments} for call in step.turn.calls]
            results = ask(connection, "/step", {"session": begun["session"], "calls": calls})["results"]
            recorded = [(result.content, result.error) for result in step.results]
            assert [(result["content"], result["error"]) for result in results] == recorded
        scored = ask(connection, "/score", {"session": begun["session"], "answer": row.answer})
        assert scored["verdict"] == row.verdict.model_dump()
        assert scored["reward"] == float(row.success)
        outcomes.add(row.success)
    assert outcomes == {True, False}
    connection.close()


def test_a_recorded_run_over_mcp(small: BuildResult) -> None:
    pytest.importorskip("mcp", reason="extra mcp")
    from synth.environments.mcp.environment import open_mcp

    dataset = load(small.path)
    _, tasks = reopen(dataset)
    row = next(row for row in dataset.rows("trajectories") if row.success)
    task = tasks.by_id(row.task_id)
    assert task is not None
    root = str(Path(synth.__file__).resolve().parents[1])
    program = f"import sys; sys.path.insert(0, {root!r}); from synth.cli import main; main()"
    command = [sys.executable, "-c", program, "serve-env", str(small.path), "--over", "mcp", "--task", task.id]
    served = open_mcp(servers={"pages": {"command": command}}, start_seconds=120)
    episode = served.reset(task)
    for step in history_of(row)[1]:
        for call, recorded in zip(step.turn.calls, step.results, strict=False):
            assert episode.step(call).content == recorded.content
    assert episode.check(row.answer) == row.verdict
    episode.close()


def test_another_environment_for_the_tasks(small: BuildResult, tmp_path: Path) -> None:
    made = open_environment({"kind": "app", "application": "airline"})
    assert made.name.startswith("app")
    with pytest.raises(InputError, match="environments has no 'sea'"):
        open_environment({"kind": "sea"})
    with pytest.raises(InputError, match="environment app"):
        open_environment({"kind": "app", "application": "airline", "wings": 3})
    with pytest.raises(InputError, match="Give a dataset"):
        open_environment({"kind": "search"})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such/folder"], "there is no such folder"),
        (["DATA", "--environment", "/no/such.yaml"], "does not exist"),
        (["DATA", "--environment", "LIST"], "holds no object with `kind`"),
        (["DATA", "--over", "mcp", "--task", "no-such"], "the dataset has no task 'no-such'"),
        (["DATA", "--task", "x"], "goes with --over mcp"),
        (["DATA", "--over", "smoke"], "--over"),
        (["DATA", "--host", "203.0.113.7", "--port", "0"], "can't listen"),
        (["DATA", "--over", "mcp-http", "--host", "203.0.113.7", "--port", "0"], "can't listen"),
    ],
)
def test_wrong_options_are_one_line(
    small: BuildResult, tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from synth.cli import main

    (tmp_path / "list.yaml").write_text("- 1\n")
    put = {"DATA": str(small.path), "LIST": str(tmp_path / "list.yaml")}
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            main(["serve-env", *(put.get(one, one) for one in arguments)])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert words in lines[-1]
