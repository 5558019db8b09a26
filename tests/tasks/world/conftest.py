"""One small world for all tests of its tasks."""

from __future__ import annotations

import pytest
from small_world import SmallWorld, make_small_world


@pytest.fixture(scope="session")
def small_world() -> SmallWorld:
    return make_small_world()
