"""Logs of several agents that talk to each other: each message has the name of who speaks.

So write AutoGen, CaptainAgent and Magentic-One, and so is Who&When published (arXiv 2505.00212). Every message of an
agent is a turn; an empty text of an agent before it says who takes it (:func:`synth.schemas.turns.speakers`). What a
terminal or another tool answers is an observation, under its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synth.export.importing.chat import turn_of
from synth.export.importing.contract import (
    Importer,
    Item,
    facts_beside,
    linked,
    list_of,
    made,
    object_of,
    text_of,
    tool_functions,
)
from synth.schemas.adp import Trajectory

__all__ = ["GROUP_CHAT", "is_group", "speaks", "without_end"]

_LISTS = ("history", "messages", "conversation", "conversations", "chat_history")
_ASKED = ("question", "task", "query", "problem", "prompt")
_PEOPLE = re.compile(r"(?:human|user|customer|admin)(?:[ _-]?(?:proxy|input))?", re.IGNORECASE)
_TOOLS = re.compile(r".*(?:terminal|executor|interpreter|environment|tools?|console|shell|function)", re.IGNORECASE)
_PLAIN = frozenset(("user", "assistant", "system", "tool", "developer", "function", "environment"))
"""Roles that do not identify a speaker."""
_OVER = re.compile(r"\W*(?:TERMINATE|DONE|EXIT)?\W*", re.IGNORECASE)
"""A message that only ends the conversation."""
_END = re.compile(r"\s*\bTERMINATE\W*$")
"""The word by which an agent ends it, behind what it says."""


def _name(message: Mapping[str, Any]) -> str:
    """Who speaks: the name, else a role that is one."""
    name, role = message.get("name"), message.get("role")
    if isinstance(name, str) and name:
        return name
    return role if isinstance(role, str) else ""


def speaks(message: Mapping[str, Any]) -> bool:
    """Whether a message is an agent's: neither a person's, nor a tool's, nor the system's."""
    name, role = _name(message), message.get("role")
    if role in ("system", "developer", "tool", "function") or not name:
        return False
    return name == "assistant" or not (name in _PLAIN or _PEOPLE.fullmatch(name) or _TOOLS.fullmatch(name))


def without_end(text: str) -> str:
    """What a message says before the word that ends the conversation."""
    return _END.sub("", text)


def messages_of(value: Mapping[str, Any]) -> tuple[str, Any]:
    """The messages of an object, and under which key they stand."""
    key = next((one for one in _LISTS if isinstance(value.get(one), list)), _LISTS[0])
    return key, value.get(key)


def is_group(value: Mapping[str, Any]) -> bool:
    """Whether agents of more than one name speak in an object, or one where everybody has a name or a tool has only
    that."""
    _, messages = messages_of(value)
    if not isinstance(messages, list) or not all(isinstance(one, Mapping) for one in messages):
        return False
    agents = {_name(one) for one in messages if "content" in one and speaks(one)} - {"assistant"}
    named = all(isinstance(one.get("name"), str) for one in messages)
    tools = any(one.get("role") in ("user", "assistant") and _TOOLS.fullmatch(_name(one)) for one in messages)
    return len(agents) > 1 or (bool(agents) and (named or tools))


def _read(value: Mapping[str, Any]) -> Trajectory:
    key, messages = messages_of(value)
    content: list[Item] = []
    system: list[str] = []
    last = ""
    for number, message in enumerate(list_of(messages, key)):
        where = f"{key}[{number}]"
        text, name = text_of(message.get("content"), f"{where}.content"), _name(message)
        if not name:
            raise ValueError(f"{where}.name: the speaker is missing")
        if message.get("role") in ("system", "developer"):
            system.append(text)
        elif speaks(message):
            content += [_observed("", "agent", name), *_turn(message, text, where, len(content))]
            last = without_end(text) if not _OVER.fullmatch(text) else last
        elif _TOOLS.fullmatch(name) or message.get("role") in ("tool", "function"):
            content.append(_observed(text, "environment", name, message.get("tool_call_id")))
        else:
            content.append(_observed(text, "user", name))
    asked = next((value[one] for one in _ASKED if isinstance(value.get(one), str)), "")
    if asked and (not content or content[0]["source"] != "user"):
        content.insert(0, _observed(asked, "user", "user"))
    prompts = value.get("system_prompt") or value.get("system")
    if isinstance(prompts, str):
        system.insert(0, prompts)
    tools: Any = next((value[name] for name in ("tools", "functions") if value.get(name)), [])
    details = {"system_prompt": "\n\n".join(system), "tools": tool_functions(tools, "tools"), **_beside(value)}
    if last and content[-1]["class_"] == "message_action":
        details.setdefault("answer", last)
    if object_of(prompts):
        details["given"] = {"system_prompts": dict(object_of(prompts))}
    return made(linked(content), details, id_=value.get("id") or value.get("question_ID"))


def _observed(text: str, source: str, name: str, call: Any = None) -> Item:
    item: Item = {"class_": "text_observation", "content": text, "source": source, "name": name}
    return item | ({"tool_call_id": call} if isinstance(call, str) else {})


def _turn(message: Mapping[str, Any], text: str, where: str, place: int) -> Sequence[Item]:
    said, thought, calls = turn_of(message, (), text, message.get("reasoning_content"), where)
    items: list[Item] = [
        {
            "class_": "api_action",
            "function": call.name,
            "kwargs": call.arguments,
            "tool_call_id": call.id or f"call_{place}_{number}",
        }
        for number, call in enumerate(calls)
    ] or [{"class_": "message_action", "content": said}]
    items[0] |= {"reasoning_content": thought, **({"description": said or None} if calls else {})}
    return items


def _beside(value: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says beside the messages; Who&When writes one key in two ways."""
    known = {"is_correct": value.get("is_corrected"), "question_id": value.get("question_ID")}
    return facts_beside({**{key: one for key, one in known.items() if one is not None}, **value})


GROUP_CHAT = Importer("group-chat", "Logs of several agents: messages with the name of who speaks.", _read, version=20)
