"""Logs that coding agents write by themselves: OpenHands' events, SWE-agent's and mini-swe-agent's trajectories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from synth.export.importing.contract import (
    Importer,
    Item,
    arguments_of,
    facts_beside,
    linked,
    list_of,
    made,
    needed,
    object_of,
    text_of,
    tool_functions,
)
from synth.schemas.adp import Trajectory

__all__ = ["OPENHANDS", "SWE_AGENT"]

_SHELL = {"run": ("bash", "command"), "run_ipython": ("python", "code")}
_SILENT = frozenset(("system", "recall", "change_agent_state", "null", "agent_state_changed", "condensation"))
"""Events of the harness: no turn of the agent, and nothing that it was shown."""
_BLOCK = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)?[ \t]*\n(.*?)\n?```", re.S)


def _user(text: str) -> Item:
    return {"class_": "text_observation", "content": text, "source": "user", "name": "user"}


def _shown(text: str, name: str | None, call: str | None = None) -> Item:
    item: Item = {"class_": "text_observation", "content": text, "source": "environment", "name": name}
    return item | ({"tool_call_id": call} if call is not None else {})


def _openhands(value: Mapping[str, Any]) -> Trajectory:
    """An object of ``output.jsonl``, or an event stream (``events``); events may stand in pairs."""
    key = next((one for one in ("history", "events", "trajectory") if isinstance(value.get(one), list)), "history")
    events: list[Any] = []
    for one in needed(value, key):
        events += one if isinstance(one, list) else [one]
    content: list[Item] = []
    system: list[str] = []
    details: dict[str, Any] = {}
    left: Counter[str] = Counter()
    calls: dict[Any, str] = {}
    for number, event in enumerate(list_of(events, key)):
        kind = event.get("action") or event.get("observation")
        arguments = object_of(event.get("args"))
        if kind == "system" and isinstance(arguments.get("content"), str):
            system.append(arguments["content"])
            details["tools"] = tool_functions(arguments.get("tools"), f"{key}[{number}].args.tools")
        elif kind is None or kind in _SILENT:
            left[str(kind)] += 1
        elif "action" in event:
            content += _event(event, kind, arguments, number, calls)
        else:
            call = calls.pop(event.get("cause"), None)
            content.append(_shown(text_of(event.get("content"), f"{key}[{number}].content"), kind, call))
    if not any(item.get("source") == "user" for item in content) and isinstance(value.get("instruction"), str):
        content.insert(0, _user(value["instruction"]))
    model = object_of(object_of(value.get("metadata")).get("llm_config")).get("model")
    details |= {"system_prompt": "\n\n".join(system), **facts_beside(value), **({"model": model} if model else {})}
    if left:
        details["given"] = {"events_left_out": dict(sorted(left.items()))}
    report = object_of(value.get("report"))
    if isinstance(report.get("resolved"), bool):
        details["correct"] = report["resolved"]
    return made(linked(content), details, id_=value.get("id") or value.get("instance_id"))


def _event(
    event: Mapping[str, Any], kind: str, arguments: Mapping[str, Any], number: int, calls: dict[Any, str]
) -> list[Item]:
    """What an action of the log is; a call waits for its result under the event's id."""
    thought = arguments.get("thought") or None
    if kind in ("message", "finish"):
        said = arguments.get("content") if kind == "message" else arguments.get("final_thought")
        text = str(said or thought or event.get("message") or "")
        if event.get("source") == "user":
            return [_user(text)]
        return [{"class_": "message_action", "content": text}]
    called = object_of(event.get("tool_call_metadata"))
    name = str(called.get("tool_call_id") or f"event_{event.get('id', number)}")
    while name in calls.values():
        name += "_"
    calls[event.get("id", number)] = name
    beside = {"tool_call_id": name, "description": thought}
    if kind in _SHELL:
        language, key = _SHELL[kind]
        return [{"class_": "code_action", "language": language, "content": str(arguments.get(key) or ""), **beside}]
    given = {key: held for key, held in arguments.items() if key != "thought"}
    return [{"class_": "api_action", "function": called.get("function_name") or kind, "kwargs": given, **beside}]


