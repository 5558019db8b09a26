"""What runs first in the sandbox: it builds the file system (where nobody did), gives up every right, starts the
program and watches it. A file of its own, run by path: it imports nothing but the standard library.

Its standard input is one JSON object: ``mounts`` (host paths that are shown read-only; null = the file system stands),
``files`` (path -> text, below ``folder``), ``user`` (ID that the program runs under; null = the current one),
``command``, ``environment``, ``limits``. Descriptor ``report`` gets one JSON object: how it ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from typing import Any

__all__ = ["main"]

_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_DETACH = 2
_DROP_BOUND, _NO_NEW_PRIVS = 24, 38
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
_LOOK = 0.02
"""Seconds between two looks at the processes."""
_LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    coded = [None if part is None else part.encode() for part in (source, target, kind, data)]
    if _LIBC.mount(coded[0], coded[1], coded[2], ctypes.c_ulong(flags), coded[3]):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {target}: {os.strerror(number)}")


def build(root: str, shown: list[str], room: str) -> None:
    """A file system with nothing in it but ``shown``, devices, processes, and room to write in /tmp and /repo."""
    mount("none", "/", None, _REC | _PRIVATE)
    held = [(path, None if os.path.islink(path) else os.open(path, os.O_PATH)) for path in shown]
    links = {path: os.readlink(path) for path, number in held if number is None}
    devices = [(name, os.open(f"/dev/{name}", os.O_PATH)) for name in ("null", "zero", "urandom", "random")]
    mount("tmpfs", root, "tmpfs", _NOSUID | _NODEV, "mode=755,size=1m")
    for name in ("tmp", "repo"):  # before what is shown, which may lie in one of them: a checkout in /tmp
        os.makedirs(f"{root}/{name}", exist_ok=True)
        mount("tmpfs", f"{root}/{name}", "tmpfs", _NOSUID | _NODEV, f"mode=1777,size={room},nr_inodes=8192")
    for path, number in held:
        below = root + path
        os.makedirs(os.path.dirname(below), exist_ok=True)
        if number is None:
            os.symlink(links[path], below)
            continue
        if os.path.isdir(f"/proc/self/fd/{number}"):
            os.makedirs(below, exist_ok=True)
        else:
            open(below, "w").close()
        mount(f"/proc/self/fd/{number}", below, None, _BIND | _REC)
        mount("none", below, None, _BIND | _REMOUNT | _RDONLY | _NOSUID)
    os.mkdir(f"{root}/dev")
    for name, number in devices:
        open(f"{root}/dev/{name}", "w").close()
        mount(f"/proc/self/fd/{number}", f"{root}/dev/{name}", None, _BIND)
    os.makedirs(f"{root}/proc", exist_ok=True)
    # Root of the machine, where it is root that runs this, owns the settings of the kernel: none can be written.
    mount("proc", f"{root}/proc", "proc", _NOSUID | _NODEV | _RDONLY)
    os.chdir(root)
    _LIBC.syscall(_PIVOT_ROOT[os.uname().machine], b".", b".")
    if _LIBC.umount2(b".", _DETACH):
        raise OSError(ctypes.get_errno(), "the old root stays")
    os.chdir("/")
    mount("none", "/", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)


def give_up_rights(user: int | None = None) -> None:
    """Drop every capability for good and, where ``user`` is given, switch to that user ID."""
    _LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    for number in range(64):
        _LIBC.prctl(_DROP_BOUND, number, 0, 0, 0)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _LIBC.capset(header, (ctypes.c_uint32 * 6)())


def start(asked: dict[str, Any], report: int) -> int:
    """The program as a child of this process; gives its number."""
    child = os.fork()
    if child:
        give_up_rights()
        return child
    try:
        os.close(report)
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        limits = asked["limits"]
        for name, most in (
            ("RLIMIT_CPU", limits["cpu_seconds"]),
            ("RLIMIT_AS", limits["memory"]),
            ("RLIMIT_NPROC", limits["processes"]),
            ("RLIMIT_FSIZE", limits["file_bytes"]),
            ("RLIMIT_NOFILE", 256),
            ("RLIMIT_CORE", 0),
        ):
            resource.setrlimit(getattr(resource, name), (most, most))
        os.chdir(asked["folder"])
        give_up_rights(asked["user"])
        os.execve(asked["command"][0], asked["command"], asked["environment"])
    except BaseException as error:
        os.write(2, f"the program does not start: {error}\n".encode())
    os._exit(127)


def watch(child: int, limits: dict[str, Any]) -> dict[str, Any]:
    """How the program ended, or why it was ended, and its processor time: pages and processes of all that it started
    are counted."""
    page = os.sysconf("SC_PAGE_SIZE")
    until = time.monotonic() + limits["seconds"]
    while True:
        done, status, usage = os.wait4(-1, os.WNOHANG)
        while done not in (0, child):
            done, status, usage = os.wait4(-1, os.WNOHANG)
        if done == child:
            used = usage.ru_utime + usage.ru_stime
            if os.WIFSIGNALED(status):
                number = os.WTERMSIG(status)
                end = "cpu" if number in (signal.SIGXCPU, signal.SIGKILL) else "signal"
                return {"end": end, "code": -number, "cpu": used}
            return {"end": "exit", "code": os.WEXITSTATUS(status), "cpu": used}
        if time.monotonic() > until:
            return {"end": "seconds", "code": None}
        found = [name for name in os.listdir("/proc") if name.isdigit()]
        if len(found) > limits["processes"]:
            return {"end": "processes", "code": None}
        held = 0
        for name in found:
            try:
                with open(f"/proc/{name}/statm") as file:
                    held += int(file.read().split()[1]) * page
            except (OSError, IndexError):
                continue  # it has just ended
        if held > limits["memory"]:
            return {"end": "memory", "code": None}
        time.sleep(_LOOK)


def main() -> None:
    asked = json.loads(sys.stdin.buffer.read())
    report = int(sys.argv[1])
    os.set_inheritable(report, False)
    os.umask(0o022)  # the program may run under another user
    if asked["mounts"] is not None:
        build(asked["root"], asked["mounts"], asked["limits"]["room"])
    for name, text in asked["files"].items():
        path = os.path.join(asked["folder"], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    if (user := asked["user"]) is not None:
        for folder, _, names in os.walk(asked["folder"]):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, user, user)
    found = watch(start(asked, report), asked["limits"])
    os.write(report, json.dumps(found).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
