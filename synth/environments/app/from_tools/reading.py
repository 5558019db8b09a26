"""Lists of tools in the forms in which users have them, read to one form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.environments.app.from_tools.vocabulary import Kind
from synth.errors import InputError
from synth.inputs import parse_json, parse_yaml

__all__ = ["GivenTool", "Parameter", "read_tools", "snake"]

_METHODS: Mapping[str, Kind] = {"get": "read", "post": "create", "put": "update", "patch": "update", "delete": "delete"}
_DEPTH = 12
"""References that are followed into one another."""


@dataclass(frozen=True)
class Parameter:
    """An argument of a tool."""

    name: str
    """As the list has it."""
    schema: Mapping[str, Any]
    required: bool
    within: str | None = None
    """The object whose part it is in the list."""

    @property
    def kind(self) -> str:
        """Its JSON type; the first that is not ``null`` where there are several."""
        found = self.schema.get("type")
        types = [found] if isinstance(found, str) else [one for one in found or () if one != "null"]
        if not types:
            types = [_type_of(self.schema)]
        return {"dict": "object", "float": "number", "tuple": "array", "any": "string"}.get(
            str(types[0]), str(types[0])
        )

    @property
    def choices(self) -> tuple[str, ...]:
        """The only texts that it takes; empty = any."""
        values = self.schema.get("enum") or ()
        return tuple(values) if all(isinstance(one, str) and one for one in values) else ()


@dataclass(frozen=True)
class GivenTool:
    """A tool as it was given."""

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    shows: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schemas of what a row of its answer holds, by name; empty where the list does not say."""
    hint: Kind | None = None
    """What it does by its HTTP method and path (read, list, create, update, delete); None where there is neither."""
    resource: str | None = None
    """What its path is about; None where there is no path."""


