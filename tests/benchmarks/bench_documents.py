"""What trees of documents give without a model: ``python tests/benchmarks/bench_documents.py FOLDER... [--tasks 100]``.

A row for each folder: pages, facts by kind, candidates by family, tasks asked for and got, how often teacher and policy
solve them, seconds of the whole build. Questions and answers that hold the words of a menu are counted: there should be
none.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

import synth
from synth.dataset.reader import Dataset, load
from synth.errors import SynthError

LEAN = {"contexts": None, "distractors": None, "critical": None, "preferences": None, "rl": False}
MENU = re.compile(
    r"\b(?:home|next|previous|prev|up|top|contents|index|skip to (?:main )?content|table of contents|sign in|search)\b",
    re.IGNORECASE,
)
"""Words of menus, where they are all that a question asks for."""
HEADING = "| tree | pages | facts | tasks | shapes | teacher | policy | seconds |"


def facts(dataset: Dataset) -> str:
    """How many facts there are of the commonest kinds; where a thing stands and what it links to are no facts."""
    found = Counter(dataset.table("facts")["relation"].to_pylist())
    told = [(name, count) for name, count in found.most_common() if name not in ("part_of", "links_to", "see_also")]
    shown = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in told[:4])
    return f"{sum(count for _, count in told):,} ({shown})"


def menus(dataset: Dataset) -> int:
    """Answers that are words of a menu."""
    return sum(MENU.fullmatch(answer.strip()) is not None for answer in dataset.table("tasks")["answer"].to_pylist())


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
        if found := menus(dataset):
            print(f"{folder.name}: {found} answers are words of a menu", flush=True)
        cells = [
            folder.name,
            f"{len(dataset.table('documents')):,}",
            facts(dataset),
            f"{len(dataset.table('tasks'))} of {tasks}",
            ", ".join(f"{name} {count}" for name, count in shapes.most_common()),
            success(dataset, "teacher"),
            success(dataset, "policy"),
            f"{seconds:.0f}",
        ]
        return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--tasks", type=int, default=100)
    given = parser.parse_args()
    print(HEADING)
    print("|---" * (HEADING.count("|") - 1) + "|")
    for folder in given.folders:
        print(row(folder, given.tasks), flush=True)


if __name__ == "__main__":
    main()
