"""ATIF, Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8, as agents write it.

A result without ``source_call_id`` answers its step's only call, the call in its place where there are as many of both,
else the last call: a terminal shows what several commands printed at once. A step that calls nothing may be answered,
too. Sub-agents' runs and costs stand in ``details.given``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    text_of,
    tool_functions,
    untied,
)
from synth.schemas.adp import ADP_VERSION, Trajectory, parse

__all__ = ["ATIF", "read_atif"]

_VERSION = re.compile(r"ATIF-v1\.\d+(\.\d+)?")
_GIVEN = ("notes", "final_metrics", "continued_trajectory_ref", "subagent_trajectories", "cost")


def read_atif(value: Mapping[str, Any]) -> Trajectory:
    version = needed(value, "schema_version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise ValueError(f"schema_version: {version!r} is not a version 1 of ATIF")
    agent = value.get("agent") or {}
    extra = value.get("extra") or {}
    ours = isinstance(extra, Mapping) and isinstance(extra.get("details"), Mapping)
    details: dict[str, Any] = dict(extra["details"]) if ours else {}
    content: list[Item] = []
    system: list[str] = []
    turn = 0
    for number, step in enumerate(list_of(needed(value, "steps"), "steps")):
        where = f"steps[{number}]"
        source = needed(step, "source", f"{where}.")
        more = _extra(step)
        if source == "agent" and more.get("adp_class") != "text_observation":
            content += _turn(step, turn, where, ours=ours)
            turn += 1
            continue
        text = text_of(step.get("message"), f"{where}.message")
        if source == "system" and not content and "observation" not in step:
            system.append(text)
            continue
        kept = {name: more[name] for name in ("name", "reward") if name in more}
        who = more.get("adp_source", {"system": "environment"}.get(source, source))
        item = _whole(more) or {"class_": "text_observation", "content": text, "source": who, **kept}
        content += [item | ({"name": "system"} if source == "system" else {})] if text or source != "system" else []
        content += [_seen(result, None, f"{where}.observation") for result in _results(step, where)]
    details["system_prompt"] = "\n\n".join(system)
    details["tools"] = tool_functions(agent.get("tool_definitions"), "agent.tool_definitions")
    if agent.get("model_name"):
        details["model"] = agent["model_name"]
    id_ = value.get("trajectory_id") or value.get("session_id")
    names = ("available_custom_tools", "available_code_languages")
    if ours:
        root = {"schema_version": ADP_VERSION, "id": id_, "content": content, "details": details}
        return parse(root | {name: extra[name] for name in names if name in extra})
    beside = extra if isinstance(extra, Mapping) else {}
    details |= facts_beside(beside.get("adp_details") or beside)
    given = {name: value[name] for name in _GIVEN if value.get(name)} | ({"extra": extra} if extra else {})
    if given:
        details["given"] = given
    return made(linked(content), details, id_=id_)


def _extra(value: Mapping[str, Any]) -> Mapping[str, Any]:
    more = value.get("extra")
    return more if isinstance(more, Mapping) else {}


def _results(step: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    return list_of((step.get("observation") or {}).get("results") or [], f"{where}.observation.results")


def _turn(step: Mapping[str, Any], turn: int, where: str, *, ours: bool) -> list[Item]:
    text = text_of(step.get("message"), f"{where}.message")
    thought = step.get("reasoning_content")
    more = _extra(step)
    calls = list_of(step.get("tool_calls") or [], f"{where}.tool_calls")
    results = _results(step, where)
    content: list[Item] = []
    if not calls:
        kept = {name: more[name] for name in ("description", "reward") if name in more}
        content.append({"class_": "message_action", "content": text, "reasoning_content": thought, **kept})
    names: dict[str, str] = {}
    for place, call in enumerate(calls):
        id_ = call.get("tool_call_id") or f"call_{turn}_{place}"
        names[id_] = needed(call, "function_name", f"{where}.tool_calls[{place}].")
        inner = _extra(call)
        arguments = arguments_of(call.get("arguments"))
        item: Item = {"class_": "api_action", "function": names[id_], "kwargs": arguments, "tool_call_id": id_}
        if inner.get("adp_class") == "code_action":
            language = inner.get("language") or arguments.get("language") or names[id_]
            code = str(next((arguments[key] for key in ("code", "command", "content") if key in arguments), ""))
            item = {"class_": "code_action", "language": language, "content": code, "tool_call_id": id_}
        item |= {name: inner[name] for name in ("description", "reasoning_content", "reward") if name in inner}
        if place == 0:
            item |= {"description": text or item.get("description"), "reasoning_content": thought}
        content.append(item)
    for call_id, together in _paired(results, list(names)).items():
        seen = [_seen(result, call_id, where) for result in together]
        if call_id is None:
            content += seen
        else:
            if len(seen) == 1 and "content" not in seen[0]:
                content += seen
                continue
            joined = "\n".join(one["content"] for one in seen if one.get("content"))
            name = seen[0].get("name", None if ours else names[call_id])
            content.append(seen[0] | {"content": joined, "name": name})
    return untied(content)


def _paired(results: list[Mapping[str, Any]], calls: list[str]) -> dict[str | None, list[Mapping[str, Any]]]:
    """The results by the call that they answer, in their order; None for those of a step without calls."""
    unnamed = [result for result in results if result.get("source_call_id") not in calls]
    free = [call for call in calls if all(result.get("source_call_id") != call for result in results)]
    paired: dict[str | None, list[Mapping[str, Any]]] = {}
    for result in results:
        call = result.get("source_call_id")
        if call not in calls:
            place = next(at for at, one in enumerate(unnamed) if one is result)
            last = free[-1] if free else calls[-1] if calls else None
            call = free[place] if len(free) == len(unnamed) else last
        paired.setdefault(call, []).append(result)
    return paired


def _seen(result: Mapping[str, Any], call_id: str | None, where: str) -> Item:
    more = _extra(result)
    text = text_of(result.get("content"), f"{where}.observation.results.content")
    if (page := _whole(more)) is not None:
        return page | ({"tool_call_id": call_id} if call_id is not None else {})
    item: Item = {"class_": "text_observation", "content": text, "source": more.get("source", "environment")}
    item |= {name: more[name] for name in ("name", "reward") if name in more}
    return item | ({"tool_call_id": call_id} if call_id is not None else {})


def _whole(more: Mapping[str, Any]) -> Item | None:
    """A page as it was, where an export of ours kept it."""
    item = more.get("adp_item")
    return dict(item) if isinstance(item, Mapping) and item.get("class_") == "web_observation" else None


ATIF = Importer("atif", "Agent Trajectory Interchange Format 1.0 to 1.8.", read_atif, version=3)
