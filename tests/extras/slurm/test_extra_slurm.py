"""A real Slurm of one node on loopback: the bytes of a build, a job that is killed, a build that is killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_toys import AnswersConfig, Built, build, plan, run_twice

from synth.engine import Engine, SlurmExecutor, SlurmOptions
from synth.errors import BuildError, Interrupted
from synth.store import Store, activate
from synth.store.ledger import read_ledger

COMMANDS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
pytestmark = [
    pytest.mark.extras,
    pytest.mark.skipif(
        os.getuid() != 0 or not all(map(shutil.which, COMMANDS)),
        reason="needs root and the Debian packages slurmctld, slurmd and slurm-client",
    ),
]

CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES State=UP
"""
OPTIONS = SlurmOptions(partition="cpu", memory_gib_per_cpu=1, poll_seconds=0.2)


def wait_for(what: str, found: Callable[[], object]) -> None:
    until = time.monotonic() + 120
    while not found():
        assert time.monotonic() < until, what
        time.sleep(0.1)


def jobs() -> str:
    return subprocess.run(["squeue", "--noheader"], check=True, capture_output=True, text=True).stdout


def free_ports() -> list[int]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in (one, other)]


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname()
    (folder / "slurm.conf").write_text(CONFIG.format(host=host, ports=free_ports(), folder=folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        daemons = [subprocess.Popen(["slurmctld", "-D"], stderr=subprocess.DEVNULL)]
        daemons.append(subprocess.Popen(["slurmd", "-D", "-N", host], stderr=subprocess.DEVNULL))
        try:
            idle = ["sinfo", "--noheader", "--format=%T"]
            wait_for(
                "the node", lambda: "idle" in subprocess.run(idle, capture_output=True, check=False).stdout.decode()
            )
            yield
        finally:
            for daemon in reversed(daemons):
                daemon.terminate()
                daemon.wait(timeout=60)


def test_a_build_on_slurm_has_the_bytes_of_a_local_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", ledger=tmp_path / "ledger")
    with Engine(plan(20), store, SlurmExecutor(2, OPTIONS)) as engine:
        assert Built.of(engine, engine.run()) == build(tmp_path / "local", plan(20))
    assert run_twice(read_ledger(tmp_path / "ledger")) == []


def test_a_killed_job_and_a_killed_build_lose_nothing(tmp_path: Path) -> None:
    """The job dies with what it had finished; then the build is stopped while a job runs, and the job ends with it."""
    store, ledger = tmp_path / "store", tmp_path / "ledger"
    build(store, plan(20))
    changed = plan(20, answers=AnswersConfig(temper=2.0))

    def run() -> Built:
        with Engine(changed, Store(store, ledger=ledger), SlurmExecutor(2, OPTIONS)) as engine:
            return Built.of(engine, engine.run())

    activate("engine.row.processed:3:kill")
    try:
        with pytest.raises(BuildError, match="a worker process died"):
            run()
    finally:
        activate(None)

    code = (
        "import sys; from pathlib import Path; from engine_toys import AnswersConfig, plan\n"
        "from synth.engine import Engine, SlurmExecutor, SlurmOptions; from synth.store import Store\n"
        "options = SlurmOptions(partition='cpu', memory_gib_per_cpu=1, poll_seconds=0.2)\n"
        "store = Store(Path(sys.argv[1]), ledger=Path(sys.argv[2]))\n"
        "Engine(plan(20, answers=AnswersConfig(temper=2.0)), store, SlurmExecutor(2, options)).run()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(store), str(ledger)], stderr=subprocess.PIPE)
    wait_for("a job", lambda: "synth-" in jobs() or child.poll() is not None)
    child.send_signal(signal.SIGINT)
    assert Interrupted.__name__.encode() in child.communicate(timeout=120)[1]
    wait_for("the end of its jobs", lambda: not jobs())

    assert run() == build(tmp_path / "local", changed)
    assert run_twice(read_ledger(ledger)) == []
