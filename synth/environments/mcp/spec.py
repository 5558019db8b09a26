"""The environment ``mcp`` as the registry names it: its keys can be read where its library is not installed."""

from __future__ import annotations

from typing import Any

from synth.environments.contract import Environment, EnvironmentSpec
from synth.environments.mcp.config import VERSION, McpServers
from synth.identity import versioned

__all__ = ["MCP"]


@versioned(VERSION)
def _open(**options: Any) -> Environment:
    """
    Raises:
        InputError: the library is not installed, or as ``open_mcp``.
    """
    from synth.environments.mcp.environment import open_mcp

    return open_mcp(**options)


MCP = EnvironmentSpec(kind="mcp", keys=McpServers, open=_open, prompt="agents/mcp", rl_prompt="rl/mcp", stateful=True)
