from __future__ import annotations

from pathlib import Path

import pytest
from planted import TASKS, Planter, Rows
from shared_builds import made_once

import synth

SHAPES = ("composition", "conjunction", "comparison", "superlative", "temporal", "computation", "intersection", "count")


def _audited(folder: Path) -> None:
    weights = {**dict.fromkeys(SHAPES, 1.0), "composition": 2.0, "conjunction": 3.0, "parallel": 1.0, "cycle": 0.0}
    synth.build(
        "world-search",
        tasks=TASKS,
        out=folder / "out",
        store=folder / "store",
        settings={
            "source.entities": 1000,
            "questions.shapes": weights,
            "critical": None,
            "preferences": None,
            "distractors": None,
            "contexts": None,
        },
    )


@pytest.fixture(scope="session")
def audited() -> Path:
    """A dataset as it comes out of a build: every shape, small, and without what no rule of the audit looks at."""
    return made_once("audited", _audited) / "out"


@pytest.fixture(scope="session")
def held(audited: Path) -> Rows:
    return Rows(audited)


@pytest.fixture
def planter(held: Rows, tmp_path: Path) -> Planter:
    """A copy that a test may break."""
    return Planter(held, tmp_path / "broken")
