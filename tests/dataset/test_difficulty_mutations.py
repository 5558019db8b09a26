"""``validate`` counts again what ``difficulty`` says; the stage makes what it accepts; ``stats`` reads it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from breaking import Break, edit, must_be_found
from exporter_samples import PROVENANCE, sample_report, sample_tables

from synth.dataset.card.calibration import Calibrations, auc
from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.dataset.stats import stats
from synth.errors import InputError
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.difficulty import ClosedBookRow, DifficultyReport, DifficultyRow
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation
from synth.stages.difficulty import ClosedBook, ClosedBookConfig, CurriculumTarget, Difficulties, DifficultyConfig

ROWS = "difficulty/train-00000-of-00001.parquet"


class _Table:
    def __init__(self, arrow: pa.Table, row_type: type[Row]) -> None:
        self.arrow, self._rows = arrow, from_arrow(arrow, row_type)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> Any:
        return self._rows[number]

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Any]:
        yield from self._rows[start:stop]


class _Inputs:
    def __init__(self, **tables: _Table) -> None:
        self._tables = tables

    def table(self, name: str) -> _Table:
        return self._tables[name]

    def arrays(self, name: str) -> dict[str, np.ndarray[Any, Any]]:
        raise KeyError(name)


def _context(inputs: _Inputs) -> Context:
    return Context(3, inputs, PROVENANCE, lambda *names: derive_generator(3, *names))


def rows_of(tables: dict[str, pa.Table], *, replies: bool = True, **config: Any) -> list[DifficultyRow]:
    """Through both stages, over the sample's tasks and runs. ``replies`` False: without tools none ever came."""
    tasks = _Table(tables["tasks"], Task)
    prompt = load_prompt("agents/search").ref
    policy = Implementation(
        kind="scripted", factory="synth.agents.scripted.players:scripted_policy", options={"role": "policy"}
    )
    settings = ClosedBookConfig(
        policy=policy, prompt=prompt.id, prompt_version=prompt.version, prompt_sha256=prompt.sha256
    )
    closed = ClosedBook(settings, _context(_Inputs(tasks=tasks)))
    answered = [row for task in tasks.rows() for row in closed.process(task).kept]
    if not replies:
        answered = [row.model_copy(update={"rollouts": 0, "successes": 0}) for row in answered]
    runs = [run for run in from_arrow(tables["trajectories"], TrajectoryRow) if run.role == "policy"]
    inputs = _Inputs(
        tasks=tasks,
        policy_runs=_Table(to_arrow(runs, TrajectoryRow), TrajectoryRow),
        closed_book=_Table(to_arrow(answered, ClosedBookRow), ClosedBookRow),
    )
    return list(Difficulties(DifficultyConfig(**config), _context(inputs)).run().tables["difficulty"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("difficulty") / "dataset"
    tables = sample_tables()
    tables["difficulty"] = to_arrow(rows_of(tables), DifficultyRow)
    write_dataset(folder, {name: iter(table.to_batches()) for name, table in tables.items()}, sample_report(tables))
    return folder


MUTATIONS: dict[str, tuple[Break, str]] = {
    "no such task": (edit(ROWS, 0, lambda r: {"task_id": "task-x"}), "there is no task task-x"),
    "two rows": (edit(ROWS, 1, lambda r: {"task_id": "again"}), "no task again"),
    "success invented": (edit(ROWS, 0, lambda r: {"successes": r.rollouts - r.successes}), "the trajectories say"),
    "a run left out": (edit(ROWS, 2, lambda r: {"rollouts": r.rollouts + 1}), "the trajectories say"),
    "other bin": (edit(ROWS, 0, lambda r: {"bin": (r.bin + 1) % 10}), "is predicted"),
    "search not needed": (edit(ROWS, 0, lambda r: {"search_needed": False}), "does not follow"),
    "target of nothing": (edit(ROWS, 0, lambda r: {"target": 0, "chosen": False}), "not part of the curriculum"),
    "place taken twice": (edit(ROWS, 0, lambda r: {"order": r.order + 1}), "not every place"),
    "other split": (edit(ROWS, 0, lambda r: {"split": "test"}), "split: test"),
}


def test_what_was_never_asked_without_tools_does_not_need_search(tmp_path: Path) -> None:
    tables = sample_tables()
    rows = rows_of(tables, replies=False)
    assert {row.search_needed for row in rows} == {None}
    tables["difficulty"] = to_arrow(rows, DifficultyRow)
    write_dataset(tmp_path / "set", {name: iter(t.to_batches()) for name, t in tables.items()}, sample_report(tables))
    assert validate(tmp_path / "set") == []
    found = stats(tmp_path / "set").difficulty
    assert found is not None
    assert (found.tasks, found.closed_book, found.search_needed) == (20, None, None)
    assert "| right answers without tools | - |" in (tmp_path / "set" / "README.md").read_text()
    edit(ROWS, 0, lambda r: {"search_needed": True})(tmp_path / "set")
    assert any("search_needed" in problem.what for problem in validate(tmp_path / "set"))


def test_what_the_stage_makes_holds(whole: Path) -> None:
    assert validate(whole) == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_break_is_found(whole: Path, name: str) -> None:
    breaks, words = MUTATIONS[name]
    must_be_found((breaks, "difficulty/", words), whole)


def test_stats_and_card_tell_how_well_it_is_predicted(whole: Path) -> None:
    found = stats(whole).difficulty
    assert found is not None
    assert sum(row.tasks for row in found.bins) == found.chosen == found.tasks == 20
    assert 0 <= found.error <= 1
    assert found.brier_of_mean <= 0.25
    assert found.search_needed == 1.0
    card = (whole / "README.md").read_text()
    for row in found.bins:
        assert row.measured_low <= row.measured <= row.measured_high
        figures = (row.predicted, row.measured, row.measured_low)
        line = " | ".join(f"{100 * value:.1f} %" for value in figures)
        assert f"| {row.low:.1f} to {row.high:.1f} | {row.tasks} | {row.rollouts} | {line} to " in card
    assert f"| Brier score of the prediction | {found.brier:.4f} |" in card
    assert "`search_needed` therefore hardly tells these tasks apart" in card  # the sample's world is fictional
    assert "share asked for" not in card


def test_rows_that_say_other_than_the_report_are_found(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    edit(ROWS, 0, lambda row: {"predicted": row.predicted / 2, "bin": int(row.predicted * 5)})(folder)
    found = [str(problem) for problem in validate(folder)]
    assert any("difficulty: the rows give other counts of predicted" in line for line in found)


def _of_target(number: int, row: Any) -> dict[str, Any]:
    return {"target": number}


def test_the_card_states_the_shares_that_were_asked_for(tmp_path: Path) -> None:
    tables = sample_tables()
    asked = CurriculumTarget(low=0.0, high=0.5, share=0.5)
    rows = rows_of(tables, targets=(asked,), tasks=8)
    tables["difficulty"] = to_arrow(rows, DifficultyRow)
    report = sample_report(tables)
    recipe = {**report.recipe, "difficulty": {"targets": [asked.model_dump()], "tasks": 8}}
    folder = tmp_path / "dataset"
    batches = {name: iter(table.to_batches()) for name, table in tables.items()}
    done = write_dataset(folder, batches, report.model_copy(update={"recipe": recipe}))
    assert validate(folder) == []
    assert done.difficulty is not None
    assert [(of.low, of.high, of.share, of.tasks) for of in done.difficulty.targets] == [(0.0, 0.5, 0.5, 4)]
    assert "| 0 to 0.5 | 50.0 % | 4 | 50.0 % |" in (folder / "README.md").read_text()
    at = next(place for place, row in enumerate(rows) if row.target == 0 and row.split == "train")
    before = sum(row.split == "train" for row in rows[:at])
    for wrong, words in ((3, "the recipe has no target 3"), (-1, "the recipe has no target -1")):
        copy = tmp_path / f"copy{wrong}"
        shutil.copytree(folder, copy)
        edit(ROWS, before, partial(_of_target, wrong))(copy)
        assert any(words in str(problem) for problem in validate(copy))
    easy = next(
        n for n, row in enumerate(r for r in rows if r.split == "train") if row.target is None and row.successes
    )
    edit(ROWS, easy, lambda row: {"target": 0, "chosen": True})(folder)
    assert any("target: 0, and the task's rate of success is 1" in str(problem) for problem in validate(folder))


def calibration(table: pa.Table, size: int | None = None) -> DifficultyReport | None:
    counted = Calibrations()
    for batch in table.to_batches(max_chunksize=size):
        counted.see(batch)
    return counted.report()


def test_the_report_does_not_depend_on_the_order_of_rows() -> None:
    table = to_arrow(rows_of(sample_tables()), DifficultyRow)
    there = calibration(table)
    back = table.take(list(range(len(table)))[::-1])
    assert there == calibration(back, 3)
    assert there is not None
    assert calibration(table.slice(0, 0)) is None


def test_auc_counts_ties_half() -> None:
    assert auc([0.9, 0.1], [1, 0], [1, 1]) == 1.0
    assert auc([0.1, 0.9], [1, 0], [1, 1]) == 0.0
    assert auc([0.5, 0.5], [3, 0], [4, 4]) == 0.5
    assert auc([0.8, 0.4], [1, 1], [2, 2]) == 0.5
    assert auc([0.8, 0.4], [2, 1], [2, 2]) == pytest.approx((1 + 1 + 0.5) / 3)
    assert auc([0.8, 0.4], [2, 2], [2, 2]) is None


def test_a_curriculum_of_exactly_as_many_as_asked_for() -> None:
    tables = sample_tables()
    target = CurriculumTarget(low=0.0, high=0.5, share=0.5)
    rows = rows_of(tables, targets=(target,), tasks=8)
    assert sum(row.chosen for row in rows) == 8
    failed = {row.task_id for row in rows if row.rollouts and row.successes == 0}
    chosen = [row for row in rows if row.target == 0]
    assert len(chosen) == min(4, len(failed))
    assert {row.task_id for row in chosen} <= failed
    assert sorted(row.order for row in rows) == list(range(20))
    with pytest.raises(InputError, match="21 tasks are wanted"):
        rows_of(tables, tasks=21)
