"""What a tool takes, as a person would say it: without the one object that holds all arguments, and without the choice
of a format for the answer."""

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
    """Its schema is spelled out (:func:`synth.exploration.argument_schemas.spelled_out`), and its parameters are those
    that a caller thinks of."""
    inside: str | None
    """The argument that holds all of them, where there is such a one."""
    format: Mapping[str, str]
    """The argument that asks for JSON, where the tool would else answer in another form."""

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
        """The same, and the answer is to be JSON where that can be chosen."""
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
