"""A process between us and a program that we start: the program, and all that it started, end with us.

However we end (SIGKILL included), and whatever the program did to outlive us: the guardian adopts what its parents
leave behind (Linux), so what moved to a session of its own is found too. A file of its own, run by path: it imports
nothing but the standard library. Python's own death signal (prctl) would not do: it comes when the thread ends that
started the program.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it starts before each program does: nothing is imported that it can do without
    import subprocess
    from pathlib import Path

__all__ = ["END", "NOT_STARTED", "end", "guarded"]

END = signal.SIGUSR1
"""Tells a guardian to end its program, and all that it started, at once."""
NOT_STARTED = 127
"""The exit status of a guardian whose program could not be started, as of a shell's."""
_POLITE: tuple[signal.Signals, ...] = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that are the program's: the guardian waits for what it does about them."""
_DEATH_SIGNAL, _SUBREAPER = 1, 36
_LOOK = 0.2
"""Seconds between two looks at the parent, where it can't be waited for (no pidfd)."""
_PATIENCE = 5.0
"""Seconds that a guardian has to end everything."""
_LEFT = ("/dev/shm/faketime_shm_{}", "/dev/shm/sem.faketime_sem_{}")
"""Shared memory that libfaketime names after the first process that loads it, and removes only when that process exits
normally, which a guardian never does. A later process with the same ID can't start while it exists."""


def guarded(*command: str, folder: Path | None = None) -> list[str]:
    """The command that runs ``command`` under a guardian. Start it with ``start_new_session=True``.

    Its exit status is the program's, and signals to its group reach the program.

    Args:
        folder: What is removed when this process ends without having ended the program.
    """
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(folder or ""), *command]


def end(process: subprocess.Popen[bytes]) -> None:
    """End a guarded program and all that it started; it is gone when this returns."""
    with suppress(ProcessLookupError):
        process.send_signal(END)
    from subprocess import TimeoutExpired

    with suppress(TimeoutExpired):
        process.wait(_PATIENCE)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # a guardian that was stopped
    process.wait()


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _start(command: list[str]) -> int:
    """Id of the program's process. It has our streams, and we have none of them any more."""
    guardian = os.getpid()
    program = os.fork()
    if program == 0:
        try:
            _prctl(_DEATH_SIGNAL, signal.SIGKILL)
            for name in (*_POLITE, END, signal.SIGCHLD):
                signal.signal(name, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            if os.getppid() == guardian:
                os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"can't start {command[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(NOT_STARTED)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os.closerange(3, 1024)
    return program


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _reap(program: int) -> int | None:
    """Status of the program, once it has ended; what else has ended is taken notice of."""
    found = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found = ended[1] if ended[0] == program else found
    return found


def _end_all(program: int) -> None:
    """Kill the program and its descendants until none is left: orphans become children of the guardian."""
    with suppress(ProcessLookupError):
        os.kill(program, signal.SIGKILL)
    while children := _children():
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _watch(parent: int, program: int) -> int | None:
    """Wait for the first of: the program ends (its status); we are told to end it; the parent is gone (None)."""
    told, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(told, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (END, signal.SIGCHLD))
    waited = [told]
    limit: float | None = None
    try:
        waited.append(os.pidfd_open(parent))
    except (AttributeError, OSError):
        limit = _LOOK
    while os.getppid() == parent:
        status = _reap(program)
        if status is not None:
            return status
        select.select(waited, (), (), limit)
        with suppress(BlockingIOError):
            if END in os.read(told, 1024):
                return signal.SIGKILL
    return None


def _main(parent: int, folder: str, command: list[str]) -> None:
    for number in (END, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, (END, signal.SIGCHLD))
    for number in _POLITE:
        signal.signal(number, signal.SIG_IGN)
    _prctl(_SUBREAPER, 1)
    program = _start(command)
    status = _watch(parent, program)
    _end_all(program)
    if status is None and folder:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
    for name in _LEFT:
        with suppress(OSError):
            os.unlink(name.format(os.getpid()))
    code = signal.SIGKILL if status is None else status
    if os.WIFSIGNALED(code):
        signal.signal(os.WTERMSIG(code), signal.SIG_DFL) if os.WTERMSIG(code) != signal.SIGKILL else None
        os.kill(os.getpid(), os.WTERMSIG(code))
    os._exit(os.WEXITSTATUS(code))


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
