"""Runs as agent frameworks dump them: messages of LangChain, LangGraph and AutoGen, steps of smolagents.

Their turns become chat messages. Events that AutoGen's harness writes of itself are only counted, in ``details.given``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from synth.export.importing.chat import OPENAI
from synth.export.importing.contract import Importer, list_of, object_of, text_of, with_left_out
from synth.export.importing.groups import GROUP_CHAT, is_group, speaks, without_end
from synth.identity import canonical_json
from synth.schemas.adp import MessageAction, Trajectory

__all__ = ["FRAMEWORKS", "dumped", "is_dump"]

_Message = dict[str, Any]
_LISTS = ("messages", "history", "chat_history", "conversation")
_ROLES = {
    **dict.fromkeys(("human", "user", "chat"), "user"),
    **dict.fromkeys(("ai", "assistant"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
}
_SAID = ("text", "stop", "handoff", "multimodal", "structured", "toolcallsummary")
"""Messages of AutoGen whose source says who speaks."""
_CALLS, _RESULTS, _THOUGHT = (
    "toolcallrequestevent",
    ("toolcallexecutionevent", "functionexecutionresult"),
    "thoughtevent",
)
_STEP = ("step_number", "task", "system_prompt", "plan")
_FINAL = "final_answer"
"""The tool of smolagents that ends a run."""


def dumped(messages: Any) -> bool:
    """Whether a list holds messages of LangChain or AutoGen, all of them."""
    return isinstance(messages, list) and bool(messages) and all(map(_is_message, messages))


def is_dump(value: Mapping[str, Any]) -> bool:
    """Whether an object is a run that a framework dumped."""
    return _key(value) is not None or _are_steps(value.get("steps"))


def _key(value: Mapping[str, Any]) -> str | None:
    return next((key for key in _LISTS if dumped(value.get(key))), None)


def _are_steps(steps: Any) -> bool:
    return (
        isinstance(steps, list)
        and all(isinstance(one, Mapping) and any(key in one for key in _STEP) for one in steps)
        and any("step_number" in one for one in steps)
    )


def _plain(one: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """(kind, fields) of a message, however it was packed: ``HumanMessage`` and ``human`` are one kind."""
    kind, fields = one.get("type"), one
    if isinstance(one.get("kwargs"), Mapping) and isinstance(one.get("id"), list) and one["id"]:
        kind, fields = one["id"][-1], one["kwargs"]
    elif isinstance(one.get("data"), Mapping):
        fields = one["data"]
    kind = str(kind).split("[")[0].lower().removesuffix("chunk")
    return kind.removesuffix("message"), fields


def _is_message(one: Any) -> bool:
    if not isinstance(one, Mapping) or "role" in one or "class_" in one:
        return False
    kind, fields = _plain(one)
    known = kind in _ROLES or kind in _SAID or kind in _RESULTS or kind.endswith("event")
    return known and ("content" in fields or kind.endswith("event"))


def _messages(messages: Iterable[Mapping[str, Any]], left: Counter[str]) -> Iterator[_Message]:
    thought: Any = None
    for number, one in enumerate(messages):
        kind, fields = _plain(one)
        content = fields.get("content")
        if kind == _THOUGHT:
            thought = content
        elif kind in _RESULTS:
            for result in list_of(content, f"messages[{number}].content"):
                text = text_of(result.get("content"), f"messages[{number}]")
                yield {
                    "role": "tool",
                    "tool_call_id": result.get("call_id"),
                    "name": result.get("name"),
                    "content": text,
                }
        elif kind in (*_ROLES, *_SAID, _CALLS):
            yield {**_turn(kind, fields), **({"reasoning_content": thought} if thought else {})}
            thought = None
        else:
            left[str(one.get("type"))] += 1


def _turn(kind: str, fields: Mapping[str, Any]) -> _Message:
    source, content = fields.get("source") or fields.get("name"), fields.get("content")
    role = _ROLES.get(kind) or ("assistant" if speaks({"name": source}) else "user")
    message: _Message = {"role": role, "tool_call_id": fields.get("tool_call_id"), "content": content}
    if isinstance(source, str) and source:
        message["name"] = source
    calls = [_call(call) for call in fields.get("tool_calls") or () if isinstance(call, Mapping)]
    if role == "assistant" and isinstance(content, list) and content and not calls:
        calls = [_call(call) for call in content if isinstance(call, Mapping) and "arguments" in call]
        message["content"] = "" if calls else content
    elif calls and isinstance(content, list):  # what the provider's parts call stands in `tool_calls`, too
        message["content"] = [one for one in content if object_of(one).get("type") != "tool_use"]
    thought = fields.get("thought") or object_of(fields.get("additional_kwargs")).get("reasoning_content")
    if role == "assistant":
        message |= {"tool_calls": calls, **({"reasoning_content": thought} if thought else {})}
    return message


def _call(call: Mapping[str, Any]) -> _Message:
    given = call.get("args", call.get("arguments"))
    function = object_of(call.get("function")) or {"name": call.get("name"), "arguments": given}
    if isinstance(function.get("arguments"), str) and function.get("name") == "python_interpreter":
        function = {"name": function["name"], "arguments": {"code": function["arguments"]}}
    return {"id": call.get("id"), "function": dict(function)}


def _steps(steps: Sequence[Mapping[str, Any]]) -> Iterator[_Message]:
    """Steps of smolagents' memory. One that calls ``final_answer`` says the answer; code that does so has run first."""
    system = next((one["system_prompt"] for one in steps if one.get("system_prompt")), None)
    shown = next((one["model_input_messages"] for one in steps if one.get("model_input_messages")), None)
    first = object_of(shown[0]) if isinstance(shown, list) else {}
    if system is None and first.get("role") == "system":
        system = first.get("content")
    if system is not None:
        yield {"role": "system", "content": system}
    for number, step in enumerate(steps):
        if step.get("task") is not None:
            yield {"role": "user", "content": step["task"]}
        elif "step_number" not in step:
            plan = step.get("plan")
            yield from [{"role": "assistant", "content": plan}] if plan else []
        else:
            yield from _acted(step, f"steps[{number}]")


