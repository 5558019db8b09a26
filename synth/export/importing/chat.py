"""Conversations: OpenAI's chat JSONL, and sharegpt turns as LLaMA-Factory takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.export.importing.contract import Importer, final_details, list_of, made, needed, text_of, tool_functions
from synth.export.llamafactory import BETWEEN, CALL, THINK
from synth.inputs import parse_json
from synth.schemas.adp import Trajectory

__all__ = ["OPENAI", "SHAREGPT"]


def _openai(value: Mapping[str, Any]) -> Trajectory:
    content: list[dict[str, Any]] = []
    system: list[str] = []
    names: dict[str, str] = {}
    for number, message in enumerate(list_of(needed(value, "messages"), "messages")):
        where = f"messages[{number}]"
        role = needed(message, "role", f"{where}.")
        text = text_of(message.get("content"), f"{where}.content")
        if role in ("system", "developer"):
            if content:
                raise ValueError(f"{where}: a system message in the middle of a run")
            system.append(text)
        elif role == "user":
            content.append(_user(text))
        elif role == "assistant":
            thought = message.get("reasoning_content") or message.get("reasoning") or None
            calls = list_of(message.get("tool_calls") or [], f"{where}.tool_calls")
            read = [_call(call, f"{where}.tool_calls[{place}]") for place, call in enumerate(calls)]
            names = {id_: name for id_, name, _ in read}
            content += _turn(text, thought, read)
        elif role == "tool":
            id_ = needed(message, "tool_call_id", f"{where}.")
            content.append(_answer(text, message.get("name") or names.get(id_), id_))
        else:
            raise ValueError(f"{where}.role: {role!r} is none of system, user, assistant, tool")
    details: dict[str, Any] = {"system_prompt": "\n\n".join(system)}
    return _made(content, details, value)


def _made(content: list[dict[str, Any]], details: dict[str, Any], value: Mapping[str, Any]) -> Trajectory:
    answered = {
        item["tool_call_id"] for item in content if item["class_"] == "text_observation" and "tool_call_id" in item
    }
    for item in content:
        if item["class_"] == "api_action" and item["tool_call_id"] not in answered:
            del item["tool_call_id"]
    tools = value.get("tools")
    if isinstance(tools, str):
        tools = _json(tools, "tools") if tools.strip() else []
    details["tools"] = tool_functions(tools, "tools")
    details |= {name: value[name] for name in ("task_id", "licence") if isinstance(value.get(name), str)}
    final_details(content, details)
    return made(content, details, id_=value.get("id"))


def _call(call: Mapping[str, Any], where: str) -> tuple[str, str, dict[str, Any]]:
    function = needed(call, "function", f"{where}.")
    name = needed(function, "name", f"{where}.function.")
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        arguments = _json(arguments, f"{where}.function.arguments") if arguments.strip() else {}
    if not isinstance(arguments or {}, dict):
        raise ValueError(f"{where}.function.arguments: not an object")
    return str(call.get("id") or where), name, arguments or {}


def _json(text: str, where: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        raise ValueError(f"{where}: no JSON") from None


def _user(text: str) -> dict[str, Any]:
    return {"class_": "text_observation", "content": text, "source": "user", "name": "user"}


def _answer(text: str, name: str | None, id_: str) -> dict[str, Any]:
    item = {"class_": "text_observation", "content": text, "source": "environment", "name": name}
    return item | {"tool_call_id": id_}


def _turn(text: str, thought: str | None, calls: Sequence[tuple[str, str, dict[str, Any]]]) -> list[dict[str, Any]]:
    if not calls:
        return [{"class_": "message_action", "content": text, "reasoning_content": thought}]
    content: list[dict[str, Any]] = []
    for place, (id_, name, arguments) in enumerate(calls):
        item: dict[str, Any] = {"class_": "api_action", "function": name, "kwargs": arguments, "tool_call_id": id_}
        if place == 0:
            item |= {"description": text or None, "reasoning_content": thought}
        content.append(item)
    return content


_HUMAN = ("human", "user")
_AGENT = ("gpt", "assistant", "chatgpt", "model")


def _sharegpt(value: Mapping[str, Any]) -> Trajectory:
    turns = list_of(needed(value, "conversations"), "conversations")
    system = [text_of(value.get("system"), "system")] if value.get("system") else []
    content: list[dict[str, Any]] = []
    waiting: list[tuple[str, str]] = []
    turn = 0
    for number, one in enumerate(turns):
        where = f"conversations[{number}]"
        speaker = needed(one, "from", f"{where}.")
        text = text_of(needed(one, "value", f"{where}."), f"{where}.value")
        if speaker == "system" and not content:
            system.append(text)
        elif speaker in _HUMAN:
            content.append(_user(text))
        elif speaker in _AGENT or speaker == "function_call":
            thought, rest = _parted(text)
            calls: list[tuple[str, str, dict[str, Any]]] = []
            if speaker == "function_call":
                rest, written = _said(rest)
                found = _json(written, f"{where}.value")
                calls = [
                    _call({"id": f"call_{turn}_{place}", "function": call}, f"{where}.value[{place}]")
                    for place, call in enumerate(list_of(found if isinstance(found, list) else [found], where))
                ]
            waiting = [(id_, name) for id_, name, _ in calls]
            content += _turn(rest, thought, calls)
            turn += 1
        elif speaker == "observation":
            answers = text.split(BETWEEN) if len(waiting) > 1 else [text]
            if len(answers) != len(waiting):
                raise ValueError(f"{where}: {len(answers)} answers to {len(waiting)} calls")
            content += [_answer(answer, name, id_) for answer, (id_, name) in zip(answers, waiting, strict=True)]
            waiting = []
        else:
            raise ValueError(f"{where}.from: {speaker!r} is none of human, gpt, function_call, observation, system")
    return _made(content, {"system_prompt": "\n\n".join(system)}, value)


def _said(text: str) -> tuple[str, str]:
    """What a turn says beside its calls, and the JSON of those."""
    said, start, calls = text.partition(CALL[0])
    if not start or CALL[1] not in calls:
        return "", text
    written, _, after = calls.partition(CALL[1])
    return said.removesuffix("\n") + (f"\n{after.strip()}" if after.strip() else ""), written


def _parted(text: str) -> tuple[str | None, str]:
    """A thought, and what stands behind it."""
    start, end = (mark.strip() for mark in THINK)
    if not text.startswith(start) or end not in text:
        return None, text
    thought, _, rest = text.removeprefix(start).partition(end)
    exact = text.startswith(THINK[0]) and THINK[1] in text
    if exact:
        thought, _, rest = text.removeprefix(THINK[0]).partition(THINK[1])
        return thought or None, rest
    return thought.strip() or None, rest.lstrip("\n")


OPENAI = Importer("openai", "Chat JSONL: `messages`, and `tools` where there are any.", _openai)
SHAREGPT = Importer("sharegpt", "`conversations` of human, gpt, function_call and observation turns.", _sharegpt)
