"""Rows as chat messages: what all chat formats share.

A turn of the agent is one message: what it said, its thought, its calls. An observation is one message of the tool.
Code that it runs is a call of a tool that takes code; of a page, the text that a reader sees. What answers no call (a
page that is shown first, the output of what was written into a message) is part of what the user says; so is, in a log
of several agents, the name in brackets of who speaks next.
Where the agent read summaries of observations, the messages hold what the tools said: a student has no summarizer.
Where it replaced its history by notes, the conversation is what it saw from then on; it is cut into one part per view.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from synth.agents.actions import COMPRESS
from synth.agents.model.wire import GAVE_UP
from synth.agents.trajectory import text_seen
from synth.environments.contract import ToolSchema
from synth.export.contract import About, Inexpressible, Run, Why
from synth.identity import canonical_json
from synth.schemas.adp import (
    ApiAction,
    CodeAction,
    ContentItem,
    ImageObservation,
    MessageAction,
    TextObservation,
    WebObservation,
)
from synth.schemas.row import JsonList, JsonObject
from synth.schemas.trajectories import CallErrors, StopReason, TrajectoryRow
from synth.schemas.turns import speaker_named

__all__ = [
    "PNG",
    "Call",
    "Message",
    "Part",
    "as_chat",
    "as_openai",
    "code_tool",
    "cut_behind",
    "has_thought",
    "masked_of",
    "messages_of",
    "parts_of",
    "run_messages",
    "with_code",
]


PNG = "data:image/png;base64,"
"""Before a picture in a row."""


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True)
class Message:
    """One message. ``turn`` is the number of the agent's turn, from 0; None for all other messages."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    thought: str | None = None
    calls: tuple[Call, ...] = ()
    name: str | None = None
    """Of the tool that answers."""
    call_id: str | None = None
    """The call that is answered."""
    turn: int | None = None
    picture: str | None = None
    """Of the tool that answers: what it shows, as ``data:image/png;base64,...``."""


@dataclass(frozen=True)
class Part:
    """A conversation as the agent saw it. Turns before ``first_turn`` were targets of an earlier part."""

    messages: tuple[Message, ...]
    first_turn: int


def messages_of(
    content: Sequence[ContentItem], *, system: str = "", gave_up: bool = False, first_turn: int = 0
) -> tuple[Message, ...]:
    """The messages of a trajectory, of a prefix of one, or of a side of a pair.

    Raises:
        Inexpressible: it holds something that is not a message, or no call.
    """
    made = [Message("system", system)] if system else []
    turn = first_turn
    at = 0
    open_calls: dict[str, str] = {}
    while at < len(content):
        item = content[at]
        if isinstance(item, ApiAction | CodeAction | MessageAction):
            actions: list[ContentItem] = []
            while at < len(content) and isinstance(action := content[at], ApiAction | CodeAction | MessageAction):
                actions.append(action)
                at += 1
            message = _turn(actions, turn, gave_up=gave_up and at == len(content))
            open_calls = {call.id: call.name for call in message.calls}
            made.append(message)
            turn += 1
            continue
        name = speaker_named(item)
        text = text_seen(item) if name is None else f"[{name}]"
        if isinstance(item, ImageObservation) or not (text or isinstance(item, TextObservation)):
            raise Inexpressible(Why.NO_TEXT, f"content[{at}] is a {item.class_}")
        if item.tool_call_id in open_calls:
            tool = open_calls.pop(item.tool_call_id)
            made.append(Message("tool", text, name=tool, call_id=item.tool_call_id, picture=_picture(item)))
        elif item.tool_call_id is not None:
            raise Inexpressible(Why.STRAY_OBSERVATION, f"content[{at}]")
        elif made and made[-1].role == "user":
            made[-1] = Message("user", f"{made[-1].content}\n\n{text}")
        else:
            made.append(Message("user", text))
        at += 1
    return tuple(made)


def _picture(item: ContentItem) -> str | None:
    shown = item.image_observation if isinstance(item, WebObservation) else None
    return None if shown is None or not shown.content.startswith(PNG) else shown.content


def with_code(tools: JsonList, *parts: Sequence[ContentItem]) -> JsonList:
    """``tools``, and a tool for each language of code that is run.

    Raises:
        Inexpressible: one of ``tools`` has the name of such a tool.
    """
    languages = sorted({item.language for part in parts for item in part if isinstance(item, CodeAction)})
    names = {code_tool(language): language for language in languages}
    if any(tool["function"]["name"] in names for tool in tools if "function" in tool):
        raise Inexpressible(Why.CODE)
    made = [ToolSchema.of(name, f"Runs {one} code.", {"code": {"type": "string"}}) for name, one in names.items()]
    return (*tools, *(tool.function() for tool in made))


