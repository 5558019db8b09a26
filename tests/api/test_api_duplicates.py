"""Builds whose runs and pairs are alike: runs are marked and stay, pairs go, and nothing refers to what is gone."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared_builds import LEAN, SMALL, WORLD, world_store
from stand_ins.forging import seal

import synth
from synth.annotate.labels.step_groups import DISCOUNT
from synth.api import BuildResult
from synth.dataset.configs import config_named
from synth.dataset.reader import Dataset
from synth.dataset.rules.validate import validate
from synth.filtering.dedup.levels import LEVELS
from synth.filtering.dedup.sketch import sketch_rows
from synth.identity import derive_generator
from synth.recipe.dedup import PairRules, RunRules
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import turn_ranges
from synth.stages.contract import Batch, Context
from synth.stages.duplicates import MarkConfig, MarkDuplicates

pytestmark = pytest.mark.thorough

POLICY: dict[str, Any] = {**LEAN, "roles": {"policy": {"rollouts": 4}}}


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """Four runs of the policy on each task: some do the same."""
    folder = tmp_path_factory.mktemp("sampled")
    store = world_store(folder)
    return synth.build("world-search", tasks=8, out=folder / "out", store=store, settings={**WORLD, **POLICY})


@pytest.fixture
def data(sampled: BuildResult) -> Dataset:
    return synth.load(sampled.path)


def test_runs_that_do_the_same_are_marked_and_stay(sampled: BuildResult, data: Dataset, tmp_path: Path) -> None:
    rows = {row.id: row for row in data.rows("trajectories")}
    assert len(rows) == 32
    marks = {row.id: row.duplicate_of for row in rows.values() if row.duplicate_of is not None}
    assert marks
    for name, stays in marks.items():
        one, other = rows[name], rows[stays]
        assert (one.task_id, one.role, one.split, one.answer) == (other.task_id, other.role, other.split, other.answer)
        assert LEVELS["trajectories"].structure is not None
        assert LEVELS["trajectories"].structure(one) == LEVELS["trajectories"].structure(other)
        assert other.duplicate_of is None
    kept = Counter(row.task_id for row in rows.values() if row.duplicate_of is None)
    assert len(kept) == 8, "every task keeps a run"
    keys = [LEVELS["trajectories"].structure(row) for row in rows.values() if row.duplicate_of is None]  # type: ignore[misc]
    assert len(set(keys)) == len(keys)
    assert {row.representative for row in data.rows("duplicates")} == set(marks.values())
    assert {name for row in data.rows("duplicates") for name in (row.one, row.other)} == {*marks, *marks.values()}
    assert validate(sampled.path) == []
    said = (sampled.path / "README.md").read_text()
    who = "1 run does" if len(marks) == 1 else f"{len(marks)} runs do"
    assert f"{who} what another run of the same role does" in " ".join(said.split())
    exported = synth.export(sampled.path, to="openai", out=tmp_path / "lean", select=["role=policy"])
    whole = synth.export(sampled.path, to="openai", out=tmp_path / "whole", select=["role=policy", "duplicates=true"])
    assert whole.report.records - exported.report.records == sum(
        rows[name].success or "success" not in exported.report.selection for name in marks
    )


def broken(built: Path, folder: Path, config: str, change: Any) -> list[str]:
    """What ``validate`` says of a copy of ``built`` whose rows of a table went through ``change``, hashes restated."""
    shutil.copytree(built, folder)
    for path in sorted((folder / config).glob("*.parquet")):
        row_type = config_named(config).row_type
        rows = [change(row) for row in from_arrow(pq.read_table(path), row_type)]
        pq.write_table(to_arrow(rows, row_type), path, compression="zstd", write_page_index=True)
    seal(folder)
    return [problem.what for problem in validate(folder)]


def with_id(name: str, **changes: Any) -> Any:
    return lambda row: row.model_copy(update=changes) if row.id == name else row


def test_first_turns_are_compared_with_those_of_the_other_runs(data: Dataset) -> None:
    """Every run begins in the same state; those without a verdict are compared with none."""
    runs: dict[str, list[TrajectoryRow]] = defaultdict(list)
    for run in data.rows("trajectories"):
        runs[run.task_id].append(run)
    found = {row.trajectory_id: row.group_advantage for row in data.rows("steps") if not row.step}
    for every in runs.values():
        group = [run for run in every if run.verdict.correct is not None]
        assert all(found[run.id] is None for run in every if run not in group)
        ends = [float(run.success) * DISCOUNT ** (len(turn_ranges(run.content)) - 1) for run in group]
        assert [found[run.id] for run in group] == pytest.approx([end - sum(ends) / len(ends) for end in ends])
    assert len({value for value in found.values() if value}) > 4


def test_pairs_that_are_alike_go_and_no_verdict_stays_behind(
    small: BuildResult, small_store: Path, tmp_path: Path
) -> None:
    settings = {**SMALL["settings"], "preferences.fill": 20}  # many injected errors: some are alike
    whole = synth.build(
        "world-search", **{**SMALL, "tasks": 24, "settings": settings}, out=tmp_path / "all", store=small_store
    )
    settings["dedup.pairs.structural"] = True
    built = synth.build(
        "world-search", **{**SMALL, "tasks": 24, "settings": settings}, out=tmp_path / "out", store=small_store
    )
    before = {row.id: row for row in synth.load(whole.path).rows("preferences")}
    data = synth.load(built.path)
    after = {row.id for row in data.rows("preferences")}
    gone = {row.row_id: row for row in data.rows("rejected") if row.reason is Reason.DUPLICATE_PAIR}
    assert gone, "the build holds pairs of the same calls"
    assert after == before.keys() - gone.keys()
    for name, row in gone.items():
        found = [one for one in data.rows("duplicates") if one.level == "preferences" and name in (one.one, one.other)]
        assert found
        assert {one.representative for one in found} <= after
        assert any(one.representative in row.detail for one in found)
        assert name not in before or row.split == before[name].split  # the others go by their words alone
    assert validate(built.path) == []
    name, row = next(iter(gone.items()))

    def rejected(**changes: Any) -> list[str]:
        def change(one: Any) -> Any:
            return one.model_copy(update=changes) if one.row_id == name else one

        return broken(built.path, tmp_path / "-".join(changes), "rejected", change)

    assert f"detail: duplicates has no such pair of {name}" in rejected(detail=row.detail.replace("1.0000", "0.9000"))
    assert f"{name} stands neither in its table nor in rejected" in rejected(row_id="preference-0")


def test_marks_and_the_table_of_duplicates_must_agree(sampled: BuildResult, data: Dataset, tmp_path: Path) -> None:
    marked, alone = (
        next(row for row in data.rows("trajectories") if (row.duplicate_of is not None) is wanted)
        for wanted in (True, False)
    )
    (listed,) = [row for row in data.rows("duplicates") if marked.id in (row.one, row.other)][:1]

    unmarked = broken(sampled.path, tmp_path / "unmarked", "trajectories", with_id(marked.id, duplicate_of=None))
    assert any("has no duplicate_of" in what for what in unmarked)
    lost = broken(sampled.path, tmp_path / "lost", "trajectories", with_id(marked.id, duplicate_of="trajectory-0"))
    assert any("there is no trajectory trajectory-0" in what for what in lost)
    chained = broken(sampled.path, tmp_path / "chained", "trajectories", with_id(alone.id, duplicate_of=marked.id))
    assert any("is itself marked" in what for what in chained)
    assert any("duplicates names none for it" in what for what in chained)
    scored = broken(sampled.path, tmp_path / "scored", "duplicates", with_id(listed.id, score=0.5))
    assert scored == ["score: 0.5 is not possible for kind structural"]
    level = broken(sampled.path, tmp_path / "level", "duplicates", with_id(listed.id, level="preferences"))
    assert any("is not in preferences" in what for what in level)


class Tables:
    """What a stage reads, in memory."""

    def __init__(self, name: str, rows: list[Row]) -> None:
        self._name, self._rows = name, rows
        self.arrow: pa.Table = to_arrow(rows, type(rows[0]))

    def table(self, name: str) -> Tables:
        assert name == self._name
        return self

    def arrays(self, name: str) -> dict[str, Any]:
        level = LEVELS[self._name]  # type: ignore[index]
        return sketch_rows(self._rows, level.text, level.quality, level.structure, words=3).arrays()

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> Any:
        return from_arrow(self.arrow.slice(number, 1), type(self._rows[0]))[0]


def ran(level: Any, tables: Tables, rules: Any, provenance: Provenance) -> Batch:
    context = Context(seed=7, inputs=tables, provenance=provenance, generator=derive_generator)  # type: ignore[arg-type]
    found: Batch = MarkDuplicates(MarkConfig(level=level, rules=rules), context).run()
    return found


def test_planted_copies_are_found_in_any_order(small: BuildResult) -> None:
    data = synth.load(small.path)
    runs: list[Any] = [row for row in data.rows("trajectories") if row.role == "teacher"]
    pairs: list[Any] = list(data.rows("preferences"))
    cases: list[tuple[str, list[Any], Any, tuple[str, ...]]] = [
        ("trajectories", runs, RunRules(), ("turns",)),
        ("preferences", pairs, PairRules(), ()),
    ]
    for table, rows, rules, worse in cases:
        copies = [
            row.model_copy(update={"id": f"zz-{row.id}", **{name: getattr(row, name) + 1 for name in worse}})
            for row in rows[:3]
        ]
        planted = [*rows, *copies]
        turned = [planted[at] for at in derive_generator(1, "planted").permutation(len(planted))]
        plain = ran(table, Tables(table, rows), rules, rows[0].provenance)
        found = [ran(table, Tables(table, some), rules, rows[0].provenance) for some in (planted, turned)]
        assert not len(plain.tables["duplicates"]), "nothing is alike that was not planted"
        assert found[0] == found[1]
        told = {
            (row.one, row.other, row.kind)
            for row in from_arrow(cast("pa.Table", found[0].tables["duplicates"]), DuplicateRow)
        }
        assert {(row.id, f"zz-{row.id}", "exact") for row in rows[:3]} <= told
        if table == "preferences":
            assert {row.row_id for row in found[0].rejected} == {row.id for row in copies}
            assert {row.detail for row in found[0].rejected} == {
                f"like {row.id}: same words 1.0000" for row in rows[:3]
            }
