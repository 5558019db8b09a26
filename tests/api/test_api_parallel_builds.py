"""Parallel tasks: the teacher begins independent questions in one turn, and every row of the build is proven."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_builds import SMALL

import synth
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("dataset", ["world-search", "graph-walk"])
def test_the_teacher_calls_at_once_where_questions_are_independent(
    tmp_path: Path, dataset: str, world_store: Path
) -> None:
    settings = {**SMALL["settings"], "questions.shapes": {"parallel": 1}, "contexts": None, "critical.share": 1.0}
    built = synth.build(dataset, tasks=6, out=tmp_path / "out", store=world_store, settings=settings)
    runs = [run for run in synth.load(built.path).rows("trajectories") if run.role == "teacher"]
    assert all(run.success for run in runs)
    assert all(run.tool_calls > run.turns - 1 for run in runs)  # the last turn answers; the others call at least once
    assert validate(built.path) == []
    assert audit(built.path).total == 0
