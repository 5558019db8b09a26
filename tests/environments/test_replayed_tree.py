"""Episodes that remember what they have done: what is sent again, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from synth.environments.answers import check_task
from synth.environments.contract import Environment, Episode, ToolCall, ToolResult, ToolSchema
from synth.environments.replay import ReplayedEpisode
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.testing.corpus import small_tasks

TASK = small_tasks()[0]


class Adding(Environment):
    """Numbers that are added up by somebody who can't be asked for his state."""

    name: ClassVar[str] = "adding"
    version: ClassVar[str] = "1"

    def __init__(self) -> None:
        self.sent: list[int] = []
        """All that ever got through; a new beginning is a 0."""
        self.drift = 0
        """What is put on every sum: not 0 = it does not come out again."""

    def tools(self) -> tuple[ToolSchema, ...]:
        return ()

    def instructions(self) -> str:
        return "Add."

    def reset(self, task: Task) -> Episode:
        return Sum(self, task)


class Sum(ReplayedEpisode):
    remembers: ClassVar[bool] = True

    def __init__(self, environment: Adding, task: Task) -> None:
        super().__init__(environment, task, identity="i", replay_safe=True)
        self.environment = environment
        self.outside = 0
        self.sum = 0
        self.wants_more = False
        self.broken = False

    def refusal(self, call: ToolCall) -> ToolResult | None:
        return None

    def foretold(self, call: ToolCall) -> ToolResult | None:
        number = call.arguments["n"]
        return None if number != 0 else ToolResult(call_id=call.id, name=call.name, content="0?", error="refused")

    def answer(self, call: ToolCall) -> ToolResult:
        told = self.foretold(call)
        if told is not None:
            return told
        number = int(str(call.arguments["n"]))
        self.environment.sent.append(number)
        if number == 13 or self.broken:
            self.broken = True
            return ToolResult(call_id=call.id, name=call.name, content="gone", error="failure")
        self.outside += number
        self.sum = self.outside + self.environment.drift
        return ToolResult(call_id=call.id, name=call.name, content=f"{self.sum}{'!' if self.wants_more else ''}")

    def mark(self, result: ToolResult) -> str:
        return result.content.removesuffix("!")

    def begin_anew(self) -> None:
        self.environment.sent.append(0)
        self.outside, self.sum, self.broken = 0, 0, False

    def remember(self) -> Any:
        return None if self.broken else self.sum

    def recall(self, memory: Any) -> None:
        if self.broken:
            self.adrift()
        self.broken = False
        self.sum = memory or 0

    def suffices(self, result: ToolResult) -> bool:
        return not self.wants_more or result.content.endswith("!")

    def noted(self) -> dict[str, Any]:
        return {"sum": self.sum}

    def check(self, answer: str | None) -> Verdict:
        return check_task(self.task, answer)


@pytest.fixture
def environment() -> Adding:
    return Adding()


def add(episode: Episode, *numbers: int) -> str:
    results = [episode.step(ToolCall(id=f"c{n}", name="add", arguments={"n": n})) for n in numbers]
    return " ".join(result.content for result in results)


def sent(environment: Adding) -> Sequence[int]:
    found, environment.sent = environment.sent, []
    return found


def test_what_was_done_is_told_from_memory(environment: Adding) -> None:
    episode = Sum(environment, TASK)
    start = episode.snapshot()
    assert add(episode, 1, 2, 3) == "1 3 6"
    end = episode.snapshot()
    sent(environment)
    episode.restore(start)
    assert episode.sum == 0
    assert episode.snapshot() == start
    assert add(episode, 1, 2, 3) == "1 3 6"
    assert episode.snapshot() == end
    assert sent(environment) == []
    result = episode.step(ToolCall(id="mine", name="add", arguments={"n": 4}))
    assert (result.call_id, result.content) == ("mine", "10")
    assert sent(environment) == [4]  # the outside has never left


def test_what_is_new_stands_behind_a_replay(environment: Adding) -> None:
    episode = Sum(environment, TASK)
    assert add(episode, 1) == "1"
    before = episode.snapshot()
    assert add(episode, 2, 3) == "3 6"
    sent(environment)
    episode.restore(before)
    assert add(episode, 2, 5) == "3 8"
    assert sent(environment) == [0, 1, 2, 5]
    episode.restore(before)
    assert add(episode, 2, 3, 7) == "3 6 13"
    assert sent(environment) == [0, 1, 2, 3, 7]


def test_what_does_not_come_out_again_is_no_place_to_go_on_from(environment: Adding) -> None:
    episode = Sum(environment, TASK)
    assert add(episode, 1) == "1"
    before = episode.snapshot()
    add(episode, 2)
    environment.drift = 100
    episode.restore(before)
    with pytest.raises(ValueError, match=r"call 0 \(add\) comes out otherwise"):
        add(episode, 4)
    other = Sum(environment, TASK)
    with pytest.raises(ValueError, match="comes out otherwise"):  # of another episode: at once
        other.restore(before)


def test_a_foretold_refusal_is_a_call_that_nothing_is_sent_for(environment: Adding) -> None:
    episode = Sum(environment, TASK)
    assert add(episode, 0, 1, 0) == "0? 1 0?"
    assert sent(environment) == [1]
    saved = episode.snapshot()
    assert saved.state.count('"0?"') == 2
    other = Sum(environment, TASK)
    other.restore(saved)
    assert other.snapshot() == saved
    assert sent(environment) == [1]
    assert add(other, 2) == "3"


def test_what_lacks_something_is_looked_at_again(environment: Adding) -> None:
    episode = Sum(environment, TASK)
    start = episode.snapshot()
    assert add(episode, 1, 2) == "1 3"
    episode.restore(start)
    episode.wants_more = True
    sent(environment)
    assert add(episode, 1, 2) == "1! 3!"
    assert sent(environment) == [0, 1, 2]
    episode.restore(start)
    assert add(episode, 1, 2) == "1! 3!"
    assert sent(environment) == []


def test_what_was_lost_is_begun_anew(environment: Adding) -> None:
    episode = Sum(environment, TASK)
    assert add(episode, 1) == "1"
    before = episode.snapshot()
    assert add(episode, 13, 5) == "gone gone"
    sent(environment)
    episode.restore(before)
    assert add(episode, 5) == "6"
    assert sent(environment) == [0, 1, 5]
    episode.restore(before)
    assert add(episode, 13) == "gone"  # it may be otherwise the next time: nothing is told from memory
    assert sent(environment) == [0, 1, 13]
