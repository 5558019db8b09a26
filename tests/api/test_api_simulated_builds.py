"""Whole builds where a model behind HTTP writes what searches bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stand_ins.model_server import ModelServer, SimulatorPlayer

import synth
from synth.agents.trajectory import facts_of, history_of
from synth.dataset.rules.validate import validate
from synth.environments.observed import observe
from synth.environments.simulated import is_simulated

pytestmark = pytest.mark.thorough

LEAN: dict[str, Any] = {
    "source.entities": 600,
    "difficulty": None,
    "roles.policy.rollouts": 2,
    "critical.share": 0.5,
    "critical.search.max_more": 4,
    "contexts.budgets": [8_192],
    "environment.noise": {"start": 0.5, "end": 0.5},
    "environment.simulated": {"words": 20},
}


def bound(server: ModelServer) -> dict[str, Any]:
    role = "roles.simulator"
    return {f"{role}.backend": "openai", f"{role}.model": "toy-simulator", f"{role}.endpoints": [server.url]}


def test_a_model_writes_the_results_of_a_whole_build(tmp_path: Path, world_store: Path) -> None:
    base: dict[str, Any] = {"tasks": 8, "store": world_store}  # half of the teacher's runs succeed
    with ModelServer({"toy-simulator": SimulatorPlayer(failing=6)}) as server:
        settings = {**LEAN, **bound(server)}
        built = synth.build("world-search", out=tmp_path / "out", settings=settings, **base)
        asked = len(server.log.records())
        again = synth.build("world-search", out=tmp_path / "again", settings=settings, **base)
        assert len(server.log.records()) == asked, "nothing is asked for twice"
        assert server.errors == []
    assert again.reused
    assert built.account is not None
    assert built.account.calls == asked > 0
    assert validate(built.path) == []
    dataset = synth.load(built.path)
    rows = list(dataset.rows("trajectories"))
    met = [one for row in rows for one in facts_of(row).get("simulated", ())]
    assert {page["kind"] for one in met for page in one.get("pages", ())} == {"useful", "noise"}
    assert any(one.get("failure") for one in met), "some searches broke down"
    listed = [
        hit.document
        for row in rows
        for step in history_of(row)[1]
        for result in step.results
        for hit in observe(result.content).results
    ]
    real = {row.id for row in dataset.rows("documents")}
    assert 0 < sum(map(is_simulated, listed)) < len(listed), "gold pages stand among them"
    assert all(is_simulated(name) != (name in real) for name in listed)
    assert not any(is_simulated(row.document_id) for row in dataset.rows("distractors"))
    searched = list(dataset.rows("continuations"))
    assert searched, "runs in it are branched from"
    card = (built.path / "README.md").read_text()
    assert "A model wrote results of searches" in card
    assert "toy-simulator" in card
    assert "environment/simulate_search/v1@" in facts_of(rows[0])["simulator"]["prompt"]
