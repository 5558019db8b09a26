"""An evaluation as a person reads it: tables, for a terminal and for a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from synth.dataset.evaluation import Candidate, Evaluation, Rate
from synth.dataset.show.pages import render_page
from synth.store.files import store_errors, write_file

__all__ = ["evaluation_tables", "evaluation_text", "render_evaluation", "write_evaluation"]

_FEW = 10
"""Rates over fewer tasks than this say little, and are marked."""


@dataclass(frozen=True)
class Section:
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def write_evaluation(folder: Path, figures: Evaluation) -> None:
    """Write ``evaluation.json`` and ``index.html`` into ``folder``.

    Raises:
        StoreError: they can't be written.
    """
    page = render_page("evaluation.html.j2", style="report.css", figures=figures, sections=evaluation_tables(figures))
    text = json.dumps(figures.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
    with store_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / "evaluation.json", text.encode())
        write_file(folder / "index.html", page.encode())


def evaluation_tables(figures: Evaluation) -> list[Section]:
    """The figures as tables of text."""
    return [section for section in _sections(figures) if section.rows]


def evaluation_text(figures: Evaluation) -> str:
    """One line: what was evaluated."""
    runs = f"{figures.runs_per_task:,} runs each" if figures.runs_per_task > 1 else "one run each"
    return f"{figures.tasks:,} tasks of {figures.dataset} ({', '.join(figures.splits)}), {runs}"


def render_evaluation(figures: Evaluation) -> RenderableType:
    """The tables for a terminal."""
    shown: list[RenderableType] = [Text(evaluation_text(figures))]
    for section in evaluation_tables(figures):
        table = Table(title=section.title, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for place, name in enumerate(section.head):
            table.add_column(name, justify="right" if place else "left", overflow="fold")
        for row in section.rows:
            table.add_row(*row)
        shown += [Text(), table]
        if section.note:
            shown.append(Text(section.note))
    return Group(*shown)


def _sections(figures: Evaluation) -> Iterator[Section]:
    all_of = figures.candidates
    names = tuple(one.name for one in all_of)
    yield _success(all_of, figures.runs_per_task)
    if figures.differences:
        rows = tuple(
            (
                f"{one.first} - {one.second}",
                f"{one.tasks:,}",
                _signed(one.difference),
                f"{_signed(one.low)} to {_signed(one.high)}" if one.low is not None else "",
                f"{one.first_better:,}",
                f"{one.second_better:,}",
                "" if one.p is None else f"{one.p:.3f}",
            )
            for one in figures.differences
        )
        head = ("difference", "tasks", "points", "95 % interval", "better on", "worse on", "p (sign test)")
        yield Section("Task by task", head, rows)
    for by, title in (("shape", "By shape"), ("hops", "By hops"), ("obfuscation", "By level of obfuscation")):
        yield _cut(all_of, by, title)
    yield _counted("How runs ended", "end", names, [one.ended for one in all_of])
    yield _counted("Why runs came to no end", "reason", names, [one.cut_short for one in all_of])
    yield _written(all_of)
    yield _counted("Calls that ended in an error", "error", names, [one.call_errors for one in all_of])
    note = "A failed run may show several."
    yield _counted("Why runs failed", "class", names, [one.failures for one in all_of], note)
    if any(one.model_calls for one in all_of):
        took = tuple(
            (
                one.name,
                f"{one.model_calls:,}",
                f"{one.prompt_tokens:,}",
                f"{one.completion_tokens:,}",
                f"{one.cost:,.4f}" if one.cost else "no price given",
            )
            for one in all_of
        )
        yield Section("What it took", ("model", "calls", "prompt tokens", "completion tokens", "cost"), took)


def _success(all_of: Sequence[Candidate], runs: int) -> Section:
    ks = sorted({k for one in all_of for k in one.best_of if k > 1 and (k == runs or k & (k - 1) == 0)})
    several = (*(f"best of {k}" for k in ks), "majority") if runs > 1 else ()
    head = ("model", "success", "95 % interval", *several, "turns", "calls", "unfinished", "unjudged")
    rows = []
    for one in all_of:
        more = (*(_percent(one.best_of.get(k)) for k in ks), _percent(one.majority)) if runs > 1 else ()
        rows.append(
            (
                one.name,
                _percent(one.success.rate),
                _interval(one.success),
                *more,
                _mean(one.turns),
                _mean(one.tool_calls),
                f"{one.unfinished:,}",
                f"{one.unjudged:,}",
            )
        )
    return Section("Success", head, tuple(rows), "An unfinished run counts as a failure, an unjudged one not at all.")


def _written(all_of: Sequence[Candidate]) -> Section:
    rows = [(one.name, _percent(one.readable), _percent(one.valid_calls)) for one in all_of if one.readable is not None]
    note = "A turn counts if the first reply was one. A call of a tool's form may still find nothing."
    return Section(
        "What models wrote", ("model", "replies that are turns", "calls of a tool's form"), tuple(rows), note
    )


def _cut(all_of: Sequence[Candidate], by: str, title: str) -> Section:
    rates = [{cut.value: cut.rate for cut in one.cuts if cut.by == by} for one in all_of]
    values = [cut.value for cut in all_of[0].cuts if cut.by == by]
    rows = []
    if len(values) > 1:
        for value in values:
            tasks = max(found[value].tasks for found in rates)
            few = " *" if tasks < _FEW else ""
            rows.append((value, f"{tasks:,}{few}", *(_with_interval(found[value]) for found in rates)))
    note = f"* Fewer than {_FEW} tasks." if any("*" in row[1] for row in rows) else ""
    return Section(title, (by, "tasks", *(one.name for one in all_of)), tuple(rows), note)


def _counted(title: str, what: str, names: Sequence[str], counts: Sequence[dict[str, int]], note: str = "") -> Section:
    total = {key: sum(one.get(key, 0) for one in counts) for one in counts for key in one}
    keys = sorted(total, key=lambda key: (-total[key], key))
    rows = tuple((key, *(f"{one.get(key, 0):,}" for one in counts)) for key in keys)
    return Section(title, (what, *names), rows, note if rows else "")


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f} %"


def _interval(rate: Rate) -> str:
    return "" if rate.low is None or rate.high is None else f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %"


def _with_interval(rate: Rate) -> str:
    return f"{_percent(rate.rate)} ({_interval(rate)})" if rate.rate is not None else ""


def _signed(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f}"


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
