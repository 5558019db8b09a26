"""Wrong values that a careless agent would give: near what is right, and visible or of its make."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from synth.agents.plan_view import alike, value_at
from synth.agents.scripted.tool_agent.turn_builder import TurnBuilder
from synth.environments.contract import ToolSchema

__all__ = ["improvised", "made_up", "other_value"]

_MONEY = re.compile(r"\$(\d[\d,]*)(?:\.(\d\d))?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


def made_up(value: str, generator: np.random.Generator) -> str:
    """A value of the same make that nobody has seen."""
    signs = [
        _LETTERS[int(generator.integers(len(_LETTERS)))]
        if sign.isupper()
        else _LETTERS[int(generator.integers(len(_LETTERS)))].lower()
        if sign.islower()
        else str(int(generator.integers(10)))
        if sign.isdigit()
        else sign
        for sign in value
    ]
    return "".join(signs)


def other_value(
    builder: TurnBuilder,
    number: int,
    arguments: dict[str, Any],
    generator: np.random.Generator,
    only: str | None = None,
) -> tuple[str, Any] | None:
    """(argument, wrong value) for one of the values that the user has given; None where there is nothing near."""
    planned = builder.plan.calls[number]
    schema = builder.tools.get(planned.tool)
    paths = [
        path
        for path, given in planned.given.items()
        if "." not in path and (path == only if only is not None else given.source in ("question", "user", "schema"))
    ]
    for place in generator.permutation(len(paths)):
        path = paths[int(place)]
        options = _near(builder, schema, path, value_at(arguments, path))
        if options:
            return path, options[int(generator.integers(len(options)))]
    return None


def _near(builder: TurnBuilder, schema: ToolSchema | None, name: str, value: Any) -> list[Any]:
    properties = schema.parameters.get("properties", {}) if schema is not None else {}
    about: Any = properties.get(name, {}) if isinstance(properties, dict) else {}
    choices = about.get("enum") if isinstance(about, dict) else None
    if isinstance(choices, list):
        return [choice for choice in choices if choice != value]
    if isinstance(value, bool):
        return [not value]
    texts = [builder.task.question, *(result.content for result in builder.results)]
    if isinstance(value, int) and name.endswith("cents"):
        seen = {int(w.replace(",", "")) * 100 + int(c or 0) for text in texts for w, c in _MONEY.findall(text)}
        return sorted(amount for amount in seen if amount != value and amount > 0)[:8] or [value + 1000]
    if isinstance(value, int):
        low, high = about.get("minimum", 0), about.get("maximum", value + 1)
        return [near for near in (value - 1, value + 1) if low <= near <= high]
    if isinstance(value, str) and _DAY.fullmatch(value):
        return [day for day in dict.fromkeys(d for text in texts for d in _DAY.findall(text)) if day != value][:8]
    if isinstance(value, str):
        return [other for text in texts[1:] for other in alike(value, text, builder.task.question) if other != value][
            :8
        ]
    return []


def improvised(builder: TurnBuilder, generator: np.random.Generator) -> tuple[str, dict[str, Any]] | None:
    """A change that can be made with what was seen, and that nobody asked for."""
    known: dict[str, Any] = {}
    for _, call, result in builder.view.made:
        if result.error is None:
            known |= call.arguments
    names = sorted(name for name in builder.view.changing if name in builder.tools)
    for place in generator.permutation(len(names)):
        tool = builder.tools[names[int(place)]]
        arguments = _filled(tool, known, generator)
        if arguments is not None:
            return tool.name, arguments
    return None


def _filled(tool: ToolSchema, known: dict[str, Any], generator: np.random.Generator) -> dict[str, Any] | None:
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    arguments: dict[str, Any] = {}
    about_known = False
    for name in map(str, required):
        schema: Any = properties.get(name, {})
        if name in known:
            arguments[name] = known[name]
            about_known = True
        elif schema.get("enum"):
            choices = schema["enum"]
            arguments[name] = choices[int(generator.integers(len(choices)))]
        elif schema.get("type") == "integer" and not name.endswith("cents"):
            arguments[name] = int(schema.get("minimum", 1))
        elif schema.get("type") == "boolean":
            arguments[name] = True
        elif schema.get("type") == "string" and "pattern" not in schema and not name.endswith("_id"):
            arguments[name] = "As the user asked."
        else:
            return None
    return arguments if about_known else None
