"""The flow that publishes: one commit, none where nothing changed, and no token anywhere in Prefect."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterName,
    TaskRunFilter,
    TaskRunFilterFlowRunId,
)
from prefect.client.schemas.objects import FlowRun, TaskRun
from shared_builds import LEAN

from synth.errors import InputError
from synth.flows.deploy import serve_push
from synth.mocks.hub import HubServer

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "hf_" + "q7Wz" * 9
RUN = """
import json, sys
from synth.flows.publish import publish
from synth.flows.release import release
built = release(repo="ann/small", build=json.loads(sys.argv[1]))
print(json.dumps([built, publish(folder=json.loads(sys.argv[1])["out"], repo="ann/small")]))
"""
AGAIN = """
import sys
from synth.flows.publish import publish
publish(folder=sys.argv[1], repo="ann/broken")
"""


def task_runs(flow: str) -> list[list[tuple[str, str]]]:
    """Name and state of the task runs of each run of a flow, in the order of their start."""
    by_flow = FlowRunFilter(name=FlowRunFilterName(any_=[flow]))
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(flow_run_filter=by_flow)
        found = [
            client.read_task_runs(task_run_filter=TaskRunFilter(flow_run_id=TaskRunFilterFlowRunId(any_=[run.id])))
            for run in sorted(runs, key=_start)
        ]
    return [[(run.name, run.state_name or "") for run in sorted(one, key=_start)] for one in found]


def _start(run: FlowRun | TaskRun) -> datetime:
    at = run.start_time or run.created
    assert at is not None
    return at


def test_a_release_builds_and_publishes_once(prefect_server: str, tmp_path: Path) -> None:
    build = {
        "dataset": "world-search",
        "tasks": 2,
        "out": str(tmp_path / "out"),
        "store": str(tmp_path / "store"),
        "settings": {"source.entities": 300, **LEAN},
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    with HubServer(tmp_path / "hub", token=TOKEN) as server:
        environment = {
            **kept,
            "PREFECT_API_URL": prefect_server,
            "PREFECT_LOGGING_LEVEL": "INFO",
            "HF_ENDPOINT": server.url,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_XET": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", RUN, json.dumps(build)],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        first, second = json.loads(done.stdout)
        history = server.repositories.history("ann/small")
        assert [first["commit"], second["commit"]] == [history[0].id] * 2
        assert len(history) == 2
        assert first["sent"] == first["files"]
        assert second["sent"] == 0
        assert first["private"]
        assert TOKEN not in done.stdout + done.stderr
        assert done.stderr.count("checking every row") == 2
        assert f"sending {first['files']} files" in done.stderr
        ran = [("validate", "Completed"), ("push", "Completed")]
        released, pushed = task_runs("ann/small")
        assert pushed == ran
        assert released[-2:] == ran
        assert [name for name, _ in released[:-2]] == ["synth-build-0"]  # its own flow run below the release
        _a_row_is_broken(tmp_path / "out")
        done = subprocess.run(
            [sys.executable, "-c", AGAIN, str(tmp_path / "out")],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert re.search(r"so nothing was pushed: tasks/train-00000-of-00001.parquet, row 0: question: ", done.stderr)
        assert task_runs("ann/broken") == [[("validate", "Failed")]]
        assert "ann/broken" not in server.repositories.repos


def _a_row_is_broken(folder: Path) -> None:
    file = folder / "tasks" / "train-00000-of-00001.parquet"
    table = pq.read_table(file)
    place = table.schema.get_field_index("question")
    asked = table.column("question").to_pylist()
    asked[0] = ""
    pq.write_table(
        table.set_column(place, table.schema.field(place), pa.array(asked, table.schema.field(place).type)), file
    )


def test_a_schedule_that_could_not_push_is_not_served(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a cron line"):
        serve_push(tmp_path, "ann/small", "every day")
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        serve_push(tmp_path, "ann/small", "0 3 * * *")
