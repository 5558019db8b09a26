"""A signal while worker processes start: one line, no traceback, no process left, and the same build goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from engine_toys import build, plan

PROGRAM = """
import sys
from pathlib import Path
import engine_toys
import synth.engine.executors.preload  # so that what follows is the start of workers
from synth.errors import SynthError
print("ready", flush=True)
try:
    engine_toys.build(Path(sys.argv[1]), engine_toys.plan(), name="processes", workers=2)
except SynthError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@pytest.mark.parametrize(("number", "delay"), [(signal.SIGINT, 0.6), (signal.SIGTERM, 0.15)])
def test_a_signal_while_workers_start_ends_the_build_in_one_line(
    number: signal.Signals, delay: float, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "store")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        time.sleep(delay)
        if number == signal.SIGINT:
            os.killpg(started.pid, number)  # Ctrl-C reaches every process of a terminal
        else:
            started.send_signal(number)
        _, said = started.communicate(timeout=60)
    lines = [line for line in said.splitlines() if "stage" not in line or "run the same" in line.lower()]
    assert "Traceback" not in said, said
    assert (started.returncode, said.count("everything that was finished is kept")) == (130, 1), said
    assert lines[-1].endswith("Run the same command to continue"), said
    assert not _living(started.pid)
    build(tmp_path / "store", plan())


def _living(session: int) -> list[str]:
    """Processes of ``session`` that are not zombies, once those that end by themselves had time to."""
    for _ in range(100):
        found = subprocess.run(["ps", "-e", "-o", "sess=,stat=,args="], capture_output=True, text=True, check=True)
        rows = [line.split(None, 2) for line in found.stdout.splitlines()]
        left = [" ".join(row) for row in rows if row[0] == str(session) and not row[1].startswith("Z")]
        if not left:
            break
        time.sleep(0.1)
    return left
