"""A whole build in which a model behind HTTP proposes minimal edits of right turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stand_ins.model_server import EditorPlayer, ModelServer

import synth
from synth.annotate.preferences.perturbation import perturbation_of
from synth.dataset.rules.validate import validate
from synth.schemas.preferences import PairKind

LEAN: dict[str, Any] = {
    "source.entities": 600,
    "critical.share": 0.3,
    "distractors": None,
    "contexts": None,
    "difficulty": None,
    "rl": False,
    "roles.policy.rollouts": 1,
}


def test_a_model_proposes_what_the_environment_judges(tmp_path: Path, world_store: Path) -> None:
    base: dict[str, Any] = {"tasks": 8, "store": world_store}
    plain = synth.build("world-search", out=tmp_path / "plain", settings=LEAN, **base)
    with ModelServer({"toy-perturber": EditorPlayer()}) as server:
        role = {"backend": "openai", "model": "toy-perturber", "endpoints": [server.url]}
        built = synth.build("world-search", out=tmp_path / "out", settings={**LEAN, "roles.perturber": role}, **base)
        asked = len(server.log.records())
        assert server.errors == []
    assert validate(built.path) == []
    assert built.account is not None
    assert built.account.calls == asked > 0
    pairs = [row for row in synth.load(built.path).rows("preferences") if row.kind is PairKind.PERTURBATION]
    edited = [row for row in pairs if perturbation_of(row) == "minimal_edit"]
    assert edited
    assert {row.provenance.model for row in edited} == {"toy-perturber"}
    assert all(row.provenance.prompt.startswith("preferences/minimal_edit/v1@") for row in edited)
    others = {row.id for row in pairs} - {row.id for row in edited}
    before = {row.id for row in synth.load(plain.path).rows("preferences") if row.kind is PairKind.PERTURBATION}
    assert others == before, "the embedded kinds are what they were"
    report = json.loads((built.path / "report.json").read_text())
    (stage,) = [stage for stage in report["stages"] if stage["stage"] == "perturbed_pairs"]
    counts = stage["numbers"]
    assert counts["edits_accepted"] == len(edited)
    assert counts["edits_proposed"] >= counts["edits_accepted"]
    assert "| perturber | toy-perturber |" in (built.path / "README.md").read_text()
