from __future__ import annotations

from collections.abc import Callable

import pytest

from synth.agents.contract import Policy
from synth.agents.loop import Limits, Rollout, rollout
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.schemas.tasks import Task
from synth.testing.corpus import ListTable, WordIndex, small_documents

Run = Callable[..., Rollout]


@pytest.fixture(scope="session")
def environment() -> SearchEnvironment:
    documents = small_documents()
    return SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)


@pytest.fixture(scope="session")
def system(environment: SearchEnvironment) -> str:
    return load_prompt("agents/search").render(instructions=environment.instructions())


@pytest.fixture(scope="session")
def run(environment: SearchEnvironment, system: str) -> Run:
    def play(policy: Policy, task: Task, *names: str | int, limits: Limits | None = None, **more: object) -> Rollout:
        return rollout(
            policy,
            environment,
            task,
            system=system,
            limits=limits or Limits(),
            generator_for_turn=lambda turn: derive_generator(7, task.id, *names, turn),
            **more,  # type: ignore[arg-type]
        )

    return play
