"""Conversations: chat completions, and sharegpt or alpaca rows as LLaMA-Factory takes them.

Both are read by one hand: messages with a speaker and a text, where calls stand in fields of their own (OpenAI's, also
the old ``function_call``), in parts (Anthropic's ``tool_use`` and ``tool_result``), or in the text between
``<tool_call>`` marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.export.importing.contract import (
    Importer,
    Item,
    arguments_of,
    facts_beside,
    final_details,
    linked,
    list_of,
    made,
    needed,
    text_of,
    tool_functions,
)
from synth.export.llamafactory import BETWEEN, CALL, THINK
from synth.inputs import parse_json
from synth.schemas.adp import Trajectory

__all__ = ["OPENAI", "SHAREGPT", "turn_of"]

_SPEAKERS = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "agent", "gpt", "chatgpt", "model", "ai", "bot"), "agent"),
    **dict.fromkeys(("function_call", "tool_call"), "call"),
    **dict.fromkeys(
        ("tool", "function", "observation", "environment", "ipython", "tool_response", "tool_result"), "answer"
    ),
}
_CALLED = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.S)
_TAGGED = re.compile(r"<function=([^<>\s]+)>\s*(.*?)\s*</function>", re.S)
"""A call as agents write it that are given tools in plain words (OpenHands, SWE-agent)."""
_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>\n?(.*?)\n?</parameter>", re.S)
_ANSWERED = re.compile(r"\s*<tool_response>\s*(.*?)\s*</tool_response>\s*", re.S)


@dataclass(frozen=True)
class _Call:
    """A call as a message names it."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass
class _Conversation:
    """What was read of one conversation so far."""

    content: list[Item] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of the last turn that called: what it names a call -> (our id, tool)."""
    taken: set[str] = field(default_factory=set)
    turn: int = 0

    def told(self, text: str) -> None:
        """A system message: the prompt, or in the middle of a run something that the agent was shown."""
        if self.content:
            self.content.append(
                {"class_": "text_observation", "content": text, "source": "environment", "name": "system"}
            )
        else:
            self.system.append(text)

    def asked(self, text: str, name: Any = None) -> None:
        who = name if isinstance(name, str) and name else "user"
        self.content.append({"class_": "text_observation", "content": text, "source": "user", "name": who})

    def acted(self, text: str, thought: str | None, calls: Sequence[_Call]) -> None:
        """A turn of the agent. Ids that an earlier turn used are made new."""
        self.names = {}
        if not calls:
            self.content.append({"class_": "message_action", "content": text, "reasoning_content": thought})
        for place, call in enumerate(calls):
            id_ = call.id or f"call_{self.turn}_{place}"
            while id_ in self.taken:
                id_ += "_"
            self.taken.add(id_)
            self.names[call.id or id_] = id_, call.name
            item: Item = {"class_": "api_action", "function": call.name, "kwargs": call.arguments, "tool_call_id": id_}
            if place == 0:
                item |= {"description": text or None, "reasoning_content": thought}
            self.content.append(item)
        self.turn += 1

    def answered(self, text: str, id_: Any, name: Any) -> None:
        """A result: of the call that it names, else of the first that was not answered."""
        key = id_ if id_ in self.names else None
        if key is None and id_ is None:
            key = next((one for one, (_, tool) in self.names.items() if name in (None, "", tool)), None)
        ours, tool = self.names.pop(key) if key is not None else (None, None)
        item = {"class_": "text_observation", "content": text, "source": "environment", "name": name or tool}
        self.content.append(item | ({"tool_call_id": ours} if ours is not None else {}))

    def finish(self, value: Mapping[str, Any]) -> Trajectory:
        """The trajectory, with what the row says beside the conversation.

        Raises:
            ValueError: its tools are none, or it breaks a rule of the protocol.
        """
        tools: Any = next((value[name] for name in ("tools", "functions", "available_tools") if value.get(name)), [])
        details = {"system_prompt": "\n\n".join(self.system), "tools": tool_functions(tools, "tools")}
        final_details(self.content, details)
        rest = {key: value[key] for key in ("question", "reward", "score") if isinstance(value.get(key), str | float)}
        id_ = next((value[key] for key in ("id", "uuid", "traj_id", "run_id") if value.get(key)), None)
        beside = facts_beside(value)
        if rest:
            beside["given"] = rest
        return made(linked(self.content), details | beside, id_=id_)


def _openai(value: Mapping[str, Any]) -> Trajectory:
    found = _Conversation()
    key = next((one for one in ("messages", "conversation", "conversations", "history") if value.get(one)), "messages")
    messages = value.get(key)
    if messages is None and "prompt" in value:
        messages = [*_spoken(value["prompt"], "user")]
        messages += _spoken(value.get("completion", value.get("response")), "assistant")
    if isinstance(messages, str):
        messages = _json(messages, key)
    messages = needed(value, key) if messages is None else messages
    for number, message in enumerate(list_of(messages, key)):
        _message(found, message, f"{key}[{number}]", needed(message, "role", f"{key}[{number}]."))
    return found.finish(value)


def _spoken(value: Any, role: str) -> list[Any]:
    return list(value) if isinstance(value, list) else [{"role": role, "content": value}]


def _message(found: _Conversation, message: Mapping[str, Any], where: str, role: Any) -> None:
    speaker = _SPEAKERS.get(str(role))
    if speaker is None or speaker == "call":
        raise ValueError(f"{where}.role: {role!r} is none of system, user, assistant, tool")
    parts = message.get("content")
    parts = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    results = [part for part in parts if part.get("type") == "tool_result"]
    for part in results:
        text = text_of(part.get("content"), f"{where}.content")
        found.answered(text, part.get("tool_use_id"), None)
    special = ("tool_result", "tool_use", "thinking", "redacted_thinking")
    text = text_of(
        [part for part in parts if part.get("type") not in special] if parts else message.get("content"),
        f"{where}.content",
    )
    if speaker == "system":
        found.told(text)
    elif speaker == "user" and (text or not results):
        found.asked(text, message.get("name"))
    elif speaker == "agent":
        thoughts = [part["thinking"] for part in parts if isinstance(part.get("thinking"), str)]
        thought = message.get("reasoning_content") or message.get("reasoning") or "\n\n".join(thoughts) or None
        found.acted(*turn_of(message, parts, text, thought if isinstance(thought, str) else None, where))
    elif speaker == "answer":
        found.answered(text, message.get("tool_call_id"), message.get("name"))


def turn_of(
    message: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], text: str, thought: str | None, where: str
) -> tuple[str, str | None, list[_Call]]:
    """What a message of an agent says, thinks and calls.

    Raises:
        ValueError: a call has no name.
    """
    given = list_of(message.get("tool_calls") or [], f"{where}.tool_calls")
    calls = [_call(call, f"{where}.tool_calls[{place}]") for place, call in enumerate(given)]
    if isinstance(old := message.get("function_call"), Mapping) and not calls:
        calls = [_call({"function": old}, f"{where}.function_call")]
    for part in parts:
        if part.get("type") == "tool_use":
            calls.append(
                _Call(str(part.get("id") or ""), str(needed(part, "name", where)), arguments_of(part.get("input")))
            )
    if not calls and (CALL[0] in text or "<function=" in text):
        text, calls = _written(text, where)
    return text, thought, calls


def _call(call: Mapping[str, Any], where: str) -> _Call:
    function = call.get("function", call)
    if isinstance(function, str):  # as Inspect's logs have it
        function = {**call, "name": function}
    if not isinstance(function, Mapping):
        raise ValueError(f"{where}.function: not an object")
    name = needed(function, "name", f"{where}.function.")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{where}.function.name: a call of no tool")
    arguments = function.get("arguments", function.get("parameters"))
    return _Call(str(call.get("id") or ""), name, arguments_of(arguments))


def _written(text: str, where: str) -> tuple[str, list[_Call]]:
    """What a turn says beside the calls that it writes as text; a text whose calls can't be read calls nothing."""
    calls = [_Call("", name, dict(_PARAMETER.findall(body))) for name, body in _TAGGED.findall(text)]
    if calls:
        return _TAGGED.sub("", text).strip(), calls
    for one in _CALLED.findall(text):
        try:
            calls += _calls(parse_json(one), where)
        except ValueError:
            return text, []
    return (_CALLED.sub("", text).strip(), calls) if calls else (text, [])


