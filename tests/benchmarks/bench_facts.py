"""A million triples beside the generated world: ``python tests/benchmarks/bench_facts.py [--triples 1000000]``.

``plan``    reading a file of triples and deriving what its relations are: CPU seconds and memory.
``tasks``   candidates that pass every check, per CPU second: of the triples and of a generated world of as many
            entities; the ratio is of the same run.
``builds``  whole builds, each proven again (``validate --deep``): 118 triples (25 tasks), a table of countries (100),
            and the million (25, by walking the graph).

Each row runs in a process of its own. Exit status 1: more than 4 GB, less than a third of the world's rate, too few
tasks, fewer than five shapes of 118 triples, or anything that a proof finds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import synth
from synth.dataset.audit.audit import audit
from synth.dataset.rules.validate import validate
from synth.graph.graph import Graph
from synth.retrieval.bm25 import Bm25Index
from synth.sources.facts.graph import open_facts
from synth.sources.facts.triples import TriplesConfig
from synth.sources.world.config import WorldConfig
from synth.sources.world.source import shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import words_of

SOURCES = Path(__file__).parents[1] / "sources" / "triples"
LEAN: dict[str, Any] = {
    "contexts": None, "distractors": None, "critical": None, "preferences": None, "rl": False, "difficulty": None,
}  # fmt: skip
WANTED = 1 / 3
MEMORY = 4.0
"""GB."""
SEED = 5


def catalogue(path: Path, triples: int) -> None:
    """Films, the people who made them, where they were born: thirteen relations; names are made of syllables."""
    generator = np.random.default_rng(SEED)
    n = triples // 10
    syllables = np.array("ka lo mi ren tas vu dor el ni sha bri tor qua len pim osk ul fer dra yo".split())
    words = sorted({"".join(each).title() for each in syllables[generator.integers(len(syllables), size=(40_000, 3))]})

    def called(count: int) -> list[str]:
        pairs = generator.choice(len(words) ** 2, size=count, replace=False)
        return [f"{words[pair // len(words)]} {words[pair % len(words)]}" for pair in pairs]

    titles, people, towns = called(n), called(n // 2), called(n // 50 + 20)

    def any_of(names: list[str], count: int) -> list[str]:
        return [names[k] for k in generator.integers(len(names), size=count)]

    def numbers(least: int, most: int, count: int) -> list[str]:
        return [str(k) for k in generator.integers(least, most, size=count)]

    facts = {
        ("director", n): (titles, any_of(people, n)),
        ("leading actor", n): (titles, any_of(people, n)),
        ("filming location", n): (titles, any_of(towns, n)),
        ("genre", n): (titles, [f"{kind}drama" for kind in any_of(list(syllables), n)]),
        ("publication year", n): (titles, numbers(1920, 2020, n)),
        ("running time in minutes", n): (titles, numbers(60, 180, n)),
        ("place of birth", len(people)): (people, any_of(towns, len(people))),
        ("year of birth", len(people)): (people, numbers(1880, 1990, len(people))),
        ("teacher", len(people)): (people, any_of(people, len(people))),
        ("spouse", len(people)): (people, any_of(people, len(people))),
        ("languages spoken", len(people)): (people, [f"{kind}ish" for kind in any_of(list(syllables), len(people))]),
        ("population", len(towns)): (towns, numbers(2_000, 900_000, len(towns))),
    }
    types = [(titles, "film"), (people, "person"), (towns, "town")]
    frames = [pl.DataFrame({"subject": s, "relation": [name] * k, "object": o}) for (name, k), (s, o) in facts.items()]
    frames += [pl.DataFrame({"subject": s, "relation": "instance of", "object": [kind] * len(s)}) for s, kind in types]
    pl.concat(frames).write_parquet(path)


def tables(shards: Any, count: int) -> tuple[pa.Table, pa.Table, pa.Table]:
    documents, entities, edges = zip(*(shards(shard) for shard in range(count)), strict=True)
    return pa.concat_tables(documents), pa.concat_tables(entities), pa.concat_tables(edges)


def proposing(kind: str, path: Path, entities: int, candidates: int) -> dict[str, Any]:
    if kind == "triples":
        graph = open_facts(TriplesConfig(path=str(path)))
        found, lexicon = tables(graph.tables, graph.shards), graph.lexicon
    else:
        config = WorldConfig(entities=entities)
        found, lexicon = tables(lambda shard: shard_tables(config, shard), shard_count(config)), None
    documents, things, edges = found
    words = words_of(lexicon)
    index = IndexSearch(Bm25Index(Bm25Index.build(documents)), documents.column("id"))
    graph = Graph.build(things, edges, words.inverses)
    proposer = WorldProposer(graph, things, documents, edges, index, WorldTasksConfig(), words)
    proposer.propose(range(20), SEED)  # what is made once
    began = time.process_time()
    made = proposer.propose(range(20, 20 + candidates), SEED)
    passed = sum(isinstance(verdict, Checked) for verdict in made)
    return {
        "entities": len(things),
        "facts": len(edges),
        "passed": passed,
        "rate": passed / (time.process_time() - began),
    }


def planning(path: Path) -> dict[str, Any]:
    graph = open_facts(TriplesConfig(path=str(path)))
    return {"entities": len(graph.ids), "facts": sum(map(len, graph.facts)), "relations": len(graph.lexicon.relations)}


def building(dataset: str, source: Path, tasks: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-facts-") as folder:
        place = Path(folder)
        options: dict[str, Any] = {"source": source, "tasks": tasks, "settings": LEAN}
        built = synth.build(dataset, out=place / "out", store=place / "store", **options)
        shapes = {task.shape for task in synth.load(built.path).rows("tasks")}
        found = [*validate(built.path), *audit(built.path).violations]
        count = len(list(synth.load(built.path).rows("tasks")))
    return {"tasks": count, "asked": tasks, "shapes": len(shapes), "violations": len(found)}


def row(name: str, *arguments: str) -> dict[str, Any]:
    """What a row says, measured in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--row", name, *arguments], stdout=subprocess.PIPE, check=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{name:18}", "  ".join(f"{key} {value:,}" for key, value in said.items()), flush=True)
    return said


