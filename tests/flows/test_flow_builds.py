"""A whole build through Prefect, and one that a served schedule runs: the same bytes as `synth build`."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shared_builds import LEAN, hashes

from synth.api import BuildRequest, prepare
from synth.flows.build import build_in_flow

SMALL = {"source.entities": 300, **LEAN}
TASKS = 4


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files of the build without Prefect, in a store of its own."""
    folder = tmp_path_factory.mktemp("plain")
    request = BuildRequest(
        dataset="world-search", tasks=TASKS, out=folder / "out", store=folder / "store", settings=SMALL
    )
    return hashes(prepare(request, progress="quiet").run().path)


def wait_for(what: str, look: Callable[[], Any], process: subprocess.Popen[str] | None = None) -> Any:
    """The first true value of ``look``, tried for at most four minutes."""
    for _ in range(1_200):
        found = look()
        if found:
            return found
        assert process is None or process.poll() is None, f"it ended while waiting for {what}"
        time.sleep(0.2)
    raise AssertionError(f"no {what}")


@pytest.mark.usefixtures("prefect_server")
def test_a_build_through_prefect_has_the_bytes_of_one_without(tmp_path: Path, plain: dict[str, str]) -> None:
    request = BuildRequest(
        dataset="world-search", tasks=TASKS, out=tmp_path / "out", store=tmp_path / "store", settings=SMALL
    )
    result = build_in_flow(request)
    assert hashes(result.path) == plain
    assert {name.split("/")[0] for name in plain} >= {"README.md", "tasks", "trajectories", "documents"}


@pytest.mark.thorough
def test_a_served_schedule_is_scheduled_and_builds_the_same_bytes(tmp_path: Path, plain: dict[str, str]) -> None:
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    command = [str(Path(sys.executable).parent / "synth"), "deploy", "world-search", "--cron", "0 3 * * *"]
    command += ["--timezone", "Europe/Paris", "--tasks", str(TASKS), "--out", "out", "--store", "store"]
    command += [f"--set={key}={json.dumps(value)}" for key, value in SMALL.items()]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**environment, "PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_RUNNER_POLL_FREQUENCY": "1"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        shown = re.fullmatch(
            r"serving world-search at (http://127\.0\.0\.1:(\d+)/api): next run .+ 03:00 CES?T.+\n", line
        )
        assert shown, line
        with temporary_settings({PREFECT_API_URL: shown.group(1)}), get_client(sync_client=True) as client:

            def deployed() -> Any:
                found = client.read_deployments()
                return found[0] if found else None

            deployment = wait_for("deployment", deployed, process)
            assert deployment.name == "world-search"
            assert [(s.schedule.cron, s.schedule.timezone) for s in deployment.schedules] == [
                ("0 3 * * *", "Europe/Paris")
            ]
            # A scheduler is at work: it has booked runs of the days to come.
            wait_for("scheduled runs", lambda: [r for r in client.read_flow_runs() if r.auto_scheduled], process)
            run = client.create_flow_run_from_deployment(deployment.id)

            def final() -> Any:
                state = client.read_flow_run(run.id).state
                return state if state and state.is_final() else None

            state = wait_for("end of the run", final, process)
            assert state.is_completed(), state
        assert hashes(tmp_path / "out") == plain
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
    assert process.returncode == 0, "stopping is how it ends"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(shown.group(2))))
