"""Agent Data Protocol of every generation and version.

Generation 1 has no ids of calls: what is observed right after a turn answers its calls. Of later versions than ours,
fields that we do not know stand in ``details.given``, by the item that had them. The newest generation is written as
ATIF, and is read as such.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from synth.export.importing.atif import read_atif
from synth.export.importing.contract import (
    ACTIONS,
    Importer,
    Item,
    arguments_of,
    facts_beside,
    linked,
    list_of,
    made,
    needed,
    text_of,
    tool_functions,
)
from synth.identity import canonical_json
from synth.schemas.adp import ADP_VERSION, SUPPORTED_VERSIONS, Trajectory, parse, problems

__all__ = ["ADP"]

_VERSION = re.compile(r"1\.\d+(\.\d+)?")
_SAID = ("description", "reasoning_content", "reward", "tool_call_id")
_SEEN = ("name", "reward", "tool_call_id")
_ITEMS: dict[str, tuple[str, ...]] = {
    "api_action": ("function", "kwargs", *_SAID),
    "code_action": ("language", "content", *_SAID),
    "message_action": ("content", "description", "reasoning_content", "reward"),
    "text_observation": ("content", "source", *_SEEN),
    "json_observation": ("content", "source", *_SEEN),
    "image_observation": ("content", "source", "annotations", "reward", "tool_call_id"),
    "web_observation": ("html", "axtree", "url", "image_observation", "viewport_size", "reward", "tool_call_id"),
}
"""Fields that we know, by class."""
_ROOT = ("schema_version", "id", "content", "details", "available_custom_tools", "available_code_languages")
_OLD = ("call_ids", "item_rewards", "available")
"""Keys of ``details`` under which our generation 1 keeps what it has no place for."""


def _read(value: Mapping[str, Any]) -> Trajectory:
    version = value.get("schema_version")
    if isinstance(version, str) and version.startswith("ATIF"):
        return read_atif(value)
    if version is not None and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ValueError(f"schema_version: {version!r} is not a version 1 of the Agent Data Protocol")
    if version in SUPPORTED_VERSIONS and not problems(value):
        return parse(value)
    details = value.get("details")
    details = dict(details) if isinstance(details, Mapping) else {} if details is None else {"details": details}
    ours = {name: details.pop(name, None) for name in _OLD}
    content, unknown = _items(value, ours)
    linked(content)
    given: dict[str, Any] = {key: held for key, held in value.items() if key not in (*_ROOT, "available_apis")}
    if unknown:
        given["content"] = unknown
    if version not in (None, ADP_VERSION):
        given["schema_version"] = version
    beside = facts_beside(details)
    if "answer" in details:
        beside.pop("answer", None)
    details = {**_numbered(details), **beside}
    if "tools" in details:
        details["tools"] = tool_functions(details["tools"], "details.tools")
    if given:
        details["given"] = given
    tools = value.get("available_custom_tools") or value.get("available_apis") or []
    trajectory = made(content, details, id_=value.get("id"), tools=[str(tool) for tool in tools])
    return parse(trajectory.model_dump(mode="json") | ours["available"]) if ours["available"] else trajectory


def _items(value: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[list[Item], dict[str, Any]]:
    """The content in our fields, and the fields that we do not know by the item that had them."""
    names, rewards = iter(ours["call_ids"] or ()), ours["item_rewards"] or {}
    content: list[Item] = []
    unknown: dict[str, Any] = {}
    for number, item in enumerate(list_of(needed(value, "content"), "content")):
        where = f"content[{number}]"
        kind = needed(item, "class_", f"{where}.")
        if kind not in _ITEMS:
            raise ValueError(f"{where}.class_: {kind!r} is none of {', '.join(_ITEMS)}")
        one: Item = {"class_": kind, **{name: item[name] for name in _ITEMS[kind] if name in item}}
        rest = {name: held for name, held in item.items() if name not in one and held is not None}
        if kind == "api_action":
            one["kwargs"] = arguments_of(one.get("kwargs"))
        elif kind == "json_observation":
            one |= {"class_": "text_observation", "content": canonical_json(one.get("content"))}
            rest["class_"] = kind
        elif kind == "web_observation":
            one = dict.fromkeys(_ITEMS[kind][:5]) | one
        elif not isinstance(one.get("content"), str):
            one["content"] = text_of(one.get("content"), f"{where}.content")
        if str(number) in rewards:
            one["reward"] = rewards[str(number)]
        if rest:
            unknown[str(number)] = rest
        content.append(one)
    if ours["call_ids"] is not None:
        _name(content, list(names))
    return content, unknown


def _name(content: list[Item], names: list[str]) -> None:
    """Give answered calls the ids that our generation 1 kept, in the order of their answers."""
    linked(content)
    calls = {item["tool_call_id"]: item for item in content if item["class_"] in ACTIONS and "tool_call_id" in item}
    answers = [item for item in content if item["class_"] not in ACTIONS and "tool_call_id" in item]
    if len(answers) != len(names):
        raise ValueError(f"details.call_ids: {len(names)} ids of {len(answers)} calls that were answered")
    for item, name in zip(answers, names, strict=True):
        calls[item["tool_call_id"]]["tool_call_id"] = item["tool_call_id"] = name


def _numbered(details: Mapping[str, Any]) -> dict[str, Any]:
    """``details`` with numbers where the protocol asks for them; a text that is none stands under another key."""
    found: dict[str, Any] = {}
    for key, held in details.items():
        wrong = problems({"schema_version": ADP_VERSION, "id": "x", "content": [], "details": {key: held}})
        if not wrong:
            found[key] = held
        elif isinstance(held, str):
            try:
                found[key] = float(held)
            except ValueError:
                found[f"{key}_text"] = held
        else:
            found[f"{key}_json"] = canonical_json(held)
    return found


ADP = Importer(
    "adp", "Agent Data Protocol of every generation: without versions, 1.x, or written as ATIF.", _read, version=3
)
