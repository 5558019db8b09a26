"""A build whose rows name another reward, and whose runs are held against checklists."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_builds import LEAN, WORLD

import synth
from synth.dataset.rules.validate import validate


def test_rows_ask_for_what_their_reward_looks_at(world_store: Path, tmp_path: Path) -> None:
    settings = {**WORLD, **LEAN, "rl": True, "reward": "cited", "ratings": {"checklist": True}}
    made = synth.build("world-search", tasks=8, out=tmp_path / "out", store=world_store, settings=settings)
    assert validate(made.path) == []
    dataset = synth.load(made.path)
    rows = list(dataset.rows("rl"))
    assert {row.verifier.function for row in rows} == {"synth.annotate.rewards:cited_rewards"}
    assert all("in square brackets" in row.prompt[0].content for row in rows)
    for row in rows:
        assert sum(item.weight for item in row.reward_model.ground_truth.checklist) == pytest.approx(1.0)
        assert row.runs, "steps of teacher and policy were labelled"
    counted = [row for row in dataset.rows("judgments") if row.kind == "checklist"]
    success = {run.id: run.success for run in dataset.rows("trajectories")}
    assert len(counted) == len(success)
    for row in counted:
        items = row.parts["items"]
        assert isinstance(items, list)
        assert len({str(item) for item in items}) == len(items), "no item stands there twice"
        assert row.value is not None
        assert (row.value >= 0.5) == success[row.trajectory_id], "the answer has half of the weight"
    assert any(0 < row.value < 0.5 for row in counted if row.value is not None), "credit for a part of the way"