def _acted(step: Mapping[str, Any], where: str) -> Iterator[_Message]:
    given = list_of(step.get("tool_calls") or [], f"{where}.tool_calls")
    calls = [call for call in map(_call, given) if call["function"].get("name") != _FINAL]
    text = text_of(step.get("model_output"), where)
    said = text.partition("<code>")[0].partition("```")[0].strip() if step.get("code_action") else text
    if calls or not given:
        yield {"role": "assistant", "content": said, "tool_calls": calls}
    error = object_of(step.get("error")).get("message")
    shown = "\n".join(str(one) for one in (step.get("observations"), error) if one)
    if shown and calls:
        yield {"role": "tool", "tool_call_id": calls[-1]["id"], "content": shown}
    elif error:
        yield {"role": "user", "content": error}
    ends = [call["function"].get("arguments") for call in map(_call, given) if call not in calls]
    if step.get("is_final_answer") or ends:
        answer = step.get("action_output")
        answer = ends[0] if answer is None and ends else answer
        answer = answer["answer"] if isinstance(answer, dict) and answer.keys() == {"answer"} else answer
        yield {"role": "assistant", "content": answer if isinstance(answer, str) else canonical_json(answer)}


def _read(value: Mapping[str, Any]) -> Trajectory:
    left: Counter[str] = Counter()
    key = _key(value)
    found = list(_steps(value["steps"]) if key is None else _messages(value[key], left))
    rest = {name: held for name, held in value.items() if name not in (*_LISTS, "steps")}
    chat = {**rest, "messages": found}
    read = (GROUP_CHAT if is_group(chat) else OPENAI).read(chat)
    assert isinstance(read, Trajectory)
    last = read.content[-1]
    if isinstance(last, MessageAction) and "answer" not in read.details:
        answer = without_end(last.content)
        read = (
            read.model_copy(update={"details": {**read.details, "answer": answer}}) if answer != last.content else read
        )
    return with_left_out(read, left)


FRAMEWORKS = Importer(
    "frameworks", "What LangChain, LangGraph, AutoGen and smolagents dump of a run.", _read, version=8
)
