"""The one datatrove step that runs shards, and what its executors need around it.

Imports datatrove, so it is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datatrove.pipeline.base import PipelineStep
from loguru import logger

from synth.engine.executors.channel import Channel, StopWorking, WorkerObserver
from synth.engine.work import ShardTask, Work
from synth.stages.contract import Stage
from synth.store import failpoints

__all__ = ["RunShards", "quiet"]

_stages: dict[str, Stage[Any]] = {}
"""The stage object of this process, by stage run: heavy collaborators are opened once per worker."""


class _Parcel:
    """What a worker needs. Not a dataclass: datatrove writes those out as JSON."""

    def __init__(self, work: Work, tasks: Sequence[ShardTask], root: Path) -> None:
        self.work = work
        self.tasks = tuple(tasks)
        self.root = root
        self.failpoint = failpoints.active()

    def __repr__(self) -> str:
        return f"{self.work.label}: {len(self.tasks)} shards"


class RunShards(PipelineStep):  # type: ignore[misc]
    """Runs the shards of one rank: those at ``rank``, ``rank + world_size``, ... of the list.

    Errors go to the channel, never up: each datatrove executor treats an exception in its own way, one of them by
    ignoring it.
    """

    name = "shards of a stage"
    type = "synth"

    def __init__(self, work: Work, tasks: Sequence[ShardTask], root: Path) -> None:
        super().__init__()
        self.parcel = _Parcel(work, tasks, root)

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        parcel = self.parcel
        channel = Channel(parcel.root)
        observer = WorkerObserver(channel, f"rank-{rank:05d}")
        failpoints.activate_once(parcel.failpoint)
        at = parcel.tasks[rank].start if rank < len(parcel.tasks) else 0
        try:
            with observer.beating():
                observer.check()
                stage = self._stage()
                for task in parcel.tasks[rank::world_size]:
                    at = task.start
                    parcel.work.run(stage, task, observer)
                    observer.check()
                observer.speak()
        except StopWorking:
            return
        except Exception as error:
            channel.report_error(at, error)

    def _stage(self) -> Stage[Any]:
        key = str(self.parcel.root)
        if key not in _stages:
            _stages.clear()
            _stages[key] = self.parcel.work.open()
        return _stages[key]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep datatrove from logging here: what it says about tasks, the build says better."""
    logger.disable("datatrove")
    try:
        yield
    finally:
        logger.enable("datatrove")
