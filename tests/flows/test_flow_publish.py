"""The flow that publishes: one commit, none where nothing changed, and no token anywhere in Prefect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
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


def test_a_schedule_that_could_not_push_is_not_served(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a cron line"):
        serve_push(tmp_path, "ann/small", "every day")
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        serve_push(tmp_path, "ann/small", "0 3 * * *")
