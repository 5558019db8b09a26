"""The automation that the manual shows is one that a server takes, and it tells when a build has failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

NOTIFY = Path(__file__).parents[2] / "flows" / "notify.yaml"
RUN = """
import json, queue, sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from synth.flows import settle_prefect
settle_prefect("CRITICAL")
import yaml
from prefect import tags
from prefect.automations import Automation
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from synth.errors import SynthError
from synth.flows.build import build
from synth.flows.server import scheduling_server

told = queue.Queue()
class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        told.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()
hook = HTTPServer(("127.0.0.1", 0), Hook)
threading.Thread(target=hook.serve_forever, daemon=True).start()

with scheduling_server():
    body = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
    block = CustomWebhookNotificationBlock(
        name="told",
        url=f"http://127.0.0.1:{hook.server_port}/",
        json_data={"subject": "{{subject}}", "body": "{{body}}"},
    )
    body["actions"][0]["block_document_id"] = str(block.save("told"))
    Automation.model_validate(body).create()
    for tag in ("other", "synth"):  # nobody waits for the first
        try:
            with tags(tag):
                build(dataset=f"no-such-{tag}")
        except SynthError:
            pass
    print(json.dumps(told.get(timeout=120)))
    print(told.qsize())
"""


def test_a_failed_build_is_told(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(NOTIFY)],
        cwd=tmp_path,
        env={**kept, "PREFECT_HOME": str(tmp_path / "prefect")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told, more = done.stdout.splitlines()[-2:]
    assert json.loads(told)["subject"] == "synth-build of no-such-synth: Failed"
    assert "no-such-synth" in json.loads(told)["body"]
    assert more == "0"
