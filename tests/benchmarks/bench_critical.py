"""Critical-step search against CSO's rule and against Monte Carlo at every step, in one run.

    python tests/benchmarks/bench_critical.py                                   small: world-search, 30 failed runs
    python tests/benchmarks/bench_critical.py --recipe docs-search --source FOLDER --tasks 150 --failed 300 --fresh 200
    python tests/benchmarks/bench_critical.py --dataset FOLDER --failed 300 --monte-carlo 60 --fresh 200 --workers 2

The tasks and documents are those of a dataset (``--dataset``, or one that is built for the purpose). The embedded
policy works on them until there are enough failed runs; each is searched. ``ours`` and ``CSO`` look at the same
candidates. Monte Carlo tries every alternative at every step with the same number of continuations on both sides, on
the first ``--monte-carlo`` of the runs (it costs many times as much); ``ours`` is shown on the same runs beside it.

With ``--fresh N`` every accepted pair (``--pairs`` at most, evenly spread) is measured again with N continuations per
side that nothing was chosen by. False = the better side succeeds no more often than the other. The rate comes with a
Wilson interval of 95 %.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from synth.agents.contract import Policy
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import to_row
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.branching import Generators
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.annotate.critical.intervals import wilson
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.critical.scripted_expert import scripted_expert
from synth.annotate.critical.search import Candidate, Searched, open_pool, search
from synth.api import build, load
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.recipe.load import load_recipe
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, ListTable

sys.path.insert(0, str(Path(__file__).parents[1] / "annotate" / "critical"))
from critical_baselines import cso, monte_carlo


@dataclass
class Bench:
    """What the searches share: in forked workers it stands in memory once."""

    language: str
    skill: dict[str, Any]
    """The policy's options, those of the recipe."""
    environment: SearchEnvironment
    tasks: dict[str, Task]
    runs: list[TrajectoryRow]
    config: CriticalConfig
    ks: tuple[int, ...]
    fresh: int = 0
    again: list[tuple[int, Candidate]] = field(default_factory=list)
    """(run, candidate) of accepted pairs that are measured again."""

    def policy(self, task: Task) -> Policy:
        return scripted_policy(task=task, role="policy", language=self.language, **self.skill)

    def pool(self, number: int, use: str) -> ContinuationPool:
        row = self.runs[number]
        task = self.tasks[row.task_id]
        pool = open_pool(row, task, self.environment, self.policy(task), self.config, generators(use))
        assert isinstance(pool, ContinuationPool), pool
        return pool


BENCH: Bench


def generators(use: str) -> Generators:
    return lambda *names: derive_generator(11, "bench", use, *names)


def ours(number: int) -> Searched:
    expert = scripted_expert(language=BENCH.language)
    return search(BENCH.pool(number, "search"), scorer=EvidenceScorer(), expert=expert, config=BENCH.config)


def theirs(number: int) -> Searched:
    expert = scripted_expert(language=BENCH.language)
    return cso(BENCH.pool(number, "search"), scorer=EvidenceScorer(), expert=expert, config=BENCH.config)


def everywhere(number: int) -> list[Searched]:
    """Monte Carlo with each k. The smaller ones see the first continuations of the larger one's."""
    expert = scripted_expert(language=BENCH.language)
    done: dict[str, Any] = {}
    found: list[Searched] = []
    for k in sorted(BENCH.ks, reverse=True):
        row = BENCH.runs[number]
        task = BENCH.tasks[row.task_id]
        config, draws = BENCH.config, generators("everywhere")
        pool = open_pool(row, task, BENCH.environment, BENCH.policy(task), config, draws, dict(done), done.__setitem__)
        assert isinstance(pool, ContinuationPool), pool
        found.append(monte_carlo(pool, scorer=EvidenceScorer(), expert=expert, config=config, k=k))
    return found[::-1]


