"""The Agent Data Protocol, generation 2 (arXiv 2510.24702; neulab/agent-data-protocol 1.x, strict).

ADP is not published as a package; these models restate its rules. Unknown fields are refused with their path.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = [
    "ADP_VERSION",
    "SUPPORTED_VERSIONS",
    "Action",
    "ApiAction",
    "CodeAction",
    "ContentItem",
    "ImageObservation",
    "MessageAction",
    "Observation",
    "TextObservation",
    "Trajectory",
    "WebObservation",
]

SUPPORTED_VERSIONS = ("1.0.0", "1.1.0", "1.2.0")
ADP_VERSION = "1.2.0"
"""The version that we write."""


class ApiAction(Row):
    """A tool call."""

    class_: Literal["api_action"] = "api_action"
    function: NonEmpty
    kwargs: JsonObject
    description: str | None = None
    """Text said beside the call."""
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    reward: float | None = None


class CodeAction(Row):
    class_: Literal["code_action"] = "code_action"
    language: NonEmpty
    content: str
    description: str | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    reward: float | None = None


class MessageAction(Row):
    """A message to the user; the last one is the final answer."""

    class_: Literal["message_action"] = "message_action"
    content: str
    description: str | None = None
    reasoning_content: str | None = None
    reward: float | None = None


class TextObservation(Row):
    class_: Literal["text_observation"] = "text_observation"
    content: str
    source: Literal["user", "agent", "environment"]
    name: str | None = None
    tool_call_id: str | None = None
    reward: float | None = None


class ImageObservation(Row):
    class_: Literal["image_observation"] = "image_observation"
    content: str
    source: Literal["user", "agent", "environment"]
    annotations: Annotated[tuple[JsonObject, ...], Field()] | None = None
    tool_call_id: str | None = None
    reward: float | None = None


class WebObservation(Row):
    class_: Literal["web_observation"] = "web_observation"
    html: str | None
    axtree: str | None
    url: str | None
    image_observation: ImageObservation | None
    viewport_size: tuple[int, int] | None
    tool_call_id: str | None = None
    reward: float | None = None


Action = ApiAction | CodeAction | MessageAction
Observation = TextObservation | WebObservation | ImageObservation
ContentItem = Annotated[
    ApiAction | CodeAction | MessageAction | TextObservation | WebObservation | ImageObservation,
    Field(discriminator="class_"),
]


class Trajectory(Row):
    """An ADP trajectory."""

    schema_version: NonEmpty
    id: NonEmpty
    content: tuple[ContentItem, ...]
    available_custom_tools: tuple[str, ...] | None = None
    available_code_languages: tuple[str, ...] | None = None
    details: JsonObject = {}
