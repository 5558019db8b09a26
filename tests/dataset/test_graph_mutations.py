"""``validate`` finds every way of breaking the published graph, and counts of candidates that are not so."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from breaking import Mutation, column, must_be_found, report, row, values
from exporter_samples import rejection, sample_report, sample_tables
from rich.console import Console

from synth.dataset.card.counts import Counts
from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.dataset.show.numbers import render_stats
from synth.dataset.stats import stats
from synth.schemas.arrow import to_arrow
from synth.schemas.rejections import Reason, Rejection

ENTITIES = "entities/graph-00000-of-00001.parquet"
FACTS = "facts/graph-00000-of-00001.parquet"

MUTATIONS: dict[str, Mutation] = {
    "entity twice": (values(ENTITIES, "id", lambda row, old: "p0"), ENTITIES, 1, "another entity is p0 too"),
    "page of an entity": row(ENTITIES, 3, "there is no document nowhere", document_id="nowhere"),
    "subject": row(FACTS, 2, "there is no entity nobody", subject="nobody"),
    "object": row(FACTS, 2, "there is no entity nobody", object="nobody", value=None, value_kind="entity"),
    "two objects": row(FACTS, 2, "not both", object="p1"),
    "kind of object": row(FACTS, 2, "but the object is a value", value_kind="entity"),
    "document": row(FACTS, 4, "there is no document nowhere", document_id="nowhere"),
    "span": row(FACTS, 4, "span 0 to 10000 is not in the text", end=10_000),
    "empty span": row(FACTS, 4, "span 0 to 0 is not in the text", end=0),
    "yield": (
        report(lambda value: value["task_yields"][0].update(accepted=3)),
        "report.json",
        None,
        "other counts of candidates by shape",
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_graph_is_seen(name: str, plain: Path) -> None:
    must_be_found(MUTATIONS[name], plain)


def test_the_graph_may_be_missing(tmp_path: Path) -> None:
    tables = {name: table for name, table in sample_tables().items() if name not in ("entities", "facts")}
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    assert validate(tmp_path / "out") == []


def test_stats_tell_the_yield_of_each_shape(plain: Path) -> None:
    numbers = stats(plain)
    assert [(of.shape, of.candidates, of.accepted) for of in numbers.task_yields] == [("composition", 20, 20)]
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render_stats(numbers))
    lines = console.export_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("candidates for tasks"))
    assert lines[place + 2].split() == ["composition", "20", "20", "100.0%", "0"]


def test_yields_are_counted_by_shape_and_check() -> None:
    def row(number: int, stage: str, reason: Reason, detail: str) -> Rejection:
        return rejection(number).model_copy(update={"stage": stage, "reason": reason, "detail": detail})

    rows = [
        row(0, "world_tasks", Reason.SHORTCUT, "count: no_shortcut failed: page 'x' says 3"),
        row(1, "world_tasks", Reason.SHORTCUT, "count: no_direct_hit abstained: no search"),
        row(2, "world_tasks", Reason.NO_WALK, "cycle: no cycle of 4 in 24 walks"),
        row(3, "docs_tasks", Reason.NOT_UNIQUE, "composition: unique_answer: 'a' says the same"),
        row(4, "docs_tasks", Reason.NO_WALK, "the split has no walk"),
        row(5, "verify", Reason.UNGROUNDED, "count: not a candidate for a task"),
    ]
    counted = Counts()
    for batch in to_arrow(rows, Rejection).to_batches():
        counted.see("rejected", batch)
    shaped = column("shape", lambda row, old: ("count", "count", "cycle")[row])
    for batch in shaped(sample_tables()["tasks"].slice(0, 3)).to_batches():
        counted.see("tasks", batch)
    assert [(of.shape, of.accepted, of.candidates, of.rejected) for of in counted.stated()["task_yields"]] == [
        ("composition", 0, 1, {"unique_answer": 1}),
        ("count", 2, 4, {"no_direct_hit": 1, "no_shortcut": 1}),
        ("cycle", 1, 2, {"no_walk": 1}),
        ("-", 0, 1, {"no_walk": 1}),
    ]
