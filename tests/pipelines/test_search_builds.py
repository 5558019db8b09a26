"""A small build over two collections with further tools: tasks need both, agents use what they are given."""

from __future__ import annotations

import pytest
from shared_builds import LEAN

import synth
from synth.agents.trajectory import history_of
from synth.dataset.reader import Dataset, load
from synth.pipelines.reopen import reopen
from synth.schemas.arrow import from_arrow
from synth.schemas.tasks import Held, Task
from synth.schemas.trajectories import TrajectoryRow


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("collections")
    settings = {
        **LEAN,
        "source.entities": 300,
        "environment.collections": {"by": "kind", "of": {"people": ["person"], "others": []}, "spanned": 2},
        "environment.tools": ["search", "open", "outline"],
        "environment.page_size": 250,
    }
    synth.build("world-search", tasks=6, out=folder / "out", store=folder / "store", settings=settings)
    return load(folder / "out")


def test_tasks_know_which_collection_holds_what_and_need_both(dataset: Dataset) -> None:
    for task in from_arrow(dataset.table("tasks"), Task):
        held = Held.of(task.details).collections
        assert set(held) == set(task.gold_documents)
        assert set(held.values()) == {"people", "others"}
        assert all((name == "people") == document.startswith("person/") for document, name in held.items())


def test_agents_use_the_tools_that_there_are_and_replays_are_equal(dataset: Dataset) -> None:
    environment, tasks = reopen(dataset)
    called: set[str] = set()
    for row in from_arrow(dataset.table("trajectories"), TrajectoryRow):
        task = tasks.by_id(row.task_id)
        assert task is not None
        episode = environment.reset(task)
        for step in history_of(row)[1]:
            for call, result in zip(step.turn.calls, step.results, strict=True):
                assert episode.step(call) == result
                called.add(call.name)
    assert called == {"search_people", "search_others", "open", "outline"}
