"""What a build says while it runs: a live table in a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from synth.schemas.reports import RunUse, StageReport

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["CallsNow", "Live", "Plain", "Progress", "Quiet", "money", "progress_for", "report_line", "short"]


@dataclass(frozen=True)
class CallsNow:
    """The model calls of a stage run that is under way."""

    rows: int
    """Rows in flight."""
    per_second: float
    """Calls answered per second, lately."""
    use: RunUse
    """So far in this run."""

    @property
    def line(self) -> str:
        """``12 in flight, 80 calls/s, 1,204 calls (200 from the store), 1.2M tokens, cost 0.52``"""
        stored = f" ({self.use.from_store:,} from the store)" if self.use.from_store else ""
        words = [f"{self.rows:,} in flight", f"{self.per_second:.{0 if self.per_second >= 10 else 1}f} calls/s"]
        words += [f"{self.use.calls:,} calls{stored}"]
        words += [f"{short(self.use.prompt_tokens + self.use.completion_tokens)} tokens"]
        words += [f"{self.use.failed:,} failed"] if self.use.failed else []
        words += [f"cost {money(self.use.cost)}"] if self.use.cost else []
        return ", ".join(words)


def short(number: float) -> str:
    """``950``, ``12.3k``, ``1.2M``."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def money(amount: float) -> str:
    """Two digits after the point; four where the amount is small."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"


class Progress(Protocol):
    """Told what happens, in the order in which it happens. Calls may come from several threads."""

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """A stage run has work to do: ``units`` more (None = nobody knows yet), ``reused`` are finished already."""

    def advance(self, label: str, units: int) -> None:
        """``units`` more of it are finished."""

    def calls(self, label: str, now: CallsNow) -> None:
        """How its model calls go; about twice a second while it runs."""

    def end(self, report: StageReport) -> None:
        """A stage run is complete, be it just now or long ago."""

    def note(self, line: str) -> None:
        """Something that the user should know."""

    def close(self) -> None:
        """Nothing more will come. May be called twice."""


def report_line(report: StageReport) -> str:
    """A finished stage run on one line."""
    counts = [f"{report.kept:,} kept of {report.rows_in:,}"]
    counts += [
        f"{number:,} {reason}" for reason, number in sorted(report.rejected.items(), key=lambda x: (-x[1], x[0]))
    ]
    if report.shards and report.reused_shards == report.shards:
        spent = "from the store"
    else:
        spent = f"{report.seconds or 0:.1f} s"
    if report.run is not None and report.run.calls:
        sent = report.run.calls - report.run.from_store
        spent += f", {sent:,} calls"
        spent += f", cost {money(report.run.cost)}" if report.run.cost else ""
    return f"{report.label}: {', '.join(counts)} ({spent})"


class Quiet:
    """Says nothing."""

    def begin(self, label: str, units: int | None, reused: int) -> None: ...

    def advance(self, label: str, units: int) -> None: ...

    def calls(self, label: str, now: CallsNow) -> None: ...

    def end(self, report: StageReport) -> None: ...

    def note(self, line: str) -> None: ...

    def close(self) -> None: ...


class Plain:
    """One line when a stage begins, every ``seconds`` while it runs, and when it ends. For logs."""

    def __init__(self, stream: TextIO | None = None, *, seconds: float = 10.0) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._seconds = seconds
        self._lock = threading.Lock()
        self._done: dict[str, int] = {}
        self._total: dict[str, int | None] = {}
        self._calls: dict[str, str] = {}
        self._spoke = time.monotonic()

    def _say(self, line: str) -> None:
        self._spoke = time.monotonic()
        self._stream.write(line + "\n")
        self._stream.flush()

    def begin(self, label: str, units: int | None, reused: int) -> None:
        with self._lock:
            self._done[label] = reused
            self._total[label] = None if units is None else units + reused
            kept = f", {reused:,} finished before" if reused else ""
            self._say(f"{label}: {'runs' if units is None else f'{units:,} to do'}{kept}")

    def advance(self, label: str, units: int) -> None:
        with self._lock:
            self._done[label] = self._done.get(label, 0) + units
            self._say_where(label)

    def calls(self, label: str, now: CallsNow) -> None:
        with self._lock:
            self._calls[label] = now.line
            self._say_where(label)

    def _say_where(self, label: str) -> None:
        if time.monotonic() - self._spoke >= self._seconds:
            total = self._total.get(label)
            calls = f"; {self._calls[label]}" if label in self._calls else ""
            self._say(f"{label}: {self._done.get(label, 0):,}" + (f" of {total:,}" if total else "") + calls)

    def end(self, report: StageReport) -> None:
        with self._lock:
            self._say(report_line(report))

    def note(self, line: str) -> None:
        with self._lock:
            self._say(line)

    def close(self) -> None: ...


class Live:
    """A table that is drawn anew while the build runs; finished stages stay above it as lines."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self._console = console or Console(stderr=True)
        self._bars = Bars(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[calls]}", style="dim", markup=False),
            console=self._console,
            transient=True,
        )
        self._tasks: dict[str, int] = {}
        self._bars.start()

    def begin(self, label: str, units: int | None, reused: int) -> None:
        if label in self._tasks:
            self._bars.remove_task(self._tasks.pop(label))  # type: ignore[arg-type]
        total = None if units is None else units + reused
        self._tasks[label] = int(self._bars.add_task(label, total=total, completed=reused, calls=""))

    def advance(self, label: str, units: int) -> None:
        if label in self._tasks:
            self._bars.advance(self._tasks[label], units)  # type: ignore[arg-type]

    def calls(self, label: str, now: CallsNow) -> None:
        if label in self._tasks:
            self._bars.update(self._tasks[label], calls=now.line)  # type: ignore[arg-type]

    def end(self, report: StageReport) -> None:
        if report.label in self._tasks:
            self._bars.remove_task(self._tasks.pop(report.label))  # type: ignore[arg-type]
        self._bars.print(report_line(report), markup=False, highlight=False)

    def note(self, line: str) -> None:
        self._bars.print(line, markup=False, highlight=False, style="yellow")

    def close(self) -> None:
        self._bars.stop()


def progress_for(stream: TextIO | None = None, *, quiet: bool = False) -> Progress:
    """``Live`` in a terminal, ``Plain`` elsewhere, ``Quiet`` when asked for."""
    if quiet:
        return Quiet()
    stream = stream if stream is not None else sys.stderr
    return Live() if stream.isatty() else Plain(stream)
