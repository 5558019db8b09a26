"""Applications keep the contract of environments: those that ship, one of a YAML file, a variant with failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from app_tools import LIBRARY, examples, opened, task

from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.app.reading import shipped
from synth.environments.contract import STATEFUL
from synth.registry import ENVIRONMENTS, find
from synth.schemas.tasks import Task
from synth.testing.environments import EnvironmentContract


class _AppContract(EnvironmentContract):
    application = "airline"
    options: dict[str, Any] = {}

    def environment(self) -> AppEnvironment:
        return open_app(application=self.application, **self.options)

    def tasks(self) -> Sequence[Task]:
        return [task(0), task(1, app_seed=5)]

    def examples(self) -> dict[str, Sequence[Any]]:
        return examples(opened(self.application))


class TestAirline(_AppContract):
    pass


class TestLedger(_AppContract):
    application = "ledger"


class TestTracker(_AppContract):
    application = "tracker"


class TestLibrary(_AppContract):
    application = str(LIBRARY)


class TestVariantWithFailures(_AppContract):
    application = str(LIBRARY)
    options = {"variant": "quiet", "failures": {"rate": 0.4, "seed": 3}}


def test_what_is_explored_is_what_calls_change() -> None:
    assert {kind for kind in ENVIRONMENTS if find("environments", kind).stateful} == STATEFUL


def test_four_applications_ship_and_each_is_a_type_of_its_own() -> None:
    assert shipped() == ("airline", "ledger", "memory", "tracker")
    assert find("environments", "app").open is open_app
    environments = [opened(name) for name in shipped()]
    assert [environment.name for environment in environments] == [f"app:{name}" for name in shipped()]
    assert len({environment.version for environment in environments}) == 4
    assert open_app(application="ledger", variant="quiet_rules").name == "app:ledger+quiet_rules"
    assert AppEnvironment.name == "app"


@pytest.mark.parametrize("name", [name for name in shipped() if name != "memory"])
def test_a_shipped_desk_has_twelve_tools_or_more_that_read_and_write(name: str) -> None:
    tools = opened(name).definition.tools.values()
    assert len(tools) >= 12
    assert sum(tool.writes for tool in tools) >= 6
    assert sum(not tool.writes for tool in tools) >= 5


@pytest.mark.parametrize("name", shipped())
def test_data_of_many_seeds_and_sizes_can_be_made_and_differ(name: str) -> None:
    environment = opened(name)
    worlds = [environment.world(seed) for seed in range(6)]
    assert len({world.digest for world in worlds}) == 6
    again = open_app(application=name).world(3)
    assert (again.digest, again.image) == (worlds[3].digest, worlds[3].image)
    assert open_app(application=name, size=3).world(0).rows > 2 * worlds[0].rows
