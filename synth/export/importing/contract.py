"""What an importer is, and what several share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.agents.model.wire import GAVE_UP
from synth.identity import canonical_json, digest
from synth.inputs import parse_json
from synth.schemas.adp import ADP_VERSION, Trajectory, parse
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "Importer",
    "arguments_of",
    "facts_beside",
    "final_details",
    "linked",
    "list_of",
    "made",
    "needed",
    "object_of",
    "text_of",
    "tool_functions",
    "untied",
    "with_left_out",
]

Item = dict[str, Any]
"""An item of ADP content, as JSON."""
ACTIONS = ("api_action", "code_action", "message_action")
UNPARSED = "_unparsed"
"""The argument that holds what a model wrote in the place of arguments, where that is no JSON object."""


@dataclass(frozen=True)
class Importer:
    """Reads objects of one format."""

    name: str
    summary: str
    """One sentence."""
    read: Callable[[Mapping[str, Any]], Trajectory | TrajectoryRow]
    """Raises ValueError (``AdpError`` is one) when the object is none of this format, in words."""
    version: int = 1
    """Bumped with every change that can change a row."""


def made(
    content: list[Item], details: Mapping[str, Any], *, id_: Any = None, tools: Sequence[str] | None = None
) -> Trajectory:
    """A trajectory of generation 2; its id is a hash of its content where the file gives none.

    Args:
        tools: Names of the tools that the agent had, where they are not those of ``details.tools``.

    Raises:
        AdpError: it breaks a rule of the protocol.
    """
    names = list(tools) if tools is not None else [tool["function"]["name"] for tool in details.get("tools", ())]
    id_ = str(id_) if isinstance(id_, int) and not isinstance(id_, bool) else id_
    value: dict[str, Any] = {
        "schema_version": ADP_VERSION,
        "id": id_ if isinstance(id_, str) and id_ else f"trajectory-{digest('imported', content, details)[:16]}",
        "content": content,
        "details": dict(details),
    }
    if names:
        value["available_custom_tools"] = names
    return parse(value)


def linked(content: list[Item]) -> list[Item]:
    """``content`` with ids that tie calls to their results, where they were missing.

    What is observed right after a turn that calls answers its last calls in their order, whoever is said to speak:
    files without ids mark results as the user's, too. An id that ties nothing to anything goes.
    """
    turn, at = 0, 0
    taken = {item.get("tool_call_id") for item in content} - {None}
    while at < len(content):
        start = at
        while at < len(content) and content[at]["class_"] in ACTIONS:
            at += 1
        calls = [item for item in content[start:at] if item["class_"] != "message_action"]
        shown = at
        while at < len(content) and content[at]["class_"] not in ACTIONS:
            at += 1
        own = [call["tool_call_id"] for call in calls if call.get("tool_call_id") is not None]
        free = [item for item in content[shown:at] if item.get("tool_call_id") not in own]
        open_ = [call for call in calls if not any(_answers(item, call) for item in content[shown:])]
        spoke = shown > start and content[shown - 1]["class_"] == "message_action"
        pairs = zip(open_[-len(free) :], free, strict=False) if free and not spoke else ()
        for place, (call, item) in enumerate(pairs):
            name = call.get("tool_call_id") or f"call_{turn}_{place}"
            while call.get("tool_call_id") is None and name in taken:
                name += "_"
            taken.add(name)
            call["tool_call_id"] = item["tool_call_id"] = name
        turn += shown > start
    return untied(content)


def _answers(item: Item, call: Item) -> bool:
    return call.get("tool_call_id") is not None and item.get("tool_call_id") == call["tool_call_id"]


def untied(content: list[Item]) -> list[Item]:
    """``content`` without ids that two calls have, that no result has, and that no call has."""
    called = Counter(
        item["tool_call_id"] for item in content if item["class_"] in ACTIONS and item.get("tool_call_id") is not None
    )
    open_ = {name for name, times in called.items() if times == 1}
    answered: set[Any] = set()
    seen: set[Any] = set()
    for item in content:
        name = item.get("tool_call_id")
        if item["class_"] in ACTIONS:
            seen |= {name} & open_
        elif name in seen and name not in answered:
            answered.add(name)
        else:
            item.pop("tool_call_id", None)
    for item in content:
        if item["class_"] in ACTIONS and item.get("tool_call_id") not in answered:
            item.pop("tool_call_id", None)
    return content


def arguments_of(value: Any) -> dict[str, Any]:
    """The arguments of a call: an object, as one or as JSON; what is none of both stands under ``_unparsed``."""
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            value = parse_json(value)
        except ValueError:
            return {UNPARSED: value}
    if value is None:
        return {}
    return value if isinstance(value, dict) else {UNPARSED: value}


_NAMED = {
    "task_id": ("task_id", "instance_id", "question_id", "qid"),
    "licence": ("licence", "license"),
    "model": ("model", "model_name"),
    "split": ("split",),
    "answer": ("predicted_answer", "prediction", "final_answer"),
    "correct": ("correct", "is_correct", "resolved", "success"),
}
_TRUTHS = {"true": True, "false": False, "1": True, "0": False}
_SPLITS = {"dev": "validation", "val": "validation", "valid": "validation", "eval": "validation"}


def facts_beside(value: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says beside a run's content that :mod:`synth.agents.imported` reads, under its keys.

    Of the keys that name the same, the first that holds such a value counts. A reward of 1 or 0 is a verdict, any other
    is none.
    """
    found: dict[str, Any] = {}
    for name, keys in _NAMED.items():
        for key in keys:
            one = value.get(key)
            if name == "correct":
                one = _TRUTHS.get(str(one).lower()) if isinstance(one, str | int) else None
            elif isinstance(one, int) and not isinstance(one, bool):
                one = str(one)
            if one is not None and isinstance(one, bool if name == "correct" else str) and one != "":
                found[name] = _SPLITS.get(str(one), one) if name == "split" else one
                break
    if "correct" not in found and (reward := value.get("reward")) in (0, 1) and not isinstance(reward, bool):
        found["correct"] = reward == 1
    return found


