"""The plots of a dataset that its report alone gives: the card shows them as files, the quality report among others."""

from __future__ import annotations

from collections.abc import Iterator

from synth.dataset.card.plots import Bar, bars
from synth.schemas.reports import BuildReport

__all__ = ["TITLES", "figures"]

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
