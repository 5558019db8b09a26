"""Deployments on a real Prefect server: flows/prefect.yaml, and a build that is left to the workers of a pool."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shared_builds import LEAN

from synth.api import BuildRequest
from synth.cli import main
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.flows.deploy import register

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]


def deploy_all(file: str, folder: Path, server: str) -> None:
    """All deployments of a file, by Prefect's own command."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "prefect"), "--no-prompt", "deploy", "--prefect-file", file, "--all"],
        cwd=folder,
        env={**os.environ, "PREFECT_API_URL": server},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def deployment(name: str) -> Any:
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return client.read_deployment_by_name(name)


def test_prefect_deploys_from_the_file_in_flows(prefect_server: str) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate

    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="synth", type="process"))
    deploy_all("flows/prefect.yaml", ROOT, prefect_server)
    made = deployment("synth-build/world-search-nightly")
    assert made.entrypoint == "synth.flows.build.build"
    assert made.parameters == {"dataset": "world-search", "tasks": 200}
    assert [(s.schedule.cron, s.active) for s in made.schedules] == [("0 3 * * *", False)]
    pushed = deployment("synth-push/world-search-publish")
    assert pushed.entrypoint == "synth.flows.publish.publish"
    assert set(pushed.parameters) == {"folder", "repo"}  # private, and no token
    assert [(s.schedule.cron, s.active) for s in pushed.schedules] == [("0 6 * * *", False)]
    both = deployment("synth-release/world-search-release")
    assert both.entrypoint == "synth.flows.release.release"
    assert set(both.parameters) == {"repo", "build"}
    assert both.parameters["build"] == made.parameters
    assert [(s.schedule.cron, s.active) for s in both.schedules] == [("0 4 * * 0", False)]
    for one in (made, pushed, both):
        assert one.global_concurrency_limit.limit == 1  # kept by the server, over all workers
    for one in (made, pushed, both):
        assert not one.pull_steps  # which would send a worker to a folder of ours
    nightly = deployment("synth-kills/kills-nightly")
    assert nightly.entrypoint == "synth.flows.kills.kills"
    assert set(nightly.parameters) == {"checkout", "minutes"}
    assert not (ROOT / ".prefect").exists()
    assert not (ROOT / "prefect.yaml").exists()


def test_a_file_of_deployments_is_written_and_deployed(prefect_server: str, tmp_path: Path) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate

    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="filed", type="process"))
    file = tmp_path / "prefect.yaml"
    main_line = ["deploy", "world-search", "--work-pool", "filed", "--file", str(file), "--store", str(tmp_path / "s")]
    main([*main_line, "--tasks", "4", "--cron", "0 3 * * *"])
    main(["deploy", "graph-walk", *main_line[2:], "--tasks", "5"])
    main([*main_line, "--tasks", "6", "--cron", "0 4 * * *"])  # takes the place of the first
    deploy_all(str(file), tmp_path, prefect_server)
    nightly, by_hand = deployment("synth-build/world-search"), deployment("synth-build/graph-walk")
    assert (nightly.parameters["tasks"], by_hand.parameters["tasks"]) == (6, 5)
    assert [[s.schedule.cron for s in one.schedules] for one in (nightly, by_hand)] == [["0 4 * * *"], []]
    for one in (nightly, by_hand):
        assert (one.entrypoint, one.work_pool_name, one.pull_steps) == ("synth.flows.build.build", "filed", [])
        assert one.global_concurrency_limit.limit == 1


@pytest.mark.usefixtures("prefect_server")
def test_a_worker_that_has_nothing_but_the_package_runs_what_was_deployed(tmp_path: Path) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey, LogFilter, LogFilterFlowRunId
    from prefect.settings import PREFECT_API_URL
    from prefect.variables import Variable

    settings = {"source.entities": 300, **LEAN}
    out, store = tmp_path / "out", tmp_path / "store"
    request = BuildRequest(dataset="world-search", tasks=4, out=out, store=store, settings=settings)
    with pytest.raises(InputError, match=r"no work pool 'elsewhere'\. Make it: .prefect work-pool create"):
        register(request, "elsewhere")
    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="elsewhere", type="process"))
        said: list[str] = []
        for cron in ("0 3 * * *", None):  # the second takes the place of the first
            register(request, "elsewhere", cron=cron, name="nightly", announce=said.append)
        assert "prefect deployment run synth-build/nightly" in said[-1]
        made = deployment("synth-build/nightly")
        assert (made.entrypoint, made.schedules) == ("synth.flows.build.build", [])
        assert made.global_concurrency_limit.limit == 1
        known = made.parameter_openapi_schema["properties"]
        assert known["executor"]["enum"] == ["local", "processes", "ray", "slurm"]
        assert known["workers"]["minimum"] == 1
        assert all(option["description"] for option in known.values())
        Variable.set("synth_store", str(tmp_path / "chosen"))
        by_name = {"__prefect_kind": "workspace_variable", "variable_name": "synth_store"}
        run = client.create_flow_run_from_deployment(made.id, parameters={"store": by_name})
        (tmp_path / "elsewhere").mkdir()
        worked = subprocess.run(
            [sys.executable, "-m", "prefect", "worker", "start", "--pool", "elsewhere", "--run-once"],
            cwd=tmp_path / "elsewhere",
            env={**os.environ, "PREFECT_API_URL": str(PREFECT_API_URL.value()), "PREFECT_LOGGING_LEVEL": "INFO"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        ended = client.read_flow_run(run.id)
        assert ended.state_name == "Completed", worked.stdout + worked.stderr
        assert validate(out) == []
        assert (tmp_path / "chosen" / "stages").is_dir()
        lines = [log.message for log in client.read_logs(LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run.id])))]
        assert any(line.startswith("teacher: ") and " kept of 4" in line for line in lines), lines
        bars = client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=["world-search-progress"]))
        )
        assert [bar.data for bar in bars if bar.flow_run_id == run.id] == [100.0]
