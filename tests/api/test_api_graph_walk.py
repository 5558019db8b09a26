"""The dataset whose agents walk the graph: a whole build, and what it shares with the one whose agents search."""

from __future__ import annotations

from pathlib import Path

import pytest
from api_builds import killed_and_resumed, same_through_http
from opening import card_runs
from shared_builds import hashes, world_store

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.registry import choices
from synth.schemas.preferences import PairKind

TOOLS = {"find_entity", "get_relations", "get_triples"}


SETTINGS = {"source.entities": 600, "critical.share": 1.0}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    folder = tmp_path_factory.mktemp("graph-walk")
    store = world_store(folder)
    return synth.build("graph-walk", tasks=8, out=folder / "out", store=store, settings=SETTINGS)


def test_every_row_proves_itself(built: BuildResult) -> None:
    assert validate(built.path) == []
    assert card_runs(built.path) >= 4
    assert audit(built.path).violations == ()


def test_agents_walk_and_nothing_else(built: BuildResult) -> None:
    dataset = synth.load(built.path)
    runs = list(dataset.rows("trajectories"))
    called = {item.function for run in runs for item in run.content if item.class_ == "api_action"}
    assert called == TOOLS
    taught = [run.success for run in runs if run.role == "teacher"]
    assert sum(taught) > 0.8 * len(taught)
    assert any(not run.success for run in runs if run.role == "policy")


def test_critical_steps_and_pairs_are_made_of_them(built: BuildResult) -> None:
    dataset = synth.load(built.path)
    turns = {run.id: run.turns for run in dataset.rows("trajectories")}
    steps = list(dataset.rows("steps"))
    assert {step.trajectory_id for step in steps} == set(turns)
    assert len(steps) == sum(turns.values())
    kinds = {pair.kind for pair in dataset.rows("preferences")}
    assert kinds >= {PairKind.PERTURBATION, PairKind.TRAJECTORY}
    sides = {branch.side for branch in dataset.rows("continuations")}
    assert len(sides) == 2


def test_bytes_do_not_depend_on_workers_or_on_what_was_killed(built: BuildResult, tmp_path: Path) -> None:
    again = killed_and_resumed("graph-walk", 8, tmp_path, SETTINGS, "engine.row.processed:3")
    assert hashes(again) == hashes(built.path)


def test_models_behind_http_act_as_agents_in_process_do(built: BuildResult, tmp_path: Path) -> None:
    store = built.path.parent / "store"
    assert same_through_http(built, store, tmp_path / "out", settings=SETTINGS) == 16


def test_every_format_takes_it(built: BuildResult, tmp_path: Path) -> None:
    dataset = synth.load(built.path)
    right = {run.id for run in dataset.rows("trajectories") if run.success}
    pivots = any(
        step.pivot and step.trajectory_id in right for step in dataset.rows("steps")
    )  # a few tasks may have none
    left_out = set() if pivots else {"trl-pivots"}
    for name in sorted(one for one in set(choices("formats")) - left_out if "vision" not in one):  # which want pictures
        every = {"trl-corrections": [f"kind={','.join(PairKind)}"]}  # a few tasks have no verified step
        pairs = ["selected=any"] if name.endswith("-dpo") else every.get(name, [])
        report = synth.export(built.path, name, tmp_path / name, select=pairs).report
        for split, one in report.splits.items():
            assert one.rows == dataset.count(report.table, split)
            assert one.exported + sum(one.left_out.values()) + sum(one.inexpressible.values()) == one.rows
