"""What an importer is, and what several share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from synth.agents.model.wire import GAVE_UP
from synth.identity import digest
from synth.schemas.adp import ADP_VERSION, Trajectory, parse

__all__ = ["Importer", "final_details", "list_of", "made", "needed", "text_of", "tool_functions"]


@dataclass(frozen=True)
class Importer:
    """Reads objects of one format."""

    name: str
    summary: str
    """One sentence."""
    read: Callable[[Mapping[str, Any]], Trajectory]
    """Raises ValueError (``AdpError`` is one) when the object is none of this format, in words."""


def made(content: list[dict[str, Any]], details: Mapping[str, Any], *, id_: Any = None) -> Trajectory:
    """A trajectory of generation 2; its id is a hash of its content where the file gives none.

    Raises:
        AdpError: it breaks a rule of the protocol.
    """
    tools = [tool["function"]["name"] for tool in details.get("tools", ())]
    value: dict[str, Any] = {
        "schema_version": ADP_VERSION,
        "id": id_ if isinstance(id_, str) and id_ else f"trajectory-{digest('imported', content, details)[:16]}",
        "content": content,
        "details": dict(details),
    }
    if tools:
        value["available_custom_tools"] = tools
    return parse(value)


def needed(value: Mapping[str, Any], key: str, where: str = "") -> Any:
    """``value[key]``. Raises ValueError when it is not there."""
    if key not in value:
        raise ValueError(f"{where}{key}: missing")
    return value[key]


def list_of(value: Any, where: str) -> list[Mapping[str, Any]]:
    """A list of objects. Raises ValueError when it is none."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(f"{where}: not a list of objects")
    return value


def text_of(value: Any, where: str) -> str:
    """A text: null is an empty one, parts of kind text are joined.

    Raises:
        ValueError: it is something else, or holds a picture or a sound.
    """
    if value is None:
        return ""
    if isinstance(value, list):
        parts = list_of(value, where)
        if any(part.get("type") != "text" or not isinstance(part.get("text"), str) for part in parts):
            raise ValueError(f"{where}: only parts of text can be imported")
        return "\n".join(part["text"] for part in parts)
    if not isinstance(value, str):
        raise ValueError(f"{where}: not a text")
    return value


def tool_functions(value: Any, where: str) -> list[dict[str, Any]]:
    """Tools as JSON Schema functions, whether they came wrapped or bare.

    Raises:
        ValueError: one has no name.
    """
    found: list[dict[str, Any]] = []
    for place, tool in enumerate(list_of(value or [], where)):
        inner = tool.get("function", tool)
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            raise ValueError(f"{where}[{place}]: a tool without a name")
        function = {"description": "", "parameters": {"type": "object"}, **inner}
        found.append({"type": "function", "function": function})
    return found


def final_details(content: list[dict[str, Any]], details: dict[str, Any]) -> None:
    """An agent whose last words are that it found nothing gave up."""
    if content and content[-1].get("class_") == "message_action" and content[-1]["content"] == GAVE_UP:
        content[-1]["content"] = ""
        details["stop_reason"] = "gave_up"
