"""One small world build that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shared_builds
from shared_builds import SMALL

import synth
from synth.api import BuildResult


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """``world-search`` at a small size, built in this process."""
    return shared_builds.small_build(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def small_store(small: BuildResult) -> Path:
    return small.path.parent / "store"


@pytest.fixture
def world_store(tmp_path: Path) -> Path:
    """A store of this test's own that holds the world, its tasks and the rollouts of the embedded agents."""
    return shared_builds.world_store(tmp_path)


@pytest.fixture
def build_again(tmp_path: Path) -> Callable[..., BuildResult]:
    """The same build in a fresh store, with other options."""

    def again(**options: Any) -> BuildResult:
        merged = {**SMALL, "out": tmp_path / "out", "store": tmp_path / "fresh", **options}
        return synth.build("world-search", **merged)

    return again
