"""Trees of runs on planted tasks: one step decides, and nothing tells which."""

from __future__ import annotations

from collections import Counter

import numpy as np
from stand_ins.planted import PlantedEnvironment, PlantedPolicy, generators, planted_task, record_run

from synth.agents.contract import Decision, History, Prompt
from synth.agents.loop import Limits
from synth.annotate.refinement.tree import TreeLimits, TreeRun, grow
from synth.schemas.tasks import Task

ENVIRONMENT = PlantedEnvironment("you saw treasure")


def tree(
    task: Task, budget: int, *, skill: float = 0.3, alike: float = 1.0, policy: object = None
) -> tuple[TreeRun, ...]:
    plays = PlantedPolicy(task, 1.0, 0.0, skill)
    return grow(
        record_run(ENVIRONMENT, task, plays, 0),
        task,
        ENVIRONMENT,
        policy or plays,  # type: ignore[arg-type]
        tree=TreeLimits(budget=budget, width=3, alike=alike),
        limits=Limits(),
        generator=generators(),
    )


class Counting:
    privileged = False

    def __init__(self, policy: PlantedPolicy) -> None:
        self.policy, self.calls = policy, 0

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        self.calls += 1
        return self.policy.act(prompt, history, generator)


def test_branches_share_what_came_before_and_part_where_they_say() -> None:
    runs = tree(planted_task(3, steps=5), 150)
    assert len(runs) > 3
    for run in runs[1:]:
        assert run.parent is not None
        mine, theirs = run.done.history, run.parent.done.history
        assert mine[: run.step] == theirs[: run.step]
        assert mine[run.step].turn != theirs[run.step].turn
        draws, of = run.drawn[run.step]
        assert 1 <= draws < of <= 3


def test_no_action_is_tried_twice_from_one_state() -> None:
    runs = tree(planted_task(3, steps=5), 300)
    tried = Counter(
        (run.owner(step - 1).number if step else -1, step, str(run.done.history[step].turn))
        for run in runs
        for step in range(run.step, len(run.done.history))
    )
    assert max(tried.values()) == 1


def test_the_budget_holds_but_for_the_run_that_is_under_way() -> None:
    task = planted_task(4, steps=5)
    counting = Counting(PlantedPolicy(task, 1.0, 0.0, 0.3))
    runs = tree(task, 60, policy=counting)
    longest = max(len(run.done.history) for run in runs)
    assert 60 <= counting.calls < 60 + 3 * longest


def test_where_the_policy_is_certain_nothing_branches() -> None:
    class Certain:
        privileged = False

        def __init__(self, task: Task) -> None:
            self.plays = PlantedPolicy(task, 1.0, 0.0, 0.3)

        def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
            return self.plays.act(prompt, history, np.random.default_rng(len(history)))

    task = planted_task(5, steps=4)
    certain = Certain(task)
    row = record_run(ENVIRONMENT, task, certain, 0)  # type: ignore[arg-type]
    limits = TreeLimits(budget=100, width=3, alike=1.0)
    runs = grow(row, task, ENVIRONMENT, certain, tree=limits, limits=Limits(), generator=generators())
    assert len(runs) == 1
    assert set(runs[0].drawn.values()) == {(3, 3)}


def test_calls_that_share_most_of_their_words_are_one_branch() -> None:
    task = planted_task(3, steps=5)
    loose, strict = tree(task, 150, alike=0.5), tree(task, 150)
    assert len(loose) < len(strict)


def test_branches_go_where_runs_end_right() -> None:
    """The policy takes the right way four times in ten; behind it every run ends right, behind others none does."""
    right = Counter[bool]()
    for number in range(12):
        task = planted_task(number, steps=5)
        decisive = task.details["decisive"]
        for run in tree(task, 240, skill=0.4):
            if run.step > decisive:
                way = run.done.history[decisive].turn.calls[0].arguments["way"]
                right[way == task.details["right"]] += 1
    assert right[True] / right.total() > 0.5
