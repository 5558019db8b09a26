"""Every recipe of the gallery builds ten tasks, and every row of the dataset proves itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main
from synth.recipe.load import gallery_names

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("name", gallery_names())
def test_it_builds_and_holds(name: str, place: Path) -> None:
    made = synth.build(name, tasks=10, out=place / "out" / name, store=place / "store")
    main(["validate", str(made.path), "--deep"])
    dataset = synth.load(made.path)
    assert len(list(dataset.rows("tasks"))) == 10
    assert any(run.success for run in dataset.rows("trajectories") if run.role == "teacher")
