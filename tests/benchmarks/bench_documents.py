"""What trees of documents give without a model: ``python tests/benchmarks/bench_documents.py FOLDER... [--tasks 100]``.

A row for each folder: pages, facts by kind, tasks asked for and got, by shape, how often teacher and policy solve them,
how many questions or answers name words of a menu (there should be none), seconds of the whole build. ``--propose``
makes the tasks alone, which takes a fraction of the time, and counts those that need several pages, and all by what
they ask for; ``--show 10`` prints that many of them to read.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

import synth
from synth.dataset.reader import Dataset, load
from synth.errors import SynthError
from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.tasks.docs.proposer import DocsProposer, DocsTasksConfig, Proposed
from synth.tasks.draft import Draft

LEAN = {"contexts": None, "distractors": None, "critical": None, "preferences": None, "rl": False}
MENU = re.compile(
    r"\b(?:home|next|previous|prev|up|top|contents|index|skip to (?:main )?content|table of contents|sign in|search)\b",
    re.IGNORECASE,
)
"""Words of menus, where they are all that a question asks for."""
QUOTED = re.compile("“([^”]*)”")
TEXT = 300
"""Characters from which a page says something; a page that has moved does not."""
CANDIDATES = 6000
HEADING = "| tree | pages (with text) | facts | tasks | shapes | teacher | policy | menus | seconds |"


def facts(dataset: Dataset) -> str:
    """How many facts there are of the commonest kinds; where a thing stands and what it links to are no facts."""
    found = Counter(dataset.table("facts")["relation"].to_pylist())
    told = [(name, count) for name, count in found.most_common() if name not in ("part_of", "links_to", "see_also")]
    shown = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in told[:4])
    return f"{sum(count for _, count in told):,} ({shown})"


def menus(dataset: Dataset) -> int:
    """Answers, and pages or things named in questions, that are words of a menu."""
    tasks = dataset.table("tasks").select(["question", "answer"]).to_pylist()
    named = [name for task in tasks for name in (task["answer"], *QUOTED.findall(task["question"]))]
    return sum(MENU.fullmatch(name.strip()) is not None for name in named)


def success(dataset: Dataset, role: str) -> str:
    runs = dataset.table("trajectories").select(["role", "success"]).to_pylist()
    known = [run["success"] for run in runs if run["role"] == role and run["success"] is not None]
    return f"{100 * sum(known) / len(known):.0f} %" if known else "-"


def row(folder: Path, tasks: int) -> str:
    with tempfile.TemporaryDirectory(prefix="bench-documents-") as scratch:
        place, began = Path(scratch), time.perf_counter()
        settings = {"source.path": str(folder), **LEAN}
        try:
            synth.build("docs-search", out=place / "out", store=place / "store", tasks=tasks, settings=settings)
        except SynthError as error:
            return f"| {folder.name} | {error} |"
        dataset = load(place / "out")
        seconds = time.perf_counter() - began
        shapes = Counter(dataset.table("tasks")["shape"].to_pylist())
        lengths = [len(text) for text in dataset.table("documents")["text"].to_pylist()]
        cells = [
            folder.name,
            f"{len(lengths):,} ({sum(length >= TEXT for length in lengths):,})",
            facts(dataset),
            f"{len(dataset.table('tasks'))} of {tasks}",
            ", ".join(f"{name} {count}" for name, count in shapes.most_common()),
            success(dataset, "teacher"),
            success(dataset, "policy"),
            f"{menus(dataset)}",
            f"{seconds:.0f}",
        ]
        return f"| {' | '.join(cells)} |"


class _Pages:
    """The documents of a folder, held in memory."""

    def __init__(self, arrow: pa.Table) -> None:
        self.arrow = arrow

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Any:
        return next(iter(from_arrow(self.arrow.slice(number, 1), Document)))


def proposed(folder: Path, tasks: int, seed: int) -> tuple[int, list[Draft]]:
    """(pages, the first ``tasks`` different questions that pass every check), over all pages as one split."""
    whole = {"train": 1.0, "validation": 0.0, "test": 0.0}
    source = DocsSource(DocsConfig(path=str(folder), licence="unknown", fractions=whole))
    table = to_arrow(source.read(source.files)[0], Document)
    index = Bm25Index(Bm25Index.build(table))

    def search(query: str, k: int) -> list[int]:
        return [hit.document for hit in index.search(query, k)]

    proposer = DocsProposer(_Pages(table), *graph_tables(table), search, DocsTasksConfig())
    kept: dict[str, Draft] = {}
    for number in range(CANDIDATES):
        made = proposer.propose(number, "train", derive_generator(seed, "docs", number))
        if isinstance(made, Proposed):
            kept.setdefault(made.duplicate_key, made.draft)
        if len(kept) == tasks:
            break
    return len(table), list(kept.values())


def proposed_row(folder: Path, tasks: int, show: int, seed: int) -> str:
    pages, drafts = proposed(folder, tasks, seed)
    asked = Counter(draft.surface.partition("/")[0].partition("+")[0] for draft in drafts)
    told = ", ".join(f"{name} {count}" for name, count in asked.most_common())
    read = drafts[:: max(1, len(drafts) // show)][:show] if show else []
    lines = [f"  {draft.question} => {draft.answer}" for draft in read]
    several = sum(len(draft.gold_documents) > 1 for draft in drafts)
    return "\n".join([f"| {folder.name} | {pages:,} | {len(drafts)} of {tasks} | {several} | {told} |", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--propose", action="store_true", help="tasks alone, without the rest of the build")
    parser.add_argument("--show", type=int, default=0, help="with --propose: so many questions of each folder")
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    if given.propose:
        for folder in given.folders:
            print(proposed_row(folder, given.tasks, given.show, given.seed), flush=True)
        return
    print(HEADING)
    print("|---" * (HEADING.count("|") - 1) + "|")
    for folder in given.folders:
        print(row(folder, given.tasks), flush=True)


if __name__ == "__main__":
    main()
