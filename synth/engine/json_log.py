"""What a build says while it runs, one JSON object a line, for programs that read logs (``--log json``)."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TextIO

from synth.engine.progress import CallsNow
from synth.schemas.reports import StageReport

__all__ = ["JsonLines"]


class JsonLines:
    """An object when a stage begins (``begin``), every ``seconds`` while it runs (``progress``, ``calls``), when it
    ends (``end``, with its report), and for what the user should know (``note``). Each has a ``time`` (ISO 8601)."""

    def __init__(self, stream: TextIO | None = None, *, seconds: float = 10.0) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._seconds = seconds
        self._lock = threading.Lock()
        self._done: dict[str, int] = {}
        self._spoke: dict[tuple[str, str], float] = {}

    def _say(self, event: str, **values: Any) -> None:
        with self._lock:
            line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **values}
            self._stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
            self._stream.flush()

    def _is_due(self, event: str, label: str) -> bool:
        now = time.monotonic()
        due = now - self._spoke.get((event, label), now) >= self._seconds
        if due or (event, label) not in self._spoke:
            self._spoke[event, label] = now
        return due

    def plan(self, labels: Sequence[str]) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._say("plan", stages=list(labels))

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._done[label] = reused
        self._say("begin", stage=label, to_do=units, finished_before=reused)

    def advance(self, label: str, units: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._done[label] = self._done.get(label, 0) + units
        if self._is_due("progress", label):
            self._say("progress", stage=label, finished=self._done[label])

    def calls(self, label: str, now: CallsNow) -> None:
        """See :class:`~synth.engine.Progress`."""
        if self._is_due("calls", label):
            use = now.use.model_dump(mode="json")
            self._say("calls", stage=label, **{**asdict(now), "use": use})

    def end(self, report: StageReport) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._say("end", stage=report.label, report=report.model_dump(mode="json"))

    def note(self, line: str) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._say("note", line=line)

    def close(self) -> None:
        """See :class:`~synth.engine.Progress`."""
