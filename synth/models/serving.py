"""A vLLM server that we start, watch, start again when it dies, and stop.

vLLM stands in an environment of its own, since its pins and ours exclude each other; nothing of it is imported here.
A server is shared by all roles that ask for the same model with the same options.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from synth.errors import InputError
from synth.guardian import guarded
from synth.models.contract import EndpointDown, ServeOptions
from synth.redaction import Redactor, secrets_of

__all__ = ["Server", "Servers", "end_process", "executable_of", "last_words", "launched", "vllm_environment"]

EXECUTABLE = "SYNTH_VLLM"
"""Environment variable that names the executable where the options do not."""
_GRACE = 15.0
"""Seconds that a server has to stop when it is asked to."""


class Server:
    """One ``vllm serve``. Threads and event loops may share it."""

    def __init__(self, name: str, options: ServeOptions) -> None:
        self.name = name
        self.options = options
        self._executable = executable_of(options)
        self._redactor = Redactor(secrets_of({**os.environ, **options.environment}) | set(_keys(options.arguments)))
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._stopping = False
        self._failure: str | None = None
        self._deaths: list[float] = []
        self._changed = threading.Condition()
        handle, path = tempfile.mkstemp(prefix="synth-vllm-", suffix=".log")
        os.close(handle)
        self.log = Path(path)
        """Everything that the server prints, over all starts."""
        self.starts = 0
        """How often it was started."""
        self._watcher = threading.Thread(target=self._watch, name=f"vllm-{name}", daemon=True)
        self._watcher.start()

    @property
    def endpoint(self) -> str:
        """Where it answers once it is ready, and after every restart: ``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    async def ready(self) -> str:
        """Wait for a start or restart in progress; gives the endpoint.

        Raises:
            EndpointDown: it did not start, or died more often than the options allow.
        """
        while True:
            with self._changed:
                if self._failure is not None:
                    raise EndpointDown(self._failure, where=f"vllm serve {self.name}", mend=f"see {self.log}")
                if self._ready:
                    return self.endpoint
            await asyncio.sleep(0.05)

    def stop(self) -> None:
        """End the server and everything that it started. May be called twice."""
        with self._changed:
            self._stopping = True
            self._ready = False
            self._failure = self._failure or "the server was stopped"
            self._changed.notify_all()
        self._watcher.join()

    # --- the watcher's thread ---------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while self._begin():
            assert self._process is not None
            self._await_ready(self._process)
            while self._process.poll() is None and not self._pause(0.1):
                pass
            if self._stopping:
                break
            self._died(self._process.returncode)
        if self._process is not None:
            end_process(self._process)

    def _pause(self, seconds: float) -> bool:
        """Wait; whether the server is to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, seconds)
            return self._stopping

    def _begin(self) -> bool:
        """Start the process, unless it is not wanted any more."""
        with self._changed:
            if self._stopping or self._failure is not None:
                return False
        command = [
            *(self._executable, "serve", self.options.model or self.name),
            *("--host", "127.0.0.1", "--port", str(self._port), "--served-model-name", self.name),
        ]
        if self.options.tool_call_parser is not None:
            command += ["--enable-auto-tool-choice", "--tool-call-parser", self.options.tool_call_parser]
        environment = vllm_environment(self.options.environment)
        with self.log.open("ab") as log:
            said = f"--- start {self.starts + 1}: {' '.join(command)} {' '.join(self.options.arguments)}\n"
            log.write(self._redactor.text(said).encode())
            log.flush()
            self._process = launched([*command, *self.options.arguments], environment, log)
        self.starts += 1
        return True

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self.options.ready_seconds
        while process.poll() is None and not self._pause(0.1):
            if self._answers():
                with self._changed:
                    self._ready = not self._stopping
                return
            if time.monotonic() > deadline:
                self._fail(f"it was not ready after {self.options.ready_seconds:g} seconds")
                end_process(process)
                return

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _died(self, code: int) -> None:
        assert self._process is not None
        end_process(self._process)  # what it started may have outlived it
        now = time.monotonic()
        was_ready = self._ready
        with self._changed:
            self._ready = False
        self._deaths = [moment for moment in self._deaths if now - moment < 3600] + [now]
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if len(self._deaths) > self.options.restarts or not (was_ready or len(self._deaths) > 1):
            # One that never came up will not come up by trying again: a wrong option, no memory, no such model.
            self._fail(f"the server ended with {how}: {last_words(self.log, self._redactor)}")
        else:
            self._pause(min(2.0 ** len(self._deaths), 30.0) / 2)

    def _fail(self, what: str) -> None:
        with self._changed:
            self._ready = False
            self._failure = self._failure or what


class Servers:
    """The servers of a build, by model and options."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[tuple[str, str], Server] = {}

    def server(self, name: str, options: ServeOptions) -> Server:
        """The server of the model ``name`` with these options; started when there is none.

        Raises:
            InputError: there is no executable of vLLM.
        """
        key = (name, json.dumps(options.model_dump(mode="json"), sort_keys=True))
        with self._lock:
            if key not in self._servers:
                self._servers[key] = Server(name, options)
            return self._servers[key]

    def close(self) -> None:
        """Stop all of them."""
        with self._lock:
            servers, self._servers = list(self._servers.values()), {}
        for server in servers:
            server.stop()


def executable_of(options: ServeOptions) -> str:
    """vLLM's command line.

    Raises:
        InputError: there is none.
    """
    wanted = options.executable or os.environ.get(EXECUTABLE) or "vllm"
    found = shutil.which(wanted)
    if found is None:
        raise InputError(
            f"there is no executable {wanted!r}",
            where="backend vllm",
            mend=f"install vLLM in an environment of its own and name its vllm in serve.executable or in {EXECUTABLE}; "
            "or start a server yourself and give its address: backend openai",
        )
    return found


def _keys(arguments: Sequence[str]) -> Iterator[str]:
    """Values of ``--api-key``, in both ways of writing it."""
    for name, value in zip(arguments, [*arguments[1:], ""], strict=False):
        option, equals, joined = name.partition("=")
        if option == "--api-key":
            yield joined if equals else value


def last_words(log: Path, redactor: Redactor) -> str:
    """The line of a log that says most: the last that names an error, else the last."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or "error:" in line]
    return redactor.text((errors or lines or ["it said nothing"])[-1])[-300:]


def vllm_environment(further: Mapping[str, str]) -> dict[str, str]:
    """The environment that a vLLM gets."""
    # A path into our environment would bring our libraries into vLLM's.
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"} | dict(further)


def launched(command: list[str], environment: Mapping[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    """The process of ``command``, which ends with us."""
    return subprocess.Popen(
        guarded(*command),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        start_new_session=True,  # a terminal's Ctrl-C does not reach it: calls in flight can still be answered
    )


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and its whole session: politely, then not."""
    for wanted, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, wanted)  # it leads a session
        except (ProcessLookupError, PermissionError):
            break
        if process.poll() is None:
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        wanted_gone = time.monotonic() + patience
        while time.monotonic() < wanted_gone and _group_lives(process.pid):
            time.sleep(0.05)
    if process.poll() is None:
        process.kill()
        process.wait()


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
