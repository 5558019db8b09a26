"""ATIF, Harbor's Agent Trajectory Interchange Format: one agent, texts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.export.importing.contract import Importer, list_of, made, needed, text_of, tool_functions
from synth.schemas.adp import ADP_VERSION, Trajectory, parse

__all__ = ["ATIF"]


def _read(value: Mapping[str, Any]) -> Trajectory:
    version = needed(value, "schema_version")
    if not isinstance(version, str) or not version.startswith("ATIF-v1."):
        raise ValueError(f"schema_version: {version!r} is no version 1 of ATIF")
    agent = needed(value, "agent")
    extra = value.get("extra") or {}
    given = extra.get("details")
    details: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    content: list[dict[str, Any]] = []
    system: list[str] = []
    turn = 0
    for number, step in enumerate(list_of(needed(value, "steps"), "steps")):
        where = f"steps[{number}]"
        source = needed(step, "source", f"{where}.")
        if source == "agent":
            content += _turn(step, turn, where)
            turn += 1
            continue
        text = text_of(needed(step, "message", f"{where}."), f"{where}.message")
        more = step.get("extra") or {}
        if source == "user":
            kept = {name: more[name] for name in ("name", "reward") if name in more}
            content.append({"class_": "text_observation", "content": text, "source": "user", **kept})
        elif content:
            raise ValueError(f"{where}: a system message in the middle of a run")
        else:
            system.append(text)
    details["system_prompt"] = "\n\n".join(system)
    details["tools"] = tool_functions(agent.get("tool_definitions"), "agent.tool_definitions")
    if agent.get("model_name"):
        details["model"] = agent["model_name"]
    id_ = value.get("trajectory_id") or value.get("session_id")
    if not isinstance(given, Mapping):
        return made(content, details, id_=id_)
    ours = {name: extra[name] for name in ("available_custom_tools", "available_code_languages") if name in extra}
    return parse({"schema_version": ADP_VERSION, "id": id_, "content": content, **ours, "details": details})


def _turn(step: Mapping[str, Any], turn: int, where: str) -> list[dict[str, Any]]:
    text = text_of(step.get("message"), f"{where}.message")
    thought = step.get("reasoning_content")
    more = step.get("extra") or {}
    calls = list_of(step.get("tool_calls") or [], f"{where}.tool_calls")
    results = list_of((step.get("observation") or {}).get("results") or [], f"{where}.observation.results")
    if not calls:
        if results:
            raise ValueError(f"{where}: an observation that answers no call")
        kept = {name: more[name] for name in ("description", "reward") if name in more}
        return [{"class_": "message_action", "content": text, "reasoning_content": thought, **kept}]
    names: dict[str, str] = {}
    content: list[dict[str, Any]] = []
    answered = {result.get("source_call_id") for result in results}
    for place, call in enumerate(calls):
        id_ = needed(call, "tool_call_id", f"{where}.tool_calls[{place}].")
        names[id_] = needed(call, "function_name", f"{where}.tool_calls[{place}].")
        item: dict[str, Any] = {
            "class_": "api_action",
            "function": names[id_],
            "kwargs": call.get("arguments") or {},
        }
        extra = call.get("extra")
        if isinstance(extra, Mapping):
            item |= {name: extra[name] for name in ("description", "reasoning_content", "reward") if name in extra}
        if place == 0:
            item |= {"description": text or None, "reasoning_content": thought}
        if id_ in answered:
            item["tool_call_id"] = id_
        content.append(item)
    for place, result in enumerate(results):
        id_ = result.get("source_call_id")
        if id_ not in names:
            raise ValueError(f"{where}.observation.results[{place}]: answers no call of its step")
        more = result.get("extra") or {}
        item = {
            "class_": "text_observation",
            "content": text_of(result.get("content"), f"{where}.observation.results[{place}].content"),
            "source": more.get("source", "environment"),
            "name": more.get("name", names[id_]),
            "tool_call_id": id_,
        }
        content.append(item | ({"reward": more["reward"]} if "reward" in more else {}))
    return content


ATIF = Importer("atif", "Agent Trajectory Interchange Format 1.x, texts of one agent.", _read)
