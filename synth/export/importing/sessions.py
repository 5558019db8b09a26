"""Sessions of coding agents as they are saved to disk: a file of events, one per line.

Claude Code splits a message over several lines that share an id; Codex writes items of OpenAI's Responses API. Both
become chat messages. A harness's internal events and its sub-agents' turns are only counted, in ``details.given``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from synth.export.importing.chat import OPENAI
from synth.export.importing.contract import Importer, list_of, object_of, text_of, with_left_out
from synth.schemas.adp import Trajectory

__all__ = ["SESSIONS", "is_session"]

_Message = dict[str, Any]
_CONTEXT = ("<environment_context>", "<user_instructions>", "<permissions", "# AGENTS.md")
"""How texts begin that Codex puts before the request in the user's name."""


def is_session(events: Any) -> bool:
    """Whether a list holds the events of a session."""
    return isinstance(events, list) and any(
        isinstance(one, Mapping)
        and (isinstance(one.get("payload"), Mapping) or isinstance(one.get("message"), Mapping))
        and isinstance(one.get("type"), str)
        for one in events
    )


def _read(value: Mapping[str, Any]) -> Trajectory:
    key = "loglines" if "loglines" in value else "events"
    events = list_of(value.get(key), key)
    found: dict[str, Any] = {"id": value.get("id")}
    left: Counter[str] = Counter()
    codex = any(isinstance(event.get("payload"), Mapping) for event in events)
    messages = (_codex if codex else _claude)(events, found, left)
    read = OPENAI.read({**found, "messages": messages})
    assert isinstance(read, Trajectory)
    return with_left_out(read, left)


def _claude(events: Sequence[Mapping[str, Any]], found: dict[str, Any], left: Counter[str]) -> list[_Message]:
    messages: list[_Message] = []
    for event in events:
        kind, message = str(event.get("type")), object_of(event.get("message"))
        found["id"] = event.get("sessionId") or event.get("session_id") or found["id"]
        if kind == "system" and isinstance(event.get("tools"), list):
            found["tools"] = event["tools"]
        aside = "isSidechain" if event.get("isSidechain") else "isMeta" if event.get("isMeta") else kind
        if aside not in ("user", "assistant") or not message:
            left[aside] += 1
            continue
        if kind == "assistant":
            found.setdefault("model", message.get("model"))
        parts = message.get("content")
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else list(parts or ())
        last = messages[-1] if messages else {}
        if kind == "assistant" and last.get("role") == kind and last["id"] == message.get("id") is not None:
            last["content"] += parts
        else:
            messages.append({"role": kind, "id": message.get("id"), "content": parts})
    return messages


def _codex(events: Sequence[Mapping[str, Any]], found: dict[str, Any], left: Counter[str]) -> list[_Message]:
    messages: list[_Message] = []

    def turn() -> _Message:
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": []})
        return messages[-1]

    for number, event in enumerate(events):
        outer, item = str(event.get("type")), object_of(event.get("payload"))
        kind = str(item.get("type")) if outer == "response_item" else outer
        where = f"events[{number}].payload"
        if outer == "session_meta":
            found["id"] = item.get("id") or found["id"]
        elif outer == "turn_context":
            found.setdefault("model", item.get("model"))
        elif kind == "message":
            text = text_of(item.get("content"), where)
            if item.get("role") == "assistant":
                turn()["content"] += ("\n\n" if turn()["content"] else "") + text
            else:
                told = item.get("role") != "user" or text.lstrip().startswith(_CONTEXT)
                messages.append({"role": "system" if told else "user", "content": text})
        elif kind == "reasoning":
            turn()["reasoning_content"] += text_of(item.get("summary") or item.get("content"), where)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            given = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
            given = {"input": given} if kind == "custom_tool_call" else given
            call = {"name": item.get("name") or "shell", "arguments": given}
            turn()["tool_calls"].append({"id": item.get("call_id"), "function": call})
        elif kind in ("function_call_output", "custom_tool_call_output"):
            answered = {"role": "tool", "tool_call_id": item.get("call_id")}
            messages.append({**answered, "content": text_of(item.get("output"), where)})
        else:
            left[kind] += 1
    return [one for one in messages if one["role"] != "assistant" or one["content"] or one["tool_calls"]]


SESSIONS = Importer("sessions", "Claude Code's and Codex's sessions: a file of events, one a line.", _read, version=10)
