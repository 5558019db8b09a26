"""Results as tables of Markdown: arms by kind of task, dose and calls, then the endpoints that were named before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, get_args

from efficacy_lab.plan import Arm, Endpoint, Part, Plan
from efficacy_lab.statistics import Interval, compare, interval
from synth.errors import InputError

__all__ = [
    "Seed",
    "arrived",
    "endpoint_verdict",
    "further_table",
    "plain",
    "rate",
    "read_seeds",
    "signed_text",
    "table_of",
    "value_text",
]

Seed: TypeAlias = Mapping[str, Any]
"""What a ``seed-N.json`` holds."""
PARTS: tuple[Part, ...] = get_args(Part)
FURTHER: tuple[tuple[str, str, Part, int], ...] = (
    ("verified", "rft", "all", 0),
    ("verified", "rft", "all", 1),
    ("verified", "rft", "affected", 1),
    ("verified", "rft", "unaffected", 1),
    ("verified", "rft_dear", "all", 0),
    ("verified", "unverified", "all", 0),
    ("verified_rare", "unverified_rare", "all", 0),
    ("unverified_half", "rft", "all", 0),
    ("verified", "demonstrations", "affected", 0),
    ("verified", "demonstrations", "unaffected", 0),
    ("verified_half", "demonstrations_half", "all", 0),
    ("verified_pairs", "rft", "all", 0),
    ("verified_pairs", "rft", "affected", 0),
    ("verified_pairs", "rft", "unaffected", 0),
    ("flipped", "rft", "all", 0),
)
"""(arm, against, tasks, number of the temperature): chosen when the results were known. Of twenty such one is
expected to stand out by chance."""
_PREFERRED = 0.85
_HALVED = 0.5


def read_seeds(plan: Plan, files: Sequence[Path]) -> list[Seed]:
    """Results of seeds, in order.

    Raises:
        InputError: one is none, is of another plan, or of a seed that another file holds.
    """
    found: dict[int, Seed] = {}
    for file in files:
        try:
            one = json.loads(file.read_text())
            if one["plan"] != plan.key:
                mend = f"run all seeds with one plan; this one is {plan.key[:12]}"
                raise InputError(f"is of plan {one['plan'][:12]}", where=str(file), mend=mend)
            if one["seed"] in found:
                raise InputError(f"seed {one['seed']} is in another file, too", where=str(file), mend="leave one out")
            found[one["seed"]] = one
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError("holds no results", where=str(file), mend="name a seed-N.json of the laboratory") from None
    return [found[seed] for seed in sorted(found)]


def rate(seed: Seed, arm: str, temperature: float, part: Part) -> float | None:
    """Share of the tasks of a part that an arm solved; None where the seed has no such task."""
    won, affected = seed["arms"][arm]["won"][str(temperature)], seed["affected"]
    wanted = [
        bit for bit, mark in zip(won, affected, strict=True) if part == "all" or (mark == "1") is (part == "affected")
    ]
    return wanted.count("1") / len(wanted) if wanted else None


def arrived(arm: Arm, dose: Sequence[float | None] | None) -> bool | None:
    """Whether what an arm adds was learned; None where it adds nothing."""
    if arm.adds is None or not dose:
        return None
    before, after = dose
    if before is None or after is None:
        return False
    return after >= _PREFERRED if arm.pairs else after <= _HALVED * before


def table_of(plan: Plan, seeds: Sequence[Seed]) -> str:
    """All of it. Of a part of the seeds rates are told, and no verdict."""
    if not seeds:
        return "No seed is finished.\n"
    numbers = {seed["seed"] for seed in seeds}
    kind = plan.seeds.untouched if numbers <= set(plan.seeds.untouched) else plan.seeds.development
    what = "untouched" if kind is plan.seeds.untouched else "development"
    affected = fmean(seed["affected"].count("1") / len(seed["affected"]) for seed in seeds)
    lines = [
        f"{len(seeds)} of {len(kind)} {what} seeds run ({', '.join(map(str, sorted(numbers)))}); "
        f"{len(seeds[0]['affected']):,} tasks a seed, {affected:.0%} of them affected.",
        *_turned(seeds, str(plan.temperatures[0])),
        "",
        "| arm: learns from | all | affected | unaffected |"
        f"{''.join(f' at {heat} |' for heat in plan.temperatures[1:])} own, added | calls: policy, expert | dose |",
        f"|---|---|---|---|{'---|' * len(plan.temperatures[1:])}---|---|---|",
    ]
    first = plan.temperatures[0]
    for name, arm in plan.arms.items():
        parts = [_mean(seeds, name, first, part) for part in PARTS]
        others = [_mean(seeds, name, heat, "all") for heat in plan.temperatures[1:]]
        figures = [seed["arms"][name] for seed in seeds]
        amounts = ["-", "-"]
        if arm.own:
            means = {key: fmean(one[key] for one in figures) for key in ("own", "added", "policy", "expert")}
            amounts = [f"{means['own']:,.0f}, {means['added']:,.0f}", f"{means['policy']:,.0f}, {means['expert']:,.0f}"]
        lines.append(f"| {' | '.join([f'`{name}`: {arm.says}', *parts, *others, *amounts, _dose(arm, figures)])} |")
    lines += ["", "| endpoint | found | verdict |", "|---|---|---|"]
    for end in plan.endpoints:
        found = _difference(plan, seeds, end.arm, end.against, end.tasks)
        whole = numbers == set(plan.seeds.untouched)
        verdict = endpoint_verdict(plan, end, seeds) if whole else f"{len(seeds)} of {len(kind)} {what} seeds"
        difference = "-" if found is None else signed_text(found)
        lines.append(f"| {end.name}: `{end.arm}` - `{end.against}`, {end.tasks} | {difference} | {verdict} |")
    return "\n".join(lines) + "\n"


def endpoint_verdict(plan: Plan, end: Endpoint, seeds: Sequence[Seed]) -> str:
    """What the plan said that it would say."""
    for name in (end.arm, end.against):
        doses = [arrived(plan.arms[name], seed["arms"][name].get("dose")) for seed in seeds]
        missed = doses.count(False)
        if missed:
            return f"not tested: the dose of `{name}` did not arrive on {missed} of {len(seeds)} seeds"
    found = _difference(plan, seeds, end.arm, end.against, end.tasks)
    if found is None or found.low is None or found.high is None:
        return "not measured"
    low, high = found.low, found.high
    if end.margin is not None:
        alike = -end.margin < low and high < end.margin
        return "alike" if alike else "higher" if low > 0 else "lower" if high < 0 else "not decided"
    if end.above is not None:
        return "holds" if low > end.above else "fails"
    return "holds" if low > 0 and found.mean >= (end.least or 0.0) else "fails"


def further_table(plan: Plan, seeds: Sequence[Seed]) -> str:
    """Differences that the plan did not name."""
    lines = ["| not named before: difference, tasks | at | found |", "|---|---|---|"]
    for arm, against, tasks, number in FURTHER:
        found = _difference(plan, seeds, arm, against, tasks, number)
        said = "-" if found is None else signed_text(found)
        lines.append(f"| `{arm}` - `{against}`, {tasks} | {plan.temperatures[number]} | {said} |")
    return "\n".join(lines) + "\n"


def _difference(
    plan: Plan, seeds: Sequence[Seed], arm: str, against: str, tasks: Part, number: int = 0
) -> Interval | None:
    """Of success at the plan's temperature of that ``number``; None where no seed has such tasks."""
    heat = plan.temperatures[number]
    rates = {
        name: {seed["seed"]: found for seed in seeds if (found := rate(seed, name, heat, tasks)) is not None}
        for name in (arm, against)
    }
    return compare(arm, against, rates).difference if rates[arm] else None


