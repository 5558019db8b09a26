"""Does the data train? The tables of the README, from results of the untouched seeds.

    python tests/benchmarks/bench_efficacy.py                              from the results kept here (efficacy/)
    python tests/benchmarks/bench_efficacy.py A/results.json B/results.json      of the plan that ships
    python tests/benchmarks/bench_efficacy.py --plan faults A/results.json       of the one about checks

The results themselves are made by ``make efficacy-full`` and ``make efficacy-faults`` (hours), on one machine or, by
``--only`` and ``--with``, on several. Rates are means over seeds, intervals Student's t over seeds (95 %), differences
paired within seeds. Nothing is trained here; the baseline is ``sft``, the base alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))
from efficacy_lab.experiment import Results
from efficacy_lab.parts import read_results
from efficacy_lab.plan import Plan, load_plan
from efficacy_lab.statistics import Compared, Interval, compare, interval
from efficacy_lab.table import endpoints_of, few_text, mean_text

KEPT = Path(__file__).parent / "efficacy"
PLANS = {"arms": None, "faults": Path("faults")}
"""Plans whose untouched seeds were run; the results of each are kept by its name."""

PARTS = (
    ("tasks that say the same are dropped", "sft", "no_dedup"),
    ("a teacher that goes wrong and comes back", "sft", "no_detours"),
    ("from easy to hard", "curriculum", "sft"),
    ("only runs without a wrong turn", "sft", "unlabelled"),
    ("wrong turns read and not learned", "masked", "unlabelled"),
    ("the same, from a teacher with a habit", "habit", "habit_unlabelled"),
    ("runs that failed are left out", "habit_unlabelled", "unchecked"),
    ("the policy's own successes", "rft", "more_sft"),
    ("pairs of whole runs beside their anchor", "trajectory_dpo", "anchor_only"),
    ("one lucky continuation as a proof (CSO)", "cso", "anchor_only"),
    ("verified pairs of any kind", "verified", "anchor_only"),
    ("verification: all kinds of action", "verified", "all"),
    ("the same kind of action only", "same_kind", "verified"),
    ("the earliest verified step only", "earliest", "verified"),
    ("corrections as rows", "corrected", "rft"),
    ("verification of such rows", "corrected", "random_corrected"),
    ("a second round of rft", "rft_twice", "rft"),
    ("a second round of same_kind", "same_kind_twice", "same_kind"),
    ("beta .03 for .1", "beta_low", "same_kind"),
    ("beta .3 for .1", "beta_high", "same_kind"),
    ("all 3,760 runs, not 500", "sft", "eighth"),
    # Of the plan `faults`: its endpoints.
    ("a teacher's runs that failed are left out", "erring_unlabelled", "erring_unchecked"),
    ("a policy's own runs that failed are left out", "own_unlabelled", "own_unchecked"),
    ("a teacher's runs with a wrong turn are left out", "erring", "erring_unlabelled"),
    ("a teacher's wrong turns are read and not learned", "erring_masked", "erring_unlabelled"),
    ("a policy's wrong turns are read and not learned", "rft", "own_unlabelled"),
    ("runs that say the same are dropped", "own_unlabelled", "own_copies"),
)
"""What a part of the pipeline is worth: the arm with it against the arm without, which may differ in how many rows or
pairs that leaves. Chosen before the untouched seeds were looked at. At 95 % one of twenty is expected to fall out by
luck."""


def kept(name: str = "arms", files: Sequence[Path] = ()) -> tuple[Plan, Results]:
    """A plan, and what was found on its untouched seeds: of all arms, at all places that it is about."""
    plan = load_plan(PLANS[name])
    places = tuple(plan.data.places) if name == "arms" else (plan.first_place,)
    chosen = files or [file for file in [KEPT / f"{name}.json"] if file.is_file()]
    return plan, read_results(chosen, plan, "final", tuple(plan.arms), places)


def arms_table(plan: Plan, results: Results) -> list[str]:
    """One line per arm."""
    first, *rest = plan.data.places
    others = [place for place in rest if place in results.measured]
    heads = [first.replace("_", " "), "against sft", *others]
    rates = results.rates(first)
    lines = [
        f"| arm | {' | '.join(heads)} | pairs or rows |",
        f"|---|---|---|{'---|' * len(others)}---|",
    ]
    for arm, about in plan.arms.items():
        if arm not in rates and arm not in results.missing:
            continue
        if arm not in rates:
            lines.append(f"| `{arm}`: {about.says} | {few_text(results, arm)} | - |{' - |' * len(others)} - |")
            continue
        figures = list(results.trained.get(arm, {}).values())
        cells = [
            f"`{arm}`: {about.says}",
            _rate(interval(list(rates[arm].values()))),
            "-" if arm == "sft" else _difference(compare(arm, "sft", rates).difference),
            *(_mean(results.rates(place).get(arm, {}).values()) for place in others),
            mean_text(figures, "pairs") if any("pairs" in one for one in figures) else mean_text(figures, "rows"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def endpoints_table(plan: Plan, results: Results) -> list[str]:
    """One line per endpoint."""
    lines = ["| named before the run | found | smallest that would be found | verdict |", "|---|---|---|---|"]
    return [*lines, *(f"| {_compared(one)} |" for one in endpoints_of(plan, results))]


def parts_table(plan: Plan, results: Results) -> list[str]:
    """One line per part of the pipeline that both of its arms were measured for."""
    lines = ["| part | with it - without | found | smallest that would be found | verdict |", "|---|---|---|---|---|"]
    rates = results.rates(plan.first_place)
    for part, arm, against in PARTS:
        if rates.get(arm, {}).keys() & rates.get(against, {}).keys():
            lines.append(f"| {part} | {_compared(compare(arm, against, rates))} |")
    return lines


def _compared(one: Compared) -> str:
    least = "-" if one.detectable is None else _plain(one.detectable)
    return f"`{one.arm}` - `{one.against}` | {_difference(one.difference)} | {least} | {one.verdict}"


def _mean(values: Collection[float]) -> str:
    return _plain(fmean(values)) if values else "-"


def _plain(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _rate(found: Interval) -> str:
    if found.low is None or found.high is None:
        return _plain(found.mean)
    return f"{_plain(found.mean)} ({_plain(max(0.0, found.low))} to {_plain(min(1.0, found.high))})"


def _difference(found: Interval) -> str:
    if found.low is None or found.high is None:
        return _signed(found.mean)
    return f"{_signed(found.mean)} ({_signed(found.low)} to {_signed(found.high)})"


def tables(plan: Plan, results: Results) -> list[list[str]]:
    """All of them, as lists of lines."""
    named = {(arm, against) for _, arm, against in PARTS}
    said = all((end.arm, end.against) in named for end in plan.endpoints)
    found = [[] if said else endpoints_table(plan, results), parts_table(plan, results), arms_table(plan, results)]
    return [lines for lines in found if len(lines) > 2]


def main(arguments: Sequence[str]) -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--plan", choices=tuple(PLANS))
    asked.add_argument("files", nargs="*", type=Path, metavar="results.json")
    given = asked.parse_args(arguments)
    for name in [given.plan or "arms"] if given.files else [given.plan] if given.plan else PLANS:
        plan, results = kept(name, given.files)
        missing = [str(seed) for seed in plan.seeds.untouched if seed not in results.seeds]
        if missing:
            sys.exit(f"seeds {', '.join(missing)} are not run yet: untouched seeds are looked at once, all together")
        print("\n\n".join("\n".join(lines) for lines in tables(plan, results)), end="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
