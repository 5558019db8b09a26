"""A tool's arguments as a person would name them: any wrapper object is opened, and the output format is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.environments.contract import ToolSchema
from synth.exploration.argument_schemas import spelled_out

__all__ = ["Signature", "signature_of"]

_JSON = "json"


@dataclass(frozen=True)
class Signature:
    """A tool and how it is called."""

    tool: ToolSchema
    """Its schema is spelled out (:func:`synth.exploration.argument_schemas.spelled_out`), and its parameters leave
    out the wrapper."""
    inside: str | None
    """The wrapper argument that holds all the others; None where there is no wrapper."""
    format: Mapping[str, str]
    """The argument that requests JSON; empty where the tool answers in JSON anyway or offers no choice."""

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def properties(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.tool.parameters.get("properties", {})
        return properties

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.tool.parameters.get("required", ()))

    def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the server takes them."""
        return {self.inside: dict(arguments)} if self.inside is not None else dict(arguments)

    def look(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The same arguments, requesting JSON where the tool offers a choice."""
        return self.call({**arguments, **self.format})


def signature_of(tool: ToolSchema) -> Signature:
    """How ``tool`` is called."""
    parameters, inside = spelled_out(tool.parameters), None
    properties = parameters.get("properties", {})
    if len(properties) == 1 and list(properties) == list(parameters.get("required", ())):
        ((name, only),) = properties.items()
        if only.get("type") == "object" and isinstance(only.get("properties"), dict):
            parameters, inside = only, name
    required = parameters.get("required", ())
    choices = {
        name: _JSON
        for name, schema in parameters.get("properties", {}).items()
        if "format" in name.lower() and _JSON in schema.get("enum", ()) and schema.get("default") != _JSON
    }
    left = {name: one for name, one in parameters.get("properties", {}).items() if name not in choices}
    parameters = {**parameters, "properties": left, "required": [name for name in required if name not in choices]}
    return Signature(tool.model_copy(update={"parameters": parameters}), inside, dict(list(choices.items())[:1]))