def measure_again(number: int) -> tuple[float, float]:
    """Success rates of alternative and original on fresh continuations."""
    run, candidate = BENCH.again[number]
    pool = BENCH.pool(run, "fresh")
    places = (
        pool.alternative(candidate.step, candidate.alternative, candidate.turn),
        pool.original(candidate.step),
    )
    for place in places:
        for _ in range(BENCH.fresh):
            pool.draw(place)
    rates = [pool.tally(place) for place in places]
    return rates[0][0] / rates[0][1], rates[1][0] / rates[1][1]


def spread(work: Callable[[int], Any], numbers: Sequence[int], workers: int) -> list[Any]:
    if workers < 2:
        return [work(number) for number in numbers]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=context) as executor:
        return list(executor.map(work, numbers, chunksize=1))


def failed_runs(bench: Bench, wanted: int) -> tuple[list[TrajectoryRow], int]:
    """Failed runs of the policy, sample by sample over all tasks; and how many runs it took."""
    prompt = load_prompt("agents/search").render(instructions=bench.environment.instructions())
    found: list[TrajectoryRow] = []
    tried = 0

    def turns(*names: str | int) -> Callable[[int], np.random.Generator]:
        return lambda turn: derive_generator(11, *names, turn)

    for sample in range(64):
        for task in bench.tasks.values():
            done = rollout(
                bench.policy(task),
                bench.environment,
                task,
                system=prompt,
                limits=Limits(),
                generator_for_turn=turns(task.id, "policy", "rollout", sample),
            )
            tried += 1
            if done.verdict.correct is not True:
                row = to_row(
                    done, bench.environment, role="policy", number=sample, privileged=False, provenance=PROVENANCE
                )
                found.append(row)
                if len(found) == wanted:
                    return found, tried
    return found, tried


def opened(folder: Path) -> tuple[SearchEnvironment, dict[str, Task]]:
    dataset = load(folder)
    documents = [document for split in dataset.splits("documents") for document in dataset.rows("documents", split)]
    documents.sort(key=lambda document: document.id)
    index = Bm25Index(Bm25Index.build((d.title, d.text, d.aliases) for d in documents))
    tasks = [task for split in dataset.splits("tasks") for task in dataset.rows("tasks", split)]
    return SearchEnvironment(index, ListTable(documents)), {task.id: task for task in tasks}


COLUMNS = (
    "runs",
    "steps",
    "candidates",
    "verified pairs",
    "same kind",
    "verified steps",
    "share supervised",
    "continuations",
    "per pair",
    "per step",
    "distinct",
    "per distinct",
)


def line(found: Sequence[Searched]) -> dict[str, str]:
    counts: Counter[str] = Counter()
    for one in found:
        counts.update(one.counts)
    steps = sum(one.steps for one in found)
    drawn, pairs, verified = counts["continuations"], counts["verified"], counts["verified_steps"]
    same = sum(candidate.same_kind for one in found for candidate in one.verified)
    tools = BENCH.environment.tools()
    # Ours does not test an action again that was verified at another step; so count each once for the others too.
    distinct = sum(len({action_key(candidate.turn, tools) for candidate in one.verified}) for one in found)
    values = (
        len(found),
        steps,
        counts["candidates"],
        pairs,
        same,
        verified,
        f"{verified / max(1, steps):.1%}",
        drawn,
        f"{drawn / pairs:.1f}" if pairs else "-",
        f"{drawn / verified:.1f}" if verified else "-",
        distinct,
        f"{drawn / distinct:.1f}" if distinct else "-",
    )
    return dict(zip(COLUMNS, map(str, values), strict=True))


def table(lines: dict[str, dict[str, str]], columns: Iterable[str]) -> str:
    rows = [["", *columns], *([name, *(values.get(c, "-") for c in columns)] for name, values in lines.items())]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    drawn = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    drawn.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(f"| {one} |" for one in drawn)


