"""A server that we start: the executable here is a small program with the command line and the manners of vLLM's."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from synth.errors import InputError
from synth.models.client import ModelHub
from synth.models.contract import EndpointDown, Runtime, Sampling, ServeOptions
from synth.models.serving import Server, Servers

_PROGRAM = """#!{python}
import json, os, signal, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

words = sys.argv[1:]
assert words[0] == "serve", words
port = int(words[words.index("--port") + 1])
folder = os.environ["NOTES"]
starts = os.path.join(folder, "starts")
with open(starts, "a") as notes:
    notes.write(json.dumps({{"pid": os.getpid(), "words": words, "path": os.environ.get("PYTHONPATH")}}) + "\\n")
count = len(open(starts).readlines())
if os.environ.get("FAIL"):
    sys.exit("RuntimeError: no such weights")
if os.environ.get("STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(os.path.join(folder, "children"), "a") as notes:
    notes.write(f"{{child.pid}}\\n")
time.sleep(float(os.environ.get("SLOW", "0")))

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({{"start": count, "path": self.path}}).encode())

    def do_POST(self):
        if count == 1:
            os._exit(3)
        said = {{"role": "assistant", "content": f"start {{count}}"}}
        usage = {{"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
        body = json.dumps({{"choices": [{{"index": 0, "message": said, "finish_reason": "stop"}}], "usage": usage}})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words):
        pass

ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "vllm"
    path.write_text(_PROGRAM.format(python=sys.executable), "utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    servers = Servers()

    def begin(name: str = "tiny", **options: Any) -> Server:
        environment = {"NOTES": str(tmp_path)} | options.pop("environment", {})
        return servers.server(name, ServeOptions(executable=str(program), environment=environment, **options))

    yield begin
    servers.close()


def _notes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "starts").read_text().splitlines()]


def _get(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(address + "/models", timeout=10) as reply:
        found: dict[str, Any] = json.load(reply)
        return found


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)


def test_it_is_started_waited_for_and_stopped_with_all_it_started(
    start: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "ours")
    server = start(environment={"SLOW": "0.5"}, arguments=("--max-model-len", "2048"), model="folder/of/weights")
    address = asyncio.run(server.ready())
    assert _get(address) == {"start": 1, "path": "/v1/models"}
    note = _notes(tmp_path)[0]
    assert note["words"][:2] == ["serve", "folder/of/weights"]
    assert note["words"][-2:] == ["--max-model-len", "2048"]
    assert tuple(
        note["words"][note["words"].index(option) + 1] for option in ("--served-model-name", "--tool-call-parser")
    ) == ("tiny", "hermes")
    assert note["path"] is None  # our libraries stay out of its environment
    child = int((tmp_path / "children").read_text())
    assert _lives(child)
    server.stop()
    assert server.pid is None
    _until(lambda: not _lives(child))
    with pytest.raises(EndpointDown, match="was stopped"):
        asyncio.run(server.ready())


def test_roles_that_ask_for_the_same_share_it(start: Callable[..., Server]) -> None:
    one = start()
    assert start() is one
    assert start(tool_call_parser=None) is not one
    assert start("other") is not one


def test_one_that_dies_is_started_again_at_the_same_address(start: Callable[..., Server], tmp_path: Path) -> None:
    server = start()
    address = asyncio.run(server.ready())
    with pytest.raises(OSError):
        urllib.request.urlopen(address + "/chat/completions", data=b"{}", timeout=10)
    _until(lambda: server.starts == 2)
    assert asyncio.run(server.ready()) == address
    assert _get(address)["start"] == 2
    first = int((tmp_path / "children").read_text().split()[0])
    _until(lambda: not _lives(first))  # what the dead one had started went with it
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    _until(lambda: server.starts == 3)
    assert _get(asyncio.run(server.ready()))["start"] == 3


def test_calls_start_it_outlive_its_death_and_stop_it(program: Path, tmp_path: Path) -> None:
    options = ServeOptions(executable=str(program), environment={"NOTES": str(tmp_path)})
    with ModelHub() as hub:
        model = hub.bind("tiny", Sampling(), Runtime(serve=options))
        reply = model.chat([{"role": "user", "content": "Are you there?"}], sample="0")
        assert reply.content == "start 2"  # the first one died of the call
        pids = [note["pid"] for note in _notes(tmp_path)]
        assert [_lives(pid) for pid in pids] == [False, True]
        account = hub.account()
        assert (account.delivered, account.open) == (1, 0)
    assert not _lives(pids[1])


def test_after_so_many_deaths_it_is_given_up_with_one_line(start: Callable[..., Server]) -> None:
    server = start(restarts=1)
    for number in (1, 2):
        asyncio.run(server.ready())
        _until(lambda number=number: server.starts == number)  # type: ignore[misc]
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        _until(lambda number=number: server.starts > number or server.pid is None)  # type: ignore[misc]
    with pytest.raises(EndpointDown, match="vllm serve tiny: the server ended with signal SIGKILL") as caught:
        asyncio.run(server.ready())
    assert str(server.log) in str(caught.value)
    assert server.starts == 2


def test_one_that_never_comes_up_is_not_tried_again(start: Callable[..., Server]) -> None:
    server = start(environment={"FAIL": "1"})
    with pytest.raises(EndpointDown, match="exit code 1: RuntimeError: no such weights"):
        asyncio.run(server.ready())
    assert server.starts == 1


def test_one_that_takes_too_long_is_ended(start: Callable[..., Server]) -> None:
    server = start(environment={"SLOW": "60"}, ready_seconds=0.5)
    with pytest.raises(EndpointDown, match=r"not ready after 0\.5 seconds"):
        asyncio.run(server.ready())
    _until(lambda: server.pid is None)


def test_without_an_executable_the_user_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SYNTH_VLLM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="environment of its own"):
        Server("tiny", ServeOptions())


def test_it_ends_when_the_process_that_wanted_it_is_killed(program: Path, tmp_path: Path) -> None:
    code = (
        "import asyncio, sys, time\n"
        "from synth.models.contract import ServeOptions\nfrom synth.models.serving import Server\n"
        f"options = ServeOptions(executable={str(program)!r}, environment={{'NOTES': {str(tmp_path)!r}}})\n"
        "server = Server('tiny', options)\n"
        "asyncio.run(server.ready())\n"
        "print(server.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    assert _lives(pid)
    owner.kill()
    owner.communicate()
    _until(lambda: not _lives(pid))
    child = int((tmp_path / "children").read_text())
    _until(lambda: not _lives(child))
