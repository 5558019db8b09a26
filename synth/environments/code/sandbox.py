"""Programs that nobody vouches for, run where they can do no harm.

A program sees a fresh file system: this Python and the system's libraries, read-only, and a copy of the files that it
is given, which is thrown away. It has no network, none of the host's environment variables, no rights, and bounds on
processor time, memory, processes, files, output and time. The namespaces are made by bubblewrap where it is installed,
else by ``unshare`` of util-linux; on a machine that has neither, or forbids them, nothing is run.

As root, ``unshare`` comes first and each program gets an unprivileged user ID: the kernel exempts root from process
limits, even in a user namespace, and polling can't keep up with a fork bomb.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from synth.errors import InputError
from synth.guardian import guarded

__all__ = ["FOLDER", "Limits", "Run", "Sandbox", "find_sandbox"]

FOLDER = "/repo"
"""Where a program finds its files."""
_INSIDE = str(Path(__file__).with_name("inside.py"))
_RUNNER = str(Path(__file__).with_name("runner.py"))
_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")
_FIRST_USER, _USERS = 1 << 30, 1 << 24
"""Unused user IDs. Each run draws one at random, because a user's processes are counted across the machine."""
_SLACK = 5.0
"""Seconds beyond a program's own that its start and end may take."""

End = Literal["exit", "cpu", "signal", "seconds", "processes", "memory", "output"]
"""``exit``: of its own; the others: the bound that ended it, or a signal (a crash)."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one run."""

    seconds: float = 10.0
    """Of time, all processes together."""
    cpu_seconds: int = 10
    """Of processor time, each process."""
    memory: int = 512 << 20
    """Bytes: address space of each process, and pages of all together."""
    processes: int = 32
    file_bytes: int = 16 << 20
    """Of one file."""
    room: str = "32m"
    """Of all files."""
    output: int = 1 << 20
    """Bytes that are read of what it writes."""


@dataclass(frozen=True)
class Run:
    """How a program ended."""

    end: End
    code: int | None
    """Exit status; minus the number of the signal that ended it; None = it was stopped."""
    output: str
    """What it wrote, to both streams."""
    cpu: float = 0.0
    """Seconds of processor time, where it ended of its own."""


Tool = Literal["root", "bwrap", "unshare"]
"""What creates the namespaces. ``root`` is ``unshare`` run as root, without a user namespace."""


class Sandbox:
    """Runs programs by ``tool``, found at ``path``."""

    def __init__(self, tool: Tool, path: str) -> None:
        self.tool = tool
        self.path = path

    def run(self, files: Mapping[str, str], command: Sequence[str], limits: Limits | None = None) -> Run:
        """Run ``command``, whose first word is an absolute path, in a folder that holds ``files`` (path -> text).

        Raises:
            InputError: the sandbox can't be made on this machine.
        """
        limits = limits or Limits()
        asked = {
            "mounts": None if self.tool == "bwrap" else _shown(),
            "root": tempfile.gettempdir(),
            "files": dict(files),
            "folder": FOLDER,
            "user": _FIRST_USER + secrets.randbelow(_USERS) if self.tool == "root" else None,
            "command": list(command),
            "environment": _ENVIRONMENT,
            "limits": asdict(limits),
        }
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(
                [*self._around(limits), sys.executable, "-I", "-S", "-B", _INSIDE, str(writing)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_ENVIRONMENT,
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        try:
            output, full = _communicate(process, json.dumps(asked).encode(), limits)
            with os.fdopen(reading, "rb", closefd=False) as file:
                said = b"" if full else file.read(1000)
        finally:
            os.close(reading)
        if full:
            return Run("output", None, output)
        if not said:
            name = Path(self.path).name
            last = output.strip().splitlines()[-1:] or [f"{name} ended with {process.returncode}"]
            raise _unusable(f"{name}: {last[0][:300]}")
        found = json.loads(said)
        return Run(found["end"], found["code"], output, found.get("cpu", 0.0))

    def _around(self, limits: Limits) -> list[str]:
        if self.tool != "bwrap":
            user = () if self.tool == "root" else ("--user", "--map-root-user")
            apart = ("--mount", "--net", "--pid", "--ipc", "--uts")
            return guarded(self.path, *user, *apart, "--fork", "--kill-child=KILL")
        shown = []
        for path in _shown():
            link = Path(path).is_symlink()
            shown += ["--symlink", os.readlink(path), path] if link else ["--ro-bind", path, path]
        room = ["--tmpfs", "/tmp", "--tmpfs", FOLDER]
        alone = ("--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
        system = ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/"]
        return [self.path, *alone, *room, *shown, *system]  # what is shown may lie in /tmp


_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@cache
def _shown() -> list[str]:
    """What programs see of the machine: the system, and this Python."""
    found = [path for path in _SYSTEM if os.path.lexists(path)]
    for path in dict.fromkeys((sys.base_prefix, sys.prefix, _INSIDE, _RUNNER)):
        if not any(path == above or path.startswith(f"{above}/") for above in found):
            found.append(path)
    return found


def _communicate(process: subprocess.Popen[bytes], asked: bytes, limits: Limits) -> tuple[str, bool]:
    """What it wrote, and whether that was too much. It is gone afterwards, with all that it started."""
    timer = threading.Timer(limits.seconds + _SLACK, process.kill)
    timer.start()
    pieces: list[bytes] = []
    size = 0
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        try:
            process.stdin.write(asked)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it says itself why it has ended
        while size <= limits.output and (piece := os.read(process.stdout.fileno(), 1 << 16)):
            pieces.append(piece)
            size += len(piece)
        if size > limits.output:
            process.kill()
    finally:
        process.wait()
        timer.cancel()
        process.stdout.close()
    return b"".join(pieces)[: limits.output].decode("utf-8", "replace"), size > limits.output


@cache
def find_sandbox() -> Sandbox:
    """The sandbox of this machine, tried out.

    Raises:
        InputError: there is none.
    """
    tried = []
    tools: tuple[Tool, ...] = ("bwrap", "unshare")
    if os.geteuid() == 0:
        tools = ("root", *tools)
    for tool in tools:
        path = shutil.which("bwrap" if tool == "bwrap" else "unshare")
        if path is None:
            continue
        sandbox = Sandbox(tool, path)
        try:
            run = sandbox.run({}, [sys.executable, "-I", "-S", "-c", ""])
            if run.code == 0:
                return sandbox
            tried.append(f"{tool}: {run.output.strip()[-200:]}")
        except InputError as error:
            tried.append(error.what)
    raise _unusable("; ".join(tried) or "neither bwrap nor unshare is installed")


def _unusable(why: str) -> InputError:
    what = f"code can't be run in a sandbox on this machine ({why})"
    return InputError(what, where="environment", mend="install bubblewrap, or allow user namespaces")
