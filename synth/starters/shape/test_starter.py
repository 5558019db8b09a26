"""A recipe draws questions of the shape."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main

HERE = Path(__file__).parent


def test_tasks_are_of_the_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path)])  # it exits where a row does not hold
    tasks = [row for row in synth.load(path).rows("tasks") if row.shape == "starter"]
    assert tasks
    assert all(row.question.startswith("Precisely:") for row in tasks)
