"""Making tasks over the fictional world: tasks per second by shape, yield by shape and check, and whether a task gets
dearer as more are made.

    python tests/benchmarks/bench_tasks.py                                   speed and yield of each shape
    python tests/benchmarks/bench_tasks.py --mix 10000 100000 --entities 100000 --limit 1.3
    python tests/benchmarks/bench_tasks.py --reach 5000 --entities 20000     candidates until so many tasks

Times are CPU seconds, checks and searches included, the world and its index not. ``--mix`` makes the default mix over
one world (``--workers`` processes share the candidates; their seconds are summed) and compares the cost per candidate,
and per task that no earlier one asks, of each count with that of the first; ``--limit`` makes a greater ratio per task
an error. ``--reach`` stops at so many accepted
tasks, as a build does, and compares the last thousand candidates with the first.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterable, Sequence

import pyarrow as pa

from synth.graph.graph import Graph
from synth.registry import names
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.rejections import Rejection
from synth.sources.world.config import WorldConfig
from synth.sources.world.source import shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.draft import same_question
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import world_words

_BATCH = 256

Outcome = Checked | Rejection


class World:
    """The tables and indexes that proposers share."""

    def __init__(self, entities: int, seed: int) -> None:
        config = WorldConfig(entities=entities, seed=seed)
        parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
        self.documents, self.entities, self.edges = (
            pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True)
        )
        self.graph = Graph.build(self.entities, self.edges, world_words().inverses)
        self.search = IndexSearch(Bm25Index(Bm25Index.build(self.documents)), self.documents.column("id"))

    def proposer(self, shapes: dict[str, float] | None = None) -> WorldProposer:
        config = WorldTasksConfig(shapes=shapes) if shapes else WorldTasksConfig()
        return WorldProposer(self.graph, self.entities, self.documents, self.edges, self.search, config)


class Tally:
    """Outcomes, by shape and by what became of them."""

    def __init__(self) -> None:
        self.kept: Counter[str] = Counter()
        self.rejected: Counter[tuple[str, str]] = Counter()
        self.keys: set[str] = set()
        self.splits: Counter[str] = Counter()
        self.surfaces: Counter[str] = Counter()
        self.candidates = 0

    def add(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self.candidates += 1
            if isinstance(outcome, Rejection):
                shape, _, rest = outcome.detail.partition(": ")
                check = outcome.reason.value if outcome.reason.value == "no_walk" else rest.split(" ")[0]
                self.rejected[shape, check] += 1
                continue
            draft = outcome.draft
            key = same_question(draft)
            if key in self.keys:
                self.rejected[draft.shape, "duplicate"] += 1
            else:
                self.keys.add(key)
                self.kept[draft.shape] += 1
                self.splits[draft.split] += 1
                self.surfaces[draft.surface] += 1

    @property
    def tasks(self) -> int:
        return sum(self.kept.values())

    def table(self) -> str:
        """Yield by shape and check."""
        checks = sorted({check for _, check in self.rejected})
        shapes = sorted({*self.kept, *(shape for shape, _ in self.rejected)})
        lines = [f"{'shape':<14}{'candidates':>11}{'kept':>7}{'yield':>7}  " + "  ".join(checks)]
        for shape in [*shapes, "all"]:
            chosen = shapes if shape == "all" else [shape]
            kept = sum(self.kept[name] for name in chosen)
            lost = [sum(self.rejected[name, check] for name in chosen) for check in checks]
            whole = kept + sum(lost)
            cells = "  ".join(f"{count:>{len(check)}}" for check, count in zip(checks, lost, strict=True))
            lines.append(f"{shape:<14}{whole:>11}{kept:>7}{kept / max(1, whole):>7.2f}  {cells}")
        return "\n".join(lines)


def run(proposer: WorldProposer, indices: range, seed: int, tally: Tally) -> float:
    """CPU seconds for candidates, batch by batch."""
    begin = time.process_time()
    for start in range(indices.start, indices.stop, _BATCH):
        tally.add(proposer.propose(range(start, min(start + _BATCH, indices.stop)), seed))
    return time.process_time() - begin


def reach(world: World, tasks: int, seed: int) -> int:
    proposer, tally = world.proposer(), Tally()
    run(proposer, range(64), seed + 1, Tally())
    spent: list[float] = []
    while tally.tasks < tasks and tally.candidates < 20 * tasks:
        spent.append(run(proposer, range(tally.candidates, tally.candidates + _BATCH), seed, tally))
    print(f"{tally.tasks} tasks of {tally.candidates} candidates in {sum(spent):.1f} s; {dict(tally.splits)}")
    few = max(1, min(1000 // _BATCH, len(spent) // 2))
    first, last = (1e3 * sum(part) / len(part) / _BATCH for part in (spent[:few], spent[-few:]))
    print(f"first {few * _BATCH} candidates {first:.2f} ms each, last {last:.2f} (x{last / first:.2f})")
    top, count = tally.surfaces.most_common(1)[0]
    print(f"most common family: {top}, {100 * count / tally.tasks:.1f} %")
    print(tally.table())
    return int(tally.tasks < tasks)


def by_shape(world: World, shapes: Sequence[str], candidates: int, seed: int) -> None:
    whole = Tally()
    print(f"{'shape':<14}{'ms/candidate':>13}{'tasks/s':>9}")
    for shape in shapes:
        proposer = world.proposer({shape: 1.0})
        run(proposer, range(32), seed + 1, Tally())  # pools and walkers are made once for a world
        tally = Tally()
        spent = run(proposer, range(candidates), seed, tally)
        print(f"{shape:<14}{1e3 * spent / candidates:>13.2f}{tally.tasks / spent:>9.1f}", flush=True)
        whole.kept += tally.kept
        whole.rejected += tally.rejected
    print(whole.table())


PROPOSER: WorldProposer
"""Of forked workers."""


def _batch(work: tuple[int, int, int]) -> tuple[float, list[Outcome]]:
    """CPU seconds and outcomes of the candidates from ``start`` to ``stop``."""
    start, stop, seed = work
    begin = time.process_time()
    outcomes = PROPOSER.propose(range(start, stop), seed)
    return time.process_time() - begin, outcomes


def shared(proposer: WorldProposer, count: int, seed: int, tally: Tally, workers: int) -> float:
    """CPU seconds of all workers for so many candidates."""
    global PROPOSER
    PROPOSER = proposer
    spent = 0.0
    works = [(start, min(start + _BATCH, count), seed) for start in range(0, count, _BATCH)]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for seconds, outcomes in pool.imap(_batch, works):
            spent += seconds
            tally.add(outcomes)
    return spent


def mixes(world: World, counts: Sequence[int], seed: int, limit: float | None, workers: int) -> int:
    proposer = world.proposer()
    run(proposer, range(64), seed + 1, Tally())
    first: tuple[float, float] | None = None
    failed = False
    for count in counts:
        tally = Tally()
        if workers > 1:
            spent = shared(proposer, count, seed, tally, workers)
        else:
            spent = run(proposer, range(count), seed, tally)
        cost = (1e3 * spent / count, 1e3 * spent / max(1, tally.tasks))
        first = first or cost
        ratio = (cost[0] / first[0], cost[1] / first[1])
        print(
            f"{count:>8} candidates  {tally.tasks:>7} tasks  {spent:8.1f} s  "
            f"{cost[0]:6.2f} ms/candidate (x{ratio[0]:.2f})  {cost[1]:6.2f} ms/task (x{ratio[1]:.2f})",
            flush=True,
        )
        failed |= limit is not None and ratio[1] > limit
    print(tally.table())
    return int(failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--candidates", type=int, default=200, help="per shape")
    parser.add_argument("--shapes", nargs="+", default=list(names("shapes")), choices=names("shapes"))
    parser.add_argument("--mix", type=int, nargs="+", default=None, help="counts of candidates of the default mix")
    parser.add_argument("--reach", type=int, default=None, help="make the default mix until so many tasks")
    parser.add_argument("--limit", type=float, default=None, help="greatest ratio of the cost per task, for --mix")
    parser.add_argument("--workers", type=int, default=1, help="processes, for --mix")
    options = parser.parse_args()
    world = World(options.entities, options.seed)
    if options.mix is not None:
        return mixes(world, options.mix, options.seed, options.limit, options.workers)
    if options.reach is not None:
        return reach(world, options.reach, options.seed)
    by_shape(world, options.shapes, options.candidates, options.seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
