"""Arguments of a tool call as a model wrote them: read where only one reading is possible, else refused in words."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

from synth.environments.contract import ToolSchema

__all__ = ["fenced", "fit", "read_json", "read_object", "tool_named"]

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n?(.*?)\n?\s*```\s*\Z", re.S)
_SPECIAL = re.compile(r"(?:<[|｜][^<>]{1,40}[|｜]>|</?s>|</tool_call>|\s|```)*")
"""What a server forgot to take off: special tokens, a closing tag."""
_FORM = frozenset(("type", "required", "additionalProperties"))
"""Rules whose breach is one of form. A value that is merely wrong (a page that there is not, too many results) is the
agent's own doing: the environment answers it."""
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,15})")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")


def fenced(text: str) -> str | None:
    """What stands in the one code fence that ``text`` is, or None."""
    match = _FENCE.match(text)
    return match.group(1) if match and "```" not in match.group(1) else None


def read_json(text: str) -> tuple[Any, tuple[str, ...]]:
    """The one JSON value in ``text`` and what had to be looked past: a fence, special tokens behind it, brackets too
    many, Python's way of writing it.

    Raises:
        ValueError: there is none, or more than one; the message says it in words for the model.
    """
    repaired: list[str] = []
    inner = fenced(text)
    if inner is not None:
        text, repaired = inner, ["fenced"]
    text = text.strip()
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        try:
            return _python(text), (*repaired, "python_literal")
        except ValueError:
            raise ValueError(f"it is not valid JSON ({error.msg} at character {error.pos})") from None
    rest = text[end:]
    if rest:
        if not _SPECIAL.fullmatch(rest.lstrip("]} \n")):
            raise ValueError(f"something stands behind the JSON: {rest.strip()[:60]!r}")
        repaired.append("trailing_text")
    return value, tuple(repaired)


def read_object(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Arguments as an object: JSON, JSON in a JSON string, or nothing at all (no arguments).

    Raises:
        ValueError: it is neither; in words for the model.
    """
    if not text.strip():
        return {}, ("empty_arguments",)
    value, repaired = read_json(text)
    if isinstance(value, str):
        inner, more = read_json(value) if value.strip() else ({}, ("empty_arguments",))
        value, repaired = inner, (*repaired, "double_encoded", *more)
    if value is None:
        return {}, (*repaired, "empty_arguments")
    if not isinstance(value, dict):
        raise ValueError("the arguments are not a JSON object")
    return value, repaired


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def _python(text: str) -> Any:
    """A dict or list as Python writes it: single quotes, True, None."""
    if not text.startswith(("{", "[")):
        raise ValueError(text)
    try:
        value = ast.literal_eval(text)
        return _decoder.decode(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError(text) from None


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
    import jsonschema

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
    for error in jsonschema.Draft202012Validator(tool.parameters).iter_errors(fitted):
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
