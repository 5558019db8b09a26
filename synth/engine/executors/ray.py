"""Ray, through datatrove's executor: on the cluster that is connected, or on one that is started here."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from synth.engine.executors.channel import Channel
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import InputError

__all__ = ["RayExecutor"]


class RayExecutor:
    """Runs shards as Ray tasks, as many at once as there are ``workers``.

    A task costs about half a second there, so each of them takes an equal part of all shards. The store must lie on a
    file system that all machines of the cluster share.

    Args:
        workers: How many tasks run at once, one CPU each.
        address: A running cluster (``auto`` finds one); None = start one on this machine when none is connected.
        memory_gib: Memory that is reserved per task.
    """

    name = "ray"

    def __init__(self, workers: int, *, address: str | None = None, memory_gib: float = 0.5) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least 1")
        self.workers = workers
        self._address = address
        self._memory_gib = memory_gib
        self._started = False

    def wave(self, estimate: int) -> int:
        return max(estimate, self.workers)

    def run(self, work: Work, tasks: Sequence[ShardTask], observer: Observer, scratch: Path) -> None:
        self._connect()
        from datatrove.executor.ray import RayPipelineExecutor

        from synth.engine.executors.pipeline import RunShards, died, quiet

        channel = Channel(scratch)
        with quiet():
            executor = RayPipelineExecutor(
                pipeline=[RunShards(work, tasks, scratch)],
                tasks=min(len(tasks), self.workers),
                workers=self.workers,
                mem_per_cpu_gb=self._memory_gib,
                logging_dir=str(scratch / "datatrove"),
                skip_completed=False,  # the manifests in the store say what is done, nothing else
            )
            with channel.watched(observer):
                try:
                    executor.run()
                except BaseException:
                    channel.ask_to_stop()
                    raise
        channel.raise_error()
        # datatrove only warns when tasks fail: a rank that never said that it ended is one that died.
        if len(list((scratch / "datatrove" / "completions").glob("*"))) < executor.world_size:
            raise died(work)

    def _connect(self) -> None:
        try:
            import ray
        except ImportError as error:
            raise InputError("Ray is not installed", where="--executor ray", mend="pip install 'synth[ray]'") from error
        if ray.is_initialized():
            return
        if self._address is not None:
            with _own_signals():
                ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            with _own_signals(), _python_path():
                ray.init(
                    num_cpus=max(self.workers, os.cpu_count() or 1),
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
        self._started = True

    def close(self) -> None:
        """Stop what was started or disconnect."""
        if self._started:
            import ray

            ray.shutdown()
            self._started = False


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray sets a handler that ends the process on SIGTERM; ours stops the build and says how to go on."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _python_path() -> Iterator[None]:
    """Processes that are started inside find the modules that this one finds."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
