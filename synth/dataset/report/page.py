"""``synth report``: numbers as plots and tables, rows to look through, in one page without a network.

The page runs its own script and style and nothing else: a policy in its head names both by their hash, and allows
scripts from files beside it only where there are any. Whatever a row holds reaches the page as data and is shown as
text.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.dataset.card.figures import Bar, bars, figures
from synth.dataset.configs import SPLITS
from synth.dataset.plots import length_plots
from synth.dataset.reader import Dataset, load
from synth.dataset.report.browse import Seen, browse
from synth.dataset.show.numbers import number_tables
from synth.dataset.show.pages import Chunks, render_page
from synth.dataset.stats import Stats, stats
from synth.errors import InputError, StoreError
from synth.store.files import store_errors, write_file

__all__ = ["Written", "write_report"]

_SHARED = ("lengths", "ends", "steps", "models")
"""Tables of ``synth stats`` that the page shows too."""
_INLINE = 6_000_000
"""Bytes of rows up to which they are part of the page itself."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    page: Path
    data: Path | None
    """The folder beside it that the page reads; None when the page holds all."""
    trajectories: int
    whole: int
    """Trajectories that can be read whole in it."""


def write_report(folder: str | Path, out: Path, *, whole: int = 600, inline: int = _INLINE) -> Written:
    """Write the quality report of the dataset in ``folder`` to ``out``, and ``<name>.data/`` beside it where its rows
    take more than ``inline`` bytes. Both replace what stood there. The same dataset gives the same bytes.

    Args:
        whole: How many trajectories can be read whole in it; all of them are listed and searched.

    Raises:
        InputError: there is no dataset in the folder, or ``out`` is not a name for a page.
        DatasetError: its report or a file can't be read.
        StoreError: the page can't be written.
    """
    if out.suffix != ".html":
        raise InputError(f"{str(out)!r} is not an HTML file", where="--out", mend="give a name that ends in .html")
    if whole < 0:
        raise InputError(f"{whole} trajectories can't be shown", where="--whole", mend="give 0 or more")
    dataset = load(folder)
    numbers = stats(folder)
    data = out.with_suffix(".data")
    with store_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        if data.exists():
            _ours(data)
        part = data.with_name(f".{data.name}-part")
        shutil.rmtree(part, ignore_errors=True)
        try:
            chunks = Chunks(part)
            seen = browse(dataset, chunks, whole)
            inlined = chunks.inlined() if chunks.bytes <= inline else None
            page = _render(dataset, numbers, seen, chunks, inlined, data.name)
            shutil.rmtree(data, ignore_errors=True)
            if inlined is None:
                part.rename(data)
            write_file(out, page.encode())
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return Written(out, None if inlined is not None else data, seen.trajectories, seen.whole)


def _ours(data: Path) -> None:
    """Raise where the folder to be replaced holds anything that no report wrote."""
    strange = [path.name for path in sorted(data.iterdir()) if path.suffix != ".js" or path.is_dir()]
    if strange:
        raise StoreError(
            f"it holds {strange[0]}, which is of no report",
            where=str(data),
            mend="choose another --out, or move it away",
        )


def _render(
    dataset: Dataset, numbers: Stats, seen: Seen, chunks: Chunks, inlined: dict[str, str] | None, data: str
) -> str:
    return render_page(
        "report.html.j2",
        style="report.css",
        script="report.js",
        beside=inlined is None,
        report=dataset.report,
        title=dataset.report.title or dataset.report.dataset,
        tables=_by_split(numbers),
        plots=list(_plots(dataset, numbers, seen).values()),
        groups=_groups(numbers, seen),
        chunks=chunks.names,
        inlined=inlined or {},
        data="" if inlined is not None else data,
        seen=seen,
    )


def _by_split(numbers: Stats) -> dict[str, Any]:
    """Rows of each config, a column for each split; what belongs to no split of tasks stands in the last one."""
    rows = [
        (
            config,
            [
                *(counts.get(split, 0) for split in SPLITS),
                sum(count for split, count in counts.items() if split not in SPLITS),
            ],
        )
        for config, counts in numbers.tables.items()
        if sum(counts.values())
    ]
    return {"head": [*SPLITS, "of no split"], "rows": rows}


def _plots(dataset: Dataset, numbers: Stats, seen: Seen) -> dict[str, str]:
    drawn = figures(dataset.report)
    if seen.by_shape:
        rows = [
            Bar(f"{role}, {shape}", of["right"] / of["runs"], f"{of['right'] / of['runs']:.1%} of {of['runs']:,}", role)
            for (role, shape), of in sorted(seen.by_shape.items())
        ]
        drawn["shapes"] = bars("Success by role and shape", rows, most=1.0)
    tools = [
        Bar(f"{role}, {tool}", count, f"{count:,}", role)
        for role, of in sorted(seen.tools.items())
        for tool, count in _top(of, 12)
    ]
    if tools:
        drawn["tools"] = bars("Tool calls by role", tools)
    drawn.update(length_plots(dataset))
    if seen.tiers:
        tiers = [Bar(name, count, f"{count:,}") for name, count in sorted(seen.tiers.items())]
        drawn["tiers"] = bars("Pages that lead astray, by tier and kind", tiers)
    answers = [Bar(name, count, f"{count:,}") for name, count in numbers.answer_kinds.items()]
    if answers:
        drawn["answers"] = bars("Tasks by kind of answer", answers)
    return drawn


def _top(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _groups(numbers: Stats, seen: Seen) -> list[dict[str, Any]]:
    """Tables of the page: title, head, rows of text."""
    tasks = sum(seen.questions.values())
    runs = sum(seen.tool_orders.values())
    doubled = sum(count - 1 for count in seen.questions.values())
    rejected: Counter[str] = Counter()
    for stage in numbers.stages:
        rejected.update({reason: count for reason, count in stage.rejected.items() if "duplicate" in reason})
    shared = number_tables(numbers)
    groups = [
        _group(
            "Diversity and duplicates",
            ("measure", "value"),
            [
                ("questions that differ in more than case and spaces", f"{len(seen.questions):,} of {tasks:,}"),
                ("questions asked more than once", f"{doubled:,}"),
                ("ways to begin a question (three words)", f"{len(seen.openings):,}"),
                ("different answers", f"{len(seen.answers):,} of {tasks:,}"),
                ("commonest answer", _commonest(seen.answers, tasks)),
                ("families of sentences (surfaces)", f"{len(numbers.surfaces):,}"),
                ("different orders of tool calls", f"{len(seen.tool_orders):,} of {runs:,} trajectories"),
                *((f"rejected on the way: {reason}", f"{count:,}") for reason, count in _top(rejected, 10)),
            ],
        ),
        *(_group(of.title.capitalize(), of.head, of.rows) for of in (shared[name] for name in _SHARED)),
    ]
    return [group for group in groups if group["rows"]]


def _group(title: str, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    figures = [all(re.fullmatch(r"-?[\d,.]+ ?%?", row[place]) for row in rows) for place in range(len(head))]
    return {"title": title, "head": head, "rows": rows, "figures": figures}


def _commonest(counts: Counter[str], total: int) -> str:
    if not counts:
        return "-"
    answer, count = _top(counts, 1)[0]
    return f"{answer[:60]} ({count / total:.1%})"
