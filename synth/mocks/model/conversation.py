"""A conversation as a server gets it, read back as what an agent knows: its prompt and its history."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.model.pictures import PICTURED
from synth.agents.model.wire import CORRECTION
from synth.environments.contract import ToolCall, ToolError, ToolResult, ToolSchema

__all__ = ["Conversation", "read_conversation", "search_error"]

_SEARCH_ERRORS: tuple[tuple[str, ToolError], ...] = (
    ("There is no tool ", "unknown_tool"),
    ("Wrong arguments for ", "bad_arguments"),
    ("There is no document ", "not_found"),
    ("There is no page ", "not_found"),
    ("No document is open", "refused"),
    ("The search broke down", "failure"),
    ("There is no helper left", "refused"),
    ("No helper can be reached", "failure"),
    ("The helper broke off", "failure"),
)


@dataclass(frozen=True)
class Conversation:
    prompt: Prompt
    history: History
    structured: bool
    """Whether the turn is asked for as JSON text (``response_format``) instead of tool calls."""


def search_error(content: str) -> ToolError | None:
    """Which error an observation of the search environment tells of: the protocol carries its words only."""
    return next((error for words, error in _SEARCH_ERRORS if content.startswith(words)), None)


def read_conversation(
    request: Mapping[str, Any], error_of: Callable[[str], ToolError | None] = search_error
) -> Conversation:
    """The inverse of :func:`synth.agents.model.wire.messages_of`; replies that were asked for once more, with what was
    said about them, are left out, as they are not part of a history.

    Raises:
        ValueError: the messages are not of a form that an agent of ours sends.
    """
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    schema = _schema(request)
    structured = schema is not None
    tools = _tools_of_schema(schema) if schema is not None else _tools(request.get("tools") or ())
    rest = list(messages)
    system = _text(rest.pop(0)) if rest[0]["role"] in ("system", "developer") else ""
    if not rest or rest[0]["role"] != "user":
        raise ValueError("the conversation has no question")
    prompt = Prompt(system=system, question=_text(rest.pop(0)), tools=tools)
    steps: list[Step] = []
    while rest:
        said = rest.pop(0)
        if said["role"] != "assistant":
            raise ValueError(f"a message of {said['role']} stands where an assistant's must")
        if rest and rest[0]["role"] == "user" and _text(rest[0]).startswith(CORRECTION):
            rest.pop(0)
            continue
        steps.append(_structured_step(said, rest, error_of) if structured else _native_step(said, rest, error_of))
    return Conversation(prompt, tuple(steps), structured)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _tools(given: Sequence[Mapping[str, Any]]) -> tuple[ToolSchema, ...]:
    functions = [tool["function"] for tool in given]
    return tuple(
        ToolSchema(name=one["name"], description=one.get("description", ""), parameters=one.get("parameters", {}))
        for one in functions
    )


def _schema(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = request.get("response_format") or {}
    found = wanted.get("json_schema", {}).get("schema")
    return found if isinstance(found, Mapping) else None


def _tools_of_schema(schema: Mapping[str, Any]) -> tuple[ToolSchema, ...]:
    """The tools among the actions that a schema of one turn allows."""
    actions = schema.get("properties", {}).get("action", {}).get("anyOf", [])
    properties = [action.get("properties", {}) for action in actions]
    return tuple(
        ToolSchema(name=one["tool"]["const"], description="", parameters=one["arguments"])
        for one in properties
        if "tool" in one
    )


def _native_step(
    said: Mapping[str, Any], rest: list[Mapping[str, Any]], error_of: Callable[[str], ToolError | None]
) -> Step:
    thought = said.get("reasoning") or said.get("reasoning_content")
    content = _text(said) or None
    calls = tuple(
        ToolCall(
            id=call["id"], name=call["function"]["name"], arguments=json.loads(call["function"]["arguments"] or "{}")
        )
        for call in said.get("tool_calls") or ()
    )
    if not calls:
        return Step(turn=Turn(thought=thought, answer=content))
    names = {call.id: call.name for call in calls}
    found: dict[str, ToolResult] = {}
    while rest and rest[0]["role"] == "tool":
        message = rest.pop(0)
        text, call_id = _text(message), message["tool_call_id"]
        found[call_id] = ToolResult(call_id=call_id, name=names[call_id], content=text, error=error_of(text))
    if rest and rest[0]["role"] == "user" and _text(rest[0]) == PICTURED:
        rest.pop(0)  # the same once more, for models that see
    results = tuple(found[call.id] for call in calls)
    return Step(turn=Turn(thought=thought, said=content, calls=calls), results=results)


def _structured_step(
    said: Mapping[str, Any], rest: list[Mapping[str, Any]], error_of: Callable[[str], ToolError | None]
) -> Step:
    plain = json.loads(_text(said))
    action, thought = plain["action"], plain["thought"] or None
    if "answer" in action:
        return Step(turn=Turn(thought=thought, answer=action["answer"]))
    calls = tuple(
        ToolCall(id=f"call_{number}", name=call["tool"], arguments=call["arguments"])
        for number, call in enumerate(action.get("calls", [action]))
    )
    if not rest or rest[0]["role"] != "user":
        raise ValueError("calls without observations")
    texts = _observations(_text(rest.pop(0)), [call.name for call in calls])
    results = tuple(
        ToolResult(call_id=call.id, name=call.name, content=text, error=error_of(text))
        for call, text in zip(calls, texts, strict=True)
    )
    return Step(turn=Turn(thought=thought, calls=calls), results=results)


def _observations(text: str, names: Sequence[str]) -> list[str]:
    """One text per call: several come numbered in one message."""
    if len(names) == 1:
        return [text]
    pattern = r"\n\n".join(rf"\[{number}: {re.escape(name)}\]\n(.*)" for number, name in enumerate(names, start=1))
    match = re.fullmatch(pattern, text, re.DOTALL)
    if match is None:
        raise ValueError("the observations of several calls are not numbered")
    return list(match.groups())
