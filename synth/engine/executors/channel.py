"""How workers in other processes, or on other machines, talk to the build: through files in a scratch folder.

They report how far they are, that they are alive, and what ended them; the build asks them to stop. Only small files,
written whole, so a shared file system is all that is needed.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from synth.engine.work import Observer, Work
from synth.errors import BuildError, SynthError

__all__ = ["Channel", "StopWorking", "WorkerObserver", "died"]

_SECONDS = 0.2
"""How often a worker says how far it is and looks whether it should stop."""
_BEAT_SECONDS = 5.0
"""How often a worker says that it lives, however long its row takes."""
_PROGRESS = struct.Struct("<QQ")
"""Units finished, and how many times the worker spoke: so that every word is another one."""


class StopWorking(Exception):
    """The build asked this worker to end, or is gone."""


class Channel:
    """The folder ``root``, which exists already."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._heard = time.monotonic()

    # --- the worker's side -------------------------------------------------------------------------------------------

    def report_progress(self, worker: str, units: int, words: int) -> None:
        self._write(f"{worker}.progress", _PROGRESS.pack(units, words))

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
        return _units(self._words())

    def begun(self) -> int:
        """How many workers have said anything at all."""
        return len(self._words())

    def silence(self) -> float:
        """Seconds since any worker gave a sign of life, or since ``watched`` began."""
        return time.monotonic() - self._heard

    def raise_error(self) -> None:
        """Raise what ended a worker, that of the first shard if there are several."""
        for path in sorted(self.root.glob("*.error")):
            error, text = pickle.loads(path.read_bytes())
            if not isinstance(error, SynthError):
                error.add_note(f"in a worker:\n{text}")
            raise error

    @contextmanager
    def watched(self, observer: Observer) -> Iterator[None]:
        """Pass progress on to ``observer``, and note signs of life, until the block is left."""
        ended = threading.Event()
        last: Mapping[str, bytes] = {}
        seen = 0
        self._heard = time.monotonic()

        def tell() -> None:
            nonlocal last, seen
            words = self._words()
            if words != last:  # contents, not times: clocks of other machines may differ
                last, self._heard = words, time.monotonic()
            now = _units(words)
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

    def _words(self) -> dict[str, bytes]:
        """The last word of every worker."""
        words: dict[str, bytes] = {}
        for path in self.root.glob("*.progress"):
            try:
                word = path.read_bytes()
            except OSError:
                continue
            if len(word) == _PROGRESS.size:
                words[path.name] = word
        return words

    def _write(self, name: str, data: bytes) -> None:
        temporary = self.root / f".{name}-{os.getpid()}-{threading.get_ident()}"
        temporary.write_bytes(data)
        temporary.replace(self.root / name)


def _units(words: Mapping[str, bytes]) -> int:
    return sum(_PROGRESS.unpack(word)[0] for word in words.values())


class WorkerObserver:
    """Counts for the build, and ends the worker when the build is gone or asks for it."""

    def __init__(self, channel: Channel, worker: str) -> None:
        self._channel = channel
        self._worker = worker
        self._parent = os.getppid()
        self._units = 0
        self._words = 0
        self._spoke = 0.0
        self._speaking = threading.Lock()

    def units(self, count: int) -> None:
        self._units += count
        if time.monotonic() - self._spoke >= _SECONDS:
            self.speak()
            self.check()

    def speak(self) -> None:
        with self._speaking:
            self._words += 1
            try:
                self._channel.report_progress(self._worker, self._units, self._words)
            except FileNotFoundError as error:  # the scratch folder is gone, and the build with it
                raise StopWorking from error
            self._spoke = time.monotonic()

    def check(self) -> None:
        # A worker whose parent died was handed to another: nobody waits for what it would do next.
        if os.getppid() != self._parent or self._channel.must_stop() or not self._channel.root.exists():
            raise StopWorking

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Speak every few seconds until the block is left, whatever it is busy with."""
        ended = threading.Event()

        def beat() -> None:
            try:
                self.speak()
                while not ended.wait(_BEAT_SECONDS):
                    self.speak()
            except (OSError, StopWorking):  # the work itself will notice, and say so if anybody is left to hear it
                return

        thread = threading.Thread(target=beat, name="synth-beat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def died(work: Work) -> BuildError:
    """A worker ended without a word."""
    return BuildError(
        "a worker process died without a word (killed, out of memory?); what was finished is kept",
        where=f"stage {work.label!r}",
        mend="run the same command to continue, with fewer workers if memory is short",
    )
