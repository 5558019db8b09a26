"""A build that is killed leaves no application, no browser and no copy of a site behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_here import needs_browser

pytestmark = [pytest.mark.extras, needs_browser, pytest.mark.timeout(600)]
BUILD = """
import json, sys
import synth
out, store, settings = sys.argv[1:]
synth.build("web-site", tasks=2, out=out, store=store, settings=json.loads(settings))
"""
APPLICATION = """
import http.server, json, sys
notes = []
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def say(self, body, status=200, kind="text/html", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items(): self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)
    def do_GET(self):
        if self.path == "/state": return self.say(json.dumps({"notes": notes}).encode(), kind="application/json")
        self.say(b"<h1>Notes</h1><form method=post><label>Title <input name=title></label><button>Add</button></form>")
    def do_POST(self):
        notes.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.say(b"", 303, Location="/")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
MARK = "SYNTH_KILLED_BUILD"


def processes(value: str) -> list[str]:
    """Command lines of processes that the build started, itself among them; by their environment, or their files."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if line and (f"{MARK}={value}".encode() in (path / "environ").read_bytes() or value in line):
                found.append(line)
        except OSError:
            continue
    return found


def wait_for(held: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not held():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("rollouts", [False, True], ids=["exploration", "rollouts"])
def test_nothing_is_left_of_a_build_that_is_killed(tmp_path: Path, rollouts: bool) -> None:
    site, held = tmp_path / "site", tmp_path / "held"
    site.mkdir()
    held.mkdir()
    (site / "app.py").write_text(APPLICATION)
    settings = {
        "source": {
            "kind": "web",
            "site": str(site),
            "command": ["/bin/sh", "-c", f"{sys.executable} app.py $0; : {tmp_path}", "{port}"],
            "state_path": "/state",
            "licence": "CC0-1.0",
        },
        "questions.kinds": {"done": 1.0},
        "questions.writes": {1: 1.0},
    }
    store = tmp_path / "store"
    build = subprocess.Popen(
        [sys.executable, "-c", BUILD, str(tmp_path / "out"), str(store), json.dumps(settings)],
        env={**os.environ, MARK: str(tmp_path), "TMPDIR": str(held)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:

        def is_there() -> bool:
            assert build.poll() is None, "it ended before it was killed"
            begun = not rollouts or any("rollout" in path.name for path in store.rglob("*"))
            lines = processes(str(tmp_path))
            return begun and any("app.py" in line for line in lines) and any("chrom" in line for line in lines)

        wait_for(is_there, 300)
    finally:
        build.send_signal(signal.SIGKILL)
        build.wait()
    wait_for(lambda: processes(str(tmp_path)) == [], 30)
    assert list(held.glob("synth-web-*")) == []
