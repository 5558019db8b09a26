"""Explorers: seeded, favouring what was not tried, effective steps only; on a toy with state and on the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from graph_world import graph_world

from synth.environments.contract import Environment, Episode, Snapshot, ToolCall, ToolResult, ToolSchema
from synth.exploration.black_box import SeenProposer
from synth.exploration.walks import Coverage, Explorer, ExplorerConfig, Walk, state_key
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.testing.corpus import small_tasks


def tool(name: str, **arguments: str) -> ToolSchema:
    properties = {key: {"type": kind} for key, kind in arguments.items()}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(arguments),
        "additionalProperties": False,
    }
    return ToolSchema(name=name, description=name, parameters=parameters)


class House(Environment):
    """Three rooms in a row, each with a lamp. Nothing outside the room that one stands in can be switched."""

    name: ClassVar[str] = "house"
    version: ClassVar[str] = "1"

    def tools(self) -> tuple[ToolSchema, ...]:
        return tool("look"), tool("enter", room="string"), tool("switch", on="boolean"), tool("wish")

    def instructions(self) -> str:
        return "A house."

    def reset(self, task: Task) -> Episode:
        return Stay(task)


class Stay(Episode):
    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.room, self.lamps, self.calls = 0, [False, False, False], 0

    def step(self, call: ToolCall) -> ToolResult:
        self.calls += 1
        if call.name == "look":
            return self.say(call, f"room{self.room}, doors to room{(self.room + 1) % 3}; lamp {self.lamps[self.room]}")
        if call.name == "switch":
            self.lamps[self.room] = bool(call.arguments["on"])
            return self.say(call, "click")
        if call.name == "enter" and str(call.arguments["room"]) == f"room{(self.room + 1) % 3}":
            self.room = (self.room + 1) % 3
            return self.say(call, "entered")
        return ToolResult(call_id=call.id, name=call.name, content="no", error="refused")

    def say(self, call: ToolCall, words: str) -> ToolResult:
        return ToolResult(call_id=call.id, name=call.name, content=words)

    def snapshot(self) -> Snapshot:
        state = json.dumps({"calls": self.calls, "lamps": self.lamps, "room": self.room}, sort_keys=True)
        return Snapshot(environment="house", version="1", task_id=self.task.id, state=state)

    def restore(self, snapshot: Snapshot) -> None:
        state = json.loads(snapshot.state)
        self.room, self.lamps, self.calls = state["room"], state["lamps"], state["calls"]

    def check(self, answer: str | None) -> Verdict:
        return Verdict(correct=None, rule="abstained")


TASK = small_tasks()[0]


def explorer_of(environment: Environment, hints: Sequence[str] = (), **options: Any) -> Explorer:
    return Explorer(environment, lambda: SeenProposer(environment, hints), **options)


def run(seed: int, coverage: Coverage | None = None, *, effective: int = 10, calls: int = 60) -> Walk:
    config = ExplorerConfig(effective=effective, calls=calls, undo=True)
    return explorer_of(House(), seed=seed, config=config, coverage=coverage).walk(TASK)


def test_every_step_had_an_effect_and_they_replay_to_the_same_end() -> None:
    for seed in range(40):
        found = run(seed, effective=8)
        assert found.effective
        episode, shown = House().reset(TASK), set()
        for step in found.effective:
            assert state_key(episode.snapshot().state) == step.before
            assert episode.step(step.call) == step.result
            assert state_key(episode.snapshot().state) == step.after
            assert step.changed or step.result.content not in shown
            assert step.result.error is None
            shown.add(step.result.content)


def test_equal_seeds_give_equal_explorations() -> None:
    assert [run(seed) for seed in range(20)] == [run(seed) for seed in range(20)]
    assert len({canonical(run(seed)) for seed in range(20)}) > 10


def canonical(found: Walk) -> str:
    return json.dumps([[step.call.name, step.call.arguments] for step in found.steps], sort_keys=True)


def test_what_had_no_effect_is_not_tried_again_from_the_same_state() -> None:
    class Counting(House):
        tried: ClassVar[list[tuple[str, str]]] = []

        def reset(self, task: Task) -> Episode:
            outer = self

            class Noting(Stay):
                def step(self, call: ToolCall) -> ToolResult:
                    outer.tried.append((state_key(self.snapshot().state), json.dumps([call.name, call.arguments])))
                    return super().step(call)

            return Noting(task)

    house, coverage = Counting(), Coverage()
    for seed in range(12):
        config = ExplorerConfig(effective=20, calls=40, undo=True)
        explorer_of(house, seed=seed, config=config, coverage=coverage).walk(TASK)
    idle = [pair for pair in house.tried if pair[1].startswith('["wish"')]
    assert idle
    assert len(idle) == len(set(idle))  # once from each state, and never more


def test_coverage_is_counted_and_leads_explorations_apart() -> None:
    coverage = Coverage()
    runs = [run(seed, coverage, effective=12, calls=60) for seed in range(20)]
    assert set(coverage.tried) == {"enter", "look", "switch", "wish"}
    assert len(coverage.arguments) == 2
    assert coverage.effective.total() == sum(len(found.effective) for found in runs)
    assert len(coverage.states) >= 12  # of 24: three rooms, eight settings of the lamps
    # A tool that never does anything is tried once from each state; the others about equally often.
    assert coverage.tried["wish"] <= len(coverage.states)
    used = [coverage.tried[name] for name in ("look", "enter", "switch")]
    assert max(used) < 2 * min(used)


def test_it_walks_the_graph_by_names_that_it_is_given() -> None:
    world = graph_world()
    hints = [hop.source.name for task in world.tasks[:3] for hop in task.walk.hops if not hop.needs]
    explorer = explorer_of(world.environment, hints, config=ExplorerConfig(effective=8, calls=60, undo=True))
    for _ in range(6):
        explorer.walk(world.tasks[0])
    coverage = explorer.coverage
    assert set(coverage.tried) == {tool.name for tool in world.environment.tools()}
    assert coverage.effective.total() >= 30
    assert len(coverage.states) == 1  # reading changes nothing
