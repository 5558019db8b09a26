"""A whole build in every format, and what a trainer finds in it."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest
from shared_builds import LEAN, WORLD

import synth
from synth.annotate.rewards.adapters import compute_score, trl_reward
from synth.api import BuildResult
from synth.errors import InputError
from synth.registry import choices


# Pivots are measured where a recipe asks for it: test_formats_credit.py. No run here is shown pictures.
@pytest.mark.parametrize(
    "name", sorted(one for one in choices("formats") if one != "trl-pivots" and "vision" not in one)
)
def test_every_row_is_exported_or_counted(name: str, small: BuildResult, tmp_path: Path) -> None:
    dataset = synth.load(small.path)
    pairs = ["selected=any"] if name.endswith("-dpo") else []
    report = synth.export(small.path, name, tmp_path / "out", select=pairs).report
    assert report.exported > 0
    for split, one in report.splits.items():
        assert one.rows == dataset.count(report.table, split)
        assert one.exported + sum(one.left_out.values()) + sum(one.inexpressible.values()) == one.rows


def test_our_reward_takes_what_the_trainers_read(small: BuildResult, tmp_path: Path) -> None:
    rl = list(synth.load(small.path).rows("rl", "train"))
    for name in ("trl-grpo", "verl"):
        done = synth.export(small.path, name, tmp_path / name)
        rows = datasets.load_dataset(str(done.path), cache_dir=str(tmp_path / "cache"), split="train")
        assert len(rows) == len(rl)
        right = [f"Answer: {row.reward_model.ground_truth.answer}" for row in rl]
        if name == "trl-grpo":
            columns = {column: rows[column] for column in rows.column_names if column != "prompt"}
            values = trl_reward(prompts=rows["prompt"], completions=right, **columns)
        else:
            values = [
                compute_score(row["data_source"], text, row["reward_model"]["ground_truth"], row["extra_info"])["score"]
                for row, text in zip(rows, right, strict=True)
            ]
        assert all(value is not None and value >= 0.7 for value in values)


def test_difficulty_selects_tasks(small: BuildResult, tmp_path: Path) -> None:
    dataset = synth.load(small.path)
    rates = {
        row.task_id: row.successes / row.rollouts if row.rollouts else row.predicted
        for row in dataset.rows("difficulty")
    }
    hard = {task for task, rate in rates.items() if rate <= 0.5}
    done = synth.export(small.path, "verl", tmp_path / "out", select=["difficulty=0..0.5"])
    assert done.report.exported == sum(row.task_id in hard for row in dataset.rows("rl"))
    with pytest.raises(InputError, match="no table judgments"):
        synth.export(small.path, "sts", tmp_path / "rated", select=["rating=3"])


def test_masks_are_those_of_the_steps(small: BuildResult, tmp_path: Path) -> None:
    done = synth.export(small.path, "openai", tmp_path / "out")
    dataset = synth.load(small.path)
    weights: dict[str, list[bool]] = {}
    for split in done.report.splits:
        lines = (done.path / f"{split}.jsonl").read_text().splitlines()
        notes = (done.path / "index" / f"{split}.jsonl").read_text().splitlines()
        for line, note in zip(lines, notes, strict=True):
            spoken = [one for one in json.loads(line)["messages"] if one["role"] == "assistant"]
            weights[json.loads(note)["id"]] = [one.get("weight", 1) == 1 for one in spoken]
    for run in dataset.rows("trajectories"):
        if run.id in weights:
            steps = sorted(dataset.where("steps", "trajectory_id", run.id), key=lambda step: step.step)
            assert weights[run.id] == [step.train for step in steps]


def test_a_teacher_keeps_the_runs_that_show_what_is_asked_of_it(world_store: Path, tmp_path: Path) -> None:
    settings = {**WORLD, **LEAN, "roles.teacher.behaviours": ["verification"]}
    made = synth.build("world-search", tasks=8, out=tmp_path / "out", store=world_store, settings=settings)
    dataset = synth.load(made.path)
    kept = {run.id for run in dataset.rows("trajectories") if run.role == "teacher"}
    shown = {step.trajectory_id for step in dataset.rows("steps") if "verification" in step.behaviours}
    refused = [row for row in dataset.rows("rejected") if row.reason == "missing_behaviour"]
    assert kept
    assert kept <= shown
    assert len(kept) + len(refused) == 8


def test_pages_to_rank_are_read_as_a_trainer_of_rerankers_reads_them(small: BuildResult, tmp_path: Path) -> None:
    done = synth.export(small.path, "ranker", tmp_path / "out")
    rows = datasets.load_dataset(str(done.path), cache_dir=str(tmp_path / "cache"), split="train")
    pairs = rows.select_columns(["query", "passage", "label"])
    assert len(pairs) == done.report.splits["train"].records
    assert set(pairs["label"]) == {0.0, 1.0}
    for row in rows:
        assert (row["label"] == 1.0) == (row["kind"] == "gold") == (row["evidence"] is not None)
        assert all(row["passage"][span["start"] : span["end"]] in row["evidence"] for span in row["spans"])
