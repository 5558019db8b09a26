"""What a row type annotates is checked, also in a column that no rule was written for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import DataFile, Problems
from synth.dataset.rules.coverage import coverage
from synth.dataset.rules.references import ReferenceCheck, annotated
from synth.schemas.arrow import to_arrow
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split


class Part(Row):
    pages: tuple[Annotated[str, Ref("documents")], ...] = ()


class Note(Row):
    table: ClassVar[str | None] = "notes"
    unique_together = (("task_id", "place"),)

    id: Annotated[NonEmpty, Key()]
    task_id: Annotated[str | None, Ref("tasks", ("split",))] = None
    place: int = 0
    parts: tuple[Part, ...] = ()
    split: Split = "train"


class Named(Row):
    table: ClassVar[str | None] = "tasks"

    id: NonEmpty
    split: Split


NOTES = Config("notes", Note, None, 10, "Notes.")
TASKS = replace(config_named("tasks"), row_type=Named)


def problems(*notes: Note, after: bool = False, absent: tuple[str, ...] = ()) -> list[str]:
    found = Problems(100)
    check = ReferenceCheck(found, absent=absent)
    tables = [
        (TASKS, to_arrow([Named(id="t", split="train"), Named(id="u", split="test")], Named)),
        (NOTES, to_arrow(notes, Note)),
    ]
    for config, table in tables[::-1] if after else tables:
        for batch in table.to_batches():
            if config is NOTES:
                check.see(config, DataFile("notes", "train", 0, 1, Path("notes.parquet")), 0, batch)
            else:
                for split in ("train", "test"):
                    part = batch.filter([one == split for one in batch.column("split").to_pylist()])
                    check.see(config, DataFile("tasks", split, 0, 1, Path(f"{split}.parquet")), 0, part)
        check.finish(config)
    return [problem.what for problem in found.listed() if "document" not in problem.what or not absent]


@pytest.mark.parametrize("after", [False, True], ids=["the table comes before", "the table comes later"])
@pytest.mark.parametrize(
    ("note", "line"),
    [
        (Note(id="b", task_id="x"), "task_id: there is no task x"),
        (Note(id="b", task_id="u"), "split: train, but its task is of test"),
        (Note(id="b", split="test"), "split: test, but the file is of train"),
        (Note(id="a"), "id: another note is a too"),
        (Note(id="b", task_id="t", place=3), "place: another note has task_id t, place 3 too"),
    ],
)
def test_damage_is_named(note: Note, line: str, after: bool) -> None:
    assert problems(Note(id="a", task_id="t", place=3), Note(id="c"), after=after) == []
    assert problems(Note(id="a", task_id="t", place=3), note, after=after) == [line]


def test_a_reference_inside_lists_is_followed_unless_the_table_can_not_be_there() -> None:
    check = ReferenceCheck(found := Problems(9))
    batch = to_arrow([Note(id="a"), Note(id="b", place=1, parts=(Part(), Part(pages=("gone",))))], Note).to_batches()[0]
    check.see(NOTES, DataFile("notes", "train", 0, 1, Path("notes.parquet")), 5, batch)
    check.finish(config_named("documents"))
    assert [(one.row, one.what) for one in found.listed()] == [(6, "parts.pages: there is no document gone")]
    assert problems(Note(id="b", parts=(Part(pages=("gone",)),)), absent=("documents",)) == []


def test_every_table_has_a_key_and_every_id_of_another_table_is_annotated() -> None:
    for config in CONFIGS:
        about = annotated(config.row_type)
        named = {path[0] for path, _ in about.references}
        ids = {name for name in config.row_type.model_fields if name.endswith("_id") and name != "row_id"}
        # Through its trajectory a row belongs to its task, and a call stands in it.
        assert ids - named <= ({"task_id", "call_id"} if "trajectory_id" in named else set()), config.name
        assert about.keys or config.name in ("facts", "rejected"), config.name


def test_the_coverage_names_keys_and_references() -> None:
    behind = {(table, column): what for table, column, what in coverage()}
    assert behind["steps", "trajectory_id"][:2] == ("key", "reference to trajectories")
    assert "reference to documents" in behind["tasks", "walk.hops[].evidence.document_id"]
    assert "key" in behind["documents", "id"]