def _turned(seeds: Sequence[Seed], temperature: str) -> list[str]:
    """Whether any run was right without the turn of a page that its task needs."""
    counts = Counter(
        (turned, won)
        for seed in seeds
        for one in seed["arms"].values()
        for bits in [one.get("paged", {}).get(temperature, "")]
        for need, turned, won in zip(seed["affected"], bits, one["won"][temperature], strict=False)
        if need == "1"
    )
    without = counts["0", "0"] + counts["0", "1"]
    if not any(turned == "1" for turned, _ in counts):
        return []
    return [
        f"Of {counts.total():,} runs of affected tasks, which need the turn of a page, {without:,} turned none: "
        f"{counts['0', '1']:,} of them are right. Of the other {counts.total() - without:,} {counts['1', '1']:,} are."
    ]


def _dose(arm: Arm, figures: Sequence[Mapping[str, Any]]) -> str:
    """Before and after; of own successes alone it is a loss that nothing is expected of."""
    doses = [one["dose"] for one in figures if one.get("dose") and None not in one["dose"]]
    if not doses:
        return "-"
    before, after = (fmean(dose[place] for dose in doses) for place in (0, 1))
    known = [arrived(arm, one.get("dose")) for one in figures]
    said = "" if known[0] is None else f", arrived on {known.count(True)} of {len(known)}"
    return f"{'preferred' if arm.pairs else 'loss'} {before:.2f} to {after:.2f}{said}"


def _mean(seeds: Sequence[Seed], arm: str, temperature: float, part: Part) -> str:
    rates = [found for seed in seeds if (found := rate(seed, arm, temperature, part)) is not None]
    return value_text(interval(rates)) if rates else "-"


def value_text(found: Interval) -> str:
    """A rate, with its interval where there is one."""
    if found.low is None or found.high is None:
        return plain(found.mean)
    return f"{plain(found.mean)} ({plain(max(0.0, found.low))} to {plain(min(1.0, found.high))})"


def signed_text(found: Interval) -> str:
    """A difference, with its interval where there is one."""
    if found.low is None or found.high is None:
        return _signed(found.mean)
    return f"{_signed(found.mean)} ({_signed(found.low)} to {_signed(found.high)})"


def plain(value: float) -> str:
    """``.012``."""
    return f"{value:.3f}".replace("0.", ".", 1)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)
