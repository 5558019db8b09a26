"""One small world build that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api_builds import SMALL

import synth
from synth.api import BuildResult


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small-store")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory, small_store: Path) -> BuildResult:
    """``world-search`` at a small size, built in this process."""
    return synth.build("world-search", out=tmp_path_factory.mktemp("small") / "out", store=small_store, **SMALL)


@pytest.fixture
def build_again(tmp_path: Path) -> Callable[..., BuildResult]:
    """The same build in a fresh store, with other options."""

    def again(**options: Any) -> BuildResult:
        merged = {**SMALL, "out": tmp_path / "out", "store": tmp_path / "store", **options}
        return synth.build("world-search", **merged)

    return again
