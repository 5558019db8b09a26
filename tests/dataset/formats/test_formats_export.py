"""A whole dataset in every format: nothing vanishes, the same bytes twice, and folders are left as they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report
from format_samples import lines, parquet, write_samples

import synth
from synth.cli import main
from synth.dataset.layout import write_dataset
from synth.errors import InputError, StoreError
from synth.export.selection import Selection, parse_selection
from synth.registry import FORMATS, find
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.turns import turn_ranges

HERE = sorted(name for name in set(FORMATS) - {"trl-grpo", "trl-grpo-env", "verl", "verl-env"} if "vision" not in name)
"""The sample has no table ``rl``; pictures are in ``tests/extras/pictures`` and ``test_formats_screens.py``."""


def hashes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", HERE)
def test_nothing_vanishes_and_the_bytes_are_the_same(name: str, small: Path, tmp_path: Path) -> None:
    done = synth.export(small, name, tmp_path / "one")
    report = done.report
    dataset = synth.load(small)
    assert report.source == "world-search"
    assert report.exported > 0
    for split, one in report.splits.items():
        assert one.rows == dataset.count(report.table, split)
        assert one.exported + sum(one.left_out.values()) + sum(one.inexpressible.values()) == one.rows
    assert sum(report.licences.values()) == report.exported
    assert set(report.reasons) == set(report.examples) == set(report.inexpressible)
    synth.export(small, name, tmp_path / "two")
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"], "nothing unfinished is left"
    text = b"".join(hashes(tmp_path / "one").values())
    assert str(tmp_path).encode() not in text
    assert str(small).encode() not in text


@pytest.mark.parametrize("name", ["trl-sft", "trl-dpo", "prm", "openai", "llamafactory-sft", "atif-1.8"])
def test_datasets_opens_the_folder_as_it_is(name: str, small: Path, tmp_path: Path) -> None:
    done = synth.export(small, name, tmp_path / name)
    loaded = datasets.load_dataset(str(done.path), cache_dir=str(tmp_path / "cache"))
    wanted = {split: one.records for split, one in done.report.splits.items() if one.records}
    assert {split: len(rows) for split, rows in loaded.items()} == wanted
    columns = find("formats", name).columns
    if columns is not None:
        assert loaded["train"].column_names == list(columns)
        (path,) = done.path.glob("train-*.parquet")
        assert [dict(row) for row in loaded["train"]][:1] == [_whole(row) for row in parquet(path)[:1]]


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name == "chat_template_kwargs" and isinstance(value, str) else value
        for name, value in row.items()
    }


def test_datasets_takes_no_export_for_another_in_a_folder_of_that_name(small: Path, tmp_path: Path) -> None:
    def rows(folder: str) -> datasets.Dataset:
        return datasets.load_dataset(str(tmp_path / folder), cache_dir=str(tmp_path / "cache"), split="train")

    synth.export(small, "trl-sft", tmp_path / "a/out")
    synth.export(small, "trl-dpo", tmp_path / "b/out")
    assert "messages" in rows("a/out").column_names
    assert "chosen" in rows("b/out").column_names
    count = len(rows("b/out"))
    synth.export(small, "trl-dpo", tmp_path / "b/out", select=["kind=trajectory"])
    assert 0 < len(rows("b/out")) < count


def test_llamafactory_is_told_where_everything_is(small: Path, tmp_path: Path) -> None:
    synth.export(small, "llamafactory-dpo", tmp_path / "out")
    info = json.loads((tmp_path / "out" / "dataset_info.json").read_text())
    entry = info["world_search_train"]
    assert entry["ranking"]
    row = lines(tmp_path / "out" / entry["file_name"])[0]
    assert set(entry["columns"].values()) <= set(row)


def test_an_index_says_where_each_line_comes_from(small: Path, tmp_path: Path) -> None:
    done = synth.export(small, "openai", tmp_path / "out")
    dataset = synth.load(small)
    for split, one in done.report.splits.items():
        told = lines(tmp_path / "out" / "index" / f"{split}.jsonl")
        made = lines(tmp_path / "out" / f"{split}.jsonl")
        assert len(told) == len(made) == one.records
        for note, line in zip(told, made, strict=True):
            row = dataset.find("trajectories", note["id"])
            assert row.content[0].content == line["messages"][1]["content"]


def test_selections(small: Path, tmp_path: Path) -> None:
    def exported(name: str, *select: str) -> int:
        return synth.export(small, name, tmp_path / "out", select=select).report.exported

    runs = list(synth.load(small).rows("trajectories"))
    pairs = list(synth.load(small).rows("preferences"))
    steps = list(synth.load(small).rows("steps"))
    assert exported("sts") == len(runs)
    assert exported("sts", "role=policy", "success=false") == sum(r.role == "policy" and not r.success for r in runs)
    assert exported("sts", "split=train,test") == sum(r.split != "validation" for r in runs)
    assert exported("trl-dpo", "selected=true") == sum(pair.selected for pair in pairs)
    assert exported("trl-dpo", "kind=trajectory") == sum(pair.kind == "trajectory" for pair in pairs)
    assert exported("trl-corrections") == sum(pair.kind == "verified_step" for pair in pairs)
    assert exported("kto", "label=-1") == sum(step.label == -1 for step in steps)
    assert exported("trl-sft", "role=policy") > 0, "a condition of the format is replaced, not added to"


@pytest.mark.parametrize("name", ["trl-dpo", "llamafactory-dpo"])
def test_pairs_that_are_selected_are_the_default(
    name: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = list(synth.load(small).rows("preferences"))
    chosen = sum(pair.selected for pair in pairs)
    done = synth.export(small, name, tmp_path / "out").report
    assert 0 < chosen < len(pairs)
    assert done.exported + sum(done.inexpressible.values()) == chosen
    assert done.left_out == {"selected": len(pairs) - chosen}
    assert "selected=any" in (tmp_path / "out" / "README.md").read_text()
    whole = synth.export(small, name, tmp_path / "all", select=["selected=any", "lengths=any"]).report
    assert whole.exported + sum(whole.inexpressible.values()) == len(pairs)
    assert whole.left_out == {}
    main(["export", str(small), "--to", name, "--out", str(tmp_path / "out")])
    assert f"{len(pairs) - chosen:,} left out: pairs outside the dataset's selection" in capsys.readouterr().out


def test_where_no_pair_is_selected_one_line_says_so_and_how_to_get_all(tmp_path: Path) -> None:
    tables = whole_tables(4, 0)
    pairs = [row.model_copy(update={"selected": False}) for row in from_arrow(tables["preferences"], PreferenceRow)]
    tables["preferences"] = to_arrow(pairs, PreferenceRow)
    write_dataset(tmp_path / "set", tables, sample_report(tables))
    with pytest.raises(InputError, match="no pair of the dataset is selected") as error:
        synth.export(tmp_path / "set", "trl-dpo", tmp_path / "out")
    assert f"--select selected=any exports all {len(pairs)} pairs" in str(error.value)
    assert not (tmp_path / "out").exists()
    assert synth.export(tmp_path / "set", "trl-dpo", tmp_path / "out", select=["selected=any"]).report.exported


def test_lengths_of_whole_runs_are_even_in_an_export(tmp_path: Path) -> None:
    tables = whole_tables(8, 0)
    whole, others = [], []
    for row in from_arrow(tables["preferences"], PreferenceRow):
        (whole if row.kind == "trajectory" else others).append(row)
    assert len(whole) > 2
    first, *rest = whole
    start = turn_ranges(first.chosen)[-1][0]
    longer = [  # the rejected side of the first pair is cut down to its last turn, so that its chosen side is longer
        first.model_copy(update={"rejected": first.rejected[turn_ranges(first.rejected)[-1][0] :]}),
        *(row.model_copy(update={"chosen": row.chosen[start:]}) for row in rest),
    ]
    tables["preferences"] = to_arrow([*others, *longer], PreferenceRow)
    write_dataset(tmp_path / "set", tables, sample_report(tables))
    done = synth.export(tmp_path / "set", "trl-dpo", tmp_path / "out", select=["kind=trajectory"]).report
    rows = [row for file in (tmp_path / "out").glob("*.parquet") for row in parquet(file)]
    turns = [[sum(m["role"] == "assistant" for m in row[side]) for side in ("chosen", "rejected")] for row in rows]
    gaps = [chosen - rejected for chosen, rejected in turns]
    assert len(gaps) == 2
    assert sum(gaps) == 0
    assert done.left_out["lengths"] == len(whole) - 2
    every = synth.export(tmp_path / "set", "trl-dpo", tmp_path / "all", select=["kind=trajectory", "lengths=any"])
    assert every.report.exported == len(whole)


def test_a_selection_is_part_of_the_report(small: Path, tmp_path: Path) -> None:
    report = synth.export(small, "trl-sft", tmp_path / "out", select=["split=train"]).report
    assert report.selection == {"split": ["train"], "role": ["teacher"], "success": True}
    assert report.command == "synth export world-search --to trl-sft --select split=train"
    assert Selection().set() == {}
    assert parse_selection(["difficulty=0.2..0.8"]).difficulty == (0.2, 0.8)
    assert parse_selection(["difficulty=0.2.."]).difficulty == (0.2, 1.0)


WRONG = {
    "unknown format": (["--to", "trl-stf"], "choose one of adp-1, adp-2"),
    "no table": (["--to", "verl"], "no table rl, which verl is made of"),
    "no condition": (["--to", "sts", "--select", "colour=red"], "write KEY=VALUE with a KEY of split, role"),
    "no value": (["--to", "sts", "--select", "role=boss"], "'boss' is none of teacher, policy, expert"),
    "no number": (["--to", "sts", "--select", "difficulty=hard"], "write difficulty=0.2..0.8"),
    "twice": (["--to", "sts", "--select", "split=train", "--select", "split=test"], "set twice"),
    "of other rows": (["--to", "sts", "--select", "selected=true"], "rows of trajectories have no selected"),
    "table for it": (["--to", "sts", "--select", "difficulty=0..1"], "no table difficulty"),
    "nothing left": (["--to", "sts", "--select", "role=expert"], "nothing is left to export"),
    "no tokenizer": (["--to", "sts", "--tokenizer", "none.json", "--max-length", "9"], "none.json: does not exist"),
    "no length": (["--to", "sts", "--tokenizer", "none.json"], "say --max-length as well"),
    "length 0": (["--to", "sts", "--max-length", "0"], "0 tokens hold nothing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_line_and_changes_nothing(
    name: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, words = WRONG[name]
    with pytest.raises(SystemExit) as end:
        main(["export", str(small), "--out", str(tmp_path / "out"), *arguments])
    told = capsys.readouterr().err
    assert end.value.code == 2
    assert told.count("\n") == 1
    assert words.lower() in told.lower()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no dataset"):
        synth.export(tmp_path, "sts", tmp_path / "out")


def test_what_stands_there_is_left_alone_unless_it_is_an_export(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("dear")
    with pytest.raises(StoreError, match="no export of synth"):
        synth.export(small, "sts", out)
    assert hashes(out) == {"mine.txt": b"dear"}
    (out / "mine.txt").unlink()
    synth.export(small, "sts", out)
    synth.export(small, "openai", out)
    assert "train.jsonl" in hashes(out)
    before = hashes(out)
    with pytest.raises(InputError):
        synth.export(small, "sts", out, select=["role=expert"])
    assert hashes(out) == before


def test_a_dataset_is_no_place_for_an_export(tmp_path: Path) -> None:
    folder = write_samples(tmp_path / "data", 5)
    with pytest.raises(StoreError, match="no export of synth"):
        synth.export(folder, "sts", folder)


def test_nothing_is_cut_unless_told_to(small: Path, tmp_path: Path) -> None:
    whole = synth.export(small, "trl-sft", tmp_path / "whole").report
    assert (whole.cut_rows, whole.max_length, whole.tokenizer) == (0, None, None)
    with pytest.raises(InputError, match="too_long"):
        synth.export(small, "trl-sft", tmp_path / "cut", max_length=90)
    done = synth.export(small, "trl-sft", tmp_path / "cut", max_length=4_000).report
    assert (done.cut_rows, done.max_length, done.tokenizer) == (0, 4_000, "words-1")


def test_the_command_prints_what_was_done(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", str(small), "--to", "llamafactory-dpo", "--out", str(tmp_path / "out"), "--select", "selected=any"])
    text = capsys.readouterr().out
    assert "several_messages: A side of the pair" in text
    main(["export", str(small), "--to", "sts", "--out", str(tmp_path / "out"), "--json"])
    assert json.loads(capsys.readouterr().out)["format"] == "sts"


def test_long_runs_stand_in_an_export_more_than_once(small: Path, tmp_path: Path) -> None:
    turns = sorted(run.turns for run in synth.load(small).rows("trajectories") if run.role == "teacher" and run.success)
    once = synth.export(small, "trl-sft", tmp_path / "once").report
    most = turns[-1]
    done = synth.export(small, "trl-sft", tmp_path / "often", select=[f"repeat={most}:3"]).report
    assert done.exported == once.exported
    assert done.records == once.records + 2 * turns.count(most) > once.records
    assert f"repeat={most}:3" in done.command


@pytest.mark.parametrize("value", ["20", "20:1", "20:x", ":2"])
def test_how_often_must_be_said_in_numbers(value: str) -> None:
    with pytest.raises(InputError, match="how often"):
        parse_selection([f"repeat={value}"])


def test_records_with_ids_stand_once(small: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="have ids"):
        synth.export(small, "adp-2", tmp_path / "out", select=["repeat=1:2"])
