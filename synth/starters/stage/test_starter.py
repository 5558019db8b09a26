"""A recipe runs the stage."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main

HERE = Path(__file__).parent


def test_no_run_is_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path)])  # it exits where a row does not hold
    assert all(row.turns <= 6 for row in synth.load(path).rows("trajectories"))
    assert any(row.stage == "starter" for row in synth.load(path).rows("rejected"))
