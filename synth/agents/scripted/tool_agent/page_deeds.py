"""What an agent did on web pages, in its own words: many sites say nothing of what they have just done."""

from __future__ import annotations

from synth.agents.contract import History
from synth.agents.scripted.tool_agent.narration import outline_of
from synth.environments.contract import ToolCall
from synth.environments.outline import Outline
from synth.text.lists import listed

__all__ = ["page_deeds"]

_MOST = 6
"""More than these are not told one by one."""


def page_deeds(history: History) -> str:
    """What was typed, chosen and pressed, in order: "I wrote “Ann Bo” into “Name” and pressed “Save”." Links that were
    followed are left out. Empty where there is nothing to tell, or too much."""
    deeds: list[str] = []
    shown: Outline | None = None
    for step in history:
        for call, result in zip(step.turn.calls, step.results, strict=False):
            element = shown.element(str(call.arguments.get("ref", ""))) if shown is not None else None
            if element is not None and result.error is None:
                deeds += _deed(call, *element)
            shown = outline_of(result) or shown
    return f"I {listed(deeds)}." if 0 < len(deeds) <= _MOST else ""


def _deed(call: ToolCall, role: str, name: str) -> list[str]:
    name = name.rstrip(" *")  # as forms mark what has to be filled in
    if call.name == "type":
        text = str(call.arguments.get("text", ""))
        return [f"wrote “{text}” into “{name}”" if text else f"cleared “{name}”"]
    if call.name == "select":
        return [f"chose “{call.arguments.get('option', '')}” for “{name}”"]
    if call.name == "click" and role != "link":
        return [f"pressed “{name}”" if role == "button" else f"clicked “{name}”"]
    return []
