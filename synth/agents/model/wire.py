"""A conversation as ``/v1/chat/completions`` takes it.

The messages of turn n + 1 are those of turn n with more behind them, byte for byte, so that a server's prefix cache
pays. Two forms carry the same turns:

    native      tools go in the request's ``tools``, calls come as ``tool_calls``, observations are messages of the tool
    structured  for servers without a tool parser: tools stand in the system message, each turn is one JSON object
                {"thought", "action"} held to :func:`structured_schema`, observations come in a message of the user
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from synth.agents.contract import History, Prompt, Step, Turn
from synth.environments.contract import ToolSchema
from synth.identity import canonical_json
from synth.prompting import load_prompt

__all__ = [
    "CORRECTION",
    "GAVE_UP",
    "STRUCTURED_PROMPT",
    "Message",
    "Mode",
    "ReasoningField",
    "correction",
    "function_tools",
    "gave_up",
    "messages_of",
    "response_format",
    "said_to",
    "structured_action",
    "structured_schema",
]

Message: TypeAlias = dict[str, Any]
Mode: TypeAlias = Literal["native", "structured"]
ReasoningField: TypeAlias = Literal["reasoning", "reasoning_content"]

GAVE_UP = "It can't be found."
"""The final message by which an agent says that it found nothing: the system prompt asks for these words."""

CORRECTION = "This could not be carried out: "
"""Begins the message that asks for a turn once more."""

STRUCTURED_PROMPT = ("agents/structured", 1)
"""What the system message adds in the structured form: id and version of the prompt file."""


def messages_of(
    prompt: Prompt, history: History, *, mode: Mode = "native", send_reasoning: ReasoningField | None = None
) -> list[Message]:
    """The conversation so far: system, question, and per step the agent's turn and what the tools answered.

    ``send_reasoning`` names the field in which earlier thoughts go back; None = they stay out, as most chat templates
    want it. In the structured form a thought is part of the reply, so it always goes back.
    """
    system = prompt.system
    if mode == "structured":
        system = f"{system}\n\n{structured_instructions(prompt.tools)}"
    messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": prompt.question}]
    for step in history:
        messages += _structured_step(step) if mode == "structured" else _native_step(step, send_reasoning)
    return messages


def _native_step(step: Step, send_reasoning: ReasoningField | None) -> list[Message]:
    turn = step.turn
    message: Message = {"role": "assistant", "content": turn.said if turn.calls else _final(turn)}
    if send_reasoning is not None and turn.thought is not None:
        message[send_reasoning] = turn.thought
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": canonical_json(call.arguments)},
            }
            for call in turn.calls
        ]
    results = [{"role": "tool", "tool_call_id": result.call_id, "content": result.content} for result in step.results]
    return [message, *results]


def _structured_step(step: Step) -> list[Message]:
    message: Message = {"role": "assistant", "content": structured_action(step.turn)}
    if not step.results:
        return [message]
    if len(step.results) == 1:
        content = step.results[0].content
    else:
        content = "\n\n".join(
            f"[{number}: {result.name}]\n{result.content}" for number, result in enumerate(step.results, start=1)
        )
    return [message, {"role": "user", "content": content}]


def _final(turn: Turn) -> str:
    return turn.answer if turn.answer is not None else turn.said or GAVE_UP


def function_tools(tools: Sequence[ToolSchema], *, strict: bool) -> list[dict[str, Any]]:
    """The tools as the request's ``tools``; ``strict`` asks the server to hold arguments to their schema."""
    functions = [tool.function() for tool in tools]
    if strict:
        for function in functions:
            function["function"] = {**function["function"], "strict": True}
    return functions


def structured_instructions(tools: Sequence[ToolSchema]) -> str:
    """What the system message adds in the structured form."""
    lines = [f"- {tool.name}: {tool.description} Arguments: {canonical_json(tool.parameters)}" for tool in tools]
    return load_prompt(*STRUCTURED_PROMPT).render(tools="\n".join(lines))


