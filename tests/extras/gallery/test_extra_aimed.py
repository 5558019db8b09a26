"""Tasks are made at a wanted rate of success, as an earlier dataset predicts it."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import mean

import pytest
from shared_builds import LEAN, WORLD, small_build, world_store

import synth
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.pipelines.aimed import aimed
from synth.recipe.parts import Aim
from synth.schemas.rejections import Reason
from synth.tasks.aimed import AimFilter

pytestmark = pytest.mark.extras


def test_every_accepted_task_is_predicted_within_the_band(tmp_path: Path) -> None:
    before = synth.load(small_build(tmp_path / "small").path)
    model = aimed(Aim(after=str(before.path), low=0.0, high=1.0)).options["model"]
    unmeasured = shutil.copytree(before.path, tmp_path / "copy", ignore=shutil.ignore_patterns("difficulty"))
    with pytest.raises(InputError, match="does not say how often the policy succeeded"):
        aimed(Aim(after=str(unmeasured)))
    rows = list(before.rows("difficulty"))
    half = round(mean(row.successes / row.rollouts for row in rows if row.rollouts), 3)
    settings = {
        **WORLD,
        **LEAN,
        "seed": 12,
        "difficulty": {"closed_book": 1, "aim": {"after": str(before.path), "low": 0.0, "high": half}},
    }
    store = world_store(tmp_path / "more")
    built = synth.build("world-search", tasks=6, out=tmp_path / "out", store=store, settings=settings)
    assert validate(built.path) == []
    made = synth.load(built.path)
    tasks = list(made.rows("tasks"))
    assert AimFilter(low=0.0, high=half, model=model).look(tasks) == [None] * 6
    refused = [row for row in made.rows("rejected") if row.reason is Reason.OUTSIDE_BAND]
    assert refused
    assert all(row.detail.endswith(f"wanted 0 to {half:g}") for row in refused)
    assert made.report is not None
    assert made.report.recipe["difficulty"]["aim"]["after"] == before.path.name  # no place on this machine
