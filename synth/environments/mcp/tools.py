"""The tools that servers list and what they answer, as the agent sees it; and what is wrong with the tools.

A description is written by whoever wrote the server, and it is read by a model: it may give orders (tool poisoning).
It is shown as it stands, without invisible characters, and a warning goes with every run. A tool whose schema can't be
used is left out, with a warning; the others stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema

from synth.environments.contract import ToolSchema
from synth.environments.mcp.config import McpConfig
from synth.environments.suspicion import READ, clean, hidden_characters, orders_in
from synth.identity import canonical_json, digest
from synth.schemas.row import JsonObject, Row

__all__ = ["McpTool", "ToolWarning", "read_tools", "result_text", "tool_digest"]

WarningKind = Literal["instructs", "hidden_characters", "left_out", "changed"]
"""``instructs`` a text of the tool gives the reader orders; ``hidden_characters`` it holds what a person does not see;
``left_out`` the tool can't be used; ``changed`` something of it was made to fit."""

_MAX_DESCRIPTION = 8_000
_MAX_DEPTH = 32
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_PASSED_OVER = frozenset(
    "$ref $dynamicRef $recursiveRef $id $anchor $dynamicAnchor $schema $defs definitions pattern patternProperties "
    "format propertyNames unevaluatedProperties unevaluatedItems dependentSchemas contentSchema".split()
)
"""What arguments are not checked for before they are sent: a reference may be endless or lead out of here, a pattern
may take for ever. The server checks them itself."""


class ToolWarning(Row):
    """What is not as it should be with a tool."""

    server: str
    tool: str
    """By the server's name for it, cleaned."""
    kind: WarningKind
    detail: str


@dataclass(frozen=True)
class McpTool:
    """A tool of a server."""

    server: str
    """Key of the server in the recipe."""
    remote: str
    """The server's name for it."""
    schema: ToolSchema
    """As the agent sees it."""
    checked: ToolSchema
    """What arguments are checked against before they are sent."""
    digest: str
    """Hash of what the server said of it: a server that says something else later has another tool."""
    hints: JsonObject
    """What the server says about effects (``readOnlyHint``, ``idempotentHint``, ...): claims, not facts."""


def tool_digest(raw: Mapping[str, Any]) -> str:
    """Hash of a tool as its server lists it. A tool that has no canonical JSON has the hash of its text."""
    try:
        return digest("mcp-tool", {key: raw.get(key) for key in ("name", "description", "inputSchema")})
    except (ValueError, TypeError, RecursionError):
        return digest("mcp-tool", clean(repr(sorted(map(str, raw)))))


def read_tools(
    listed: Mapping[str, Sequence[Mapping[str, Any]]], config: McpConfig
) -> tuple[tuple[McpTool, ...], tuple[ToolWarning, ...]]:
    """The tools of all servers by name, whatever the order in which they were listed, and what is wrong with them."""
    tools: dict[str, McpTool] = {}
    warnings: list[ToolWarning] = []
    for server in sorted(listed):
        count = len(listed[server])
        if count > config.max_tools:
            detail = f"the server lists {count:,} tools; the first {config.max_tools:,} are taken"
            warnings.append(ToolWarning(server=server, tool="", kind="left_out", detail=detail))
        for raw in listed[server][: config.max_tools]:
            name = clean(str(raw.get("name", "")))[:100]

            def warn(kind: WarningKind, detail: str, server: str = server, name: str = name) -> None:
                warnings.append(ToolWarning(server=server, tool=name, kind=kind, detail=detail[:300]))

            shown = _shown_name(server, name, several=len(config.servers) > 1)
            if config.tools and shown not in config.tools:
                continue
            problem = _unusable(raw, shown, tools, config)
            if problem is not None:
                warn("left_out", problem)
                continue
            tool = _tool(server, raw, shown)
            if shown.removeprefix(f"{server}__") != name:
                warn("changed", f"it is called {shown} here: function names take letters, digits, _ and -")
            for kind, detail in _suspicions(raw):
                warn(kind, detail)
            tools[shown] = tool
    return tuple(tools[name] for name in sorted(tools)), tuple(warnings)


def _shown_name(server: str, name: str, *, several: bool) -> str:
    plain = _NO_NAME.sub("_", name).strip("_")
    return (f"{server}__{plain}" if several else plain)[:64]


def _unusable(raw: Mapping[str, Any], shown: str, taken: Mapping[str, McpTool], config: McpConfig) -> str | None:
    """Why a tool can't be used, None when it can."""
    if not _NAME.fullmatch(shown) or shown.endswith("__"):
        return "its name holds no letter or digit"
    if shown in taken:
        return f"a tool named {shown} was listed before"
    schema = raw.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "its input schema is not of an object"
    if _depth(schema) > _MAX_DEPTH:
        return f"its input schema is nested deeper than {_MAX_DEPTH} levels"
    try:
        size = len(canonical_json(schema).encode())
    except (ValueError, TypeError, RecursionError):
        return "its input schema has no JSON form"
    if size > config.max_schema_bytes:
        return f"its input schema has {size:,} bytes, over {config.max_schema_bytes:,}"
    if any(not ref.startswith("#") for ref in _references(schema)):
        return "its input schema refers to a place outside itself"
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"its input schema is no JSON Schema: {clean(error.message)[:160]}"
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in properties]
    if missing:
        return f"its input schema requires {clean(missing[0])[:60]!r} and does not say what that is"
    return None


