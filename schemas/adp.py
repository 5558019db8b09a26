"""The Agent Data Protocol, generation 2 (arXiv 2510.24702; neulab/agent-data-protocol 1.x, strict).

ADP is not published as a package; these models restate its rules. Unknown fields are refused with their path.

``problems`` lists everything that is wrong with a value, one line each with the path of the field; ``parse`` gives a
``Trajectory`` or raises ``AdpError``; ``dump`` and ``to_json`` write one the way upstream does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = [
    "ADP_VERSION",
    "SUPPORTED_VERSIONS",
    "Action",
    "AdpError",
    "ApiAction",
    "BoundingBox",
    "CodeAction",
    "ContentItem",
    "ImageAnnotation",
    "ImageObservation",
    "MessageAction",
    "Observation",
    "TextObservation",
    "Trajectory",
    "WebObservation",
    "dump",
    "error_lines",
    "field_path",
    "parse",
    "problems",
    "to_json",
]

SUPPORTED_VERSIONS = ("1.0.0", "1.1.0", "1.2.0")
ADP_VERSION = "1.2.0"
"""The version that we write."""


class ApiAction(Row):
    """A tool call."""

    class_: Literal["api_action"] = "api_action"
    function: NonEmpty
    """Name of the tool (``api_action``)."""
    kwargs: JsonObject
    """Arguments of the tool, a JSON object."""
    description: str | None = None
    """Text said beside the call."""
    tool_call_id: str | None = None
    """Ties an action to the observation that answers it."""
    reasoning_content: str | None = None
    """The thought before the action."""
    reward: float | None = None
    """Reward of this step."""


class CodeAction(Row):
    """Code that the agent runs."""

    class_: Literal["code_action"] = "code_action"
    language: NonEmpty
    """Language of the code (``code_action``)."""
    content: str
    """The code."""
    description: str | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    reward: float | None = None


class MessageAction(Row):
    """A message to the user; the last one is the final answer."""

    class_: Literal["message_action"] = "message_action"
    content: str
    """The message."""
    description: str | None = None
    reasoning_content: str | None = None
    reward: float | None = None


class TextObservation(Row):
    """Text that the agent was shown: the user's words or a tool's result."""

    class_: Literal["text_observation"] = "text_observation"
    content: str
    """The text."""
    source: Literal["user", "agent", "environment"]
    """Whose words an observation is: ``user``, ``agent`` or ``environment``."""
    name: str | None = None
    """Name of the tool or person that speaks."""
    tool_call_id: str | None = None
    reward: float | None = None


class BoundingBox(Row):
    """A rectangle in pixels."""

    x: float
    """Left edge."""
    y: float
    """Upper edge."""
    width: float
    """Width."""
    height: float
    """Height."""


class ImageAnnotation(Row):
    """A marked element of an image."""

    element_type: str
    """What kind of element it is."""
    bounding_box: BoundingBox
    """Where it stands."""
    text: str | None
    """The text in it."""
    content_description: str | None = None
    """What it shows."""
    clickable: bool | None = None
    """Whether it can be clicked."""
    editable: bool | None = None
    """Whether it can be edited."""


class ImageObservation(Row):
    """A picture that the agent was shown."""

    class_: Literal["image_observation"] = "image_observation"
    content: str
    """Path or address of the image."""
    source: Literal["user", "agent", "environment"]
    """Whose picture it is."""
    annotations: tuple[ImageAnnotation, ...] | None = None
    """Marked elements of an image (``image_observation``)."""
    tool_call_id: str | None = None
    """The action that it answers."""
    reward: float | None = None
    """Reward of this step."""


class WebObservation(Row):
    """A web page that the agent was shown."""

    class_: Literal["web_observation"] = "web_observation"
    html: str | None
    """Markup of a page (``web_observation``)."""
    axtree: str | None
    """Accessibility tree of the page."""
    url: str | None
    """Address of the page."""
    image_observation: ImageObservation | None
    """Screenshot of the page."""
    viewport_size: tuple[int, int] | None
    """Width and height in pixels."""
    tool_call_id: str | None = None
    reward: float | None = None


Action = ApiAction | CodeAction | MessageAction
Observation = TextObservation | WebObservation | ImageObservation
ContentItem = Annotated[
    ApiAction | CodeAction | MessageAction | TextObservation | WebObservation | ImageObservation,
    Field(discriminator="class_"),
]


class AdpError(ValueError):
    """A value that is not a trajectory. ``problems`` holds one line for each thing that is wrong."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{self.problems[0]}{more}")

    def __reduce__(self) -> tuple[object, ...]:
        return (AdpError, (self.problems,))


class Trajectory(Row):
    """An ADP trajectory. Making one checks every rule of the protocol."""

    schema_version: NonEmpty
    id: NonEmpty
    content: tuple[ContentItem, ...]
    available_custom_tools: tuple[str, ...] | None = None
    available_code_languages: tuple[str, ...] | None = None
    details: JsonObject = {}

    @model_validator(mode="after")
    def _rules(self) -> Trajectory:
        broken = [
            *_version(self.schema_version),
            *_links(self.content),
            *_languages(self.content, self.available_code_languages),
            *_numbers(self.details, "details"),
        ]
        if broken:
            # A custom error carries the lines as they are; a ValueError would be wrapped in pydantic's words.
            raise PydanticCustomError("adp", "{text}", {"text": "; ".join(broken), "lines": broken})
        return self


def _version(version: str) -> Iterator[str]:
    if version not in SUPPORTED_VERSIONS:
        yield f"schema_version: {version!r} is none of {', '.join(SUPPORTED_VERSIONS)}"