def falseness(name: str, found: Sequence[Searched], pairs: int, workers: int) -> dict[str, str]:
    accepted = [(run, candidate) for run, one in enumerate(found) for candidate in one.verified]
    count = min(pairs, len(accepted))
    BENCH.again = [accepted[at * len(accepted) // count] for at in range(count)]
    rates = spread(measure_again, range(count), workers)
    false = sum(alternative - original <= 0 for alternative, original in rates)
    low, high = wilson(false, count)
    gaps = sorted(alternative - original for alternative, original in rates)
    return {
        "pairs measured": str(count),
        "false": str(false),
        "false-critical rate": f"{false / count:.1%}" if count else "-",
        "Wilson 95 %": f"{low:.1%} to {high:.1%}",
        "gap: lowest tenth": f"{gaps[len(gaps) // 10]:.2f}" if gaps else "-",
        "median": f"{gaps[len(gaps) // 2]:.2f}" if gaps else "-",
    }


def main() -> int:
    global BENCH  # what forked workers share
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, help="a finished dataset; one is built if not given")
    parser.add_argument("--recipe", default="world-search")
    parser.add_argument("--source", help="documents, for docs-search")
    parser.add_argument("--tasks", type=int, default=30, help="tasks of the dataset that is built")
    parser.add_argument("--failed", type=int, default=30, help="failed runs to search")
    parser.add_argument("--monte-carlo", type=int, default=5, help="of them, how many are searched by Monte Carlo")
    parser.add_argument("--k", type=int, nargs="*", default=[8, 16, 32], help="continuations per side of Monte Carlo")
    parser.add_argument("--fresh", type=int, default=0, help="fresh continuations per side of every accepted pair")
    parser.add_argument("--pairs", type=int, default=200, help="accepted pairs to measure again, at most")
    parser.add_argument("--only-ours", action="store_true", help="measure no pair of CSO's rule again")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the search")
    options = parser.parse_args()
    settings = dict(pair.split("=", 1) for pair in options.set)
    config = CriticalConfig.model_validate_strings(settings)

    with tempfile.TemporaryDirectory() as folder:
        at = options.dataset
        if at is None:
            more = {"source": options.source} if options.source else {}
            build(options.recipe, tasks=options.tasks, out=f"{folder}/out", store=f"{folder}/store", **more)
            at = Path(folder) / "out"
        environment, tasks = opened(at)
        language = "world" if options.recipe == "world-search" else "docs"
        skill = load_recipe(options.recipe).roles["policy"].options
        BENCH = Bench(language, skill, environment, tasks, [], config, tuple(options.k), options.fresh)
        BENCH.runs, tried = failed_runs(BENCH, options.failed)
        print(f"{options.recipe}: {len(BENCH.runs)} failed of {tried} runs on {len(tasks)} tasks; {config}\n")

        numbers = range(len(BENCH.runs))
        lines: dict[str, dict[str, str]] = {}
        clock = time.perf_counter()
        mine = spread(ours, numbers, options.workers)
        seconds = time.perf_counter() - clock
        lines["ours"] = line(mine)
        other = spread(theirs, numbers, options.workers)
        lines["(a) CSO's rule"] = line(other)
        first = numbers[: options.monte_carlo]
        if first and options.k:
            lines[f"ours, first {len(first)}"] = line(mine[: len(first)])
            tried_everywhere = spread(everywhere, first, options.workers)
            for place, k in enumerate(sorted(options.k)):
                lines[f"(b) Monte Carlo, k = {k}"] = line([found[place] for found in tried_everywhere])
        print(table(lines, COLUMNS), flush=True)
        findings: Counter[str] = Counter()
        for one in mine:
            findings.update({key: n for key, n in one.counts.items() if "." in key or key == "abstentions"})
        print(f"\nours: {dict(sorted(findings.items()))}; {seconds:.0f} s\n", flush=True)
        if options.fresh:
            measured = {
                name: falseness(name, found, options.pairs, options.workers)
                for name, found in (("ours", mine), ("(a) CSO's rule", other))[: 1 if options.only_ours else 2]
            }
            print(table(measured, next(iter(measured.values()))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
