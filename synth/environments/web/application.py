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
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from synth.sources.files import leads_out

__all__ = ["Application", "ApplicationFailed", "folder_digest"]

_START_SECONDS = 30.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


def outside(root: Path) -> Callable[[str, list[str]], set[str]]:
    """What :func:`shutil.copytree` leaves out of a site's folder: links that lead out of it, and what is no file."""

    def foreign(path: str) -> bool:
        if os.path.islink(path):
            return os.path.isabs(os.readlink(path)) or leads_out(str(root), os.path.relpath(path, root))
        return not (os.path.isdir(path) or os.path.isfile(path))

    return lambda folder, names: {name for name in names if foreign(os.path.join(folder, name))}


def folder_digest(root: Path) -> str:
    """Hash of the names and contents of all files that a copy of the folder holds."""
    found, leave = sha256(), outside(root)
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted({*names} - leave(folder, names)):
            path = Path(folder, name)
            if path.is_file() and "__pycache__" not in path.parts:
                inner = sha256(path.read_bytes())
                found.update(f"{path.relative_to(root).as_posix()} {inner.hexdigest()}\n".encode())
    return found.hexdigest()


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
            shutil.copytree(folder, workspace, symlinks=True, ignore=outside(folder))
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
