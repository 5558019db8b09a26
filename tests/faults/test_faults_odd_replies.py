"""A whole build whose model says what no model says: it ends well, and every row that is gone says why."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import synth
from synth.dataset.rules.validate import validate

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
import pytest
from odd_replies import bent_response

pytestmark = pytest.mark.thorough

RECIPE = """
name: odd
tasks: TASKS
source: {kind: world, entities: 400}
questions: {kind: world}
critical: null
difficulty: null
distractors: null
contexts: null
preferences: null
rl: false
roles:
  policy:
    backend: openai
    model: tiny
    endpoints: [URL]
    rollouts: ROLLOUTS
    attempts: 6
    timeout: 5
    patience: {seconds: 60, attempts: 1000, first_delay: 0.001, longest_delay: 0.002, longest_wait: 0.01}
    sampling: {max_tokens: 200, logprobs: true}
"""


def body(number: int) -> dict[str, Any]:
    """A search, or an answer."""
    message: dict[str, Any] = {"role": "assistant", "content": f"<think>so</think>It is {number}."}
    if number % 2:
        call = {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query": "who"}'}}
        message = {"role": "assistant", "content": None, "reasoning": "I look.", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "token_ids": [1, 2]}
    choice["logprobs"] = {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.5}]}
    usage = {"prompt_tokens": 900, "completion_tokens": 60, "prompt_tokens_details": {"cached_tokens": 1}}
    return {"id": "x", "model": "tiny", "choices": [choice], "prompt_token_ids": [1, 2], "usage": usage}


@contextmanager
def serving(odd: bool) -> Iterator[tuple[str, list[int]]]:
    """(address, numbers of the odd replies that were sent): seven of eight are odd."""
    sent: list[int] = []
    lock = threading.Lock()
    asked = Counter[str]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                asked["all"] += 1
                number = asked["all"]
                bend = odd and number % 8 != 0
                if bend:
                    sent.append(number)
            status, headers, data = 200, {"Content-Type": "application/json"}, json.dumps(body(number)).encode()
            if bend:
                status, headers, data = bent_response(body(number // 8 + number), number)
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if status != 204:
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:  # who hangs up
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", sent
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def build(folder: Path, url: str, tasks: int, rollouts: int) -> tuple[str, int, str]:
    """Exit code, megabytes, and what it said."""
    folder.mkdir()
    (folder / "recipe.yaml").write_text(
        RECIPE.replace("URL", url).replace("TASKS", str(tasks)).replace("ROLLOUTS", str(rollouts))
    )
    given = ["build", "--recipe", folder / "recipe.yaml", "--store", folder / "store", "--out", folder / "out"]
    script = Path(__file__).parent / "faults_odd_build.py"
    done = subprocess.run([sys.executable, script, *map(str, given)], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr[-3_000:]
    code, memory = done.stdout.splitlines()[-1].split()
    return code, int(memory), done.stdout + done.stderr


def test_a_build_of_a_thousand_odd_replies_ends_well(tmp_path: Path) -> None:
    with serving(odd=False) as (url, _):
        code, base, said = build(tmp_path / "even", url, 4, 4)  # a small one: the base is not more than it must be
        assert code == "0", said
    with serving(odd=True) as (url, sent):
        code, memory, said = build(tmp_path / "odd", url, 20, 26)
    print(f"{len(sent):,} odd replies; at most {memory} MB, a build of sound ones {base} MB")
    assert code == "0", said[-3_000:]
    assert "Traceback" not in said
    assert len(sent) >= 1_000
    assert memory - base < 300
    dataset = synth.load(tmp_path / "odd" / "out")
    rejected: list[Any] = [row for row in dataset.rows("rejected") if row.stage == "policy-rollouts" or row.detail]
    kept = [row for row in dataset.rows("trajectories") if row.role == "policy"]
    assert len({row.reason for row in rejected}) >= 2
    assert kept
    assert validate(tmp_path / "odd" / "out") == []
