"""Ray for real, and Slurm as far as it goes without a cluster: the script is submitted, its body runs."""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
from pathlib import Path

import pytest
from engine_toys import AnswersConfig, Built, SummaryConfig, build, parquet, plan, published

from synth.engine import Engine, LocalExecutor, RayExecutor, SlurmExecutor, SlurmOptions
from synth.errors import BuildError, InputError
from synth.store import Store, activate

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


def test_without_slurm_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        Engine(plan(5), Store(tmp_path / "store"), SlurmExecutor(1, SlurmOptions(partition="cpu"))) as engine,
        pytest.raises(InputError, match="sbatch was not found"),
    ):
        engine.run()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_ray_gives_the_same_bytes_and_brings_errors_back(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    executor = RayExecutor(2)
    last = plan(20, answers=AnswersConfig(temper=3.0))
    build(tmp_path / "store", plan(20))
    build(tmp_path / "other", last)
    with (
        Engine(last, Store(tmp_path / "store"), executor) as engine,
        Engine(last, Store(tmp_path / "other"), LocalExecutor()) as other,
    ):
        assert published(engine.run_stage("answers")) == published(other.run_stage("answers"))
        for table in ("answers", "secrets"):
            assert parquet(engine.table("answers", table).arrow) == parquet(other.table("answers", table).arrow)
        victim = engine.table("questions", "questions").row(13).id
        bad = Engine(plan(20, answers=AnswersConfig(fail_at=victim)), Store(tmp_path / "store"), executor)
        with pytest.raises(ZeroDivisionError) as caught:
            bad.run_stage("answers")
        assert any(f"row {victim}" in note for note in caught.value.__notes__)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # Ray's own would end the process without a word
