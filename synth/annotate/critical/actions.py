"""When two turns do the same, and what kind of thing a turn does. Thoughts and words beside the calls do not count."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import Step, Turn
from synth.agents.trajectory import step_items
from synth.environments.contract import ToolSchema, call_key
from synth.identity import canonical_json
from synth.schemas import turns

__all__ = ["action_key", "action_kind"]


def action_kind(turn: Turn) -> str:
    """Name of the tool (several joined by ``+``), ``answer`` or ``give_up``."""
    return turns.action_kind(step_items(Step(turn=turn)), gave_up=turn.answer is None)


def action_key(turn: Turn, tools: Sequence[ToolSchema]) -> str:
    """Equal for turns that do the same: same calls with the same arguments in the same order, or the same answer."""
    if turn.calls:
        return "\n".join(call_key(call, tools) for call in turn.calls)
    return action_kind(turn) if turn.answer is None else canonical_json(["answer", " ".join(turn.answer.split())])