def needed(value: Mapping[str, Any], key: str, where: str = "") -> Any:
    """``value[key]``. Raises ValueError when it is not there."""
    if key not in value:
        raise ValueError(f"{where}{key}: missing")
    return value[key]


def object_of(value: Any) -> Mapping[str, Any]:
    """``value`` where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Any, where: str) -> list[Mapping[str, Any]]:
    """A list of objects. Raises ValueError when it is none."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(f"{where}: not a list of objects")
    return value


def text_of(value: Any, where: str) -> str:
    """A text: null is an empty one, parts are joined; a picture or sound is the place where it is kept.

    Raises:
        ValueError: it is something else.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _part(value) if isinstance(value.get("type"), str) else canonical_json(value)
    if isinstance(value, list):
        return "\n".join(part if isinstance(part, str) else _part(part) for part in value)
    raise ValueError(f"{where}: a {type(value).__name__}, not a text")


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("type", "part")).removesuffix("_url")
    held = next((part[key] for key in ("image_url", "source", "file", "input_audio", "url") if key in part), "")
    if isinstance(held, Mapping):
        held = next((held[key] for key in ("url", "path", "file_id") if isinstance(held.get(key), str)), "")
    held = str(held)
    return f"[{kind}: {held if len(held) <= _LONGEST_PLACE else 'inline data'}]"


_LONGEST_PLACE = 500


def tool_functions(value: Any, where: str) -> list[dict[str, Any]]:
    """Tools as JSON Schema functions, whether they came wrapped or bare, as a list or as the JSON of one.

    Raises:
        ValueError: one has no name.
    """
    if isinstance(value, str):
        try:
            value = parse_json(value) if value.strip() else []
        except ValueError:
            raise ValueError(f"{where}: no JSON") from None
    if isinstance(value, Mapping):
        value = [{"name": name, **(tool if isinstance(tool, Mapping) else {})} for name, tool in value.items()]
    value = [{"name": tool} if isinstance(tool, str) and tool else tool for tool in value or ()]
    found: list[dict[str, Any]] = []
    for place, tool in enumerate(list_of(value, where)):
        inner = tool.get("function", tool)
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            raise ValueError(f"{where}[{place}]: a tool without a name")
        schema = inner.get("parameters") or inner.get("input_schema") or inner.get("inputSchema") or {"type": "object"}
        rest = {key: held for key, held in inner.items() if key not in ("input_schema", "inputSchema", "type")}
        function = {**rest, "description": inner.get("description") or "", "parameters": schema}
        found.append({"type": "function", "function": function})
    return found


def with_left_out(read: Trajectory, left: Mapping[str, int]) -> Trajectory:
    """A run with the number of events of each kind that are no part of it, in ``details.given``."""
    if not left:
        return read
    given = {**object_of(read.details.get("given")), "events_left_out": dict(sorted(left.items()))}
    return read.model_copy(update={"details": {**read.details, "given": given}})


def final_details(content: list[dict[str, Any]], details: dict[str, Any]) -> None:
    """An agent whose last words are that it found nothing gave up."""
    if content and content[-1].get("class_") == "message_action" and content[-1]["content"] == GAVE_UP:
        content[-1]["content"] = ""
        details["stop_reason"] = "gave_up"
