"""Arguments of a tool call as a model wrote them: fitted where only one reading is possible, else refused in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from synth.environments.contract import ToolSchema
from synth.patterns import schema_errors

__all__ = ["fit", "tool_named"]

_FORM = frozenset(("type", "required", "additionalProperties"))
"""Rules whose breach is one of form. A value that is merely wrong (a page that there is not, too many results) is the
agent's own doing: the environment answers it."""
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,15})")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")


def tool_named(name: str, tools: Sequence[ToolSchema]) -> tuple[ToolSchema | None, tuple[str, ...]]:
    """The tool that ``name`` means: as written, else without a namespace, special tokens and case."""
    exact = next((tool for tool in tools if tool.name == name), None)
    if exact is not None:
        return exact, ()
    bare = re.split(r"<[|｜]|:\d+$", name.strip())[0].strip()
    for prefix in ("functions.", "functions/", "tools.", "function."):
        bare = bare.removeprefix(prefix)
    alike = [tool for tool in tools if tool.name.casefold() == bare.casefold()]
    return (alike[0], ("tool_name",)) if len(alike) == 1 else (None, ())


def fit(tool: ToolSchema, arguments: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """``arguments`` in the types that the tool takes, where they can be meant in one way only: ``"5"`` for a whole
    number, 1984 for a text, null for what may be left out.

    Raises:
        ValueError: they have another form than the tool takes (a type, a missing or an unknown name); in words.
    """
    known = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    fitted: dict[str, Any] = {}
    repaired: list[str] = []
    for name, value in arguments.items():
        wanted = known.get(name, {}).get("type")
        if value is None and name in known and name not in required and wanted is not None:
            repaired.append("null_argument")
            continue
        fitted[name], changed = _fit(value, wanted)
        repaired += ["coerced"] if changed else []
    for error in schema_errors(tool.parameters, fitted):
        if error.validator in _FORM:
            place = ".".join(str(part) for part in error.absolute_path)
            message = error.message if len(error.message) < 200 else f"{error.message[:200]}..."
            raise ValueError(f"{place}: {message}" if place else message)
    return fitted, tuple(dict.fromkeys(repaired))


def _fit(value: Any, wanted: Any) -> tuple[Any, bool]:
    if isinstance(value, str):
        plain = value.strip()
        if wanted == "integer" and _INTEGER.fullmatch(plain):
            return int(plain), True
        if wanted == "number" and _NUMBER.fullmatch(plain):
            return float(plain), True
        if wanted == "boolean" and plain.casefold() in ("true", "false"):
            return plain.casefold() == "true", True
    elif wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value), True
    elif wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), True
    return value, False
