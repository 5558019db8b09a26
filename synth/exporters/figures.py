"""The plots of a dataset that its report alone gives: the card shows them as files, the quality report among others."""

from __future__ import annotations

from collections.abc import Iterator

from synth.exporters.plots import Bar, bars
from synth.schemas.reports import BuildReport

__all__ = ["figures"]


def figures(report: BuildReport) -> dict[str, str]:
    """Name -> SVG, in the order of the story: what was kept, who succeeded, how hard, how labelled, what was verified.
    The same report gives the same bytes; a plot without a number is left out."""
    drawn = {
        "yields": bars("Kept of what each stage read", list(_yields(report)), most=1.0),
        "rejections": bars("Why things were rejected", list(_reasons(report))),
        "success": bars("Success by role and hops", list(_success(report)), most=1.0),
        "difficulty": bars("Measured success by predicted success", list(_difficulty(report)), most=1.0),
        "labels": bars("Labels of steps", list(_labels(report)), most=1.0),
        "critical": bars("Steps searched, tried and verified", list(_critical(report))),
        "pairs": bars("Preference pairs by kind and family", list(_pairs(report))),
    }
    return {name: svg for name, svg in drawn.items() if svg.count("<rect") > 1}


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
            hops = f"{of.hops} hop{'s' * (of.hops > 1)}" if of.hops else "given question"
            yield Bar(f"{of.role}, {hops}", share, f"{share:.1%} of {of.trajectories:,}", of.role)


def _difficulty(report: BuildReport) -> Iterator[Bar]:
    for of in report.difficulty.bins if report.difficulty else ():
        around = f"{of.measured:.0%} ({of.measured_low:.0%} to {of.measured_high:.0%})"
        yield Bar(f"predicted {of.low:.1f} to {of.high:.1f}", of.measured, around)


def _labels(report: BuildReport) -> Iterator[Bar]:
    for of in report.labels:
        for name, count in (("+1 helps", of.helps), ("0 neutral", of.neutral), ("-1 harms", of.harms)):
            if of.steps:
                yield Bar(f"{of.role}, {name}", count / of.steps, f"{count / of.steps:.1%} of {of.steps:,}", of.role)


def _critical(report: BuildReport) -> Iterator[Bar]:
    for of in report.critical:
        for name, count in (("steps", of.steps), ("tried", of.tried), ("verified", of.verified)):
            yield Bar(f"{of.role}, {of.outcome} runs, {name}", count, f"{count:,}", of.role)


def _pairs(report: BuildReport) -> Iterator[Bar]:
    for of in report.pairs:
        yield Bar(f"{of.kind.value}, {of.family}", of.pairs, f"{of.pairs:,}, {of.selected:,} selected")