def measured(name: str, path: Path, entities: int, candidates: int) -> dict[str, Any]:
    if name == "plan":
        said = planning(path)
    elif name in ("triples", "world"):
        said = proposing(name, path, entities, candidates)
    else:
        dataset, source, tasks = {
            "118 triples": ("graph-search", SOURCES / "countries.tsv", 25),
            "table": ("graph-search", SOURCES / "countries.csv", 100),
            "build": ("graph-walk", path, 25),
        }[name]
        said = building(dataset, source, tasks)
    rounded = {key: round(value, 1) if isinstance(value, float) else value for key, value in said.items()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {**rounded, "cpu_s": round(time.process_time(), 1), "gb": round(peak, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--candidates", type=int, default=400)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--entities", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.row:
        print(json.dumps(measured(given.row, given.path, given.entities, given.candidates)))
        return
    with tempfile.TemporaryDirectory(prefix="bench-facts-") as folder:
        path = Path(folder) / "catalogue.parquet"
        catalogue(path, given.triples)
        told = ("--path", str(path), "--candidates", str(given.candidates))
        plan = row("plan", *told)
        ours, world = row("triples", *told), row("world", *told, "--entities", str(plan["entities"]))
        builds = [row(name, *told) for name in ("118 triples", "table", "build")]
    ratio = ours["rate"] / world["rate"]
    print(f"the triples' rate is {ratio:.2f} of the world's")
    small = [said["gb"] < MEMORY for said in (plan, ours, builds[-1])]
    proven = [said["tasks"] == said["asked"] and not said["violations"] for said in builds]
    sys.exit(not (ratio >= WANTED and all(small) and all(proven) and builds[0]["shapes"] >= 5))


if __name__ == "__main__":
    main()