def structured_action(turn: Turn) -> str:
    """``turn`` as the JSON text that :func:`structured_schema` describes, the thought first."""
    # Keys in the order in which a model writes them: the thought before the action, the tool before its arguments.
    calls = [
        f'{{"tool":{canonical_json(call.name)},"arguments":{canonical_json(call.arguments)}}}' for call in turn.calls
    ]
    if not calls:
        action = canonical_json({"answer": _final(turn)})
    else:
        action = calls[0] if len(calls) == 1 else f'{{"calls":[{",".join(calls)}]}}'
    return f'{{"thought":{canonical_json(turn.thought or "")},"action":{action}}}'


def structured_schema(tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """JSON Schema of one turn: ``{"thought": str, "action": ...}``.

    The action is ``{"tool": name, "arguments": {...}}`` with the tool's own schema, ``{"calls": [...]}`` of at least
    two of those, or ``{"answer": str}``; giving up is the answer :data:`GAVE_UP`. The order of the keys is part of it:
    servers that hold a model to a schema let it write them in that order.
    """
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"type": "string", "const": tool.name}, "arguments": tool.parameters},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    answer = _object({"answer": {"type": "string", "minLength": 1}})
    several = [_object({"calls": {"type": "array", "items": {"anyOf": calls}, "minItems": 2}})] if calls else []
    return _object({"thought": {"type": "string"}, "action": {"anyOf": [*calls, *several, answer]}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def response_format(tools: Sequence[ToolSchema], *, strict: bool = False) -> dict[str, Any]:
    """The request's ``response_format`` in the structured form."""
    schema = {"name": "turn", "strict": strict, "schema": structured_schema(tools)}
    return {"type": "json_schema", "json_schema": schema}


def correction(raw: str, problem: str) -> list[Message]:
    """What is put behind the conversation to ask for a turn once more: the reply as plain text (servers refuse calls
    that they can't read), and what was wrong with it."""
    return [
        {"role": "assistant", "content": raw or "(nothing)"},
        {"role": "user", "content": f"{CORRECTION}{problem}"},
    ]


def said_to(messages: Sequence[Message], text: str) -> list[Message]:
    """``text`` behind the conversation, in the user's last message where that is the last one: many chat templates
    refuse two in a row."""
    *before, last = messages
    if last["role"] != "user":
        return [*messages, {"role": "user", "content": text}]
    return [*before, {**last, "content": f"{last['content']}\n\n{text}"}]


_LEAD = r"(?:(?:i'm |i am )?(?:so |very )?sorry,? (?:but )?|unfortunately,? |after (?:much )?searching,? )?"
_NOT = r"(?:can't|cannot|can not|could not|couldn't)"
_WHAT = "answer|information|name|date|number|value"
_SOUGHT = rf"(?:it|this|that|an answer|the (?:correct |right |requested |final )?(?:{_WHAT}))"
_WHERE = (
    r"(?: (?:in|from|with|among|based on) (?:the|these|this|any of the) "
    r"(?:available |given |provided )?(?:pages|documents|collection|search results|tools|sources|information))?"
)
_GAVE_UP = re.compile(
    rf"{_LEAD}(?:{_SOUGHT} {_NOT} be (?:found|determined|answered)"
    rf"|(?:the|this) question {_NOT} be answered"
    rf"|i (?:{_NOT}|was (?:not able|unable) to|am (?:not able|unable) to|wasn't able to|'m unable to) "
    rf"(?:find|determine|answer) (?:{_SOUGHT}|the question|this question)"
    rf"|no answer (?:was|could be|can be) found|i (?:don't|do not) know(?: the answer)?|i give up"
    rf"){_WHERE}"
)


def gave_up(text: str) -> bool:
    """Whether a final message says that nothing was found, and nothing else: one sentence of a few known forms. A
    message that says more is an answer, and is judged as one."""
    flat = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").casefold().split())
    return _GAVE_UP.fullmatch(flat.strip(" .!\"'*")) is not None
