"""Critical steps, labels and pairs of a whole build."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_builds import SMALL, hashes

import synth
from synth.agents.grounding.check import ungrounded
from synth.agents.trajectory import history_of
from synth.api import BuildResult
from synth.schemas.adp import ADP_VERSION, MessageAction, Trajectory
from synth.schemas.preferences import PairKind, swap

pytestmark = pytest.mark.thorough

SEARCHED = {"tasks": 10, "settings": {**SMALL["settings"], "critical.share": 1.0, "critical.search": {"max_pairs": 8}}}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, small_store: Path) -> BuildResult:
    return synth.build("world-search", out=tmp_path_factory.mktemp("steps") / "out", store=small_store, **SEARCHED)


def test_every_row_holds_and_all_tables_have_rows(searched: BuildResult) -> None:
    from synth.dataset.rules.validate import validate

    assert validate(searched.path) == []
    dataset = synth.load(searched.path)
    assert {"steps", "continuations", "preferences"} <= set(dataset.configs)


def test_steps_cover_every_turn(searched: BuildResult) -> None:
    dataset = synth.load(searched.path)
    turns = {row.id: row.turns for row in dataset.rows("trajectories")}
    counted: dict[str, int] = {}
    for step in dataset.rows("steps"):
        counted[step.trajectory_id] = counted.get(step.trajectory_id, 0) + 1
    assert counted == turns


def test_another_selection_holds_as_well(searched: BuildResult, tmp_path: Path, small_store: Path) -> None:
    from synth.annotate.preferences.select import Selection, select
    from synth.dataset.rules.validate import validate

    wanted = {"kinds": ["perturbation", "trajectory"], "same_kind": False, "per_trajectory": 1}
    options = {**SEARCHED, "settings": {**SEARCHED["settings"], "preferences.selection": wanted}}
    other = synth.build("world-search", out=tmp_path / "out", store=small_store, **options)
    assert validate(other.path) == []
    before = list(synth.load(searched.path).rows("preferences"))
    pairs = list(synth.load(other.path).rows("preferences"))
    assert pairs == [
        pair.model_copy(update={"provenance": own.provenance})
        for pair, own in zip(select(before, Selection.model_validate(wanted)), pairs, strict=True)
    ]
    chosen = [pair.trajectory_id for pair in pairs if pair.selected]
    assert chosen
    assert len(set(chosen)) == len(chosen)


def test_processes_change_no_byte(searched: BuildResult, tmp_path: Path) -> None:
    again = synth.build(
        "world-search", out=tmp_path / "out", store=tmp_path / "store", executor="processes", workers=2, **SEARCHED
    )
    assert hashes(again.path) == hashes(searched.path)


def test_pairs_share_their_prefix_and_both_sides_are_valid(searched: BuildResult) -> None:
    dataset = synth.load(searched.path)
    runs = {row.id: row for row in dataset.rows("trajectories")}
    pairs = list(dataset.rows("preferences"))
    assert PairKind.PERTURBATION in {pair.kind for pair in pairs}
    for pair in pairs:
        assert runs[pair.trajectory_id].content[: len(pair.prompt)] == pair.prompt
        assert pair.chosen != pair.rejected
        assert swap(swap(pair)) == pair
        for side in (pair.chosen, pair.rejected):
            Trajectory(schema_version=ADP_VERSION, id=pair.id, content=(*pair.prompt, *side))


def test_chosen_sides_are_grounded(searched: BuildResult) -> None:
    dataset = synth.load(searched.path)
    runs = {row.id: row for row in dataset.rows("trajectories")}
    for pair in dataset.rows("preferences"):
        run = runs[pair.trajectory_id]
        content = (*pair.prompt, *pair.chosen)
        gave_up = "gave_up" if isinstance(content[-1], MessageAction) and not content[-1].content else run.stop_reason
        row = run.model_copy(update={"content": content, "stop_reason": gave_up})
        prompt, history = history_of(row)
        before = sum(1 for item in pair.prompt if item.class_ in ("api_action", "message_action"))
        assert [loose for loose in ungrounded(prompt, history) if loose.turn >= before] == []


def test_continuations_of_both_sides_stand_behind_every_verified_step(searched: BuildResult) -> None:
    dataset = synth.load(searched.path)
    continuations: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for branch in dataset.rows("continuations"):
        continuations.setdefault((branch.trajectory_id, branch.step), []).append((branch.side, branch.alternative))
    for step in dataset.rows("steps"):
        if step.criticality is not None and step.criticality.verified:
            tried = continuations[step.trajectory_id, step.step]
            assert tried.count(("original", -1)) >= step.criticality.original_n >= 2
            assert tried.count(("alternative", step.criticality.alternative)) >= step.criticality.alternative_n >= 2
