"""What a build is at, written down beside its store for who looks on from another shell (``synth watch``).

``STORE/builds/<dataset>.json`` is replaced about twice a second; a lock beside it is held for as long as the build
lives, so that a build that was killed is told from one that runs.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from synth.engine.progress import CallsNow, Progress, duration, report_line
from synth.errors import InputError
from synth.inputs import parse_json
from synth.schemas.reports import StageReport
from synth.store.files import store_errors
from synth.store.locks import FileLock
from synth.store.store import Store

__all__ = ["BuildRecord", "Look", "Recorded", "read_record"]

_SECONDS = 0.5
"""Between two writings."""


@dataclass
class _Stage:
    label: str
    state: Literal["waiting", "runs", "done"] = "waiting"
    done: int = 0
    """Units: rows or shards."""
    of: int | None = None
    seconds_left: float | None = None
    line: str = ""
    """Its report, or how its model calls go."""
    spent: str = ""


@dataclass
class BuildRecord:
    """What is written."""

    dataset: str
    process: int
    began: float
    """Seconds since the epoch."""
    written: float = 0.0
    stages: list[_Stage] = field(default_factory=list)
    end: str | None = None
    """``finished: PLACE`` or ``failed: LINE``; None while it runs, or when it was killed."""


class Recorded:
    """Passes everything on to ``beside`` and writes it down; nothing where another build of the dataset does so in this
    store. Begins with the first stage that runs."""

    def __init__(self, beside: Progress, store: Store, dataset: str) -> None:
        self._beside, self._store = beside, store
        self._record = BuildRecord(dataset, os.getpid(), time.time())
        self._file: Path | None = None
        self._lock: FileLock | None = None
        self._began: dict[str, tuple[float, int]] = {}
        self._guard = threading.Lock()

    def plan(self, labels: Sequence[str]) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._record.stages = [_Stage(label) for label in labels]
        self._beside.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._began[label] = (time.monotonic(), reused)
        self._note(label, True, state="runs", done=reused, of=None if units is None else units + reused)
        self._beside.begin(label, units, reused)

    def advance(self, label: str, units: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._note(label, False, more=units)
        self._beside.advance(label, units)

    def calls(self, label: str, now: CallsNow) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._note(label, False, line=now.line, spent=now.spent)
        self._beside.calls(label, now)

    def end(self, report: StageReport) -> None:
        """See :class:`~synth.engine.Progress`."""
        line = report_line(report).partition(": ")[2]
        self._note(report.label, True, state="done", seconds_left=None, line=line)
        self._beside.end(report)

    def note(self, line: str) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.note(line)

    def ended(self, how: str) -> None:
        """The build is finished or failed."""
        with self._guard:
            self._record.end = how
            self._write(True)

    def close(self) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.close()
        with self._guard:
            if self._lock is not None:
                self._lock.release()

    def _note(self, label: str, now: bool, *, more: int = 0, **changes: Any) -> None:
        with self._guard:
            stage = next((one for one in self._record.stages if one.label == label), None)
            if stage is None:
                return
            for name, value in changes.items():
                setattr(stage, name, value)
            stage.done += more
            began, reused = self._began.get(label, (0.0, 0))
            if stage.state == "runs" and stage.of and stage.done > reused:
                pace = (time.monotonic() - began) / (stage.done - reused)
                stage.seconds_left = pace * max(0, stage.of - stage.done)
            self._write(now)

    def _write(self, now: bool) -> None:
        if self._file is None:
            self._open()
        if self._lock is None or not (now or time.time() - self._record.written >= _SECONDS):
            return
        assert self._file is not None
        self._record.written = time.time()
        part = self._file.with_suffix(".new")
        with store_errors(self._file):
            part.write_text(json.dumps(asdict(self._record)), encoding="utf-8")
            os.replace(part, self._file)

    def _open(self) -> None:
        self._file = self._store.folder("builds") / f"{quote(self._record.dataset, safe=' ')}.json"
        lock = FileLock(self._file.with_suffix(".lock"))
        with store_errors(self._file):
            self._lock = lock if lock.try_acquire() else None


@dataclass(frozen=True)
class Look:
    """A record as somebody finds it."""

    record: BuildRecord
    alive: bool

    @property
    def state(self) -> Literal["runs", "finished", "failed", "killed"]:
        """``killed``: it neither runs nor said how it ended."""
        if self.record.end is not None:
            return "finished" if self.record.end.startswith("finished") else "failed"
        return "runs" if self.alive else "killed"

    @property
    def line(self) -> str:
        """The state as a sentence."""
        record = self.record
        took = duration(max(0.0, (time.time() if self.state == "runs" else record.written) - record.began))
        if self.state == "runs":
            done = sum(stage.state == "done" for stage in record.stages)
            return f"{record.dataset} runs (process {record.process}): {done} of {len(record.stages)} stages, {took}"
        if self.state == "killed":
            return f"{record.dataset} was killed after {took}. Finished work is saved; rerun the same command to resume"
        return f"{record.dataset} {record.end} ({took})"


def read_record(store: Path, dataset: str | None) -> Look:
    """The build of ``dataset`` in a store, running or last run; None = whichever was written last.

    Raises:
        InputError: there is none.
    """
    folder = store / "builds"
    with store_errors(folder):
        files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
    if dataset is not None:
        files = [file for file in files if file.name == f"{quote(dataset, safe=' ')}.json"]
    if not files:
        what = "no build" if dataset is None else f"no build of {dataset}"
        raise InputError(f"{what} has run in this store", where=str(store), mend="name its store with --store")
    try:
        body = parse_json(files[-1].read_text("utf-8"))
        record = BuildRecord(**{**body, "stages": [_Stage(**one) for one in body["stages"]]})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"the record of the build can't be read: {error}", where=str(files[-1])) from None
    lock = FileLock(files[-1].with_suffix(".lock"))
    with store_errors(files[-1]):
        free = lock.try_acquire()
    lock.release()
    return Look(record, alive=not free)
