"""Results as a table of Markdown: rates over seeds, then the endpoints that were named before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from efficacy_lab.experiment import BY_HOPS, Measured, Results
from efficacy_lab.plan import Plan, Purpose
from efficacy_lab.statistics import Compared, Interval, compare, interval
from synth.store.files import write_file

__all__ = ["endpoints_of", "few_text", "mean_text", "table_of", "write_findings", "write_results"]


def write_findings(folder: Path, plan: Plan, results: Results) -> None:
    """Write ``results.json`` and ``table.md``, both of the same results, into ``folder``."""
    write_results(folder, results)
    write_file(folder / "table.md", table_of(plan, results).encode())


def write_results(folder: Path, results: Results) -> None:
    """Write ``results.json`` alone: what a part of a run is, before the others are there."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "results.json", results.model_dump_json(indent=1).encode())


def endpoints_of(plan: Plan, results: Results) -> list[Compared]:
    """The endpoints that the results can answer, in the plan's order."""
    rates = results.rates(plan.first_place)
    found = []
    for end in plan.endpoints:
        if rates.get(end.arm, {}).keys() & rates.get(end.against, {}).keys():
            found.append(compare(end.arm, end.against, rates))
    return found


def table_of(plan: Plan, results: Results) -> str:
    """All of it in Markdown."""
    lines = [
        f"Plan `{results.plan[:12]}`, {kind_text(results.purpose)}. Intervals are over seeds (95 %, Student's t).",
        "",
    ]
    for place, arms in results.measured.items():
        rates = results.rates(place)
        every = [one for seeds in arms.values() for one in seeds.values()]
        hops = sorted({name for one in every for name in one.facts if name.startswith(BY_HOPS)})
        lines += [
            f"**{place}** ({asked_text(every)} per seed)",
            "",
            f"| arm | seeds | success | against sft |{''.join(f' {name} |' for name in hops)}"
            " turns | pairs or rows | share of failed steps |",
            f"|---|---|---|---|{'---|' * len(hops)}---|---|---|",
        ]
        for arm in [name for name in plan.arms if name in arms or name in results.missing]:
            seeds = arms.get(arm, {})
            if not seeds:
                lines.append(f"| {arm} | 0 | {few_text(results, arm)} |{' - |' * (4 + len(hops))}")
                continue
            against = "-"
            if arm != "sft" and rates[arm].keys() & rates.get("sft", {}).keys():
                against = _difference(compare(arm, "sft", rates))
            figures = list(results.trained.get(arm, {}).values())
            cells = [
                f"{arm} (seeds left out: {few_text(results, arm)})" if arm in results.missing else arm,
                str(len(seeds)),
                _rate(interval([one.rate for one in seeds.values()])),
                against,
                *(f"{fmean(one.facts.get(name, 0.0) for one in seeds.values()):.2f}" for name in hops),
                f"{fmean(one.turns for one in seeds.values()):.1f}",
                mean_text(figures, "pairs") if any("pairs" in one for one in figures) else mean_text(figures, "rows"),
                mean_text(figures, "share", percent=True),
            ]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    asked = [end for end in plan.endpoints if {end.arm, end.against} <= results.trained.keys() | results.missing.keys()]
    if asked:
        lines += [
            f"Endpoints, named before the run ({plan.first_place}):",
            "",
            "| difference | seeds | found | smallest that would be found (power 80 %) | verdict |",
            "|---|---|---|---|---|",
        ]
    found = {(one.arm, one.against): one for one in endpoints_of(plan, results)}
    for end in asked:
        one = found.get((end.arm, end.against))
        if one is None:
            few = [f"{arm}: {few_text(results, arm)}" for arm in (end.arm, end.against) if arm in results.missing]
            lines.append(f"| {end.arm} - {end.against} | 0 | not measured ({'; '.join(few)}) | - | not measured |")
            continue
        least = "-" if one.detectable is None else f"{one.detectable:.3f}"
        cells = [f"{one.arm} - {one.against}", str(one.difference.n), _difference(one), least, one.verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines).rstrip() + "\n"


def kind_text(purpose: Purpose) -> str:
    """What seeds of that purpose are good for."""
    return "untouched seeds, run once" if purpose == "final" else "development seeds: no test of anything"


def asked_text(measured: Iterable[Measured]) -> str:
    """How much was asked for at a place: "250 tasks", or "1,000 runs of 250 tasks"."""
    tasks, runs = max((one.tasks, one.runs) for one in measured)
    return f"{tasks:,} tasks" if tasks == runs else f"{runs:,} runs of {tasks:,} tasks"


def few_text(results: Results, arm: str) -> str:
    """Why an arm that is missing on some seeds is missing there."""
    few = results.missing[arm]
    return "too few: " + ", ".join(f"{what} (seed {seed})" for seed, what in sorted(few.items()))


def _rate(found: Interval) -> str:
    if found.low is None or found.high is None:
        return f"{found.mean:.3f}"
    return f"{found.mean:.3f} ({max(0.0, found.low):.3f} to {min(1.0, found.high):.3f})"


def _difference(one: Compared) -> str:
    found = one.difference
    text = f"{found.mean:+.3f}"
    if one.relative is not None:
        text += f", {one.relative:+.0%}"
    return text if found.low is None else f"{text} ({found.low:+.3f} to {found.high:+.3f})"


def mean_text(figures: list[dict[str, float]], name: str, *, percent: bool = False) -> str:
    """The mean of a figure over seeds; "-" where there is none."""
    values = [one[name] for one in figures if name in one]
    if not values:
        return "-"
    return f"{fmean(values):.0%}" if percent else f"{fmean(values):,.0f}"
