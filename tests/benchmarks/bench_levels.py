"""Whether the scripted policy fares worse on questions that are meant to be harder: three tables, each with all but one
knob fixed.

    python tests/benchmarks/bench_levels.py --workers 2                       all tables, 600 tasks a line
    python tests/benchmarks/bench_levels.py --tables noise --tasks 1000

``levels``  Conjunctions of an entity and a value that has an order, and compositions of two hops, at each level of
            obfuscation (a composition has no level 1: nothing in it can be blurred). The kinds of constraints must be
            fixed: level 0 may also ask for two entities or a nickname, which is harder for the policy than a value.
``hops``    Compositions of 1 to 8 hops with everything named, that end at an entity.
``noise``   Compositions and conjunctions with everything named, while a share of the results of each search is replaced
            by pages from far behind. The same tasks and random numbers in every line, so differences are paired.

All tasks are asked of one world, its written distractors included, from the same seeds; each has passed every check.
One run of the policy per task, so that a line is a sample of independent tasks. Rates come with Wilson's interval of
95 %, differences with Newcombe's, or, where they are paired, with Student's.

The first line of each part is its baseline: ``ratio`` is success over that of the first. ``teacher`` is the other
reference: what can be reached on the (first) tasks of the line by one who knows the way. ``blind`` counts runs that
came out the same, turn by turn, when the task's level, difficulty and answer were taken out before the policy got it:
it must be all that were tried, or the policy would have read how hard the task is.

A part passes when no line is better than the one before it beyond the interval of the difference, and the last is worse
than the first beyond it. The exit code is 1 when one does not.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from scipy import stats

from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.scripted.players import scripted_policy
from synth.annotate.critical.intervals import newcombe, wilson
from synth.environments.search import SearchEnvironment
from synth.graph.graph import Graph
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.noise import Noise
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document
from synth.schemas.tasks import Difficulty, Task
from synth.schemas.trajectories import Role
from synth.sources.world.config import WorldConfig
from synth.sources.world.distract_pages import distractor_shard, distractor_shards
from synth.sources.world.source import shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.draft import finish, same_question
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import world_words
from synth.testing.corpus import PROVENANCE

SHARES = (0.0, 0.25, 0.5, 0.75)
"""Of the results that are replaced."""
LEVELS = {"conjunction": (0, 1, 2, 3), "composition": (0, 2, 3)}
"""Of obfuscation, by shape."""
BLIND = 20
"""Tasks per line whose run is repeated without their level."""
MOST = 200_000
"""Candidates per line at most."""
_BATCH = 512
_ORDERED = ("date", "number", "quantity", "range", "year")


def entity_and_value(task: Task) -> bool:
    """Whether the question starts from one entity and one value (or range) that has an order."""
    starts = [hop.source for hop in task.walk.hops if not hop.needs]
    values = [node for node in starts if node.document_id is None]
    return len(starts) == 2 and len(values) == 1 and values[0].kind in _ORDERED


PROPOSE: Callable[[int], list[Task]]
"""Of forked workers: the tasks among a batch of candidates."""


def _proposed(proposer: WorldProposer, seed: int, start: int) -> list[Task]:
    indices = range(start, start + _BATCH)
    return [
        finish(outcome.draft, outcome.checks, PROVENANCE, index)
        for index, outcome in zip(indices, proposer.propose(indices, seed), strict=True)
        if isinstance(outcome, Checked)
    ]


def _propose(start: int) -> list[Task]:
    return PROPOSE(start)


def ahead(starts: Sequence[int], workers: int) -> Iterator[list[Task]]:
    """The tasks of each batch, in order."""
    if workers < 2:
        yield from map(_propose, starts)
        return
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap(_propose, starts)


class Pages:
    """A documents table in memory."""

    def __init__(self, table: pa.Table) -> None:
        self.arrow = table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Document:
        return from_arrow(self.arrow.slice(number, 1), Document)[0]


class World:
    """One world with its written distractors, and an index of all its pages."""

    def __init__(self, entities: int, seed: int) -> None:
        config = WorldConfig(entities=entities, seed=seed)
        parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
        own, self.entities, self.edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
        written = [page for shard in range(distractor_shards(config)) for page in distractor_shard(config, shard)[0]]
        self.documents = pa.concat_tables([own, to_arrow(written, Document).cast(own.schema)]).combine_chunks()
        self.graph = Graph.build(self.entities, self.edges, world_words().inverses)
        self.index = Bm25Index(Bm25Index.build(self.documents))
        self._search = IndexSearch(self.index, self.documents.column("id"))

    def tasks(
        self,
        config: WorldTasksConfig,
        wanted: int,
        seed: int,
        workers: int,
        only: Callable[[Task], bool] = lambda task: True,
    ) -> tuple[list[Task], int]:
        """The first ``wanted`` tasks that pass, are not asked twice and are what ``only`` takes, and how many
        candidates they took."""
        global PROPOSE
        proposer = WorldProposer(self.graph, self.entities, self.documents, self.edges, self._search, config)
        PROPOSE = partial(_proposed, proposer, seed)
        found: dict[str, Task] = {}
        for tasks in ahead(range(0, MOST, _BATCH), workers):
            for task in filter(only, tasks):
                found.setdefault(same_question(task), task)
                if len(found) == wanted:
                    return list(found.values()), task.candidate_index + 1
        return list(found.values()), MOST

    def environment(self, noise: Noise | None = None) -> SearchEnvironment:
        return SearchEnvironment(self.index, Pages(self.documents), noise=noise)


@dataclass(frozen=True)
class Line:
    """What came of the tasks of a line, in their order."""

    name: str
    tasks: Sequence[Task]
    candidates: int
    policy: Sequence[bool]
    teacher: Sequence[bool]
    blind: int
    """Runs that came out the same without the level, of :data:`BLIND` at most."""

    @property
    def right(self) -> int:
        return sum(self.policy)


@dataclass(frozen=True)
class Work:
    """What forked workers share."""

    environment: SearchEnvironment
    tasks: Sequence[Task]
    system: str

    def run(self, task: Task, role: Role) -> Rollout:
        return rollout(
            scripted_policy(task=task, role=role, language="world"),
            self.environment,
            task,
            system=self.system,
            limits=Limits(),
            generator_for_turn=lambda turn: derive_generator(1, "levels", task.id, role, turn),
        )


WORK: Work


def policy(number: int) -> bool:
    return WORK.run(WORK.tasks[number], "policy").verdict.correct is True


def teacher(number: int) -> bool:
    return WORK.run(WORK.tasks[number], "teacher").verdict.correct is True


def blind(number: int) -> bool:
    """Whether the policy does the same when nothing of the task says how hard it is, or what is right."""
    task = WORK.tasks[number]
    bare = task.model_copy(
        update={
            "obfuscation": 0,
            "difficulty": Difficulty(hops=1, constraints=1, branching=1.0, documents=1),
            "answer": "taken out",
            "answer_aliases": (),
            "gold_entities": (),
            "checks": (),
            "surface": "",
        }
    )
    return WORK.run(task, "policy").history == WORK.run(bare, "policy").history


def spread(work: Callable[[int], bool], count: int, workers: int) -> list[bool]:
    if workers < 2:
        return [work(number) for number in range(count)]
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as executor:
        return list(executor.map(work, range(count), chunksize=16))


def measured(
    name: str, where: SearchEnvironment, tasks: Sequence[Task], candidates: int, options: argparse.Namespace
) -> Line:
    global WORK
    system = load_prompt("agents/search").render(instructions=where.instructions())
    WORK = Work(where, tasks, system)
    count = len(tasks)
    line = Line(
        name,
        tasks,
        candidates,
        spread(policy, count, options.workers),
        spread(teacher, min(options.teacher, count), options.workers),
        # Noise goes by the task's number, and a bare task keeps that; gold pages are the environment's, not the
        # policy's.
        sum(spread(blind, min(BLIND, count), options.workers)),
    )
    print(f"# {name}: {line.right} of {count}", file=sys.stderr, flush=True)
    return line


def interval(one: Line, other: Line, paired: bool) -> tuple[float, float]:
    """Of the success of ``one`` less that of ``other``, at 95 %."""
    if not paired:
        return newcombe(one.right, len(one.policy), other.right, len(other.policy))
    change = np.array(one.policy, dtype=float) - np.array(other.policy, dtype=float)
    if not change.any():
        return 0.0, 0.0
    found = stats.ttest_1samp(change, 0.0).confidence_interval(0.95)
    return float(found.low), float(found.high)


def report(lines: Sequence[Line], *, paired: bool = False) -> bool:
    """Print a part, and say whether it passes."""
    first, last = lines[0], lines[-1]
    print(
        f"{'':<24}{'tasks':>6}{'success':>9}{'95 %':>15}{'ratio':>7}{'less the line before':>29}"
        f"{'teacher':>10}{'pages':>7}{'blind':>8}{'yield':>8}"
    )
    rises: list[str] = []
    for number, line in enumerate(lines):
        count = len(line.policy)
        low, high = wilson(line.right, count)
        rate = line.right / count
        change = "-"
        if number:
            before = lines[number - 1]
            least, most = interval(line, before, paired)
            change = f"{rate - before.right / len(before.policy):+.3f} ({least:+.3f} to {most:+.3f})"
            if least > 0:
                rises.append(line.name)
        known = f"{sum(line.teacher) / len(line.teacher):.3f}" if line.teacher else "-"
        pages = float(np.mean([task.difficulty.documents for task in line.tasks]))
        print(
            f"{line.name:<24}{count:>6}{rate:>9.3f}{f'{low:.3f} to {high:.3f}':>15}"
            f"{rate / max(1e-9, first.right / len(first.policy)):>7.2f}{change:>29}"
            f"{known:>10}{pages:>7.2f}{f'{line.blind}/{min(BLIND, count)}':>8}{count / line.candidates:>8.3f}"
        )
    least, most = interval(last, first, paired)
    gap = last.right / len(last.policy) - first.right / len(first.policy)
    same = all(line.blind == min(BLIND, len(line.policy)) for line in lines)
    falls = most < 0
    print(
        f"last less first: {gap:+.3f} ({least:+.3f} to {most:+.3f}); rises beyond the interval: "
        f"{', '.join(rises) or 'nowhere'}; falls overall: {'yes' if falls else 'no'}; "
        f"the policy {'cannot' if same else 'CAN'} read the level\n",
        flush=True,
    )
    return falls and not rises and same


def levels(world: World, options: argparse.Namespace) -> bool:
    good = True
    for shape in options.shapes:
        lines = []
        for level in LEVELS[shape]:
            config = WorldTasksConfig(
                shapes={shape: 1.0}, obfuscation={level: 1.0}, constraints={2: 1.0}, hops={2: 1.0}, value_answers=0.0
            )
            only = entity_and_value if shape == "conjunction" else lambda task: True
            tasks, candidates = world.tasks(config, options.tasks, options.seed, options.workers, only)
            lines.append(measured(f"{shape}, level {level}", world.environment(), tasks, candidates, options))
        good &= report(lines)
    return good


def hops(world: World, options: argparse.Namespace) -> bool:
    lines = []
    for count in range(1, 9):
        config = WorldTasksConfig(
            shapes={"composition": 1.0}, obfuscation={0: 1.0}, hops={count: 1.0}, value_answers=0.0
        )
        tasks, candidates = world.tasks(config, options.tasks, options.seed, options.workers)
        lines.append(measured(f"{count} hop{'s' * (count > 1)}", world.environment(), tasks, candidates, options))
    return report(lines)


def noise(world: World, options: argparse.Namespace) -> bool:
    config = WorldTasksConfig(shapes={"composition": 0.5, "conjunction": 0.5}, obfuscation={0: 1.0})
    tasks, candidates = world.tasks(config, options.tasks, options.seed, options.workers)
    lines = []
    for share in SHARES:
        where = world.environment(Noise(start=share, end=share) if share else None)
        lines.append(measured(f"{share:.0%} of results replaced", where, tasks, candidates, options))
    return report(lines, paired=True)


TABLES = {"levels": levels, "hops": hops, "noise": noise}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=500, help="tasks per line")
    parser.add_argument("--teacher", type=int, default=25, help="of them, so many are given to the teacher, too")
    parser.add_argument("--entities", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7, help="of the world and of the tasks")
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--shapes", nargs="+", choices=list(LEVELS), default=list(LEVELS), help="for the table levels")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    world = World(options.entities, options.seed)
    failed = []
    for name in options.tables:
        begin = time.perf_counter()
        print(f"{name}: {options.entities} entities, {len(world.documents)} pages, seed {options.seed}", flush=True)
        if not TABLES[name](world, options):
            failed.append(name)
        print(f"{time.perf_counter() - begin:.0f} s\n", flush=True)
    print(f"not as expected: {', '.join(failed)}" if failed else "all as expected")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
