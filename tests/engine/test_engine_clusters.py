"""Ray for real, and Slurm as far as it goes without a cluster: the script is submitted, its body runs."""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engine_toys import (
    AnswersConfig,
    Built,
    Pages,
    PagesConfig,
    SummaryConfig,
    build,
    parquet,
    plan,
    published,
    run_twice,
)

from synth.engine import Engine, LocalExecutor, Plan, RayExecutor, SlurmExecutor, SlurmOptions, StageNode
from synth.engine.executors.channel import Channel, StopWorking, WorkerObserver
from synth.engine.options import executor_named
from synth.errors import BuildError, InputError
from synth.store import Store, activate
from synth.store.ledger import read_ledger

pytestmark = pytest.mark.thorough

SBATCH = r"""#!{python}
# Stands for Slurm: runs the tasks of an array one after the other, then says which job that was.
import os, re, subprocess, sys
script = open(sys.argv[-1]).read()
open(os.path.join({folder!r}, "script"), "w").write(script)
first, last = map(int, re.search(r"--array=(\d+)-(\d+)", script).groups())
for task in range(first, last + 1):
    slurm = dict(SLURM_ARRAY_TASK_ID=str(task), RUN_OFFSET="0", SLURM_NODELIST="node1", SLURM_JOB_ID="7")
    subprocess.run(["bash", sys.argv[-1]], env=dict(os.environ, **slurm), capture_output=True)
print("Submitted batch job 7")
"""
SRUN = """#!{python}
import os, sys
at = next(i for i, word in enumerate(sys.argv) if word == "launch_pickled_pipeline")
os.execvp(sys.executable, [sys.executable, "-m", "datatrove.tools.launch_pickled_pipeline", *sys.argv[at + 1:]])
"""
SCONTROL = "#!/bin/sh\necho node1\n"
SQUEUE = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with Slurm's commands on the path."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, text in {"sbatch": SBATCH, "srun": SRUN, "scontrol": SCONTROL, "squeue": SQUEUE}.items():
        command = folder / name
        command.write_text(text.replace("{python}", sys.executable).replace("{folder!r}", repr(str(folder))))
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]))
    return folder


def test_slurm_runs_the_shards_of_a_job_array(tmp_path: Path, slurm: Path) -> None:
    options = SlurmOptions(partition="cpu", time="01:00:00", sbatch={"account": "me"}, poll_seconds=0.01)
    last = plan(20, summary=SummaryConfig(top=4))
    build(tmp_path / "store", plan(20))
    with Engine(last, Store(tmp_path / "store"), SlurmExecutor(2, options)) as engine:
        assert Built.of(engine, engine.run()) == build(tmp_path / "other", last)
    script = (slurm / "script").read_text()
    for line in ("--partition=cpu", "--time=01:00:00", "--account=me", "--job-name=synth-summary", "--array=0-0%2"):
        assert f"#SBATCH {line}" in script
    assert re.search(r"srun .* launch_pickled_pipeline .*/executor\.pik", script)


