"""How varied the questions over the fictional world are: distinct-n, self-BLEU-4, share of the top template.

    python tests/benchmarks/bench_diversity.py                        2,000 entities, 500 questions of the default mix
    python tests/benchmarks/bench_diversity.py --by shape             a row for each shape (or: --by obfuscation)
    python tests/benchmarks/bench_diversity.py --dataset out/a out/b  finished datasets side by side, of any version

Figures are of skeletons: names and values that a question starts from are one sign. They fall with the number of
questions, so equal numbers are compared: ``--questions`` of each, the first ones. With ``--limit`` the exit status is 1
when one family of sentences words more than that share of the default mix.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from question_diversity import Diversity, measure_texts

from synth.graph.graph import Graph
from synth.retrieval.bm25 import Bm25Index
from synth.sources.world.source import WorldConfig, shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import world_words

BATCH = 200


@dataclass(frozen=True)
class Row:
    question: str
    names: tuple[str, ...]
    surface: str
    shape: str
    obfuscation: int


def proposed(entities: int, seed: int, wanted: int) -> list[Row]:
    """The first ``wanted`` accepted questions of the default mix."""
    config = WorldConfig(entities=entities, seed=seed)
    parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
    documents, nodes, edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
    search = IndexSearch(Bm25Index(Bm25Index.build(documents)), documents.column("id"))
    proposer = WorldProposer(
        Graph.build(nodes, edges, world_words().inverses),
        nodes,
        documents,
        edges,
        search,
        WorldTasksConfig(),
        stage="world_tasks",
    )
    rows: list[Row] = []
    start = 0
    while len(rows) < wanted:
        for outcome in proposer.propose(range(start, start + BATCH), seed):
            if isinstance(outcome, Checked):
                draft = outcome.draft
                walk = draft.walk.model_dump(mode="json")
                rows.append(Row(draft.question, _names(walk), draft.surface, draft.shape, draft.obfuscation))
        start += BATCH
    return rows[:wanted]


def stored(folder: Path, wanted: int) -> list[Row]:
    """The first ``wanted`` questions of a dataset, by candidate index."""
    files = sorted((folder / "tasks").glob("*.parquet"))
    if not files:
        raise SystemExit(f"{folder}: no tasks/*.parquet")
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    rows.sort(key=lambda row: row["candidate_index"])
    return [
        Row(row["question"], _names(row["walk"]), row["surface"], row["shape"], row.get("obfuscation") or 0)
        for row in rows[:wanted]
    ]


def _names(walk: Any) -> tuple[str, ...]:
    walk = json.loads(walk) if isinstance(walk, str) else walk
    found = [hop["source"]["name"] for hop in walk["hops"] if not hop["needs"]]
    found += [operation["bound"]["name"] for operation in walk.get("operations") or [] if operation["bound"]]
    return tuple(found)


def report(groups: Iterator[tuple[str, Sequence[Row]]]) -> dict[str, Diversity]:
    print(
        f"{'':24} {'n':>5} {'distinct-1':>10} {'-2':>6} {'-3':>6} {'self-BLEU-4':>11}"
        f" {'skeletons':>9} {'families':>8} top family"
    )
    found = {}
    for name, rows in groups:
        if not rows:
            continue
        figures = measure_texts([(row.question, row.names, row.surface) for row in rows])
        found[name] = figures
        print(
            f"{name[-24:]:24} {figures.questions:5} {figures.distinct_1:10.3f} {figures.distinct_2:6.3f}"
            f" {figures.distinct_3:6.3f} {figures.self_bleu_4:11.3f} {figures.skeletons:9} {figures.families:8}"
            f" {figures.top_family:.1%}"
        )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--by", choices=("shape", "obfuscation"))
    parser.add_argument("--dataset", type=Path, nargs="+", default=[])
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    if options.dataset:
        report((str(folder), stored(folder, options.questions)) for folder in options.dataset)
        return 0
    rows = proposed(options.entities, options.seed, options.questions)
    groups: list[tuple[str, Sequence[Row]]] = [("default mix", rows)]
    if options.by:
        keys = sorted({str(getattr(row, options.by)) for row in rows})
        groups += [(f"{options.by} {key}", [r for r in rows if str(getattr(r, options.by)) == key]) for key in keys]
    found = report(iter(groups))
    return int(options.limit is not None and found["default mix"].top_family > options.limit)


if __name__ == "__main__":
    raise SystemExit(main())
