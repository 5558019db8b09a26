"""Which of the formats an object is of, told by its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synth.export.importing.adp import ADP
from synth.export.importing.atif import ATIF
from synth.export.importing.chat import OPENAI, SHAREGPT
from synth.export.importing.contract import Importer
from synth.export.importing.frameworks import FRAMEWORKS, dumped, is_dump
from synth.export.importing.groups import GROUP_CHAT, is_group
from synth.export.importing.logs import OPENHANDS, SWE_AGENT
from synth.export.importing.rows import ROWS
from synth.export.importing.sessions import SESSIONS, is_session
from synth.schemas.adp import Trajectory
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["AUTO"]

_SPEAKERS = ("role", "from", "name", "agent_name", "agent", "speaker", "sender", "author")
_TEXTS = ("content", "value", "text", "message")


def _importer(value: Mapping[str, Any]) -> Importer | None:
    content, steps = value.get("content"), value.get("steps")
    if isinstance(content, list) and "verdict" in value and "task_id" in value:
        return ROWS
    if isinstance(content, list):
        return ADP
    if is_dump(value):
        return FRAMEWORKS
    if isinstance(steps, list):
        return ATIF
    if is_session(value.get("events") or value.get("loglines")):
        return SESSIONS
    events = value.get("trajectory")
    first = events[0] if isinstance(events, list) and events else None
    if value.get("trajectory_format") or (isinstance(events, list) and _message(first) is None):
        return OPENHANDS if isinstance(first, Mapping) and "source" in first else SWE_AGENT
    if is_group(value):
        return GROUP_CHAT
    history = value.get("events") or value.get("history")
    first = history[0] if isinstance(history, list) and history else None
    if isinstance(first, list | Mapping) and (isinstance(first, list) or "source" in first) and "output" not in value:
        return OPENHANDS
    if isinstance(first, Mapping) and "role" in first:
        return OPENAI
    turns = next((value[key] for key in ("messages", "conversations", "conversation") if value.get(key)), None)
    if isinstance(turns, list) and turns and isinstance(turns[0], Mapping):
        return SHAREGPT if "from" in turns[0] else OPENAI
    if turns is not None or "prompt" in value:
        return OPENAI
    return SHAREGPT if {"instruction", "output"} <= value.keys() else None


def _message(one: Any) -> dict[str, Any] | None:
    """A message under the keys that chat has; None for what is none."""
    if not isinstance(one, Mapping):
        return None
    who = next((key for key in _SPEAKERS if isinstance(one.get(key), str)), None)
    text = next((key for key in _TEXTS if key in one), None)
    if who is None or (text is None and "tool_calls" not in one):
        return None
    speaker = {"role": one[who]} if who in ("role", "from") else {"name": one[who]}
    rest = {key: said for key, said in one.items() if key not in (who, text)}
    return {**rest, **speaker, "content": one.get(text) if text is not None else None}


def _chats(value: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Lists of messages, in the object or below."""
    for below in value.values():
        if isinstance(below, Mapping):
            yield from _chats(below)
        if dumped(below):
            yield below
        messages = [_message(one) for one in below] if isinstance(below, list) else []
        if messages and all(messages):
            yield [one for one in messages if one is not None]


def _read(value: Mapping[str, Any]) -> Trajectory | TrajectoryRow:
    known = _importer(value)
    if known is not None:
        return known.read(value)
    chat: list[dict[str, Any]] = max(_chats(value), key=len, default=[])
    if not chat:
        keys = ", ".join(sorted(map(str, value))[:12])
        raise ValueError(f"no run of a format that we know: its keys are {keys}")
    found = {**value, "messages": chat}
    return (_importer(found) or OPENAI).read(found)


AUTO = Importer("auto", "Whichever of the others it is, object by object.", _read, version=22)