def _calls(value: Any, where: str) -> list[_Call]:
    return [_call(call, where) for call in list_of(value if isinstance(value, list) else [value], where)]


def _json(text: str, where: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        raise ValueError(f"{where}: no JSON") from None


def _sharegpt(value: Mapping[str, Any]) -> Trajectory:
    found = _Conversation()
    if value.get("system"):
        found.system.append(text_of(value["system"], "system"))
    turns = value.get("conversations", value.get("conversation", value.get("messages")))
    if turns is None and "instruction" in value:
        turns = list(_alpaca(value))
    if isinstance(turns, str):
        turns = _json(turns, "conversations")
    if turns is None:
        needed(value, "conversations")
    for number, one in enumerate(list_of(turns, "conversations")):
        _shared(found, one, f"conversations[{number}]")
    return found.finish(value)


def _alpaca(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for pair in value.get("history") or ():
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("history: not a list of pairs")
        yield {"from": "human", "value": pair[0]}
        yield {"from": "gpt", "value": pair[1]}
    asked = [text_of(value.get(key), key) for key in ("instruction", "input")]
    yield {"from": "human", "value": "\n".join(text for text in asked if text)}
    yield {"from": "gpt", "value": needed(value, "output")}


def _shared(found: _Conversation, one: Mapping[str, Any], where: str) -> None:
    role = "from" if "from" in one or "role" not in one else "role"
    said = needed(one, role, f"{where}.")
    speaker = _SPEAKERS.get(str(said))
    key = "value" if "value" in one or role == "from" else "content"
    text = text_of(needed(one, key, f"{where}."), f"{where}.{key}")
    if speaker == "system":
        found.told(text)
    elif speaker == "user":
        found.asked(text)
    elif speaker == "agent":
        thought, rest = _parted(text)
        found.acted(*turn_of(one, (), rest, thought, where))
    elif speaker == "call":
        thought, rest = _parted(text)
        said, written = _said(rest)
        try:
            calls = _calls(parse_json(written), where)
        except ValueError:
            said, calls = _written(rest, where)  # words, where a call was announced
        found.acted(said, thought, calls)
    elif speaker == "answer":
        marked = _ANSWERED.findall(text) if _ANSWERED.sub("", text) == "" else []
        answers = text.split(BETWEEN) if len(found.names) > 1 else [text]
        for answer in marked if len(marked) == len(found.names) else answers:
            found.answered(answer, None, one.get("name"))
    else:
        raise ValueError(f"{where}.{role}: {said!r} is none of human, gpt, function_call, observation, system")


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


OPENAI = Importer("openai", "Chat JSONL: `messages`, and `tools` where there are any.", _openai, version=19)
SHAREGPT = Importer(
    "sharegpt", "sharegpt turns in `conversations`, or alpaca's `instruction` and `output`.", _sharegpt, version=19
)
