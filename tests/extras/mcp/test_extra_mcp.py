"""Real servers of the protocol: tools found, calls made, replay verified where they answer the same again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import psutil
import pytest
from real_mcp_servers import CannotBeHad, program

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.trajectory import to_row
from synth.annotate.critical.branching import Branching, BranchPoint, Refusal
from synth.annotate.critical.config import CriticalConfig
from synth.environments.contract import ToolCall
from synth.environments.mcp.environment import McpEnvironment, open_mcp
from synth.identity import derive_generator
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks
from synth.testing.environments import EnvironmentContract

pytestmark = pytest.mark.extras

TASK = small_tasks()[0]
Call = tuple[str, dict[str, Any]]


def found(name: str) -> str:
    try:
        return program(name)
    except CannotBeHad as error:
        pytest.skip(str(error))


class Listed:
    """Makes given calls, one a turn, then answers."""

    privileged = False

    def __init__(self, *calls: Call) -> None:
        self.calls = calls

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if len(history) >= len(self.calls):
            return Decision(Turn(answer=TASK.answer))
        return Decision(put(*self.calls[len(history)]))


def put(name: str, arguments: dict[str, Any]) -> Turn:
    return Turn(calls=(ToolCall(id="x", name=name, arguments=arguments),))


def names(*given: Any) -> np.random.Generator:
    return derive_generator(1, *map(str, given))


def recorded(environment: McpEnvironment, *calls: Call) -> TrajectoryRow:
    done = rollout(
        Listed(*calls), environment, TASK, system="Act.", limits=Limits(), generator_for_turn=lambda turn: names(turn)
    )
    return to_row(done, environment, role="policy", number=0, privileged=False, provenance=PROVENANCE)


def observations(row: TrajectoryRow) -> list[str]:
    return [item.content for item in row.content[1:] if hasattr(item, "source") and item.source == "environment"]


@pytest.fixture(scope="module")
def sqlite() -> McpEnvironment:
    server = {"command": [found("mcp-server-sqlite"), "--db-path", "{workspace}/shop.db"]}
    return open_mcp(servers={"sqlite": server}, replay_safe=True)


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> McpEnvironment:
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    folder = tmp_path_factory.mktemp("repository")
    (folder / "a.txt").write_text("hello\n")
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
    who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=folder, check=True, env={**os.environ, **who})
    for key, value in (("user.name", "A"), ("user.email", "a@example.org")):
        subprocess.run(["git", "config", key, value], cwd=folder, check=True)
    (folder / "a.txt").write_text("hello\nmore\n")
    server = {"command": [found("mcp-server-git")], "folder": str(folder)}
    return open_mcp(servers={"git": server}, replay_safe=True)


def test_time() -> None:
    environment = open_mcp(servers={"time": {"command": [found("mcp-server-time"), "--local-timezone", "UTC"]}})
    assert [tool.name for tool in environment.tools()] == ["convert_time", "get_current_time"]
    assert environment.servers["time"]["name"] == "mcp-time"
    assert environment.warnings == ()
    zones = {"source_timezone": "Asia/Kolkata", "target_timezone": "Asia/Tokyo"}  # neither has summer time
    row = recorded(
        environment,
        ("convert_time", {**zones, "time": "12:00"}),
        ("convert_time", {**zones, "time": "noon"}),
        ("get_current_time", {"timezone": "Mars"}),
        ("get_current_time", {}),
        ("get_current_time", {"timezone": "UTC"}),
    )
    seen = observations(row)
    assert json.loads(seen[0])["time_difference"] == "+3.5h"
    assert json.loads(seen[4])["timezone"] == "UTC"
    assert row.details["tool_errors"] == {"call_1_0": "refused", "call_2_0": "refused", "call_3_0": "bad_arguments"}
    assert "Mars" in seen[2]


def test_git_works_in_a_copy_of_its_own_and_is_branched_from(git: McpEnvironment) -> None:
    assert {"git_add", "git_commit", "git_diff_staged", "git_status"} <= {tool.name for tool in git.tools()}
    assert git.warnings == ()
    where = {"repo_path": "/workspace"}
    calls = [
        ("git_status", where),
        ("git_add", {**where, "files": ["a.txt"]}),
        ("git_diff_staged", where),
        ("git_log", where),
    ]
    row = recorded(git, *calls)
    seen = observations(row)
    assert "modified:   a.txt" in seen[0]
    assert "+more" in seen[2]
    assert "Message: first" in seen[3]
    assert recorded(git, *calls).id == row.id  # the first run staged nothing in this one's copy
    branching = Branching.open(row, TASK, git, CriticalConfig())
    assert isinstance(branching, Branching)
    assert (branching.refused, branching.steps) == (None, 5)
    done = branching.run(Listed(), BranchPoint(2, "alternative", 0), put("git_status", where), 0, names)
    assert "Changes to be committed" in json.dumps([item.model_dump() for item in done.content])
    branching.close()


def test_a_commit_has_another_hash_in_another_second_so_it_is_refused(git: McpEnvironment) -> None:
    where = {"repo_path": "/workspace"}
    add = ("git_add", {**where, "files": ["a.txt"]})
    row = recorded(git, add, ("git_commit", {**where, "message": "second"}), ("git_status", where))
    time.sleep(1.1)
    branching = Branching.open(row, TASK, git, CriticalConfig())
    assert isinstance(branching, Branching)
    assert branching.refused is not None
    assert (branching.refused.reason, branching.refused.step) == (Refusal.OTHER_OBSERVATION, 1)
    branching.close()


def test_sqlite_keeps_a_database_per_rollout_and_every_step_is_verified(
    sqlite: McpEnvironment, record_property: Callable[[str, object], None]
) -> None:
    calls = [
        ("create_table", {"query": "create table orders (id integer primary key, item text, price integer)"}),
        ("write_query", {"query": "insert into orders (item, price) values ('lamp', 30), ('chair', 80)"}),
        ("read_query", {"query": "select item from orders where price > 50"}),
        ("read_query", {"query": "drop table orders"}),
        ("describe_table", {"table_name": "orders"}),
    ]
    row = recorded(sqlite, *calls)
    seen = observations(row)
    assert "'affected_rows': 2" in seen[1]
    assert seen[2] == "[{'item': 'chair'}]"
    assert "Only SELECT" in seen[3]
    branching = Branching.open(row, TASK, sqlite, CriticalConfig())
    assert isinstance(branching, Branching)
    assert (branching.refused, branching.steps) == (None, 6)
    began = time.monotonic()
    for step in range(1, 5):
        rows = put("read_query", {"query": "select count(*) as n from orders"})
        done = branching.run(Listed(), BranchPoint(step, "alternative", 0), rows, 0, names)
        count = 0 if step == 1 else 2
        assert f"[{{'n': {count}}}]" in json.dumps([item.model_dump() for item in done.content])
    print(f"\nmcp: {(time.monotonic() - began) / 4:.2f} s per continuation, a new server each")
    branching.close()
    assert psutil.Process().children(recursive=True) == []


class TestSqliteHoldsTheContract(EnvironmentContract):
    max_examples = 3  # a server takes half a second to start

    @pytest.fixture(autouse=True)
    def _server(self, sqlite: McpEnvironment) -> None:
        type(self).made = sqlite  # type: ignore[attr-defined]

    def environment(self) -> McpEnvironment:
        made: McpEnvironment = self.made  # type: ignore[attr-defined]
        return made

    def tasks(self) -> Sequence[Task]:
        return small_tasks()[:1]

    def examples(self) -> dict[str, Sequence[Any]]:
        queries = ["create table t (a int)", "insert into t values (1)", "select * from t", "select 1 as one"]
        return {"query": queries, "table_name": ["t"], "insight": ["It sells."]}
