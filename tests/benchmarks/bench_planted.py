"""The critical-step search against planted truth: precision and recall at known gaps, and pure luck.

    python tests/benchmarks/bench_planted.py --runs 150

Every task has one decisive step of five; the policy succeeds with one rate after the right action there and with
another after a wrong one. *Precision*: share of the verified pairs whose step is decisive and was taken wrongly.
*Recall*: share of those steps that were verified. For luck the two rates are equal and every alternative is a
candidate: any verified step is false, and counted are the trajectories that get one. Intervals are Wilson's, of 95 %.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.intervals import wilson
from synth.annotate.critical.search import Searched, search_trajectory
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

sys.path.insert(0, str(Path(__file__).parents[1]))
from stand_ins.planted import (
    PlantedEnvironment,
    PlantedExpert,
    PlantedPolicy,
    PlantedScorer,
    failed_run,
    generators,
    planted_task,
    tally,
)

GAPS = ((0.9, 0.1), (0.8, 0.2), (0.6, 0.4))
BASES = (0.2, 0.5, 0.8)


def searched(number: int, right: float, wrong: float, *, blind: bool) -> tuple[Task, TrajectoryRow, Searched]:
    environment, task = PlantedEnvironment(), planted_task(number)
    policy = PlantedPolicy(task, right, wrong)
    row = failed_run(environment, task, policy)
    found = search_trajectory(
        row,
        task,
        environment,
        policy,
        scorer=PlantedScorer(blind),
        expert=PlantedExpert(),
        config=CriticalConfig(),
        generator=generators(),
    )
    return task, row, found


def share(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"{part}/{whole} = {part / whole:.3f} ({low:.3f} to {high:.3f})" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50, help="failed runs per line")
    options = parser.parse_args()
    for blind, rates in ((False, GAPS), (True, tuple((base, base) for base in BASES))):
        for right, wrong in rates:
            found = [searched(number, right, wrong, blind=blind) for number in range(options.runs)]
            counts = tally(found)
            drawn = sum(one.counts["continuations"] for *_, one in found)
            if blind:
                line = (
                    f"luck at {right}: trajectories with a verified step {share(counts['accepted_runs'], options.runs)}"
                )
            else:
                line = f"{right} / {wrong}: precision {share(counts['true'], counts['verified'])}, "
                line += f"recall {share(counts['found'], counts['critical'])}"
            print(f"{line}; {drawn / options.runs:.1f} continuations a run", flush=True)


if __name__ == "__main__":
    main()
