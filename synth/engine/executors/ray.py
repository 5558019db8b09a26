"""Ray, through datatrove's executor: on the cluster that is connected, or on one that is started here."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.distribution import install
from synth.engine.executors.channel import Channel, died
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import BuildError, InputError

__all__ = ["RayExecutor"]

_RETRIES = 2
"""How often a rank is given to another worker when its own was lost (machine gone, out of memory, killed)."""
_LOOK_SECONDS = 1.0
_GRACE_SECONDS = 5.0
"""How long a build that ends waits for its workers to be gone."""
_OBJECT_STORE_BYTES = 128 * 1024 * 1024
"""Only the pickled step of a stage passes through it: rows go through the store."""


class RayExecutor:
    """Runs shards as Ray tasks, as many at once as there are ``workers``.

    Each task takes an equal part of all shards, and Ray keeps the worker processes from one stage to the next. The
    store must lie on a file system that all machines of the cluster share.

    Args:
        workers: How many tasks run at once, one CPU each.
        address: A running cluster (``auto`` finds one); None = the one that is connected or that ``RAY_ADDRESS`` names,
            else one that is started on this machine.
        memory_gib: Memory that is reserved per task on a cluster that was not started here.
        silence_seconds: A stage ends with an error when no worker gave a sign of life for so long. A live worker gives
            one every few seconds, however long its row takes; a cluster that grows on demand may need longer to begin.
    """

    name = "ray"

    def __init__(
        self, workers: int, *, address: str | None = None, memory_gib: float = 0.5, silence_seconds: float = 600.0
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least 1")
        self.workers = workers
        self._address = address if address is not None else os.environ.get("RAY_ADDRESS")
        self._memory_gib = memory_gib
        self._silence_seconds = silence_seconds
        self._started = False
        self._own = False

    def wave(self, estimate: int) -> int:
        return max(estimate, self.workers)

    def run(self, work: Work, tasks: Sequence[ShardTask], observer: Observer, scratch: Path) -> None:
        self._connect()
        from datatrove.executor.ray import RayPipelineExecutor

        from synth.engine.executors.pipeline import RunShards, quiet

        channel = Channel(scratch)
        with quiet():
            executor = RayPipelineExecutor(
                pipeline=[RunShards(work, tasks, scratch)],
                tasks=min(len(tasks), self.workers),
                workers=self.workers,
                logging_dir=str(scratch / "datatrove"),
                skip_completed=False,  # the manifests in the store say what is done, nothing else
            )
        options = {
            "name": f"synth {work.label}",
            "num_cpus": executor.cpus_per_task,
            "memory": None if self._own else int(self._memory_gib * 2**30),
            "max_retries": 0,  # _Ranks counts; Ray's own count is without end when memory is short
            "scheduling_strategy": "SPREAD",
        }
        with channel.watched(observer):
            _Ranks(executor, work, channel, options).run(self._silence_seconds)
        channel.raise_error()
        # A rank that never said that it ended is one that died.
        if len(list((scratch / "datatrove" / "completions").glob("*"))) < executor.world_size:
            raise died(work)

    def _connect(self) -> None:
        try:
            import ray
        except ImportError as error:
            raise InputError("Ray is not installed", where="--executor ray", mend=install("ray")) from error
        if ray.is_initialized():
            return
        if self._address is not None:
            try:
                with _own_signals():
                    ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
            except ConnectionError as error:
                raise InputError(
                    f"there is no Ray cluster at {self._address}",
                    where="--executor ray",
                    mend="start one with 'ray start --head'",
                ) from error
        else:
            with _own_signals(), _environment():
                ray.init(
                    address="local",
                    num_cpus=self.workers,
                    object_store_memory=_OBJECT_STORE_BYTES,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            self._own = True
        self._started = True

    def close(self) -> None:
        """Stop what was started or disconnect."""
        if self._started:
            import ray

            with _own_signals():
                ray.shutdown()
            self._started = self._own = False


class _Ranks:
    """Runs the ranks of datatrove's executor as plain Ray tasks, in place of its ``run``.

    That one submits in a thread and never looks at an error there, so it waits for ever when Ray refuses a task (or
    only warns, where warnings are errors); it makes an actor and a placement group for every rank of every stage,
    which costs seconds each; and its actor forks a pool, although a Ray worker has many threads.
    """

    def __init__(self, executor: Any, work: Work, channel: Channel, options: Mapping[str, Any]) -> None:
        import ray

        self._executor = executor
        self._work = work
        self._channel = channel
        self._shared = ray.put(executor)
        self._task = ray.remote(_run_rank).options(**options)
        self._waiting: dict[Any, int] = {}
        self._lost: Counter[int] = Counter()

    def run(self, silence_seconds: float) -> None:
        import ray

        try:
            for rank in range(self._executor.world_size):
                self._submit(rank)
            while self._waiting:
                ready, _ = ray.wait(list(self._waiting), timeout=_LOOK_SECONDS)
                for task in ready:
                    self._take(task)
                if self._waiting and self._channel.silence() > silence_seconds:
                    raise self._silent(silence_seconds)
        except BaseException:
            self._channel.ask_to_stop()
            self._cancel()
            raise

    def _submit(self, rank: int) -> None:
        self._waiting[self._task.remote(self._shared, rank)] = rank

    def _take(self, task: Any) -> None:
        import ray
        from ray.exceptions import RayError, RayTaskError

        rank = self._waiting.pop(task)
        try:
            ray.get(task)
        except RayTaskError as error:
            # Errors of the work go through the channel: this one is of the worker itself.
            raise BuildError(
                f"a Ray worker could not begin: {type(error.cause).__name__}: {error.cause}",
                where=f"stage {self._work.label!r}",
                mend="have the same synth, Python and store on every machine of the cluster",
            ) from error
        except RayError as error:
            self._lost[rank] += 1
            if self._lost[rank] > _RETRIES:
                self._channel.raise_error()
                raise died(self._work) from error
            self._submit(rank)

    def _silent(self, seconds: float) -> BuildError:
        return BuildError(
            f"no Ray worker gave a sign of life for {seconds:,.0f} seconds ({self._channel.begun()} of "
            f"{self._executor.world_size} ever did); what was finished is kept",
            where=f"stage {self._work.label!r}",
            mend="look with 'ray status' for free CPUs and memory, then run the same command to continue",
        )

    def _cancel(self) -> None:
        """Kill what still runs: as safe as at any other time, since work is committed or in the journal."""
        import ray

        tasks = list(self._waiting)
        for task in tasks:
            ray.cancel(task, force=True)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=_GRACE_SECONDS)


def _run_rank(executor: Any, rank: int) -> None:
    """One rank, in a Ray worker: in its main thread, without a fork."""
    from datatrove.executor.base import PipelineExecutor

    # Not RayPipelineExecutor's, which writes its log to a folder in /tmp that all users and builds share. Local rank 1:
    # datatrove shows the log of rank 0 in the terminal.
    PipelineExecutor._run_for_rank(executor, rank, 1)


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray sets a handler that ends the process on SIGTERM when it begins, and takes all handlers away when it ends;
    ours stops the build and says how to go on."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _environment() -> Iterator[None]:
    """Processes that are started inside find the modules that this one finds, and report nothing to Ray's makers."""
    ours = {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "RAY_USAGE_STATS_ENABLED": os.environ.get("RAY_USAGE_STATS_ENABLED", "0"),
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
