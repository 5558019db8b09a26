"""Moving what the write-ahead log holds into the file, in a thread, while calls go on.

A checkpoint syncs the disk: on the event loop it would stop every call for as long. It has two parts. The first and
long one goes on beside the writers. Since they append meanwhile, the log would never be used up and would grow without
end; so the second, which moves the little that is left, keeps the writers of all processes out. The next commit then
starts the log anew.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

__all__ = ["Checkpoints"]

_EVERY_PAGES = 8_192
"""Pages written between two checkpoints: the log stays below 64 MB or so."""

_EVERY_SECONDS = 5.0
"""Seconds between two checkpoints while something is written: what a power cut may take."""


class Checkpoints:
    """Checkpoints of the file ``path``, begun by its one writer."""

    def __init__(self, path: Path, *, seconds: float = _EVERY_SECONDS) -> None:
        self._path = path
        self._seconds = seconds
        self._pages = 0
        self._begun = time.monotonic()
        self._thread: threading.Thread | None = None
        self._failure: sqlite3.Error | None = None
        self.holding = False
        """The second part is under way: our writer waits, so that it begins at once. Only the thread changes it."""

    def written(self, pages: int) -> None:
        """The writer has committed about ``pages`` pages: begin a checkpoint when it is time."""
        self._pages += pages
        now = time.monotonic()
        due = self._pages >= _EVERY_PAGES or (self._pages and now - self._begun >= self._seconds)
        if due and not self.running:
            self._pages = 0
            self._begun = now
            self._thread = threading.Thread(target=self._run, name="synth-calls-checkpoint", daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> None:
        """Raise what went wrong in the thread, once."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def join(self) -> None:
        """Wait until no checkpoint runs."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            connection = sqlite3.connect(self._path, isolation_level=None, timeout=1)
            try:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self.holding = True
                # If other processes leave it no gap within the timeout, the next one makes up for it.
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            finally:
                self.holding = False
                connection.close()
        except sqlite3.Error as error:
            self._failure = error
