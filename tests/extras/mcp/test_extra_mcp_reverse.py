"""Fifty reverse tasks on two servers that none of us wrote: solutions replay, and no call of one can be left out."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from real_mcp_servers import CannotBeHad, node_program

from synth.environments.contract import ToolCall
from synth.environments.mcp.environment import McpEnvironment, open_mcp
from synth.exploration.config import ExplorationConfig
from synth.exploration.mcp.explorer import McpExplorable, book_for
from synth.exploration.pipeline import Exploration
from synth.schemas.plans import Plan
from synth.schemas.rejections import Rejection
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish, same_question
from synth.testing.corpus import PROVENANCE

pytestmark = pytest.mark.extras

DATA = Path(__file__).parent / "data"
COMMANDS = {
    "memory": ("mcp-server-memory", ("env", "MEMORY_FILE_PATH={workspace}/memory.jsonl"), ()),
    "files": ("mcp-server-filesystem", (), ("{workspace}",)),
}
WANTED = 25
"""Tasks per server."""


def opened(name: str, tmp_path: Path) -> McpEnvironment:
    program, before, after = COMMANDS[name]
    try:
        command = [*before, node_program(program), *after]
    except CannotBeHad as error:
        pytest.skip(str(error))
    folder = shutil.copytree(DATA / name, tmp_path / name)
    return open_mcp(servers={name: {"command": command, "folder": str(folder)}}, replay_safe=True)


def verdict(environment: McpEnvironment, task: Task, plan: Plan, left_out: int | None = None) -> bool | None:
    episode = environment.reset(task)
    try:
        for number, call in enumerate(plan.calls):
            if number != left_out:
                episode.step(ToolCall(id=f"c{number}", name=call.tool, arguments=call.arguments))
        return episode.check(task.answer).correct
    finally:
        episode.close()


@pytest.mark.parametrize("name", COMMANDS)
def test_tasks_of_a_real_server(name: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    environment = opened(name, tmp_path)
    print(f"\n{name}: {', '.join(tool.name for tool in environment.tools())}")
    book = book_for(environment)
    assert book is not None, environment.servers
    proposer = Exploration(
        McpExplorable(environment, book, ExplorationConfig(kinds={"done": 0.7, "answered": 0.3}, tries=12))
    )
    tasks: dict[str, Task] = {}
    rejected: Counter[str] = Counter()
    for start in range(0, 120, 12):
        for index, found in enumerate(proposer.propose(range(start, start + 12), 7), start=start):
            if isinstance(found, Rejection):
                rejected[found.reason] += 1
            elif isinstance(found, Checked) and len(tasks) < WANTED:
                task = finish(found.draft, found.checks, PROVENANCE, index)
                tasks.setdefault(same_question(task), task)
        if len(tasks) >= WANTED:
            break
    assert len(tasks) == WANTED
    calls = 0
    for task in tasks.values():
        print(f"  {task.details['kind']}: {task.question} -> {task.answer}")
        plan = Plan.model_validate(task.details["plan"])
        calls += len(plan.calls)
        assert verdict(environment, task, plan) is True
        for number, call in enumerate(plan.calls):
            if call.changes:
                assert verdict(environment, task, plan, left_out=number) is False
    kinds = Counter(str(task.details["kind"]) for task in tasks.values())
    print(f"  {dict(kinds)}, {calls} calls, rejected {dict(rejected)}")
    assert set(kinds) == {"done", "answered"}
