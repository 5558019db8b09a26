"""This process: one shard after the other, or in threads where the stage says that threads help."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from synth.engine.work import Observer, ShardTask, Work
from synth.stages.contract import Stage

__all__ = ["LocalExecutor"]


class LocalExecutor:
    """Runs shards in this process."""

    name = "local"

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least 1")
        self.workers = workers

    def wave(self, estimate: int) -> int:
        return 1

    def close(self) -> None: ...

    def run(self, work: Work, tasks: Sequence[ShardTask], observer: Observer, scratch: Path) -> None:
        if work.stage.threads and self.workers > 1 and len(tasks) > 1:
            self._threads(work, tasks, observer)
            return
        stage = work.open()
        for task in tasks:
            work.run(stage, task, observer)

    def _threads(self, work: Work, tasks: Sequence[ShardTask], observer: Observer) -> None:
        own = threading.local()
        stopping = threading.Event()

        def one(task: ShardTask) -> None:
            if stopping.is_set():
                return
            stage: Stage | None = getattr(own, "stage", None)  # type: ignore[type-arg]
            if stage is None:
                stage = own.stage = work.open()
            work.run(stage, task, _Stoppable(observer, stopping))

        with ThreadPoolExecutor(min(self.workers, len(tasks))) as pool:
            futures = [pool.submit(one, task) for task in tasks]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                # Reached by an error, by Ctrl-C, or with everything done: rows in progress end, no new one begins.
                stopping.set()
        failed = [future.exception() for future in futures]
        for error in failed:
            if error is not None and not isinstance(error, _Stopping):
                raise error


class _Stopping(Exception):
    """Another thread failed: this one ends between two rows."""


class _Stoppable:
    def __init__(self, observer: Observer, stopping: threading.Event) -> None:
        self._observer = observer
        self._stopping = stopping

    def units(self, count: int) -> None:
        self._observer.units(count)
        if self._stopping.is_set():
            raise _Stopping
