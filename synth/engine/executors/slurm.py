"""Slurm, through datatrove's executor: one job array per stage run, awaited."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synth.engine.executors.channel import Channel, died
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import InputError

__all__ = ["SlurmExecutor", "SlurmOptions"]


@dataclass(frozen=True)
class SlurmOptions:
    """What a job of the array asks for."""

    partition: str
    time: str = "24:00:00"
    cpus_per_task: int = 1
    memory_gib_per_cpu: int = 2
    qos: str = "normal"
    env_command: str = ""
    """Shell line that makes the Python environment ready on a node; empty = the environment that the build runs in, by
    its path."""
    sbatch: Mapping[str, str] = field(default_factory=dict)
    """Further options of sbatch, by their long name."""
    poll_seconds: float = 10.0
    """How often the queue is looked at."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SlurmOptions:
        """From ``KEY=VALUE`` of a command: ``partition``, ``time``, ``cpus``, ``memory`` (GiB per CPU), ``qos``,
        ``env`` and ``poll``; anything else is an option of sbatch.

        Raises:
            InputError: no partition is named, or a number is none.
        """
        ours: dict[str, Any] = {}
        rest = dict(given)
        for key, (name, kind) in _KEYS.items():
            if key in rest:
                text = rest.pop(key)
                try:
                    ours[name] = kind(text)
                    if kind is not str and not 0 < ours[name] < float("inf"):
                        raise ValueError
                except ValueError:
                    raise InputError(
                        f"{text!r} is no number for {key}", where="--slurm", mend="give 1 or more"
                    ) from None
        if not ours.get("partition"):
            raise InputError("Slurm needs a partition", where="--slurm", mend="give --slurm partition=NAME (see sinfo)")
        return cls(**ours, sbatch=rest)


_KEYS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "partition": ("partition", str),
    "time": ("time", str),
    "cpus": ("cpus_per_task", int),
    "memory": ("memory_gib_per_cpu", int),
    "qos": ("qos", str),
    "env": ("env_command", str),
    "poll": ("poll_seconds", float),
}


class SlurmExecutor:
    """Submits the shards of a stage run as a job array and waits until the array has left the queue.

    The store must lie on a file system that the nodes share.
    """

    name = "slurm"

    def __init__(self, workers: int, options: SlurmOptions) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least 1")
        self.workers = workers
        self.options = options

    def wave(self, estimate: int) -> int:
        return max(estimate, self.workers)

    def close(self) -> None: ...

    def run(self, work: Work, tasks: Sequence[ShardTask], observer: Observer, scratch: Path) -> None:
        from datatrove.executor.slurm import SlurmPipelineExecutor

        from synth.engine.executors.pipeline import RunShards, quiet

        class WithoutMerge(SlurmPipelineExecutor):  # type: ignore[misc]
            """Submits the array alone: datatrove's statistics, which a second job would merge, are not used."""

            def launch_merge_stats(self) -> None: ...

        options = self.options
        channel = Channel(scratch)
        with quiet():
            executor = WithoutMerge(
                pipeline=[RunShards(work, tasks, scratch)],
                tasks=min(len(tasks), self.workers),
                time=options.time,
                partition=options.partition,
                cpus_per_task=options.cpus_per_task,
                mem_per_cpu_gb=options.memory_gib_per_cpu,
                workers=self.workers,
                job_name=f"synth-{work.label}",
                qos=options.qos,
                env_command=options.env_command or f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH",
                sbatch_args=dict(options.sbatch),
                logging_dir=str(scratch / "datatrove"),
                skip_completed=False,  # the manifests in the store say what is done, nothing else
                requeue=False,
            )
            try:
                executor.run()
            except FileNotFoundError as error:
                raise InputError(
                    "sbatch was not found", where="--executor slurm", mend="run this where Slurm's commands are"
                ) from error
            except subprocess.CalledProcessError as error:
                raise InputError(
                    f"sbatch refused the job (exit status {error.returncode}); what it said stands above",
                    where="--slurm",
                    mend="sinfo lists partitions and their limits",
                ) from error
            with channel.watched(observer):
                try:
                    while self._queued(executor.job_id):
                        time.sleep(options.poll_seconds)
                except BaseException:
                    channel.ask_to_stop()
                    subprocess.run(["scancel", str(executor.job_id)], check=False)
                    raise
        channel.raise_error()
        if len(list((scratch / "datatrove" / "completions").glob("*"))) < executor.world_size:
            raise died(work)

    @staticmethod
    def _queued(job: Any) -> bool:
        """Whether a task of the job waits or runs. Slurm forgets finished jobs: then squeue calls their number invalid.
        When it fails otherwise, the controller is away, and the job runs on."""
        found = subprocess.run(
            ["squeue", "--noheader", "--jobs", str(job)], check=False, capture_output=True, text=True
        )
        return bool(found.stdout.strip()) if found.returncode == 0 else "Invalid job id" not in found.stderr
