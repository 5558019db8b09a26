"""Datasets over the user's own facts, by searching and by walking: proven like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.dataset.audit.audit import audit
from synth.dataset.rules.validate import validate

SOURCES = Path(__file__).parents[1] / "sources" / "triples"


@pytest.mark.parametrize(
    ("dataset", "file", "more", "shapes"),
    [
        ("graph-search", "countries.tsv", {"source.untyped": "country"}, 5),
        ("graph-walk", "countries.tsv", {"source.untyped": "country"}, 5),
        ("graph-search", "countries.csv", {}, 4),
    ],
)
def test_twenty_five_tasks_of_several_shapes_from_one_file(
    tmp_path: Path, dataset: str, file: str, more: dict[str, str], shapes: int
) -> None:
    settings = {**more, "critical.share": 0.1, "contexts": None}
    options = {"source": SOURCES / file, "tasks": 25, "settings": settings}
    built = synth.build(dataset, out=tmp_path / "out", store=tmp_path / "store", **options)  # type: ignore[arg-type]
    dataset_rows = synth.load(built.path).rows
    tasks = list(dataset_rows("tasks"))
    assert len(tasks) == 25
    assert len({task.shape for task in tasks}) >= shapes
    teacher = [row for row in dataset_rows("trajectories") if row.role == "teacher"]
    assert sum(bool(row.success) for row in teacher) >= 24
    assert validate(built.path) == []
    assert audit(built.path).violations == ()
