"""The dataset of an application's desk: a whole build, and every rule that proves its plans by doing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from api_builds import killed_and_resumed, same_through_http
from opening import card_runs, every_config_opens
from shared_builds import hashes

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.pipelines.reopen import reopen
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

SETTINGS: dict[str, Any] = {"critical.share": 0.5, "critical.search.max_pairs": 6}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    folder = tmp_path_factory.mktemp("app-desk")
    return synth.build("app-desk", tasks=6, out=folder / "out", store=folder / "store", settings=SETTINGS)


def test_every_row_proves_itself(built: BuildResult, tmp_path: Path) -> None:
    assert validate(built.path) == []
    dataset = synth.load(built.path)
    assert {row.licence for table in ("tasks", "trajectories", "rl") for row in dataset.rows(table)} == {"CC0-1.0"}
    assert dataset.report.row_licences == {"CC0-1.0": 6}
    assert "\nlicense: cc0-1.0\n" in (built.path / "README.md").read_text("utf-8")
    assert every_config_opens(built.path, tmp_path) >= {"tasks", "trajectories", "steps", "rl"}
    assert card_runs(built.path) >= 4
    found = audit(built.path)
    assert found.violations == ()
    judged = {rule.rule: rule.rows for rule in found.rules}
    assert judged["plan"] == judged["minimal"] == 6
    assert judged["rerun"] >= 12


def test_teachers_do_what_was_asked_and_policies_err(built: BuildResult) -> None:
    dataset = synth.load(built.path)
    runs = list(dataset.rows("trajectories"))
    assert all(run.success and run.privileged for run in runs if run.role == "teacher")
    assert len([run for run in runs if run.role == "teacher"]) == 6
    assert any(not run.success for run in runs if run.role == "policy")
    steps = [step for step in dataset.rows("steps") if step.role == "teacher"]
    # A teacher may look at another row of a list first, and goes back with a reason.
    strayed = [step for step in steps if step.label < 0]
    assert all(step.label_reason == "wrong_turn" and not step.train for step in strayed)
    back = {(step.trajectory_id, step.step) for step in steps if step.label_reason == "corrected"}
    assert {(step.trajectory_id, step.step + 1) for step in strayed} <= back
    assert sum(step.information_gain for step in steps) == pytest.approx(6)


def test_a_finished_dataset_opens_its_application_again(built: BuildResult) -> None:
    environment, tasks = reopen(synth.load(built.path))
    task = tasks.by_number(0)
    assert environment.name == task.environment == "app:airline"
    assert "ask_user" in {tool.name for tool in environment.tools()}


def test_tasks_that_are_judged_by_their_state_get_no_reward_for_texts(built: BuildResult, tmp_path: Path) -> None:
    rows = list(synth.load(built.path).rows("rl"))
    asked = {task.id for task in synth.load(built.path).rows("tasks") if task.details["goal"]["answer"] == "required"}
    assert {row.task_id for row in rows if row.reward_model.ground_truth.judged_by == "answer"} == asked
    assert not asked, "with tasks that only ask, the next lines would count"
    for name in ("trl-grpo", "verl"):
        with pytest.raises(InputError, match="6 judged_by_state"):
            synth.export(built.path, name, tmp_path / name)
        done = synth.export(built.path, f"{name}-env", tmp_path / name)
        assert (done.report.exported, done.report.inexpressible) == (6, {})
        loaded = datasets.load_dataset(str(done.path), cache_dir=str(tmp_path / "cache"))
        asked_of = {row["extra_info"]["task_id"] for split in loaded.values() for row in split}
        assert asked_of == {row.task_id for row in rows}


@pytest.mark.thorough
def test_bytes_do_not_depend_on_workers_or_on_what_was_killed(built: BuildResult, tmp_path: Path) -> None:
    again = killed_and_resumed("app-desk", 6, tmp_path, SETTINGS, "engine.row.processed:3")
    assert hashes(again) == hashes(built.path)


def test_models_behind_http_act_as_agents_in_process_do(built: BuildResult, tmp_path: Path) -> None:
    store = built.path.parent / "store"
    assert same_through_http(built, store, tmp_path / "out", settings=SETTINGS) == 12


def _changed(folder: Path, config: str, kind: type[Any], change: Callable[[Any], Any]) -> None:
    """Rewrite the first row of a table."""
    path = sorted((folder / config).glob("train-*.parquet"))[0]
    table = pq.read_table(path)
    rows = from_arrow(table.to_batches()[0], kind)
    first = next(at for at, row in enumerate(rows) if change(row) is not None)
    rows = [change(row) if at == first else row for at, row in enumerate(rows)]
    pq.write_table(to_arrow(rows, kind).replace_schema_metadata(table.schema.metadata), path)
    assert isinstance(table, pa.Table)


def _without_a_change(task: Task) -> Task | None:
    plan: Any = task.details["plan"]
    calls = [call for call in plan["calls"] if call["changes"]]
    if not calls:
        return None
    kept = [call for call in plan["calls"] if call is not calls[-1]]
    return task.model_copy(update={"details": {**task.details, "plan": {**plan, "calls": kept}}})


def _with_one_more(task: Task) -> Task | None:
    """A second correction to what the first leads to anyway: it can be left out."""
    plan: Any = task.details["plan"]
    looks = [call for call in plan["calls"] if not call["changes"]]
    if not looks:
        return None
    calls = [*plan["calls"], {**looks[0], "changes": True}]
    return task.model_copy(update={"details": {**task.details, "plan": {**plan, "calls": calls, "outcome": "done"}}})


def _other_observation(run: TrajectoryRow) -> TrajectoryRow | None:
    at = next((n for n, item in enumerate(run.content) if n and getattr(item, "source", "") == "environment"), None)
    if at is None:
        return None
    told = run.content[at].model_copy(update={"content": "Something else."})
    return run.model_copy(update={"content": (*run.content[:at], told, *run.content[at + 1 :])})


def _other_verdict(run: TrajectoryRow) -> TrajectoryRow:
    verdict = run.verdict.model_copy(update={"correct": not run.verdict.correct})
    return run.model_copy(update={"verdict": verdict, "success": not run.success})


@pytest.mark.parametrize(
    ("config", "kind", "change", "rule"),
    [
        ("tasks", Task, _without_a_change, "plan"),
        ("tasks", Task, _with_one_more, "minimal"),
        ("trajectories", TrajectoryRow, _other_observation, "rerun"),
        ("trajectories", TrajectoryRow, _other_verdict, "verdict"),
    ],
)
def test_what_is_not_true_is_found(
    built: BuildResult, tmp_path: Path, config: str, kind: type[Any], change: Callable[[Any], Any], rule: str
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(built.path, folder)
    _changed(folder, config, kind, change)
    assert rule in {violation.rule for violation in audit(folder).violations}
