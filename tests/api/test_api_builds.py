"""Whole builds through the Python API: exact, resumable, equal however they are run, and open to everybody's tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from opening import card_runs, every_config_opens
from shared_builds import SMALL, hashes

import synth
from synth.agents.grounding.check import ungrounded
from synth.agents.trajectory import history_of
from synth.api import BuildRequest, BuildResult, prepare
from synth.dataset.configs import CONFIGS
from synth.dataset.rules.validate import validate
from synth.schemas.adp import dump, parse
from synth.schemas.arrow import trajectory_of
from synth.stages.contexts import Contexts

Again = Callable[..., BuildResult]


def test_exactly_n_tasks_and_two_trajectories_each(small: BuildResult) -> None:
    dataset = synth.load(small.path)
    assert dataset.count("tasks") == SMALL["tasks"]
    assert dataset.count("trajectories") == 2 * SMALL["tasks"]
    assert {row.role for row in dataset.rows("trajectories")} == {"teacher", "policy"}


def test_every_table_has_rows_and_contexts_have_more_than_one_shard(small: BuildResult) -> None:
    dataset = synth.load(small.path)
    assert {config: dataset.count(config) for config in GROWING if not dataset.count(config)} == {}
    assert dataset.count("contexts") > Contexts.rows_per_shard


def test_every_row_holds(small: BuildResult) -> None:
    assert validate(small.path) == []


def test_threads_change_no_byte(small: BuildResult, build_again: Again) -> None:
    """Nor do processes (test_api_steps.py), Prefect (flows/test_flow_builds.py) and Ray (extras/ray)."""
    assert hashes(build_again(workers=2).path) == hashes(small.path)


def test_the_same_build_again_runs_nothing(small: BuildResult, small_store: Path, tmp_path: Path) -> None:
    again = synth.build("world-search", out=tmp_path / "out", store=small_store, **SMALL)
    assert again.reused
    assert hashes(again.path) == hashes(small.path)


GROWING = ("tasks", "trajectories", "steps", "continuations", "preferences", "distractors", "rl", "contexts")
"""Tables that keep every row when more tasks are asked for; ``difficulty`` is a fit over all of them."""


def test_more_tasks_keep_every_row_and_run_only_the_rest(small: BuildResult, small_store: Path, tmp_path: Path) -> None:
    more = synth.build("world-search", out=tmp_path / "out", store=small_store, **{**SMALL, "tasks": 10})
    fewer_rows, more_rows = (
        {config: {row.id: row for row in synth.load(path).rows(config)} for config in GROWING}
        for path in (small.path, more.path)
    )
    for config, rows in fewer_rows.items():
        assert rows.items() <= more_rows[config].items()
    assert len(more_rows["tasks"]) == 10
    by_label = {stage.label: stage for stage in more.report.stages}
    written = 2 * synth.load(more.path).count("planted_misinformation")  # as many pages of the kinds say what is so
    assert by_label["documents"].rows_in == SMALL["settings"]["source.entities"] + written


def test_a_parameter_of_the_last_stage_recomputes_that_stage_alone(small_store: Path, small: BuildResult) -> None:
    request = BuildRequest("world-search", store=small_store, out=small.path, **SMALL)
    assert {status.state for status in prepare(request, progress="quiet").outlook().stages} == {"cached"}
    changed = BuildRequest(
        "world-search",
        store=small_store,
        out=small.path,
        tasks=SMALL["tasks"],
        settings={**SMALL["settings"], "preferences.trajectory_ratio": 3.0},
    )
    states = {status.label: status.state for status in prepare(changed, progress="quiet").outlook().stages}
    assert [label for label, state in states.items() if state != "cached"] == [
        "trajectory-pairs",
        "perturbed-pairs",
        "preferences",
        "pair-sketches",
        "pair-duplicates",
    ]


def test_every_trajectory_passes_adp_after_parquet(small: BuildResult) -> None:
    rows = list(synth.load(small.path).rows("trajectories"))
    assert rows
    for row in rows:
        assert parse(dump(trajectory_of(row))) == trajectory_of(row)


def test_no_teacher_row_is_ungrounded(small: BuildResult) -> None:
    rows = [row for row in synth.load(small.path).rows("trajectories") if row.role == "teacher"]
    assert rows
    for row in rows:
        assert list(ungrounded(*history_of(row))) == []


def test_load_dataset_opens_every_config_as_the_card_states(small: BuildResult, tmp_path: Path) -> None:
    opened = every_config_opens(small.path, tmp_path)
    assert opened >= {"tasks", "trajectories", "steps", "preferences", "rl", "documents", "rejected"}


def test_what_the_card_shows_runs(small: BuildResult) -> None:
    assert card_runs(small.path) == 8  # four ways to read, three exports, and how to make it again


def test_gold_entities_of_splits_never_meet(small: BuildResult) -> None:
    exempt = set(small.report.exempt_entities)
    owners: dict[str, set[str]] = {}
    for task in synth.load(small.path).rows("tasks"):
        for entity in set(task.gold_entities) - exempt:
            owners.setdefault(entity, set()).add(task.split)
    assert owners
    assert all(len(splits) == 1 for splits in owners.values())


def test_the_side_table_of_errors_is_not_in_the_dataset(small: BuildResult) -> None:
    folders = {path.name for path in small.path.iterdir() if path.is_dir()}
    assert folders <= {config.name for config in CONFIGS} | {"plots", "columns"}
    assert "injected_errors" not in folders
    stages = {stage.label: stage for stage in small.report.stages}
    assert stages["policy-rollouts"].rows["injected_errors"] > 0, "there is something to hide"
