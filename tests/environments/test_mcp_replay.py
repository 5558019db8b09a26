"""Going back by making the calls again: only where the recipe allows it, and never to another state than before."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import psutil
import pytest

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.trajectory import to_row
from synth.annotate.critical.branching import Branching, BranchPoint, Refusal
from synth.annotate.critical.config import CriticalConfig
from synth.environments.contract import ToolCall, ToolResult
from synth.errors import InputError
from synth.identity import derive_generator
from synth.models import bridge
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

pytest.importorskip("mcp", reason="extra mcp")

from stand_ins.mcp_server import command

from synth.environments.mcp.environment import McpEnvironment, open_mcp

TASK = small_tasks()[0]
WRITE = ("write", {"title": "a", "text": "one"})
READ = ("read", {"title": "a"})


def make(**options: Any) -> McpEnvironment:
    return open_mcp(**{"servers": {"notes": {"command": command("all")}}, **options})


class Listed:
    """Makes given calls, one a turn, then answers."""

    privileged = False

    def __init__(self, *calls: tuple[str, dict[str, Any]], answer: str = "none") -> None:
        self.calls, self.answer = calls, answer

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if len(history) >= len(self.calls):
            return Decision(Turn(answer=self.answer))
        return Decision(put(*self.calls[len(history)]))


def put(name: str, arguments: dict[str, Any]) -> Turn:
    return Turn(calls=(ToolCall(id="x", name=name, arguments=arguments),))


def recorded(environment: McpEnvironment, *calls: tuple[str, dict[str, Any]], answer: str = "none") -> TrajectoryRow:
    done = rollout(
        Listed(*calls, answer=answer),
        environment,
        TASK,
        system="Act.",
        limits=Limits(),
        generator_for_turn=lambda turn: derive_generator(1, "turn", turn),
    )
    return to_row(done, environment, role="policy", number=0, privileged=False, provenance=PROVENANCE)


@pytest.fixture(autouse=True)
def _before() -> None:
    """Other tests of this process may have children that stay (Prefect's server, Ray, forked helpers)."""
    _others.clear()
    _others.update(child.pid for child in psutil.Process().children(recursive=True))


_others: set[int] = set()


def running() -> int:
    """Servers that this test has started and that are still there; each has a guardian."""
    found = [child for child in psutil.Process().children(recursive=True) if child.pid not in _others]
    guardians = sum("guardian.py" in " ".join(_line(child)) for child in found)
    return max(guardians, len(found) - guardians)


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_a_run_is_branched_from_by_making_its_calls_again() -> None:
    environment = make(replay_safe=True)
    row = recorded(environment, WRITE, READ, ("titles", {}))
    assert not row.success
    branching = Branching.open(row, TASK, environment, CriticalConfig())
    assert isinstance(branching, Branching)
    assert (branching.refused, branching.steps) == (None, 4)
    right = Listed(*[WRITE, READ], answer=TASK.answer)
    done = branching.run(right, BranchPoint(1, "alternative", 0), put("write", {"title": "b", "text": "two"}), 0, names)
    # The note of step 0 is there, that of the branch is the second call of its server.
    assert done.success
    assert "Call 2: the note 'b' is written." in json.dumps([item.model_dump() for item in done.content])
    again = branching.run(right, BranchPoint(1, "alternative", 0), put("titles", {}), 1, names)
    assert '"content": "a"' in json.dumps([item.model_dump() for item in again.content])
    branching.close()
    assert running() == 0


def names(*given: Any) -> np.random.Generator:
    return derive_generator(1, *map(str, given))


def test_without_replay_safe_nothing_is_sent_twice_and_the_branch_is_refused() -> None:
    environment = make()
    row = recorded(environment, WRITE, READ)
    branching = Branching.open(row, TASK, environment, CriticalConfig())
    assert isinstance(branching, Branching)
    assert branching.refused is not None
    assert (branching.refused.reason, branching.refused.step) == (Refusal.OTHER_OBSERVATION, 0)
    assert "refused where no error was recorded" in branching.refused.detail
    assert branching.steps == 0
    assert running() == 0  # not even a server was started
    branching.close()


def test_a_server_that_answers_otherwise_each_time_is_refused_where_it_does() -> None:
    environment = make(replay_safe=True)
    row = recorded(environment, WRITE, ("clock", {}), READ)
    branching = Branching.open(row, TASK, environment, CriticalConfig())
    assert isinstance(branching, Branching)
    assert branching.refused is not None
    assert (branching.refused.reason, branching.refused.step) == (Refusal.OTHER_OBSERVATION, 1)
    assert branching.steps == 1
    branching.close()


def test_an_episode_does_not_restore_what_it_can_not_reach() -> None:
    environment = make(replay_safe=True)
    episode = environment.reset(TASK)
    episode.step(ToolCall(id="1", name="clock", arguments={}))
    saved = episode.snapshot()
    episode.restore(saved)  # it stands there still
    episode.step(ToolCall(id="2", name="titles", arguments={}))
    with pytest.raises(ValueError, match="call 0 \\(clock\\) comes out otherwise"):
        episode.restore(saved)
    other = make(replay_safe=True, servers={"notes": {"command": command("notes")}}).reset(TASK)
    with pytest.raises(ValueError, match="another mcp, or with other settings"):
        other.restore(saved)
    episode.close()
    unsafe = make().reset(TASK)
    with pytest.raises(ValueError, match="replay_safe"):
        unsafe.restore(make(replay_safe=True).reset(TASK).snapshot().model_copy(update={"state": saved.state}))


def test_calls_that_reached_no_server_are_no_part_of_the_state() -> None:
    environment = make(replay_safe=True)
    episode = environment.reset(TASK)
    before = episode.snapshot()
    episode.step(ToolCall(id="1", name="write", arguments={}))
    episode.step(ToolCall(id="2", name="fly", arguments={}))
    assert episode.snapshot() == before
    assert running() == 0


def test_several_servers_and_chosen_tools() -> None:
    servers = {"one": {"command": command("notes")}, "two": {"command": command("notes")}}
    environment = make(servers=servers, tools=["one__write", "two__titles", "one__titles"])
    assert [tool.name for tool in environment.tools()] == ["one__titles", "one__write", "two__titles"]
    assert "begins with its server's" in environment.instructions()
    episode = environment.reset(TASK)
    calls = [("one__write", WRITE[1]), ("one__titles", {}), ("two__titles", {})]
    results = [episode.step(ToolCall(id=name, name=name, arguments=given)) for name, given in calls]
    assert [result.content for result in results] == ["Call 1: the note 'a' is written.", "a", "none"]
    assert running() == 2
    episode.close()
    assert running() == 0


def test_many_runs_stand_on_one_loop_and_none_holds_up_the_others() -> None:
    environment = make(replay_safe=True, call_seconds=30)

    async def all_of_them() -> list[TrajectoryRow]:
        # The silent ones are still waiting for their servers when the others have ended.
        slow = [asyncio.ensure_future(bridge.run(recorded, environment, ("silent", {}))) for _ in range(2)]
        rows = await asyncio.gather(*(bridge.run(recorded, environment, WRITE, READ) for _ in range(6)))
        assert not any(task.done() for task in slow)
        for task in slow:
            task.cancel()
        ended = await asyncio.gather(*slow, return_exceptions=True)
        assert all(isinstance(error, asyncio.CancelledError) for error in ended)
        return list(rows)

    rows = asyncio.run(all_of_them())
    assert len({row.id for row in rows}) == 1
    assert rows[0].id == recorded(environment, WRITE, READ).id
    assert running() == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"servers": {}}, "environment.servers"),
        ({"servers": {"a": {}}}, "either a command or a url"),
        ({"servers": {"a": {"command": ["x"], "url": "http://127.0.0.1/"}}}, "either a command or a url"),
        ({"servers": {"a": {"command": ["no-such-program"]}}}, "there is no program 'no-such-program'"),
        ({"servers": {"a": {"url": "ftp://127.0.0.1/"}}}, "must begin with http:// or https://"),
        ({"servers": {"a": {"url": "http://me:pw@127.0.0.1/"}}}, "a user or a password"),
        ({"servers": {"a": {"command": ["python"], "env": ["KEY=secret"]}}}, "never their values"),
        ({"servers": {"a": {"command": ["sh"], "env": ["SYNTH_NO_SUCH"]}}}, "SYNTH_NO_SUCH is not set"),
        ({"servers": {"a": {"command": ["sh"], "folder": "/no/such"}}}, "there is no folder '/no/such'"),
        ({"servers": {"A b": {"command": ["sh"]}}}, "take a letter"),
        ({"servers": {"a": {"command": ["sh"]}}, "replay": True}, "environment.replay"),
        ({"servers": {"a": {"url": "http://127.0.0.1:9/mcp"}}, "start_seconds": 5}, "the server can't be used"),
        ({"servers": {"a": {"command": ["sh", "-c", "echo out of order >&2; exit 1"]}}}, "out of order"),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        open_mcp(**options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert running() == 0


def test_what_a_server_says_of_the_time_is_no_difference() -> None:
    def answered(text: str, error: str | None = None) -> ToolResult:
        return ToolResult(call_id="1", name="task_edit", content=text, error=error)

    environment = make(replay_safe=True)
    episode = environment.reset(TASK)
    before = answered("Updated: 2026-11-28 11:19 (UTC)\nLabels: diy")
    later = answered("Updated: 2026-11-28 11:37 (UTC)\nLabels: diy")
    other = answered("Updated: 2026-11-28 11:37 (UTC)\nLabels: garden")
    assert environment.same(before, later)
    assert episode.mark(before) == episode.mark(later)
    for wrong in (other, answered(before.content, "failure")):
        assert not environment.same(before, wrong)
        assert episode.mark(before) != episode.mark(wrong)
    episode.close()
