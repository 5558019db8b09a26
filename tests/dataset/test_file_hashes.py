"""The report states every file and the order of rows; what is proven of a column is listed."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from breaking import DOCUMENTS, TASKS, rewrite
from exporter_samples import sample_report, sample_tables
from mutating import carried
from stand_ins.forging import seal

from synth.cli import main
from synth.dataset.configs import CONFIGS, columns, config_named
from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables = sample_tables(8)
    write_dataset(tmp_path / "dataset", tables, sample_report(tables))
    assert validate(tmp_path / "dataset") == []
    return tmp_path / "dataset"


def said(folder: Path, file: str) -> list[str]:
    return [problem.what for problem in validate(folder) if problem.file == file]


def test_two_rows_that_change_places_are_seen(folder: Path) -> None:
    rewrite(folder, DOCUMENTS, lambda table: pa.concat_tables([table.slice(1, 1), table.slice(0, 1), table.slice(2)]))
    assert any("or are in another order" in what for what in said(folder, DOCUMENTS))


def test_what_was_written_anew_can_be_stated_anew(folder: Path) -> None:
    rewrite(folder, TASKS, lambda table: table, compression_level=1)
    assert len(said(folder, TASKS)) == 1
    seal(folder)
    assert validate(folder) == []


def test_a_file_too_many_and_one_too_few_are_one_problem_each(folder: Path) -> None:
    shutil.copy(folder / "columns/tasks.md", folder / "columns/mine.md")
    (folder / "columns/facts.md").unlink()
    assert len([what for what in said(folder, "columns/mine.md") if "not listed in the report" in what]) == 1
    assert len([what for what in said(folder, "columns/facts.md") if "but missing" in what]) == 1


def test_a_file_written_anew_by_polars_has_other_bytes_and_the_same_rows(folder: Path) -> None:
    pl.read_parquet(folder / TASKS).write_parquet(folder / TASKS)
    assert any("rewritten, with the same rows of tasks/train" in what for what in said(folder, TASKS))


def test_the_list_of_columns_names_columns_that_are_there() -> None:
    for table, names in carried().items():
        assert set(names) <= {column.path for column in columns(config_named(table).row_type)}


def test_the_command_and_the_manual_say_which_columns_are_only_carried(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["validate", str(folder), "--coverage"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > len(CONFIGS)
    listed = {line.partition(": ")[0] for line in lines if line.endswith(": carried, not proven")}
    assert listed == {f"{table}.{name}" for table, names in carried().items() for name in names}
    manual = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "manual.py"))
    pages = "\n".join(manual["tables"]()).split("\n## ")
    for page in pages[1:]:
        name = page.partition("\n")[0]
        said = re.findall("Carried, not proven by `synth validate`: (.*)", page)
        assert said == ([", ".join(f"`{one}`" for one in carried()[name]) + "."] if name in carried() else [])
