"""Batches that vLLM works through on this machine, without a server: ``vllm run-batch``, in vLLM's own environment.

It takes and gives the files that a provider's batch endpoint does. A run of it loads the model, so one goes at a time;
it ends with us, and what it had written by then is kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from synth.models.batch_api import BatchLine, BatchState, BatchTrouble, line_of
from synth.models.contract import FailureKind, ServeOptions
from synth.models.failures import Scope, Trouble
from synth.models.serving import end_process, executable_of, last_words, launched, vllm_environment
from synth.redaction import Redactor, secrets_of
from synth.store.files import remove_folder, write_file

__all__ = ["OfflineServer", "OfflineServers"]

_LOOK_SECONDS = 0.2


class OfflineServers:
    """Of a build, by model and options. ``place``: the store of calls; what goes to and fro lies beside it."""

    def __init__(self, place: Path | str) -> None:
        scheme, remote, _ = str(place).partition("://")
        beside = Path(tempfile.gettempdir(), "synth") if remote else Path(scheme)
        self._folder = beside.absolute().with_name(f"{beside.name}.batches")
        self._servers: dict[tuple[str, str], OfflineServer] = {}
        self._turn = _Turn()

    def server(self, name: str, options: ServeOptions) -> OfflineServer:
        """For the model ``name``.

        Raises:
            InputError: there is no executable of vLLM.
        """
        key = (name, json.dumps(options.model_dump(mode="json"), sort_keys=True))
        if key not in self._servers:
            self._servers[key] = OfflineServer(self._folder, name, options, self._turn)
        return self._servers[key]

    def close(self) -> None:
        """End what runs."""
        for process in self._turn.running.values():
            end_process(process)
        self._turn.running.clear()


class _Turn:
    """Which runs there are: one at a time has the machine."""

    def __init__(self) -> None:
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def is_taken(self) -> bool:
        return any(process.poll() is None for process in self.running.values())


class OfflineServer:
    """A batch is a folder with its input, its output and what vLLM said. See
    :class:`~synth.models.batch_api.BatchServer`."""

    def __init__(self, folder: Path, name: str, options: ServeOptions, turn: _Turn) -> None:
        self._folder = folder
        self._name = name
        self._options = options
        self._executable = executable_of(options)
        self._redactor = Redactor(secrets_of({**os.environ, **options.environment}))
        self._turn = turn

    @property
    def address(self) -> str:
        """By which the store knows where its batches are."""
        return f"vllm run-batch {self._options.model or self._name}"

    async def upload(self, name: str, lines: Sequence[bytes]) -> str:
        """Write the input."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / "input.jsonl", b"".join(lines))
        return name

    async def create(self, file: str, name: str, window: str) -> str:
        """Start vLLM, once no other run of it goes on."""
        while self._turn.is_taken:
            await asyncio.sleep(_LOOK_SECONDS)
        folder = self._folder / name
        command = [
            *(self._executable, "run-batch", "-i", str(folder / "input.jsonl"), "-o", str(folder / "output.jsonl")),
            *("--model", self._options.model or self._name, "--served-model-name", self._name),
            *self._options.arguments,
        ]
        with (folder / "log").open("ab") as log:
            log.write(self._redactor.text(f"--- {' '.join(command)}\n").encode())
            log.flush()
            self._turn.running[name] = launched(command, vllm_environment(self._options.environment), log)
        return name

    async def find(self, name: str) -> str | None:
        """``name``, where vLLM was started for it."""
        return name if (self._folder / name / "log").exists() else None

    async def look(self, remote: str) -> BatchState:
        """How far it is.

        Raises:
            BatchTrouble: vLLM ended before any reply.
        """
        folder = self._folder / remote
        output = folder / "output.jsonl"
        process = self._turn.running.get(remote)
        done = output.read_bytes().count(b"\n") if output.exists() else 0
        code = None if process is None else process.poll()
        if process is not None and code is None:
            return BatchState("in_progress", done, 0, ())
        if code and not done:
            said = last_words(folder / "log", self._redactor)
            trouble = Trouble(
                FailureKind.SERVER,
                f"vllm run-batch ended with {code}: {said}",
                Scope.ENDPOINT,
                mend=f"see {folder}/log",
            )
            raise BatchTrouble(trouble)
        # One that ended early, by itself or with us, keeps what it did.
        return BatchState("completed" if code == 0 else "expired", done, done, (remote,) if done else ())

    async def download(self, file: str) -> Iterator[BatchLine]:
        """The replies that stand there whole."""
        text = (self._folder / file / "output.jsonl").read_bytes()
        return filter(None, map(line_of, text.splitlines()))

    async def release(self, remote: str) -> None:
        """Its replies are in the store."""
        self._turn.running.pop(remote, None)
        remove_folder(self._folder / remote)
