"""Builds in child processes that may be killed, forked from a warm one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

__all__ = ["Zygote"]


class Zygote:
    """Runs builds in children that are forked from a warm process."""

    def __init__(self) -> None:
        script = Path(__file__).parents[1] / "faults" / "faults_zygote.py"
        self._mark = f"SYNTH_ZYGOTE={os.getpid()}-{time.monotonic_ns()}"
        self._process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ, SYNTH_ZYGOTE=self._mark.partition("=")[2]),
        )

    def descendants(self) -> list[int]:
        """Processes that any build started and that still live."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            pid = int(path.parent.name)
            try:
                if pid != self._process.pid and self._mark.encode() in path.read_bytes():
                    found.append(pid)
            except OSError:
                continue
        return found

    def _pipe(self, pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe

    def run(self, kill_after: float | None = None, **request: Any) -> int:
        """Exit code of the child; negative = the signal that ended it. ``kill_after`` seconds it is killed; with a
        ``kill_file`` in the request, once that file is there."""
        self._pipe(self._process.stdin).write(json.dumps({**request, "kill_after": kill_after}) + "\n")
        self._pipe(self._process.stdin).flush()
        return int(json.loads(self._pipe(self._process.stdout).readline()))

    def build(
        self,
        folder: Path,
        *,
        wanted: int = 20,
        pages: int = 60,
        executor: str = "local",
        workers: int = 1,
        failpoint: str | None = None,
        ledger: str = "ledger",
        kill_after: float | None = None,
    ) -> int:
        """Build the toy plan in ``folder/store``."""
        return self.run(
            kill_after,
            do="build",
            store=str(folder / "store"),
            wanted=wanted,
            pages=pages,
            executor=executor,
            workers=workers,
            ledger=str(folder / ledger),
            failpoint=failpoint,
        )

    def chats(self, folder: Path, failpoint: str) -> int:
        """Build the toy plan that calls a model in ``folder/store``; its calls stand in ``folder/calls``."""
        paths: dict[str, Any] = {name: str(folder / name) for name in ("store", "calls", "ledger")}
        return self.run(do="chats", failpoint=failpoint, **paths)

    def close(self) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait()
        self._pipe(self._process.stdout).close()
