"""The environment ``mcp`` over a server of ours, held to the contract of environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from synth.schemas.tasks import Task
from synth.testing.corpus import small_tasks
from synth.testing.environments import EnvironmentContract

pytest.importorskip("mcp", reason="extra mcp")

from stand_ins.mcp_server import command

from synth.environments.mcp.environment import McpEnvironment, open_mcp


class TestMcpEnvironment(EnvironmentContract):
    max_examples = 12  # each example starts several processes

    def environment(self) -> McpEnvironment:
        return open_mcp(servers={"notes": {"command": command("notes")}}, replay_safe=True)

    def tasks(self) -> Sequence[Task]:
        return small_tasks()[:2]

    def examples(self) -> dict[str, Sequence[Any]]:
        return {"title": ["a", "b"], "text": ["one", "two"]}