def test_slurm_brings_errors_back(tmp_path: Path, slurm: Path) -> None:
    executor = SlurmExecutor(1, SlurmOptions(partition="cpu", poll_seconds=0.01))
    build(tmp_path / "store", plan(5))
    with Engine(plan(5), Store(tmp_path / "store"), executor) as engine:
        engine.run_stage("questions")
        victim = engine.table("questions", "questions").row(3).id
    bad = plan(5, answers=AnswersConfig(fail_at=victim))
    with Engine(bad, Store(tmp_path / "store"), executor) as engine:
        with pytest.raises(ZeroDivisionError) as caught:
            engine.run()
        assert any(f"row {victim}" in note for note in caught.value.__notes__)
        activate("engine.row.processed:1:kill")
        try:
            with pytest.raises(BuildError, match="a worker process died"):
                Engine(plan(5, answers=AnswersConfig(temper=2.0)), engine.store, executor).run()
        finally:
            activate(None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Slurm needs a partition"),
        ({"time": "1:00"}, "Slurm needs a partition"),
        ({"partition": "cpu", "cpus": "many"}, "'many' is no number for cpus"),
        ({"partition": "cpu", "memory": "0"}, "'0' is no number for memory"),
        ({"partition": "cpu", "poll": "nan"}, "'nan' is no number for poll"),
    ],
)
def test_what_slurm_is_asked_for_is_checked(given: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        executor_named("slurm", 1, given)


def test_what_a_command_asks_of_slurm() -> None:
    given = {"partition": "cpu", "time": "1:00", "cpus": "2", "memory": "4", "qos": "low", "env": "true", "poll": "0.5"}
    made = executor_named("slurm", 3, {**given, "account": "me"})
    assert isinstance(made, SlurmExecutor)
    assert made.workers == 3
    assert made.options == SlurmOptions("cpu", "1:00", 2, 4, "low", "true", {"account": "me"}, 0.5)
    with pytest.raises(InputError, match=r"options of Slurm's jobs.*--executor slurm"):
        executor_named("local", 1, given)


def test_a_job_that_slurm_refuses_is_one_line(tmp_path: Path, slurm: Path) -> None:
    (slurm / "sbatch").write_text("#!/bin/sh\necho sbatch: error: invalid partition specified >&2\nexit 1\n")
    executor = SlurmExecutor(1, SlurmOptions(partition="none"))
    with (
        Engine(plan(5), Store(tmp_path / "store"), executor) as engine,
        pytest.raises(InputError, match=r"sbatch refused the job \(exit status 1\)"),
    ):
        engine.run()


def test_a_controller_that_is_away_does_not_end_a_build(slurm: Path) -> None:
    said = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    (slurm / "squeue").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    assert SlurmExecutor._queued(7)
    (slurm / "squeue").write_text("#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n")
    assert not SlurmExecutor._queued(7)


def test_without_slurm_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        Engine(plan(5), Store(tmp_path / "store"), SlurmExecutor(1, SlurmOptions(partition="cpu"))) as engine,
        pytest.raises(InputError, match="sbatch was not found"),
    ):
        engine.run()


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    """An executor with its cluster on this machine. Others made beside it use the same."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    received: list[int] = []

    def receive(number: int, frame: object) -> None:
        received.append(number)

    before = signal.signal(signal.SIGTERM, receive)
    executor = RayExecutor(2)
    with tempfile.TemporaryDirectory() as folder:
        Engine(plan(5), Store(Path(folder)), executor).run_stage("pages")
        # Ray's own handler would end the process without a word; and none at all would be left when it is gone.
        os.kill(os.getpid(), signal.SIGTERM)
        yield executor
        executor.close()
        os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM] * 2
    signal.signal(signal.SIGTERM, before)


@contextmanager
def armed(failpoint: str) -> Iterator[None]:
    activate(failpoint)
    try:
        yield
    finally:
        activate(None)


def test_ray_gives_the_same_bytes_and_brings_errors_back(tmp_path: Path, cluster: RayExecutor) -> None:
    last = plan(20, answers=AnswersConfig(temper=3.0))
    build(tmp_path / "store", plan(20))
    build(tmp_path / "other", last)
    engine = Engine(last, Store(tmp_path / "store"), cluster)
    other = Engine(last, Store(tmp_path / "other"), LocalExecutor())
    assert published(engine.run_stage("answers")) == published(other.run_stage("answers"))
    for table in ("answers", "secrets"):
        assert parquet(engine.table("answers", table).arrow) == parquet(other.table("answers", table).arrow)
    victim = engine.table("questions", "questions").row(13).id
    bad = Engine(plan(20, answers=AnswersConfig(fail_at=victim)), Store(tmp_path / "store"), cluster)
    with pytest.raises(ZeroDivisionError) as caught:
        bad.run_stage("answers")
    assert any(f"row {victim}" in note for note in caught.value.__notes__)


def test_ray_gives_the_work_of_a_lost_worker_to_another(tmp_path: Path, cluster: RayExecutor) -> None:
    build(tmp_path / "store", plan(20, answers=AnswersConfig(temper=2.0)))  # all but the answers
    ledger = tmp_path / "ledger"
    engine = Engine(plan(20), Store(tmp_path / "store", ledger=ledger), RayExecutor(1))
    with armed("engine.row.processed:8:kill"):  # two workers end with 7 rows in the journal, the third does the other 6
        report = engine.run_stage("answers")
    assert report.rows_in == 20
    assert (
        parquet(engine.table("answers", "answers").arrow)
        == build(tmp_path / "other", plan(20)).tables["answers/answers"]
    )
    entries = [entry for entry in read_ledger(ledger) if entry.stage.startswith("answers/")]
    assert run_twice(entries) == []
    assert len([entry for entry in entries if entry.event == "begin"]) == 20 + 2


def test_ray_gives_up_on_work_that_kills_every_worker(tmp_path: Path, cluster: RayExecutor) -> None:
    build(tmp_path / "store", plan(5, answers=AnswersConfig(temper=2.0)))
    engine = Engine(plan(5), Store(tmp_path / "store"), RayExecutor(1))
    with armed("engine.row.processed:1:kill"), pytest.raises(BuildError, match="a worker process died without a word"):
        engine.run_stage("answers")


def test_ray_does_not_wait_for_ever(tmp_path: Path, cluster: RayExecutor) -> None:
    """Here for memory that no machine has."""
    greedy = RayExecutor(2, memory_gib=2.0**14, silence_seconds=2)
    with pytest.raises(BuildError) as caught:
        Engine(plan(5), Store(tmp_path / "store"), greedy).run_stage("pages")
    assert "no Ray worker gave a sign of life for 2 seconds (0 of 2 ever did)" in str(caught.value)
    assert Engine(plan(5), Store(tmp_path / "store"), cluster).run_stage("pages").shards == 3


def test_ray_says_when_workers_lack_our_code(
    tmp_path: Path, cluster: RayExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_here = types.ModuleType("only_here")
    mine = type("Mine", (Pages,), {"__module__": "only_here", "name": "mine"})
    only_here.Mine = mine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "only_here", only_here)
    lone = Plan("toy", 1, "toys", (StageNode("pages", mine, PagesConfig()),), 1)
    with pytest.raises(BuildError, match=r"a Ray worker could not begin: .*No module named 'only_here'"):
        Engine(lone, Store(tmp_path / "store"), cluster).run()


def test_a_live_worker_gives_signs_of_life_and_a_dead_one_none(tmp_path: Path) -> None:
    channel = Channel(tmp_path)
    counted: list[int] = []

    class Counting:
        def units(self, count: int) -> None:
            counted.append(count)

    with channel.watched(Counting()):
        assert channel.begun() == 0
        worker = WorkerObserver(channel, "rank-00000")
        with worker.beating():
            while not channel.begun():
                time.sleep(0.01)
        worker.units(3)
        worker.speak()
        while channel.silence() < 1:  # nobody speaks any more
            time.sleep(0.01)
    assert channel.begun() == 1
    assert sum(counted) == channel.progress() == 3
    worker.check()
    channel.ask_to_stop()
    with pytest.raises(StopWorking):
        worker.check()