def read_tools(text: str, where: str) -> tuple[GivenTool, ...]:
    """The tools of a list: JSON, JSON by line or YAML.

    Raises:
        InputError: it is none of the forms, or names a tool twice.
    """
    tools = tuple(_tools(_parsed(text, where), where))
    if not tools:
        raise InputError("it lists no tool", where=where, mend="give OpenAI's `tools`, an MCP `tools/list` or OpenAPI")
    names = [tool.name for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the tool {twice!r} stands there twice", where=where, mend="leave one of them")
    return tools


def snake(name: str) -> str:
    """``listPullRequests`` and ``list-pull-requests`` are ``list_pull_requests``."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name))
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _parsed(text: str, where: str) -> Any:
    bare = text.strip()
    if bare.startswith(("{", "[")):
        try:
            return parse_json(bare)
        except ValueError:
            pass
        try:
            return [parse_json(line) for line in bare.splitlines() if line.strip()]
        except ValueError as error:
            raise InputError(f"it is no JSON ({error})", where=where, mend="mend it") from None
    return parse_yaml(text, where, mend="mend that line")


def _tools(data: Any, where: str) -> Iterator[GivenTool]:
    if isinstance(data, Mapping) and isinstance(data.get("paths"), Mapping):
        yield from _of_openapi(data)
        return
    if isinstance(data, Mapping):
        data = data.get("result", data)
        data = data.get("tools", data) if isinstance(data, Mapping) else data
    for number, one in enumerate(data if isinstance(data, Sequence) and not isinstance(data, str) else ()):
        inner = one.get("function", one) if isinstance(one, Mapping) else None
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            raise InputError(f"entry {number} is no tool: it has no name", where=where, mend="mend that entry")
        schema = inner.get("inputSchema") or inner.get("input_schema") or inner.get("parameters") or {}
        shown = inner.get("outputSchema") or inner.get("response") or {}
        yield GivenTool(
            name=inner["name"],
            about=str(inner.get("description") or ""),
            parameters=_flat(_parameters(schema)),
            shows=_row_of(shown, shown),
        )


def _parameters(schema: Mapping[str, Any]) -> Iterator[Parameter]:
    required = set(schema.get("required") or ())
    for name, spec in (schema.get("properties") or {}).items():
        yield Parameter(name, _resolved(spec, schema), name in required)


def _flat(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The parts of an object that a tool takes stand for themselves."""
    found: dict[str, Parameter] = {}
    for one in parameters:
        inner = one.schema.get("properties") if one.kind == "object" else None
        needed = set(one.schema.get("required") or ())
        parts = [
            Parameter(name, _resolved(spec, one.schema), one.required and name in needed, one.name)
            for name, spec in (inner or {}).items()
        ]
        for part in parts or [one]:
            found.setdefault(snake(part.name), part)
    return tuple(found.values())


def _of_openapi(document: Mapping[str, Any]) -> Iterator[GivenTool]:
    for path, item in document["paths"].items():
        if not isinstance(item, Mapping):
            continue
        for method, operation in item.items():
            if method not in _METHODS or not isinstance(operation, Mapping):
                continue
            yield _operation(document, str(path), method, item, operation)


def _operation(
    document: Mapping[str, Any], path: str, method: str, item: Mapping[str, Any], operation: Mapping[str, Any]
) -> GivenTool:
    found: dict[str, Parameter] = {}
    for one in (*(item.get("parameters") or ()), *(operation.get("parameters") or ())):
        spec = _resolved(one, document)
        if spec.get("in") in ("path", "query"):
            schema = {**_resolved(spec.get("schema", spec), document), "description": spec.get("description", "")}
            found[spec["name"]] = Parameter(spec["name"], schema, bool(spec.get("required")) or spec["in"] == "path")
        elif spec.get("in") == "body":
            found |= _body(document, spec.get("schema") or {})
    body = _resolved(operation.get("requestBody") or {}, document)
    found |= _body(document, _schema_of(body))
    answers = operation.get("responses") or {}
    good: Any = next((answer for code, answer in answers.items() if str(code).startswith("2")), {})
    answer = _resolved(good, document)
    shown = answer.get("schema") or _schema_of(answer)
    segments = [one for one in path.split("/") if one]
    named = [one for one in segments if not one.startswith("{")]
    single = bool(segments) and segments[-1].startswith("{")
    hint = "list" if method == "get" and not single else _METHODS[method]
    return GivenTool(
        name=str(operation.get("operationId") or f"{method}_{'_'.join(named)}"),
        about=str(operation.get("summary") or operation.get("description") or ""),
        parameters=_flat(found.values()),
        shows=_row_of(shown, document),
        hint=hint,
        resource=snake(named[-1]) if named else None,
    )


def _schema_of(content: Mapping[str, Any]) -> Mapping[str, Any]:
    media = content.get("content") or {}
    first: Any = media.get("application/json") or next(iter(media.values()), {})
    return first.get("schema") or {}


def _body(document: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Parameter]:
    whole = _resolved(schema, document)
    required = set(whole.get("required") or ())
    return {
        name: Parameter(name, _resolved(spec, document), name in required)
        for name, spec in (whole.get("properties") or {}).items()
    }


def _row_of(schema: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """What a row of an answer holds: the object, the items of a list, or those of the one list in an object."""
    whole = _resolved(schema, document)
    for _ in range(3):
        if "items" in whole:
            whole = _resolved(whole["items"], document)
            continue
        properties = {name: _resolved(spec, document) for name, spec in (whole.get("properties") or {}).items()}
        lists = [
            spec
            for spec in properties.values()
            if "items" in spec and "properties" in _resolved(spec["items"], document)
        ]
        if len(lists) != 1 or any(name in properties for name in ("id", "name", "title")):
            return properties
        whole = lists[0]
    return {}


def _resolved(schema: Any, document: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Without a reference at its top, parts of ``allOf`` joined, the first real one of alternatives taken."""
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return {}
    if isinstance(schema.get("$ref"), str):
        target: Any = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, Mapping) else {}
        return _resolved(target, document, depth + 1)
    found = dict(schema)
    for part in found.pop("allOf", None) or ():
        inner = _resolved(part, document, depth + 1)
        joined = {**(inner.get("properties") or {}), **(found.get("properties") or {})}
        needed = [*(inner.get("required") or ()), *(found.get("required") or ())]
        found = {
            **inner,
            **found,
            **({"properties": joined} if joined else {}),
            **({"required": needed} if needed else {}),
        }
    for key in ("anyOf", "oneOf"):
        options = [_resolved(one, document, depth + 1) for one in found.pop(key, None) or ()]
        usual = next((one for one in options if one.get("type") not in (None, "null", "object", "array")), None)
        usual = usual or next((one for one in options if one.get("type") != "null"), None)
        found = {**(usual or {}), **found}
    return found


def _type_of(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema else "string"
