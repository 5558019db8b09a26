"""What an executor is: it has the shards of one stage run done, all of them or an error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from synth.engine.work import Observer, ShardTask, Work

__all__ = ["Executor"]


class Executor(Protocol):
    """Does shards, in any order and any number at once. It decides nothing about rows."""

    @property
    def name(self) -> str:
        """As the user names it."""

    @property
    def workers(self) -> int:
        """How many shards run at once, at least 1."""

    def wave(self, estimate: int) -> int:
        """How many candidate shards to start together when about ``estimate`` more are needed."""

    def run(self, work: Work, tasks: Sequence[ShardTask], observer: Observer, scratch: Path) -> None:
        """Do all ``tasks``; each is committed when this returns. ``scratch`` is an empty folder of the store.

        Raises:
            SynthError: one line for the user.
            Exception: a bug, with a note that says where. What other shards finished is kept.
        """

    def close(self) -> None:
        """Let go of workers. It may be used again."""
