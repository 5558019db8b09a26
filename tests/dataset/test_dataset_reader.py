"""Opening a finished dataset: rows, tables, lazy frames, single rows, and what is said when it can't be opened."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from critical_samples import continuations, steps, whole_tables
from exporter_samples import page, rejection, sample_report, sample_tables, task, trajectory

from synth.cli import main
from synth.dataset.configs import CONFIGS
from synth.dataset.layout import write_dataset
from synth.dataset.reader import load
from synth.errors import DatasetError, InputError
from synth.schemas.arrow import arrow_schema, trajectory_of
from synth.schemas.rejections import Rejection


def test_what_is_in_it(finished: Path) -> None:
    dataset = load(str(finished))
    assert dataset.configs == tuple(config.name for config in CONFIGS if config.name in whole_tables())
    assert {"tasks", "facts", "entities"} <= set(dataset.configs)
    assert dataset.splits("tasks") == ("train", "validation", "test")
    assert dataset.splits("documents") == ("corpus",)
    assert dataset.count("trajectories") == 40
    assert dataset.count("trajectories", "test") == 8
    assert dataset.report.tables["tasks"]["train"] == 12
    assert dataset.card.startswith("---\n")
    assert "tasks (train 12, validation 4, test 4)" in repr(dataset)


def test_rows_are_the_rows_that_went_in(finished: Path) -> None:
    dataset = load(finished)
    assert list(dataset.rows("tasks", "test")) == [task(number) for number in range(20) if number % 5 == 4]
    assert list(dataset.rows("documents"))[:61] == [page(number) for number in range(61)]
    assert list(dataset.rows("rejected")) == [rejection(number) for number in range(4)]
    rows = list(dataset.rows("trajectories"))
    assert sorted(rows, key=lambda row: row.id) == [
        trajectory(number, role) for role in ("policy", "teacher") for number in range(20)
    ]
    assert rows[0].tool_schemas[0]["function"]["name"] == "search"  # JSON columns are objects
    assert trajectory_of(rows[0]).content == rows[0].content


def test_order_is_train_validation_test(finished: Path) -> None:
    splits = [row.split for row in load(finished).rows("tasks")]
    assert splits == ["train"] * 12 + ["validation"] * 4 + ["test"] * 4


def test_one_row_by_id(finished: Path) -> None:
    dataset = load(finished)
    for number in range(20):
        assert dataset.find("tasks", task(number).id) == task(number)
    assert dataset.find("trajectories", "trajectory-teacher-0007") == trajectory(7, "teacher")
    assert dataset.find("documents", "p33") == page(33)
    assert dataset.find("rejected", "102") == rejection(2)
    assert dataset.find("tasks", "nothing") is None


def test_one_row_by_id_across_row_groups_and_files(tmp_path: Path) -> None:
    tables = sample_tables(200)
    write_dataset(tmp_path / "out", tables, sample_report(tables), file_bytes=1)
    dataset = load(tmp_path / "out")
    assert len(dataset.files("documents")) == 2
    for number in (0, 499, 500, 600):
        assert dataset.find("documents", f"p{number}") == page(number)


def test_rows_by_a_column(finished: Path) -> None:
    dataset = load(finished)
    found = list(dataset.where("steps", "trajectory_id", "trajectory-policy-0003"))
    assert found == steps(trajectory(3, "policy"))
    assert list(dataset.where("continuations", "trajectory_id", "trajectory-policy-0003")) == continuations(
        trajectory(3, "policy")
    )
    assert [row.id for row in dataset.where("trajectories", "task_id", task(4).id)] == [
        "trajectory-policy-0004",
        "trajectory-teacher-0004",
    ]
    assert list(dataset.where("steps", "trajectory_id", "nothing")) == []
    with pytest.raises(InputError, match="steps has no column 'mood'"):
        list(dataset.where("steps", "mood", "good"))


def test_rows_by_a_column_across_row_groups_and_files(tmp_path: Path) -> None:
    tables = sample_tables(200)
    write_dataset(tmp_path / "out", tables, sample_report(tables), file_bytes=1)
    dataset = load(tmp_path / "out")
    rows = list(dataset.rows("trajectories"))
    assert len(dataset.files("trajectories")) > 3
    for role in ("policy", "teacher"):
        assert list(dataset.where("trajectories", "role", role)) == [row for row in rows if row.role == role]


def test_tables_and_batches(finished: Path) -> None:
    dataset = load(finished)
    table = dataset.table("tasks", "train")
    assert table.num_rows == 12
    assert table.schema.equals(arrow_schema(type(task(0))))
    assert dataset.table("tasks", columns=["id"]).num_columns == 1
    assert sum(batch.num_rows for batch in dataset.batches("documents", size=7)) == 62


def test_lazy_frames(finished: Path) -> None:
    dataset = load(finished)
    frame = dataset.scan("trajectories")
    assert isinstance(frame, pl.LazyFrame)
    success = frame.group_by("role").agg(pl.col("success").mean()).sort("role").collect()
    assert success.rows() == [("policy", 0.5), ("teacher", 1.0)]
    assert dataset.scan("trajectories", "test").select(pl.len()).collect().item() == 8


def test_an_empty_config_reads_as_no_rows(tmp_path: Path) -> None:
    tables = {**sample_tables(5, 0), "rejected": arrow_schema(Rejection).empty_table()}
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    dataset = load(tmp_path / "out")
    assert "rejected" not in dataset.configs
    assert dataset.splits("rejected") == ()
    assert list(dataset.rows("rejected")) == []
    assert dataset.count("rejected") == 0
    assert dataset.find("rejected", "1") is None
    assert dataset.table("rejected").schema.equals(arrow_schema(Rejection))
    assert dataset.scan("rejected").collect().columns == arrow_schema(Rejection).names


def test_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "missing")
    with pytest.raises(InputError, match="holds no dataset"):
        load(tmp_path)


def test_no_config(finished: Path) -> None:
    with pytest.raises(InputError, match="no config 'walks'; there are tasks, difficulty, trajectories, "):
        load(finished).count("walks")


def test_damage_is_one_line(copied: Callable[[], Path]) -> None:
    folder = copied()
    file = folder / "documents" / "corpus-00000-of-00001.parquet"
    whole = file.read_bytes()
    for data in (whole[:100], b"", b"PAR1" + bytes(200) + b"PAR1", whole[:40] + bytes(600) + whole[640:]):
        file.write_bytes(data)
        with pytest.raises(DatasetError) as raised:
            list(load(folder).rows("documents"))
        assert "corpus-00000" in str(raised.value)
        assert "\n" not in str(raised.value)
    (folder / "report.json").unlink()
    with pytest.raises(DatasetError, match=r"report.json: the report can't be read"):
        load(folder).report  # noqa: B018


def test_a_dataset_of_an_older_schema_is_one_line(
    copied: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied()
    report = json.loads((folder / "report.json").read_text())
    (folder / "report.json").write_text(json.dumps(report | {"schema_version": "1.2.0", "new": 1}))
    said = r"report\.json: it was written with schema 1\.2\.0, and this version of synth reads \S+\. Build it again"
    with pytest.raises(DatasetError, match=said):
        load(folder)
    for words in (
        ["export", str(folder), "--to", "openai", "--out", str(folder.parent / "out")],
        ["show", str(folder)],
        ["validate", str(folder)],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == DatasetError.exit_code
        assert re.search(said, capsys.readouterr().err)


def test_a_table_that_lacks_a_column_is_one_line(copied: Callable[[], Path]) -> None:
    folder = copied()
    (path,) = (folder / "trajectories").glob("train-*.parquet")
    pl.read_parquet(path).drop("stop_reason").with_columns(turns=pl.lit("many")).write_parquet(path)
    dataset = load(folder)
    for columns, said in ((None, "stop_reason"), (["id", "stop_reason"], "stop_reason"), (["turns"], "column turns")):
        with pytest.raises(DatasetError, match=f"{said}.*synth validate"):
            list(dataset.batches("trajectories", columns=columns))
    with pytest.raises(DatasetError, match="lacks column stop_reason"):
        list(dataset.rows("trajectories"))


def test_rows_that_break_their_type_are_one_line(copied: Callable[[], Path]) -> None:
    import pyarrow.parquet as pq

    folder = copied()
    file = folder / "rejected" / "rejected-00000-of-00001.parquet"
    table = pq.read_table(file)
    pq.write_table(table.set_column(2, "reason", pa.array(["empty", "because", "empty", "empty"])), file)
    with pytest.raises(DatasetError, match=r"row \[1\].reason.*synth validate"):
        list(load(folder).rows("rejected"))
