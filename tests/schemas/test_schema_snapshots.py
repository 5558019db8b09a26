"""A table does not change under a version that is already out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import schema_snapshot as module
from schema_snapshot import FOLDER, ROW_TYPES, changed, main, snapshot, write

from synth.schemas.documents import Document
from synth.schemas.row import SCHEMA_VERSION, Row


def edited(folder: Path, name: str, **changes: object) -> Path:
    copy = folder / "snapshots"
    shutil.copytree(FOLDER, copy)
    path = copy / f"{name}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return copy


def test_the_tables_are_those_of_the_snapshots() -> None:
    """When this fails: raise SCHEMA_VERSION in schemas/row.py, run
    `python tests/schemas/schema_snapshot.py --write`."""
    assert changed() == {}


def test_every_table_has_a_snapshot() -> None:
    found = {
        row_type
        for name in ("documents", "rejections", "searched", "steps", "tasks", "trajectories")
        for row_type in vars(__import__(f"synth.schemas.{name}", fromlist=["x"])).values()
        if isinstance(row_type, type) and issubclass(row_type, Row) and row_type.table is not None
    }
    assert found <= set(ROW_TYPES.values())
    assert {path.stem for path in FOLDER.glob("*.json")} == set(ROW_TYPES)


def test_a_change_without_a_new_version_fails_and_is_not_written(tmp_path: Path) -> None:
    older = snapshot(Document)
    del older["json_schema"]["properties"]["date"]
    copy = edited(tmp_path, "documents", json_schema=older["json_schema"])
    assert "SCHEMA_VERSION is still" in changed(copy)["documents"]
    before = (copy / "documents.json").read_bytes()
    with pytest.raises(ValueError, match="documents changed, but SCHEMA_VERSION is still"):
        write(copy)
    assert (copy / "documents.json").read_bytes() == before


def test_a_change_of_the_arrow_types_counts_too(tmp_path: Path) -> None:
    copy = edited(tmp_path, "edges", arrow=["subject: int32"])
    assert "SCHEMA_VERSION is still" in changed(copy)["edges"]


def test_a_change_with_a_new_version_is_written(tmp_path: Path) -> None:
    copy = edited(tmp_path, "edges", arrow=["subject: int32"], schema_version="0.9.0")
    assert "another version" in changed(copy)["edges"]
    assert write(copy) == ("edges",)
    assert changed(copy) == {}
    assert json.loads((copy / "edges.json").read_text())["schema_version"] == SCHEMA_VERSION


def test_a_new_table_and_a_removed_one_are_written(tmp_path: Path) -> None:
    copy = tmp_path / "snapshots"
    shutil.copytree(FOLDER, copy)
    (copy / "tasks.json").rename(copy / "gone.json")
    assert set(changed(copy)) == {"tasks", "gone"}
    write(copy)
    assert changed(copy) == {}


def test_words_are_no_part_of_a_snapshot_but_fields_of_that_name_are() -> None:
    text = json.dumps(snapshot(ROW_TYPES["trajectories"])["json_schema"])
    assert "Number of the sample" not in text
    properties = snapshot(ROW_TYPES["adp_trajectory"])["json_schema"]["$defs"]["ApiAction"]["properties"]
    assert "description" in properties
    assert "title" in snapshot(Document)["json_schema"]["properties"]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert main(["--nonsense"]) == 2
    assert module.__doc__ is not None
    assert "--write" in capsys.readouterr().err
