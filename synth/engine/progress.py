"""What a build says while it runs: a live table in a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from synth.schemas.reports import RunUse, StageReport

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = [
    "CallsNow",
    "Live",
    "Plain",
    "Progress",
    "Quiet",
    "Stages",
    "duration",
    "money",
    "progress_for",
    "report_line",
    "short",
]


@dataclass(frozen=True)
class CallsNow:
    """The model calls of a stage run that is under way."""

    rows: int
    """Rows in flight."""
    per_second: float
    """Calls answered per second, lately."""
    use: RunUse
    """So far in this run."""
    spent: str = ""
    """Of the caps, over all runs: ``spent 0.52 of 1.00``, and how batches under way are going; mostly empty."""

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
    if amount >= 100_000:
        return short(amount)
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"


def duration(seconds: float) -> str:
    """``1.5 d``, ``2.0 h``, ``3.2 min`` or ``4.1 s``."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {name}"
    return f"{seconds:.1f} s"


class Progress(Protocol):
    """Told what happens, in the order in which it happens. Calls may come from several threads."""

    def plan(self, labels: Sequence[str]) -> None:
        """These stage runs there are, in this order."""

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """A stage run has work to do: ``units`` more (None = not known yet), ``reused`` are finished already."""

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

    def plan(self, labels: Sequence[str]) -> None: ...

    def begin(self, label: str, units: int | None, reused: int) -> None: ...

    def advance(self, label: str, units: int) -> None: ...

    def calls(self, label: str, now: CallsNow) -> None: ...

    def end(self, report: StageReport) -> None: ...

    def note(self, line: str) -> None: ...

    def close(self) -> None: ...


class _Stage:
    """A stage run under way: how far it is, and when it will be through at its pace in this run."""

    def __init__(self, units: int | None, reused: int) -> None:
        self.done = reused
        self.total = None if units is None else units + reused
        self.calls: CallsNow | None = None
        self._reused = reused
        self._began = time.monotonic()

    @property
    def count(self) -> str:
        return f"{self.done:,}" + (f" of {self.total:,}" if self.total else "")

    @property
    def left(self) -> str:
        """Empty while nothing is known."""
        made = self.done - self._reused
        if self.total is None or made <= 0 or self.done >= self.total:
            return ""
        return f"{duration((time.monotonic() - self._began) * (self.total - self.done) / made)} left"


class Stages:
    """Where each stage run stands in the plan, and those under way."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}
        self.running: dict[str, _Stage] = {}

    def plan(self, labels: Sequence[str]) -> None:
        self._places = {label: f"stage {number} of {len(labels)}" for number, label in enumerate(labels, start=1)}

    def named(self, label: str) -> str:
        """``rollouts (stage 3 of 14)``"""
        return f"{label} ({self._places[label]})" if label in self._places else label

    def begin(self, label: str, units: int | None, reused: int) -> None:
        self.running[label] = _Stage(units, reused)

    def advance(self, label: str, units: int) -> None:
        if label in self.running:
            self.running[label].done += units

    def calls(self, label: str, now: CallsNow) -> None:
        if label in self.running:
            self.running[label].calls = now


class Plain:
    """One line when a stage begins, every ``seconds`` while it runs, and when it ends. For logs."""

    def __init__(self, stream: TextIO | None = None, *, seconds: float = 10.0) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stages = Stages()
        self._spoke = time.monotonic()

    def _say(self, line: str) -> None:
        self._spoke = time.monotonic()
        self._stream.write(line + "\n")
        self._stream.flush()

    def plan(self, labels: Sequence[str]) -> None:
        with self._lock:
            self._stages.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        with self._lock:
            self._stages.begin(label, units, reused)
            kept = f", {reused:,} finished before" if reused else ""
            self._say(f"{self._stages.named(label)}: {'runs' if units is None else f'{units:,} to do'}{kept}")

    def advance(self, label: str, units: int) -> None:
        with self._lock:
            self._stages.advance(label, units)
            self._say_where(label)

    def calls(self, label: str, now: CallsNow) -> None:
        with self._lock:
            self._stages.calls(label, now)
            self._say_where(label)

    def _say_where(self, label: str) -> None:
        stage = self._stages.running.get(label)
        if stage is not None and time.monotonic() - self._spoke >= self._seconds:
            words = [stage.count, stage.left, *((stage.calls.spent, stage.calls.line) if stage.calls else ())]
            self._say(f"{self._stages.named(label)}: {'; '.join(filter(None, words))}")

    def end(self, report: StageReport) -> None:
        with self._lock:
            self._stages.running.pop(report.label, None)
            self._say(report_line(report))

    def note(self, line: str) -> None:
        with self._lock:
            self._say(line)

    def close(self) -> None: ...


class Live:
    """A table that is drawn anew while the build runs; finished stages stay above it as lines. Per stage run under way
    it shows count, place in the plan, time left and what is spent of the cap; model calls on a line below."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live as Drawing

        self._stages = Stages()
        self._drawing = Drawing(
            console=console or Console(stderr=True), get_renderable=self._drawn, transient=True, refresh_per_second=4
        )
        self._drawing.start()

    def _drawn(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        lines: list[RenderableType] = []
        for label, stage in list(self._stages.running.items()):
            words = [stage.count, stage.left, stage.calls.spent if stage.calls else ""]
            numbers = Text(", ".join(filter(None, words)))
            name = Text(self._stages.named(label), style="bold")
            # The name gives way where the line is narrow, the numbers never do.
            name.truncate(max(8, self._drawing.console.width - len(numbers) - 1), overflow="ellipsis")
            lines.append(Text.assemble(name, " ", numbers, no_wrap=True, overflow="ellipsis"))
            if stage.calls is not None:
                lines.append(Text(f"  {stage.calls.line}", style="dim", no_wrap=True, overflow="ellipsis"))
        return Group(*lines)

    def plan(self, labels: Sequence[str]) -> None:
        self._stages.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        self._stages.begin(label, units, reused)

    def advance(self, label: str, units: int) -> None:
        self._stages.advance(label, units)

    def calls(self, label: str, now: CallsNow) -> None:
        self._stages.calls(label, now)

    def end(self, report: StageReport) -> None:
        self._stages.running.pop(report.label, None)
        self._drawing.console.print(report_line(report), markup=False, highlight=False)

    def note(self, line: str) -> None:
        self._drawing.console.print(line, markup=False, highlight=False, style="yellow")

    def close(self) -> None:
        self._drawing.stop()


def progress_for(stream: TextIO | None = None, *, quiet: bool = False) -> Progress:
    """``Live`` in a terminal, ``Plain`` elsewhere, ``Quiet`` when asked for."""
    if quiet:
        return Quiet()
    stream = stream if stream is not None else sys.stderr
    return Live() if stream.isatty() else Plain(stream)
