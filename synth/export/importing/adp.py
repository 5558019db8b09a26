"""Agent Data Protocol, generations 1 and 2.

Generation 1 has no ids of calls: an observation that is not the user's answers the first call of the turn before it
that has no answer yet. Ids are given to calls that are answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.export.importing.contract import Importer, list_of, needed
from synth.schemas.adp import ADP_VERSION, Trajectory, parse

__all__ = ["ADP"]

_ACTIONS = ("api_action", "code_action", "message_action")


def _read(value: Mapping[str, Any]) -> Trajectory:
    return parse(value if "schema_version" in value else _linked(value))


def _linked(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object of generation 1 as one of generation 2."""
    details = dict(value.get("details") or {})
    content = [dict(item) for item in list_of(needed(value, "content"), "content")]
    names = iter(details.pop("call_ids", ()))
    turn = -1
    place = 0
    acting = False
    waiting: list[tuple[dict[str, Any], str]] = []
    for number, item in enumerate(content):
        kind = needed(item, "class_", f"content[{number}].")
        if kind in _ACTIONS:
            if not acting:
                turn, place, waiting = turn + 1, 0, []
            if kind != "message_action":
                waiting.append((item, f"call_{turn}_{place}"))
                place += 1
        elif item.get("source") != "user" and waiting:
            call, name = waiting.pop(0)
            call["tool_call_id"] = item["tool_call_id"] = next(names, name)
        acting = kind in _ACTIONS
    for number, reward in dict(details.pop("item_rewards", {})).items():
        content[int(number)]["reward"] = reward
    made: dict[str, Any] = {
        "schema_version": ADP_VERSION,
        "id": needed(value, "id"),
        "content": content,
        **details.pop("available", {}),
        "details": details,
    }
    tools = value.get("available_custom_tools", value.get("available_apis"))
    return made | ({"available_custom_tools": tools} if tools else {})


ADP = Importer("adp", "Agent Data Protocol, generation 1 (without `schema_version`) or 2.", _read)
