"""Deployments on a real Prefect server: flows/prefect.yaml, and a served schedule."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def deployment(name: str) -> Any:
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return client.read_deployment_by_name(name)


def test_prefect_deploys_from_the_file_in_flows(prefect_server: str) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate

    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="synth", type="process"))
    prefect = str(Path(sys.executable).parent / "prefect")
    done = subprocess.run(
        [prefect, "--no-prompt", "deploy", "--prefect-file", "flows/prefect.yaml", "--all"],
        cwd=ROOT,
        env={**os.environ, "PREFECT_API_URL": prefect_server},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
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
    assert not (ROOT / ".prefect").exists()
    assert not (ROOT / "prefect.yaml").exists()
