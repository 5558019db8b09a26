from __future__ import annotations

import pytest
from preference_world import PreferenceWorld, make_world


@pytest.fixture(scope="session")
def world() -> PreferenceWorld:
    return make_world()