def _swe_agent(value: Mapping[str, Any]) -> Trajectory:
    if "messages" in value:
        return _mini(value)
    steps = list_of(needed(value, "trajectory"), "trajectory")
    if steps and "role" in steps[0]:
        return _told(value, steps)
    content: list[Item] = []
    system: list[str] = []
    for message in list_of(value.get("history") or [], "history"):
        role, text = message.get("role"), text_of(message.get("content"), "history.content")
        if role == "assistant":
            break
        if message.get("is_demo"):
            continue
        if role == "system":
            system.append(text)
        elif role == "user":
            content.append(_user(text))
    for number, step in enumerate(steps):
        action = text_of(step.get("action"), f"trajectory[{number}].action")
        if not action.strip():
            said = text_of(step.get("response") or step.get("thought"), f"trajectory[{number}].response")
            content.append({"class_": "message_action", "content": said})
        else:
            thought = step.get("thought") or None
            content.append({"class_": "code_action", "language": "bash", "content": action, "description": thought})
        content.append(_shown(text_of(step.get("observation"), f"trajectory[{number}].observation"), None))
    return _finished(value, content, system)


def _finished(value: Mapping[str, Any], content: list[Item], system: Sequence[str]) -> Trajectory:
    info = object_of(value.get("info"))
    details: dict[str, Any] = {"system_prompt": "\n\n".join(system), **facts_beside({**info, **value})}
    if isinstance(value.get("target"), bool):
        details["correct"] = value["target"]
    ended = {key: held for key in ("exit_status", "submission") if (held := info.get(key, value.get(key)))}
    if ended:
        details["given"] = ended
    return made(linked(content), details, id_=value.get("id"))


def _told(value: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Trajectory:
    """Of SWE-agent runs as they are published: messages whose agent writes one command in a block."""
    content: list[Item] = []
    system: list[str] = []
    for number, step in enumerate(steps):
        where = f"trajectory[{number}]"
        role = needed(step, "role", f"{where}.")
        text = text_of(step.get("text") or step.get("content") or step.get("system_prompt"), where)
        if role == "system":
            system.append(text)
        elif role in ("ai", "assistant"):
            content.append(_written(text))
        elif role == "user":
            acted = bool(content) and content[-1]["class_"] != "text_observation"
            content.append(_shown(text, None) if acted else _user(text))
        else:
            raise ValueError(f"{where}.role: {role!r} is none of system, user, ai")
    return _finished(value, content, system)


def _written(text: str) -> Item:
    """The turn of an agent that writes its command in a block: the last of them; a text without one is a message."""
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return {"class_": "message_action", "content": text}
    said = (text[: blocks[-1].start()].rstrip() + text[blocks[-1].end() :]).strip()
    return {"class_": "code_action", "language": "bash", "content": blocks[-1].group(1), "description": said or None}


def _mini(value: Mapping[str, Any]) -> Trajectory:
    content: list[Item] = []
    system: list[str] = []
    for number, message in enumerate(list_of(value["messages"], "messages")):
        where = f"messages[{number}]"
        role, text = needed(message, "role", f"{where}."), text_of(message.get("content"), f"{where}.content")
        given = list_of(message.get("tool_calls") or [], f"{where}.tool_calls")
        if role == "system":
            system.append(text)
        elif role == "assistant" and given:
            for place, call in enumerate(given):
                function = needed(call, "function", f"{where}.tool_calls[{place}].")
                item: Item = {
                    "class_": "api_action",
                    "function": function.get("name"),
                    "kwargs": arguments_of(function.get("arguments")),
                    "tool_call_id": call.get("id"),
                }
                content.append(item | ({"description": text or None} if place == 0 else {}))
        elif role == "assistant":
            content.append(_written(text))
        elif role == "exit":
            continue
        elif role == "tool" or (content and content[-1]["class_"] == "code_action"):
            content.append(_shown(text, message.get("name"), message.get("tool_call_id")))
        else:
            content.append(_user(text))
    config = object_of(object_of(value.get("info")).get("config"))
    model = object_of(config.get("model")).get("model_name")
    return _finished({**value, "model": model or value.get("model")}, content, system)


OPENHANDS = Importer("openhands", "OpenHands: `output.jsonl`, or a stream of events.", _openhands, version=3)
SWE_AGENT = Importer("swe-agent", "SWE-agent's and mini-swe-agent's trajectories.", _swe_agent, version=3)
