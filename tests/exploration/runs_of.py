"""Runs of agents and of explorers, as a graph of tools reads them."""

from __future__ import annotations

from synth.agents.contract import History
from synth.exploration.tool_graph import Run
from synth.exploration.walks import Walk

__all__ = ["of_history", "of_walk"]


def of_history(history: History) -> Run:
    """The run of an agent."""
    return [list(zip(step.turn.calls, step.results, strict=False)) for step in history]


def of_walk(walk: Walk) -> Run:
    """The run of an explorer."""
    return [[(step.call, step.result)] for step in walk.steps]