def _links(content: Sequence[Any]) -> Iterator[str]:
    """The rules that tie calls to their results."""
    calls: dict[str, int] = {}
    answered: dict[str, int] = {}
    for index, item in enumerate(content):
        if isinstance(item, MessageAction):
            continue
        call = isinstance(item, ApiAction | CodeAction)
        path = f"content[{index}].tool_call_id"
        name = item.tool_call_id
        if name is None:
            following = content[index + 1] if index + 1 < len(content) else None
            if call and isinstance(following, Observation):
                yield f"{path}: missing, though content[{index + 1}] is an observation that answers this action"
        elif call:
            if name in calls:
                yield f"{path}: {name!r} is the id of content[{calls[name]}] already"
            else:
                calls[name] = index
        elif name not in calls:
            yield f"{path}: {name!r} is the id of no earlier action"
        elif name in answered:
            yield f"{path}: {name!r} was answered by content[{answered[name]}] already"
        else:
            answered[name] = index
    for name, index in calls.items():
        if name not in answered:
            yield f"content[{index}].tool_call_id: no later observation answers {name!r}"


def _languages(content: Sequence[Any], available: tuple[str, ...] | None) -> Iterator[str]:
    if available is None:
        return
    used = {item.language for item in content if isinstance(item, CodeAction)}
    if missing := sorted(used - set(available)):
        yield f"available_code_languages: {', '.join(map(repr, missing))} used by code actions but not listed"
    if unused := sorted(set(available) - used):
        yield f"available_code_languages: {', '.join(map(repr, unused))} listed but used by no code action"


_MEASURES = ("reward", "score", "count", "rate")
_MORE_MEASURES = ("percent", "percentage", "number", "index", "correct", "success")
"""Upstream's own check asks for numbers under these too, at the top level."""


def _numbers(value: Any, path: str, names: tuple[str, ...] = _MEASURES + _MORE_MEASURES) -> Iterator[str]:
    """A key of ``details`` that names a measure holds no text."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            place = f"{path}.{key}"
            last = key.lower().rpartition("_")[2]
            measure = last in names and (last in _MEASURES or last != key.lower())
            if isinstance(item, str) and measure:
                yield f"{place}: {item!r} is text, where a reward, score, count or rate is a number"
            else:
                yield from _numbers(item, place, _MEASURES)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _numbers(item, f"{path}[{index}]", _MEASURES)


def parse(value: Any) -> Trajectory:
    """The trajectory that ``value`` (an object as JSON gives it, or JSON text) states.

    Raises:
        AdpError: it breaks a rule; ``problems`` has one line per thing that is wrong.
    """
    try:
        if isinstance(value, str | bytes):
            return Trajectory.model_validate_json(value)
        return Trajectory.model_validate(value)
    except ValidationError as error:
        raise AdpError(error_lines(error)) from None


def problems(value: Any) -> tuple[str, ...]:
    """One line per rule that ``value`` breaks, each with the path of the field; empty when it breaks none."""
    try:
        parse(value)
    except AdpError as error:
        return error.problems
    return ()


_TAGS = frozenset(
    {
        "api_action",
        "code_action",
        "message_action",
        "text_observation",
        "web_observation",
        "image_observation",
    }
)


_LONG = 200
"""A list of all allowed values that is longer than so many code points is cut."""
_SHORT = 80


def error_lines(error: ValidationError) -> list[str]:
    """``path: what is wrong`` for each error of pydantic, in the order of the fields."""
    lines: list[str] = []
    for item in error.errors(include_url=False):
        if item["type"] == "adp":
            lines.extend(item["ctx"]["lines"])
            continue
        path = field_path(item["loc"])
        what = item["msg"]
        if item["type"] == "extra_forbidden":
            what = "unknown field"
        elif item["type"] == "missing":
            what = "missing"
        elif item["type"] == "union_tag_not_found":
            path, what = f"{path}.class_", "missing"
        elif item["type"] == "union_tag_invalid":
            path, what = f"{path}.class_", f"{item['ctx']['tag']!r} is none of {item['ctx']['expected_tags']}"
        elif item["type"] in ("enum", "literal_error") and len(what) > _LONG:
            what = (
                f"{str(item['input'])[:_SHORT]!r} is none of {what[:_LONG].rsplit(', ', 1)[0].split('be ', 1)[-1]}, ..."
            )
        what = " ".join(what.removeprefix("Value error, ").split())
        lines.append(_printable(f"{path}: {what}" if path else what))
    return lines


def _printable(line: str) -> str:
    """One line, whatever the names of the fields hold."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def field_path(loc: Sequence[str | int]) -> str:
    """``content[3].kwargs`` for pydantic's ``("content", 3, "api_action", "kwargs")``."""
    path = ""
    before: str | int = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not (isinstance(before, int) and part in _TAGS):  # the tag of a union is not a field
            path += f".{part}" if path else part
        before = part
    return path


_OMITTED = ("tool_call_id",)
_OMITTED_ROOT = ("available_custom_tools", "available_code_languages")


def dump(trajectory: Trajectory) -> dict[str, Any]:
    """The trajectory as upstream writes it, ready for ``json.dumps``.

    Absent link and availability fields (``tool_call_id``, ``available_custom_tools``, ``available_code_languages``)
    are left out; every other optional field is null.
    """
    value: dict[str, Any] = trajectory.model_dump(mode="json")
    for name in _OMITTED_ROOT:
        if value[name] is None:
            del value[name]
    for item in value["content"]:
        _omit(item)
        if item.get("image_observation"):
            _omit(item["image_observation"])
    return value


def _omit(item: dict[str, Any]) -> None:
    for name in _OMITTED:
        if name in item and item[name] is None:
            del item[name]


def to_json(trajectory: Trajectory) -> str:
    """``dump`` as one line of JSON, keys in the order of the fields."""
    return json.dumps(dump(trajectory), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