def code_tool(language: str) -> str:
    """The tool that runs code of a language."""
    return f"run_{re.sub(r'[^A-Za-z0-9_-]', '_', language)}"


def _turn(actions: Sequence[ContentItem], turn: int, *, gave_up: bool) -> Message:
    said: list[str | None] = []
    thoughts: list[str | None] = []
    calls: list[Call] = []
    for place, action in enumerate(actions):
        assert isinstance(action, ApiAction | CodeAction | MessageAction)
        thoughts.append(action.reasoning_content)
        said.append(action.description)
        if isinstance(action, MessageAction):
            if calls:
                raise Inexpressible(Why.MIXED_TURN, f"turn {turn}")
            said.append(action.content)
            continue
        id_ = action.tool_call_id or f"call_{turn}_{place}"
        if isinstance(action, CodeAction):
            calls.append(Call(id_, code_tool(action.language), {"code": action.content}))
        else:
            calls.append(Call(id_, action.function, action.kwargs))
    text = "\n\n".join(part for part in said if part) or (GAVE_UP if gave_up and not calls else "")
    thought = "\n\n".join(part for part in thoughts if part) or None
    return Message("assistant", text, thought=thought, calls=tuple(calls), turn=turn)


def run_messages(row: TrajectoryRow) -> tuple[Message, ...]:
    """The whole conversation of a run, the system prompt first.

    Raises:
        Inexpressible: see :func:`messages_of`; or there is no question, or no turn.
    """
    gave_up = row.stop_reason is StopReason.GAVE_UP
    made = messages_of(row.content, system=row.system_prompt, gave_up=gave_up)
    spoken = [message.role for message in made if message.role != "system"]
    if not spoken or spoken[0] != "user" or "assistant" not in spoken:
        raise Inexpressible(Why.EMPTY)
    return made


def parts_of(row: TrajectoryRow) -> tuple[Part, ...]:
    """The run as the agent saw it: one conversation, or one per view where it compressed its history.

    Each later part begins with the question and the turn that wrote the notes.

    Raises:
        Inexpressible: see :func:`run_messages`.
    """
    made = run_messages(row)
    first = next(place for place, message in enumerate(made) if message.turn is not None)
    head, body = made[:first], made[first:]
    errors = CallErrors.of(row.details).tool_errors
    starts = [0]
    for place, message in enumerate(body):
        if message.role == "tool" and message.name == COMPRESS.name and message.call_id not in errors:
            starts.append(max(at for at in range(place) if body[at].turn is not None))
    parts: list[Part] = []
    for number, start in enumerate(starts):
        # The turn that compresses ends a part, and begins the next one as context.
        end = len(body) if number + 1 == len(starts) else starts[number + 1] + 1
        turn = body[start].turn or 0
        parts.append(Part((*head, *body[start:end]), turn + 1 if number else turn))
    return tuple(part for part in parts if any(m.turn >= part.first_turn for m in part.messages if m.turn is not None))


def masked_of(run: Run) -> frozenset[int]:
    """Turns of a run that must not be targets of training."""
    if run.steps is not None:
        targets = {step.step for step in run.steps if step.train}
        return frozenset(range(run.row.turns)) - targets
    return frozenset() if run.row.success else frozenset(range(run.row.turns))


def has_thought(messages: Sequence[Message]) -> bool:
    """Whether any turn has a thought."""
    return any(message.thought for message in messages)


def as_chat(message: Message, about: About) -> dict[str, Any]:
    """The message as chat templates take it: arguments of a call are an object, absent keys are absent."""
    made: dict[str, Any] = {"role": message.role}
    if message.name is not None:
        made["name"] = message.name
    made["content"] = message.content
    if about.thoughts and message.thought:
        made["reasoning_content"] = message.thought
    if message.calls:
        made["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
        ]
    return made


def as_openai(message: Message, about: About) -> dict[str, Any]:
    """The message as ``/v1/chat/completions`` takes it: arguments are JSON text, calls and answers have ids."""
    made: dict[str, Any] = {"role": message.role}
    if message.call_id is not None:
        made["tool_call_id"] = message.call_id
    made["content"] = message.content if message.content or not message.calls else None
    if about.thoughts and message.thought:
        made["reasoning_content"] = message.thought
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": canonical_json(call.arguments)},
            }
            for call in message.calls
        ]
    return made


def cut_behind(messages: Sequence[Message], turn: int) -> tuple[Message, ...]:
    """The messages up to the turn of that number, inclusive."""
    place = next(at for at, message in enumerate(messages) if message.turn == turn)
    return tuple(messages[: place + 1])
