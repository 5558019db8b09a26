"""Plots as SVG, and those that a dataset's report alone gives: the card shows them as files, the quality report among
others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from synth.schemas.reports import BuildReport

__all__ = ["TITLES", "Bar", "bars", "figures", "histogram"]

_COLOURS = ("#2f6f9f", "#b5651d", "#4b7f52", "#7a5195", "#8c2d19", "#555555")
_WIDTH = 640
_LABEL = 230
_VALUE = 150
_ROW = 22
_TOP = 34
_FONT = "font-family='system-ui, sans-serif' font-size='12'"


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    text: str
    """What is written beside it."""
    group: str = ""
    """Bars of a group have one colour, and a legend names it."""


def bars(title: str, rows: Sequence[Bar], *, most: float | None = None) -> str:
    """Horizontal bars, one per row, drawn to ``most`` (default: the longest)."""
    groups = list(dict.fromkeys(row.group for row in rows if row.group))
    top = _TOP + (_ROW if groups else 0)
    height = top + _ROW * len(rows) + 8
    limit = most or max((row.value for row in rows), default=0.0) or 1.0
    span = _WIDTH - _LABEL - _VALUE
    drawn = [_head(title, height)]
    for place, group in enumerate(groups):
        x = 12 + 130 * place
        drawn.append(f"<rect x='{x}' y='{_TOP - 2}' width='11' height='11' fill='{_colour(place)}'/>")
        drawn.append(_text(x + 16, _TOP + 8, group))
    for number, row in enumerate(rows):
        y = top + _ROW * number
        width = span * min(max(row.value / limit, 0.0), 1.0)
        colour = _colour(groups.index(row.group) if row.group else 0)
        drawn.append(_text(_LABEL - 8, y + 14, _short(row.label, 34), anchor="end"))
        drawn.append(f"<rect x='{_LABEL}' y='{y + 3}' width='{span}' height='15' fill='#eeeeee'/>")
        drawn.append(f"<rect x='{_LABEL}' y='{y + 3}' width='{width:.1f}' height='15' fill='{colour}'/>")
        drawn.append(_text(_LABEL + span + 8, y + 14, row.text))
    return "\n".join([*drawn, "</svg>\n"])


def histogram(title: str, counts: Sequence[tuple[float, float, int]], unit: str) -> str:
    """Upright bars: ``counts`` are (from, to, rows) of neighbouring bins."""
    height, base, left = 190, 150, 16
    most = max((count for _, _, count in counts), default=0) or 1
    width = (_WIDTH - 2 * left) / max(1, len(counts))
    drawn = [_head(title, height)]
    for number, (low, _, count) in enumerate(counts):
        x, tall = left + number * width, 96 * count / most
        drawn.append(
            f"<rect x='{x + 1:.1f}' y='{base - tall:.1f}' width='{width - 2:.1f}' height='{tall:.1f}' "
            f"fill='{_COLOURS[0]}'/>"
        )
        if count:
            drawn.append(_text(x + width / 2, base - tall - 4, f"{count:,}", anchor="middle", size=10))
        drawn.append(_text(x, base + 14, f"{low:,.0f}", size=10))
    if counts:
        drawn.append(_text(_WIDTH - left, base + 14, f"{counts[-1][1]:,.0f}", anchor="end", size=10))
    drawn.append(_text(_WIDTH / 2, base + 32, unit, anchor="middle"))
    return "\n".join([*drawn, "</svg>\n"])


def _head(title: str, height: int) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' width='{_WIDTH}' height='{height}' "
        f"role='img' {_FONT}>\n<title>{escape(title)}</title>\n"
        f"<rect x='0' y='0' width='{_WIDTH}' height='{height}' fill='#ffffff'/>\n"
        f"<text x='12' y='20' font-size='14' font-weight='600' fill='#111111'>{escape(title)}</text>"
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' fill='#222222'>{escape(text)}</text>"
    )


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


TITLES = {
    "yields": "Kept of what each stage read",
    "rejections": "Why things were rejected",
    "success": "Success by role and hops",
    "difficulty": "Measured success by predicted success",
    "labels": "Labels of steps",
    "critical": "Steps searched, tried and verified",
    "pairs": "Preference pairs by kind and family",
}
"""Name of a plot's file -> what it shows, in the order of the story: what was kept, who succeeded, how hard, how
labelled, what was verified."""


def figures(report: BuildReport) -> dict[str, str]:
    """Name -> SVG, in the order of ``TITLES``; one without a number is left out; equal reports, equal bytes."""
    rows: dict[str, tuple[Iterator[Bar], float | None]] = {
        "yields": (_yields(report), 1.0),
        "rejections": (_reasons(report), None),
        "success": (_success(report), 1.0),
        "difficulty": (_difficulty(report), 1.0),
        "labels": (_labels(report), 1.0),
        "critical": (_critical(report), None),
        "pairs": (_pairs(report), None),
    }
    listed = {name: (list(of), most) for name, (of, most) in rows.items()}
    return {name: bars(TITLES[name], of, most=most) for name, (of, most) in listed.items() if of}


def _yields(report: BuildReport) -> Iterator[Bar]:
    for stage in report.stages:
        if stage.rows_in:
            yield Bar(stage.label, stage.yield_, f"{stage.yield_:.1%} of {stage.rows_in:,}")


def _reasons(report: BuildReport) -> Iterator[Bar]:
    counts: dict[str, int] = {}
    for stage in report.stages:
        for reason, count in stage.rejected.items():
            counts[reason] = counts.get(reason, 0) + count
    for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield Bar(reason, count, f"{count:,}")


def _success(report: BuildReport) -> Iterator[Bar]:
    for of in report.outcomes:
        if of.trajectories:
            share = of.successes / of.trajectories
            hops = f"{of.hops} hop{'s' * (of.hops > 1)}" if of.hops else "no walk"
            yield Bar(f"{of.role}, {hops}", share, f"{share:.1%} of {of.trajectories:,}", of.role)


def _difficulty(report: BuildReport) -> Iterator[Bar]:
    for of in report.difficulty.bins if report.difficulty else ():
        around = f"{of.measured:.0%} ({of.measured_low:.0%} to {of.measured_high:.0%})"
        yield Bar(f"predicted {of.low:.1f} to {of.high:.1f}", of.measured, around)


def _labels(report: BuildReport) -> Iterator[Bar]:
    for of in report.labels:
        for name, (_, share) in of.signs.items():
            if share is not None:
                told = f"{share:.1%} of {of.steps - of.unmeasured:,}"
                yield Bar(f"{of.role}, {name}", share, told, of.role)


def _critical(report: BuildReport) -> Iterator[Bar]:
    for of in report.critical:
        for name, count in (("steps", of.steps), ("tried", of.tried), ("verified", of.verified)):
            yield Bar(f"{of.role}, {of.outcome} runs, {name}", count, f"{count:,}", of.role)


def _pairs(report: BuildReport) -> Iterator[Bar]:
    for of in report.pairs:
        yield Bar(f"{of.kind.value}, {of.family}", of.pairs, f"{of.pairs:,}, {of.selected:,} selected")
