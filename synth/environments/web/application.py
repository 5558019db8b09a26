"""A local application: a process of its own per episode, in a copy of the site's folder."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["Application", "ApplicationFailed"]

_START_SECONDS = 30.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


class ApplicationFailed(Exception):
    """It does not start, or does not tell its state."""


class Application:
    """A running application."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        """
        Raises:
            ApplicationFailed: it does not listen.
        """
        self._home = Path(tempfile.mkdtemp(prefix="synth-web-"))
        workspace = self._home / "workspace"
        self._process: subprocess.Popen[bytes] | None = None
        try:
            shutil.copytree(folder, workspace)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = int(probe.getsockname()[1])
            filled = [part.replace("{port}", str(self.port)).replace("{workspace}", str(workspace)) for part in command]
            self._process = subprocess.Popen(
                filled,
                cwd=workspace,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._wait()
        except (OSError, ApplicationFailed) as error:
            self.close()
            raise ApplicationFailed(str(error)) from None

    def _wait(self) -> None:
        assert self._process is not None
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise ApplicationFailed(f"it ended with {self._process.returncode} before it listened")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise ApplicationFailed(f"it does not listen on its port after {_START_SECONDS:g} seconds")

    def state(self, path: str, seconds: float) -> Any:
        """What it says of its state.

        Raises:
            ApplicationFailed: it says no JSON.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ApplicationFailed(f"{path} tells no state: {error}") from None
        finally:
            connection.close()

    def close(self) -> None:
        """End it and all that it started; its folder is gone when this returns."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self._home, ignore_errors=True)
