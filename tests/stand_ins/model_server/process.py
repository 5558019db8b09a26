"""A model server in a process of its own: it outlives whoever is killed, and takes no time from whoever is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, Literal

from pydantic import Field

from stand_ins.model_server.log import Record, read_log
from stand_ins.model_server.server import ServerOptions
from synth.schemas.row import JsonObject, NonEmpty, Row
from synth.schemas.trajectories import Role

__all__ = ["EchoSpec", "ModelServerProcess", "ScriptedSpec", "ServerSpec"]

_TESTS = Path(__file__).resolve().parents[2]


class EchoSpec(Row):
    """An :class:`~stand_ins.model_server.players.EchoPlayer`."""

    kind: Literal["echo"] = "echo"
    size: int = Field(default=1_000, ge=0)


class ScriptedSpec(Row):
    """A scripted agent, played as if it were a model."""

    kind: Literal["scripted"] = "scripted"
    role: Role
    dataset: NonEmpty
    """Folder of a finished dataset: its tasks are what may be asked."""
    language: str = "docs"
    """``world`` for tasks of the synthetic world."""
    options: JsonObject = {}
    """As a recipe has them for the backend ``scripted``."""


class ServerSpec(Row):
    """All that ``python -m stand_ins.model_server.serve`` needs."""

    players: dict[str, EchoSpec | ScriptedSpec]
    """Player by model name."""
    options: ServerOptions = ServerOptions()
    port: int = Field(default=0, ge=0, le=65_535)
    """0 = a free one."""
    log: str | None = None
    """File that gets the log as JSON lines."""


class ModelServerProcess:
    """Runs ``python -m stand_ins.model_server.serve``, which ends with this process or at the end of the block.

    with ModelServerProcess(ServerSpec(players={"echo": EchoSpec()}, log="log.jsonl")) as server:
        ...  # server.url, server.records()
    """

    def __init__(self, spec: ServerSpec) -> None:
        self.spec = spec
        self.url = ""
        """Its address up to and with ``/v1``."""
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def records(self) -> tuple[Record, ...]:
        """The log so far; the spec must name a file for it."""
        assert self.spec.log is not None
        return read_log(Path(self.spec.log))

    def __enter__(self) -> ModelServerProcess:
        """
        Raises:
            RuntimeError: it did not start; its own line says why.
        """
        paths = (str(_TESTS), os.environ.get("PYTHONPATH", ""))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stand_ins.model_server.serve", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            },
        )
        _pipe(self._process.stdin).write(self.spec.model_dump_json() + "\n")
        _pipe(self._process.stdin).flush()
        self.url = _pipe(self._process.stdout).readline().strip()
        if not self.url:
            words = _pipe(self._process.stderr).read().strip()
            self._close()
            raise RuntimeError(f"the model server did not start: {words}")
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        _pipe(process.stdin).close()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            _pipe(pipe).close()


def _pipe(pipe: IO[Any] | None) -> IO[Any]:
    assert pipe is not None
    return pipe
