"""A recipe labels by the rule."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main

HERE = Path(__file__).parent


def test_the_last_step_is_remarked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path)])  # it exits where a row does not hold
    last = {row.trajectory_id: row for row in synth.load(path).rows("steps")}
    assert last
    assert all(f"(the last of {row.step + 1})" in row.label_detail for row in last.values())
