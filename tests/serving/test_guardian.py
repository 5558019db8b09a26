"""Programs that we start end with us, and with what they started, however we end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.guardian import NOT_STARTED, end, guarded

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
RESTLESS = "setsid sleep 600 & (sleep 600 &) ; trap '' TERM HUP; : > {}; while :; do sleep 600; done"
"""A shell that ignores SIGTERM, with one child in a session of its own and one orphan."""
STARTER = """
import subprocess, sys, threading
from pathlib import Path
from synth.guardian import guarded
def start():
    subprocess.Popen(guarded("/bin/sh", "-c", sys.argv[1], folder=Path(sys.argv[2])), start_new_session=True)
thread = threading.Thread(target=start)
thread.start()
thread.join()
print("started", flush=True)
sys.stdin.read()
"""


def marked(mark: str) -> list[int]:
    """Processes with ``mark`` in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_for(held: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not held():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture
def mark(tmp_path: Path) -> str:
    return f"SYNTH_GUARDED={tmp_path}"


def environment(mark: str) -> dict[str, str]:
    name, _, value = mark.partition("=")
    return {**os.environ, name: value}


def test_what_is_killed_leaves_nothing(mark: str, tmp_path: Path) -> None:
    """Not when a thread ends that started a program, but when the process does."""
    folder = tmp_path / "held"
    folder.mkdir()
    command = RESTLESS.format(tmp_path / "ready")
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER, command, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(mark),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    wait_for((tmp_path / "ready").exists)
    assert len(marked(mark)) >= 5  # ours, the guardian, the shell, and two of three
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not marked(mark))
    wait_for(lambda: not folder.exists())


def test_what_is_ended_is_gone_at_once(mark: str, tmp_path: Path) -> None:
    command = guarded("/bin/sh", "-c", RESTLESS.format(tmp_path / "ready"))
    process = subprocess.Popen(command, start_new_session=True, env=environment(mark))
    wait_for((tmp_path / "ready").exists)
    end(process)
    assert marked(mark) == []


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("kill -KILL $$", -9)]
)
def test_the_end_is_the_programs_own(script: str, code: int) -> None:
    assert subprocess.run(guarded("/bin/sh", "-c", script), start_new_session=True).returncode == code


def test_what_a_program_leaves_behind_ends_with_it(mark: str) -> None:
    command = guarded("/bin/sh", "-c", "setsid sleep 600 & sleep 600 & exit 3")
    process = subprocess.run(command, start_new_session=True, env=environment(mark))
    assert (process.returncode, marked(mark)) == (3, [])


def test_a_signal_to_the_group_is_the_programs(tmp_path: Path) -> None:
    script = f"trap 'exit 5' TERM; : > {tmp_path}/ready; while :; do sleep 0.02; done"
    process = subprocess.Popen(guarded("/bin/sh", "-c", script), start_new_session=True)
    wait_for((tmp_path / "ready").exists)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait() == 5


def test_streams_are_the_programs_alone() -> None:
    """Its output is at its end when the program closes it, not when the guardian ends."""
    script = "cat; exec >&- 2>&-; read nothing; sleep 600"
    process = subprocess.Popen(
        guarded("/bin/sh", "-c", script), start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"said")
    process.stdin.close()
    assert process.stdout.read() == b"said"
    assert process.poll() is None
    end(process)
    process.stdout.close()


def test_no_such_program() -> None:
    process = subprocess.run(guarded("no-such-program"), start_new_session=True, capture_output=True, text=True)
    assert process.returncode == NOT_STARTED
    assert process.stderr == "can't start no-such-program: No such file or directory\n"


def test_what_a_held_clock_keeps_for_a_guardian_goes_with_it() -> None:
    """libfaketime names it after the process, and can't start a later one of the same number."""
    kept = ["/dev/shm/faketime_shm_", "/dev/shm/sem.faketime_sem_"]
    script = "".join(f": > {name}$PPID; " for name in kept)
    guardians = [
        subprocess.Popen(guarded("/bin/sh", "-c", f"{script}echo ready; {then}"), stdout=subprocess.PIPE, text=True)
        for then in ("exit 3", "kill -9 $$", "exec sleep 600")
    ]
    for guardian in guardians:
        assert guardian.stdout is not None
        with guardian.stdout:
            assert guardian.stdout.readline() == "ready\n"
    end(guardians[-1])
    assert [guardian.wait(60) for guardian in guardians] == [3, -signal.SIGKILL, -signal.SIGKILL]
    assert not [name for guardian in guardians for name in kept if Path(f"{name}{guardian.pid}").exists()]
