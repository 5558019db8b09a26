"""What a build says in a notebook: a table below the cell, drawn anew while it runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from html import escape
from typing import Any

from synth.engine.progress import CallsNow, Stages, report_line
from synth.schemas.reports import StageReport

__all__ = ["Notebook", "kernel"]

_SECONDS = 0.5
"""Between two drawings."""


def kernel() -> Any | None:
    """IPython's display functions where this process is a notebook's kernel; None elsewhere. It imports nothing."""
    shell: Any = sys.modules.get("IPython")
    at = None if shell is None else shell.get_ipython()
    return sys.modules.get("IPython.display") if hasattr(at, "kernel") else None


class Notebook:
    """Stage runs under way, and those that ended, newest first."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._stages = Stages()
        self._ended: list[str] = []
        self._lock = threading.Lock()
        self._drawn = 0.0
        self._handle: Any = None

    def _draw(self, now: bool) -> None:
        if not now and time.monotonic() - self._drawn < _SECONDS:
            return
        self._drawn = time.monotonic()
        page = self._display.HTML(self._html())
        if self._handle is None:
            self._handle = self._display.display(page, display_id=True)
        else:
            self._handle.update(page)

    def _html(self) -> str:
        rows = []
        for label, stage in list(self._stages.running.items()):
            calls = stage.calls
            words = [stage.count, stage.left, *((calls.spent, calls.line) if calls else ())]
            rows.append((self._stages.named(label), "; ".join(filter(None, words)), "bold"))
        rows += [(*line.partition(": ")[::2], "normal") for line in reversed(self._ended)]
        cells = "".join(
            f"<tr style='font-weight:{weight}'><td style='text-align:left'>{escape(name)}</td>"
            f"<td style='text-align:left'>{escape(words)}</td></tr>"
            for name, words, weight in rows
        )
        return f"<table>{cells}</table>"

    def plan(self, labels: Sequence[str]) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._stages.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._stages.begin(label, units, reused)
            self._draw(False)

    def advance(self, label: str, units: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._stages.advance(label, units)
            self._draw(False)

    def calls(self, label: str, now: CallsNow) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._stages.calls(label, now)
            self._draw(False)

    def end(self, report: StageReport) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._stages.running.pop(report.label, None)
            self._ended.append(report_line(report))
            self._draw(False)

    def note(self, line: str) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            self._ended.append(f"note: {line}")
            self._draw(True)

    def close(self) -> None:
        """See :class:`~synth.engine.Progress`."""
        with self._lock:
            if self._ended:
                self._draw(True)
