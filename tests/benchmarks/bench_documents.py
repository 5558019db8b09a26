"""What folders of documents give without a model: pages, facts by kind, candidates by family, tasks, seconds.

    python tests/benchmarks/bench_documents.py FOLDER ... [--tasks 100] [--show 10]

Reading and proposing only: no rollouts. ``--show`` prints so many of the tasks.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document
from synth.schemas.rejections import Rejection
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.tasks.docs.proposer import DocsProposer, DocsTasksConfig

SPLITS = ("train", "validation", "test")


class Table:
    """Documents in memory, as the proposer reads them."""

    def __init__(self, arrow: pa.Table) -> None:
        self.arrow = arrow

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Any:
        return next(iter(from_arrow(self.arrow.slice(number, 1), Document)))


def measure(folder: Path, wanted: int, show: int) -> None:
    start = time.perf_counter()
    source = DocsSource(DocsConfig(path=str(folder)))
    documents, rejected = source.read(source.files)
    arrow = to_arrow(documents, Document)
    entities, edges = graph_tables(arrow)
    index = Bm25Index(Bm25Index.build(arrow))
    read = time.perf_counter() - start

    def search(query: str, k: int) -> list[int]:
        return [hit.document for hit in index.search(query, k)]

    proposer = DocsProposer(Table(arrow), entities, edges, search, DocsTasksConfig())
    capacity = [proposer.capacity(split) for split in SPLITS]  # type: ignore[arg-type]
    families: Counter[str] = Counter()
    for split in SPLITS:
        families.update({f: len(items) for f, items in proposer.items.by_family.get(split, {}).items()})  # type: ignore[call-overload]
    made: dict[str, Any] = {}
    why: Counter[str] = Counter()
    number = 0
    while len(made) < wanted and sum(capacity) and number < 30 * wanted:
        generator = derive_generator(7, "docs_tasks", number)
        drawn = float(generator.random()) * sum(capacity)
        at = 0
        while at < 2 and drawn >= capacity[at]:
            drawn -= capacity[at]
            at += 1
        found = proposer.propose(number, SPLITS[at], generator)  # type: ignore[arg-type]
        number += 1
        if isinstance(found, Rejection):
            why[f"{found.reason.value}"] += 1
        elif found.duplicate_key in made:
            why["repeated"] += 1
        else:
            made[found.duplicate_key] = found.draft
    kinds = Counter(edges["relation"].to_pylist())
    named = {"described_as", "subtitle", "default", "since", "states", "links_to", "see_also", "part_of"}
    shown = {k: kinds[k] for k in ("described_as", "default", "since", "states", "links_to")}
    shown["fields"] = sum(count for name, count in kinds.items() if name not in named)
    print(
        f"{folder.name} | pages {len(documents)} | {' '.join(f'{k}:{v}' for k, v in shown.items())} | candidates "
        f"{sum(capacity)} ({' '.join(f'{k}:{v}' for k, v in families.most_common())}) | asked {wanted} got {len(made)} "
        f"of {number} | {' '.join(f'{k}:{v}' for k, v in why.most_common())} | reading {read:.0f} s, asking "
        f"{time.perf_counter() - start - read:.0f} s | {len(rejected)} files rejected"
    )
    print("    made:", dict(Counter(draft.surface.split("/")[0] for draft in made.values())))
    step = max(1, len(made) // show) if show else 1
    for draft in list(made.values())[::step][:show]:
        print(f"    [{draft.surface}] {draft.question}\n        = {draft.answer}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    for folder in args.folders:
        measure(folder, args.tasks, args.show)


if __name__ == "__main__":
    main()
