"""How workers in other processes, or on other machines, talk to the build: through files in a scratch folder.

They report how far they are and what ended them; the build asks them to stop. Only small files, written whole, so a
shared file system is all that is needed.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.engine.work import Observer
from synth.errors import SynthError

__all__ = ["Channel", "StopWorking", "WorkerObserver"]

_SECONDS = 0.2
"""How often a worker says how far it is and looks whether it should stop."""


class StopWorking(Exception):
    """The build asked this worker to end, or is gone."""


class Channel:
    """The folder ``root``, which exists already."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # --- the worker's side -------------------------------------------------------------------------------------------

    def report_progress(self, worker: str, units: int) -> None:
        self._write(f"{worker}.progress", struct.pack("<Q", units))

    def report_error(self, at: int, error: Exception) -> None:
        """What ended the work on the shard that begins at ``at``. Asks all others to stop."""
        text = "".join(traceback.format_exception(error))
        try:
            data = pickle.dumps((error, text))
            pickle.loads(data)
        except Exception:  # an error that can't travel: its text can
            data = pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), text))
        self._write(f"{at:08d}.error", data)
        self.ask_to_stop()

    def must_stop(self) -> bool:
        return (self.root / "stop").exists()

    # --- the build's side --------------------------------------------------------------------------------------------

    def ask_to_stop(self) -> None:
        self._write("stop", b"")

    def progress(self) -> int:
        """Units that all workers together have finished."""
        total = 0
        for path in self.root.glob("*.progress"):
            try:
                total += struct.unpack("<Q", path.read_bytes())[0]
            except (OSError, struct.error):
                continue
        return total

    def raise_error(self) -> None:
        """Raise what ended a worker, that of the first shard if there are several."""
        for path in sorted(self.root.glob("*.error")):
            error, text = pickle.loads(path.read_bytes())
            if not isinstance(error, SynthError):
                error.add_note(f"in a worker:\n{text}")
            raise error

    @contextmanager
    def watched(self, observer: Observer) -> Iterator[None]:
        """Pass progress on to ``observer`` until the block is left."""
        ended = threading.Event()
        seen = 0

        def tell() -> None:
            nonlocal seen
            now = self.progress()
            if now > seen:
                observer.units(now - seen)
                seen = now

        def watch() -> None:
            while not ended.wait(_SECONDS):
                tell()

        thread = threading.Thread(target=watch, name="synth-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            tell()

    def _write(self, name: str, data: bytes) -> None:
        temporary = self.root / f".{name}-{os.getpid()}"
        temporary.write_bytes(data)
        temporary.replace(self.root / name)


class WorkerObserver:
    """Counts for the build, and ends the worker when the build is gone or asks for it."""

    def __init__(self, channel: Channel, worker: str) -> None:
        self._channel = channel
        self._worker = worker
        self._parent = os.getppid()
        self._units = 0
        self._spoke = 0.0

    def units(self, count: int) -> None:
        self._units += count
        if time.monotonic() - self._spoke >= _SECONDS:
            self.speak()
            self.check()

    def speak(self) -> None:
        try:
            self._channel.report_progress(self._worker, self._units)
        except FileNotFoundError as error:  # the scratch folder is gone, and the build with it
            raise StopWorking from error
        self._spoke = time.monotonic()

    def check(self) -> None:
        # A worker whose parent died was handed to another: nobody waits for what it would do next.
        if os.getppid() != self._parent or self._channel.must_stop() or not self._channel.root.exists():
            raise StopWorking
