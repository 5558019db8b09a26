"""A build of ten tasks with ``environment.noise``: the share of noisy results grows from its first task to its last."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_builds import LEAN, SMALL

import synth
from synth.agents.trajectory import history_of
from synth.environments.observed import observe
from synth.environments.search import SearchEnvironment
from synth.errors import InputError
from synth.pipelines.reopen import reopen
from synth.recipe.load import load_recipe


def test_ten_tasks_go_from_no_noise_to_the_share_at_the_end(tmp_path: Path, world_store: Path) -> None:
    settings = {**SMALL["settings"], **LEAN, "environment.noise": {"end": 0.5}, "roles.policy.rollouts": 3}
    dataset = synth.load(
        synth.build("world-search", tasks=10, out=tmp_path / "out", store=world_store, settings=settings).path
    )
    places = {task.id: task.candidate_index for task in dataset.rows("tasks")}
    tasks = {task.id: task for task in dataset.rows("tasks")}
    noisy, _ = reopen(dataset)
    clean, _ = reopen(dataset)
    assert isinstance(noisy, SearchEnvironment)
    assert isinstance(clean, SearchEnvironment)
    clean.noise = None
    shown: dict[str, list[bool]] = {name: [] for name in places}
    for run in dataset.rows("trajectories"):
        task = tasks[run.task_id]
        for step in history_of(run)[1]:
            for call, result in zip(step.turn.calls, step.results, strict=True):
                if call.name != "search" or result.error:
                    continue
                assert noisy.reset(task).step(call).content == result.content
                undisturbed = {hit.document for hit in observe(clean.reset(task).step(call).content).results}
                shown[run.task_id] += [hit.document not in undisturbed for hit in observe(result.content).results]
    order = sorted(places, key=lambda name: places[name])
    first, last = ([replaced for name in part for replaced in shown[name]] for part in (order[:3], order[-3:]))
    shares = [noisy.noise_share(tasks[name]) for name in order]
    assert (shares[0], shares[-1]) == (0, 0.5)
    assert shares == sorted(set(shares))
    assert not any(shown[order[0]])  # the curriculum begins without noise
    # Pages on the walk are never replaced, so the share that is seen lies below the one that is asked for.
    assert 0.05 < sum(last) / len(last) <= 0.65
    assert sum(first) / len(first) < sum(last) / len(last) / 2


def test_without_a_number_of_tasks_the_end_must_be_said() -> None:
    given = {"questions": {"kind": "given", "path": "q.jsonl"}, "tasks": None}
    with pytest.raises(InputError, match=r"noise\.over"):
        load_recipe("docs-search", settings={**given, "environment.noise": {"end": 0.5}})
    kept = load_recipe("docs-search", settings={**given, "environment.noise": {"end": 0.5, "over": 30}})
    assert kept.environment.model_dump()["noise"]["over"] == 30
