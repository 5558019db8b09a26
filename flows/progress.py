"""What a build says while it runs, where Prefect shows it: lines in the log of the flow run, and a bar."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.logging import get_run_logger

from synth.engine import CallsNow, Progress
from synth.engine.progress import report_line
from synth.flows.artifacts import artifact_key
from synth.schemas.reports import StageReport

__all__ = ["FlowProgress", "shown_in_flow"]

_SECONDS = 2.0
"""Between two updates of the bar."""
_CALLS_SECONDS = 30.0
"""Between two lines about model calls."""


class FlowProgress:
    """Passes everything on to ``beside`` (a terminal, a worker's log) and says it to the flow run, too."""

    def __init__(
        self, beside: Progress, labels: Sequence[str], log: logging.Logger | logging.LoggerAdapter[Any]
    ) -> None:
        self._beside, self._log = beside, log
        self._stages, self._ended = max(1, len(labels)), set[str]()
        self._units: dict[str, tuple[int, int | None]] = {}
        """Stage run under way -> (units finished, units in all; None = not known yet)."""
        self._said = time.monotonic()
        self._lock = threading.Lock()

    @property
    def percent(self) -> float:
        """Finished stage runs, each counted the same, and the shares of those under way."""
        with self._lock:
            parts = [done / units for done, units in self._units.values() if units]
            return round(100 * (len(self._ended) + sum(min(1.0, part) for part in parts)) / self._stages, 1)

    def plan(self, labels: Sequence[str]) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._units[label] = (reused, None if units is None else units + reused)
        self._beside.begin(label, units, reused)

    def advance(self, label: str, units: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            done, of = self._units.get(label, (0, None))
            self._units[label] = (done + units, of)
        self._beside.advance(label, units)

    def calls(self, label: str, now: CallsNow) -> None:
        """See :class:`~synth.engine.Progress`."""
        if time.monotonic() - self._said > _CALLS_SECONDS:
            self._said = time.monotonic()
            self._log.info("%s: %s%s", label, now.line, f", {now.spent}" if now.spent else "")
        self._beside.calls(label, now)

    def end(self, report: StageReport) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._units.pop(report.label, None)
            self._ended.add(report.label)
        self._log.info(report_line(report))
        self._beside.end(report)

    def note(self, line: str) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._log.warning(line)
        self._beside.note(line)

    def close(self) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.close()


@contextmanager
def shown_in_flow(beside: Progress, labels: Sequence[str], dataset: str) -> Iterator[FlowProgress]:
    """A progress whose bar the current flow run shows as an artifact, for the time of the block."""
    shown = FlowProgress(beside, labels, get_run_logger())
    key, description = artifact_key(dataset, "progress"), f"How far the build of {dataset} is, by stages."
    bar: Any = create_progress_artifact(progress=0.0, key=key, description=description)
    ended = threading.Event()

    def draw() -> None:
        drawn = 0.0
        while True:
            last = ended.wait(_SECONDS)
            if (now := shown.percent) != drawn:
                update_progress_artifact(artifact_id=bar, progress=now)
                drawn = now
            if last:
                return

    # In a thread of its own: Prefect's client would return coroutines to a model stage, whose thread runs a loop.
    thread = threading.Thread(target=copy_context().run, args=(draw,), name="synth-flow-progress", daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        ended.set()
        thread.join()
