"""Datasets over the user's own facts, by searching and by walking: proven like any other."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from shared_builds import LEAN

import synth
from synth.api import BuildResult
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


def test_words_are_drafted_beside_the_dataset_and_take_effect_when_edited(tmp_path: Path) -> None:
    def build(name: str, **settings: str) -> BuildResult:
        given = {**LEAN, "source.untyped": "country", **settings}
        options = {"source": SOURCES / "countries.tsv", "tasks": 25, "store": tmp_path / "store", "settings": given}
        return synth.build("graph-search", out=tmp_path / name, **options)

    built = build("out")
    assert built.words == tmp_path / "out.words.yaml"
    drafted = built.words.read_text()
    unchanged = build("unchanged", **{"source.words": str(built.words)})
    for before, after in zip(
        synth.load(built.path).rows("tasks"), synth.load(unchanged.path).rows("tasks"), strict=True
    ):
        assert (before.question, before.answer, before.walk.shape) == (after.question, after.answer, after.walk.shape)
    words = yaml.safe_load(drafted)
    words["relations"]["capital"]["question"]["object_is"] = ["the seat of government of {x}"]
    words["types"]["country"]["plural"] = "sovereign states"
    built.words.write_text(yaml.safe_dump(words))
    edited = build("out", **{"source.words": str(built.words)})
    assert yaml.safe_load(built.words.read_text()) == words, "it is not overwritten"
    asked = " ".join(task.question for task in synth.load(edited.path).rows("tasks"))
    assert "the seat of government of" in asked
    assert "sovereign states" in asked