def _tool(server: str, raw: Mapping[str, Any], shown: str) -> McpTool:
    text = clean(str(raw.get("description") or "")).strip()
    if len(text) > _MAX_DESCRIPTION:
        text = f"{text[:_MAX_DESCRIPTION]}\n(The description has {len(text):,} characters.)"
    plain = _cleaned(raw["inputSchema"])
    parameters = {**plain, "properties": plain.get("properties", {}), "additionalProperties": False}
    hints = raw.get("annotations")
    flags = {key: value for key, value in hints.items() if isinstance(value, bool)} if isinstance(hints, dict) else {}
    description = text or "The server does not describe this tool."
    return McpTool(
        server=server,
        remote=str(raw["name"]),
        schema=ToolSchema(name=shown, description=description, parameters=parameters),
        checked=ToolSchema(name=shown, description="", parameters=_checkable(parameters)),
        digest=tool_digest(raw),
        hints=flags,
    )


def _cleaned(value: Any, key: str = "") -> Any:
    """A schema whose texts for readers hold no invisible character; names and values stay as the server knows them."""
    if isinstance(value, dict):
        return {name: _cleaned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return clean(value) if key in ("description", "title", "$comment") and isinstance(value, str) else value


def _checkable(value: Any, names: bool = False) -> Any:
    """A schema that can be checked in bounded time. ``names``: the keys are names of properties, not keywords."""
    if isinstance(value, list):
        return [_checkable(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not names and any(key in value for key in ("$ref", "$dynamicRef", "$recursiveRef", "not", "if")):
        return {}  # what it takes is known only with what is left out here
    return {
        key: item
        if key in ("enum", "const", "default", "examples") and not names
        else _checkable(item, key == "properties")
        for key, item in value.items()
        if names or key not in _PASSED_OVER
    }


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth <= _MAX_DEPTH:
        depth += 1
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(item, dict | list)
        ]
    return depth


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(item, str):
                yield item
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a schema that a model reads, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _suspicions(raw: Mapping[str, Any]) -> Iterator[tuple[WarningKind, str]]:
    whole = (str(raw.get("name", "")), str(raw.get("description") or ""), *_texts(raw.get("inputSchema")))
    if any(hidden_characters(text[:READ]) for text in whole):
        yield "hidden_characters", "it holds characters that a person who reads it does not see"
    for found in orders_in(whole):
        yield "instructs", found


def result_text(
    blocks: Sequence[Mapping[str, Any]], structured: Any, *, replace: Mapping[str, str], max_chars: int
) -> str:
    """The observation.

    Args:
        blocks: The content blocks of a result, as the protocol has them.
        structured: Its structured content, None for none. Shown where the text blocks do not say the same.
        replace: Text -> what stands in its place (the name of the folder of this run).
        max_chars: Code points of the result that are shown. The rest is counted, so that nobody takes a part for the
            whole.
    """
    parts = [_block(block) for block in blocks]
    if structured is not None and not _is_said(blocks, structured):
        text = canonical_json(structured)
        parts.append(f"Structured content: {text}" if parts else text)
    whole = "\n".join(parts)
    for old, new in replace.items():
        whole = whole.replace(old, new)
    if not whole.strip():
        return "(The tool gave an empty result.)"
    if len(whole) <= max_chars:
        return clean(whole)
    return f"{clean(whole[:max_chars])}\n(The result has {len(whole):,} characters; the first {max_chars:,} are shown.)"


def _is_said(blocks: Sequence[Mapping[str, Any]], structured: Any) -> bool:
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    told = [_value(text) for text in texts]
    # The SDK wraps a result that is not an object as {"result": ...}, and gives each item of a list a block of its own.
    # A tool may also return JSON as a string, so the raw texts are compared as well.
    wrapped = isinstance(structured, dict) and set(structured) == {"result"}
    ways = (structured, *([structured["result"]] if wrapped else []))
    return any(whole in told or whole in texts or whole == told for whole in ways)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _block(block: Mapping[str, Any]) -> str:
    kind = str(block.get("type", "nothing"))
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        return _unread(f"{kind}, {block.get('mimeType') or 'of unknown type'}", block.get("data"))
    if kind == "resource":
        resource = block.get("resource")
        held = resource if isinstance(resource, Mapping) else {}
        if "text" in held:
            return f"[resource {held.get('uri', '')}]\n{held['text']}"
        return _unread(f"resource {held.get('uri', '')}", held.get("blob"))
    if kind == "resource_link":
        return f"[link to a resource: {block.get('name', '')} {block.get('uri', '')}]"
    return f"[content of type {kind[:40]} is not shown: only text is]"


def _unread(what: str, data: Any) -> str:
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    return f"[{what}, about {size:,} bytes, is not shown: only text is]"
