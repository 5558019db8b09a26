"""Local worker processes: datatrove's local executor over a pool that notices when a worker dies."""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.connection
import multiprocessing.context
import multiprocessing.forkserver
import multiprocessing.popen_forkserver
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.engine.executors.channel import Channel, died
from synth.engine.signals import held_back
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import InputError

__all__ = ["ProcessesExecutor"]

_RANKS_PER_WORKER = 4
"""Shards differ in cost: with several ranks per worker, those that are done early take another."""
_GARBAGE_AFTER = 50_000
"""As for a command: most of what a worker makes lives until its shard is written."""
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


class ProcessesExecutor:
    """Runs shards in ``workers`` processes of this machine.

    A script that calls it needs no ``if __name__ == "__main__"``: workers never import the script. So a stage that is
    defined in the script itself can't run here.
    """

    name = "processes"

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least 1")
        self.workers = workers

    def wave(self, estimate: int) -> int:
        return max(estimate, self.workers)

    def close(self) -> None: ...

    def run(self, work: Work, tasks: Sequence[ShardTask], observer: Observer, scratch: Path) -> None:
        from datatrove.executor.local import LocalPipelineExecutor

        from synth.engine.executors.pipeline import RunShards, quiet

        _refuse_main(work)
        channel = Channel(scratch)
        share = max(1, (os.cpu_count() or 1) // self.workers)

        class Pooled(LocalPipelineExecutor):  # type: ignore[misc]
            """datatrove's own pool hangs for ever when a worker is killed, and its manager process outlives a killed
            build; the rest (ranks, logs, statistics) is datatrove's."""

            def run(self) -> None:
                _run_ranks(self, channel, share)

            def __reduce__(self) -> tuple[Any, ...]:
                # Workers get the plain executor: a class made in a function has no importable name.
                return (_plain, ({**self.__dict__},))

        with quiet():
            executor = Pooled(
                pipeline=[RunShards(work, tasks, scratch)],
                tasks=min(len(tasks), _RANKS_PER_WORKER * self.workers),
                workers=min(len(tasks), self.workers),
                logging_dir=str(scratch / "datatrove"),
                skip_completed=False,  # the manifests in the store say what is done, nothing else
            )
            with channel.watched(observer):
                try:
                    executor.run()
                except BrokenProcessPool as error:
                    channel.raise_error()
                    raise died(work) from error
        channel.raise_error()


def _plain(state: dict[str, Any]) -> Any:
    from datatrove.executor.local import LocalPipelineExecutor

    executor = LocalPipelineExecutor.__new__(LocalPipelineExecutor)
    executor.__dict__.update(state)
    return executor


def _run_ranks(executor: Any, channel: Channel, share: int) -> None:
    context = _Context()
    _start_server(share)
    pool = ProcessPoolExecutor(executor.workers, mp_context=context, initializer=_begin_worker)
    try:
        # Local rank 1: datatrove shows the log of rank 0 in the terminal.
        futures = [pool.submit(executor._run_for_rank, rank, 1) for rank in range(executor.tasks)]
        for future in as_completed(futures):
            future.result()
    except BaseException:
        channel.ask_to_stop()
        # Workers first: one that still starts would complain that the pool's semaphores are gone.
        context.end_workers()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """First thing in a worker: Ctrl-C is the build's to handle, datatrove has nothing to say, and nobody outlives a
    build that was killed (Python's pools leave their workers, which then wait for ever)."""
    from loguru import logger

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # modules live to the end, and a search for cycles in them copies the pages shared with other workers
    if 0 < gc.get_threshold()[0] < _GARBAGE_AFTER:
        gc.set_threshold(_GARBAGE_AFTER, *gc.get_threshold()[1:])
    logger.disable("datatrove")
    threading.Thread(target=_die_with_the_build, name="synth-parent", daemon=True).start()


def _die_with_the_build() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)  # as safe as at any other time: work is committed or in the journal


def _start_server(share: int) -> None:
    """Have the fork server import what every worker needs, once. Without effect when the server runs already, or when
    someone else in this process said what it should import."""
    server: Any = getattr(multiprocessing.forkserver, "_forkserver", None)
    if getattr(server, "_preload_modules", None) == ["__main__"]:
        multiprocessing.set_forkserver_preload(["synth.engine.executors.preload"])
    multiprocessing.resource_tracker.ensure_running()  # changes the mask itself
    with held_back(), _threads_of_blas(share):
        # Ctrl-C reaches every process of the terminal, and the server ignores it only after its imports.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            multiprocessing.forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _threads_of_blas(number: int) -> Iterator[None]:
    """Limit BLAS to ``number`` threads in processes started inside. With a thread per core in each of several workers,
    threads would spin waiting for one another. A limit already set in the environment stands."""
    if _BLAS_THREADS in os.environ:
        yield
        return
    os.environ[_BLAS_THREADS] = str(number)
    try:
        yield
    finally:
        del os.environ[_BLAS_THREADS]


class _Process(multiprocessing.context.ForkServerProcess):
    """A worker that does not import the user's script.

    A new process would run the script again under another name, to find what was pickled by name in it, and without a
    ``__main__`` guard the script would start a build in the worker. Nothing of the script is needed here.
    """

    def start(self) -> None:
        with held_back():  # half started, it would be no worker that anything could end
            super().start()

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            return multiprocessing.popen_forkserver.Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _Context(multiprocessing.context.ForkServerContext):
    """A fork server context that knows the workers that it started."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Process] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Process:  # type: ignore[override]
        process = _Process(*args, **kwargs)
        self.started.append(process)
        return process

    def end_workers(self) -> None:
        begun = [process for process in self.started if process.pid is not None]
        for process in begun:
            process.terminate()
        for process in begun:
            process.join()


def _refuse_main(work: Work) -> None:
    for part in (work.stage, type(work.config), *work.stage.writes.values()):
        if part.__module__ == "__main__":
            raise InputError(
                f"{part.__name__} is defined in the script that runs, which worker processes don't import",
                where=f"stage {work.label!r}",
                mend="put it into a module, or use --executor local",
            )
