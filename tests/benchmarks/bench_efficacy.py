"""Does the data train? The tables of the README, from results of the untouched seeds.

    python tests/benchmarks/bench_efficacy.py                       from the results kept here (efficacy/)
    python tests/benchmarks/bench_efficacy.py r2 OUT/seed-*.json    of R1, R2 or R3, as many seeds as there are

Results of R1 to R3 are made by ``make efficacy-untouched PLAN=r2``, seed by seed, on as many nights and machines as
one likes. Those of the two plans before (``arms``, ``faults``) were made by a laboratory that is gone; their raw
results and their plans are kept. Rates are means over seeds, intervals Student's t over seeds (95 %), differences
paired within seeds. Nothing is trained here; the baselines are ``sft`` and ``base``, the model before any arm.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))
from efficacy_lab.plan import SHIPPED, load_plan
from efficacy_lab.statistics import Compared, compare, interval
from efficacy_lab.table import further_table, plain, read_seeds, signed_text, table_of, value_text

KEPT = Path(__file__).parent / "efficacy"
RECORDED = ("arms", "faults")
"""Plans before R1."""
RUN = ("r1", "r2", "r3")
"""Plans of the laboratory as it is."""
FIRST, OTHERS = "held_out", ("deeper", "searching")
"""Where they tested arms; their endpoints are about the first."""

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


@dataclass(frozen=True)
class Recorded:
    """A plan before R1 and what was found on its untouched seeds."""

    says: Mapping[str, str]
    """Arm -> what it is."""
    measured: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Place -> arm -> seed -> what was measured."""
    trained: Mapping[str, Mapping[str, Mapping[str, float]]]
    """Arm -> seed -> figures of its training."""
    endpoints: Sequence[tuple[str, str]]

    def rates(self, place: str) -> dict[str, dict[int, float]]:
        """Arm -> seed -> success rate."""
        return {
            arm: {int(seed): one["successes"] / one["runs"] for seed, one in seeds.items()}
            for arm, seeds in self.measured.get(place, {}).items()
        }


def recorded(name: str) -> Recorded:
    """What is kept of a plan by its name."""
    plan = yaml.safe_load((KEPT / f"{name}.yaml").read_text())
    found = json.loads((KEPT / f"{name}.json").read_text())
    arms = yaml.safe_load((KEPT / "arms.yaml").read_text())["arms"]
    says = {arm: one["says"] for arm, one in {**arms, **plan["arms"]}.items() if arm in found["trained"]}
    ends = [(end["arm"], end["against"]) for end in plan["endpoints"]]
    return Recorded(says, found["measured"], found["trained"], ends)


def arms_table(found: Recorded) -> list[str]:
    """One line per arm."""
    others = [place for place in OTHERS if place in found.measured]
    heads = [FIRST.replace("_", " "), "against sft", *others]
    rates = found.rates(FIRST)
    lines = [f"| arm | {' | '.join(heads)} | pairs or rows |", f"|---|---|---|{'---|' * len(others)}---|"]
    for arm, says in found.says.items():
        figures = list(found.trained[arm].values())
        amount = "pairs" if any("pairs" in one for one in figures) else "rows"
        cells = [
            f"`{arm}`: {says}",
            value_text(interval(list(rates[arm].values()))),
            "-" if arm == "sft" else signed_text(compare(arm, "sft", rates).difference),
            *(_mean(found.rates(place).get(arm, {}).values()) for place in others),
            f"{fmean(one[amount] for one in figures):,.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def parts_table(found: Recorded) -> list[str]:
    """One line per part of the pipeline that both of its arms were measured for."""
    lines = ["| part | with it - without | found | smallest that would be found | verdict |", "|---|---|---|---|---|"]
    rates = found.rates(FIRST)
    compared = ((part, arm, against) for part, arm, against in PARTS if {arm, against} <= rates.keys())
    return [*lines, *(f"| {part} | {_compared(compare(arm, against, rates))} |" for part, arm, against in compared)]


def endpoints_table(found: Recorded) -> list[str]:
    """One line per difference that was named before and is no part."""
    lines = ["| named before the run | found | smallest that would be found | verdict |", "|---|---|---|---|"]
    rates = found.rates(FIRST)
    named = {(arm, against) for _, arm, against in PARTS}
    return [*lines, *(f"| {_compared(compare(*end, rates))} |" for end in found.endpoints if end not in named)]


def _compared(one: Compared) -> str:
    least = "-" if one.detectable is None else plain(one.detectable)
    return f"`{one.arm}` - `{one.against}` | {signed_text(one.difference)} | {least} | {one.verdict}"


def _mean(values: Collection[float]) -> str:
    return plain(fmean(values)) if values else "-"


def tables(name: str) -> list[str]:
    """All lines of a plan before R1."""
    found = recorded(name)
    return [
        line
        for lines in (endpoints_table(found), parts_table(found), arms_table(found))
        if len(lines) > 2
        for line in lines
    ]


def found_by(name: str, files: Sequence[Path] = ()) -> str:
    """The tables of one of ``RUN``, from ``files`` or from what is kept."""
    plan = load_plan(SHIPPED.with_name(f"{name}.yaml"))
    seeds = read_seeds(plan, files or sorted((KEPT / name).glob("*.json")))
    # What was asked when the results were known was asked of R1.
    further = f"\n{further_table(plan, seeds)}" if name == "r1" and len(seeds) > 1 else ""
    return table_of(plan, seeds) + further


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", nargs="?", choices=RUN, help="default: all, and the two before them")
    parser.add_argument("results", nargs="*", type=Path, help="default: those kept here")
    given = parser.parse_args(arguments)
    if given.plan:
        print(found_by(given.plan, given.results), end="")
        return
    for name in RECORDED:
        print("\n".join(tables(name)), end="\n\n")
    print("\n".join(map(found_by, RUN)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
