"""A book for a server that has none: from the names, descriptions and schemas of its tools, and from hints.

Plainer than a written one: "write a note under a title, with “Tides” as the title". What a server says of a tool is
data that somebody else wrote. It gets into a request only as a plain phrase, and not at all where the tool is
suspicious; it is never followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.environments.contract import ToolSchema
from synth.environments.mcp.environment import McpEnvironment
from synth.errors import InputError
from synth.exploration.mcp.book import Book, Look, Move, Record
from synth.exploration.mcp.survey import Survey
from synth.text.inflection import imperative

__all__ = ["described_book", "phrase"]

_PHRASE = re.compile(r"[A-Z]?[a-z]+(?:[ ,'-]+[A-Za-z0-9]+){1,14}")
_LINE = re.compile(r"^(?P<key>[A-Za-z][A-Za-z _-]{1,30}): (?P<value>\S.{0,60})$", re.MULTILINE)
_MOST = 12
"""Values of a slot that are looked at as probes."""
_NUMBERS = ("1", "2", "3", "5", "8")


def described_book(environment: McpEnvironment, found: Survey, hints: Mapping[str, Sequence[str]]) -> Book:
    """A book of what can be asked of the servers.

    Args:
        hints: Argument's name -> values that it may take.

    Raises:
        InputError: no tool shows the state, or nothing can be asked for.
    """
    schemas = {tool.name: tool for tool in environment.tools()}
    slots = _Slots(hints)
    moves: list[Move] = []
    records: dict[str, Record] = {}
    for name in found.writes:
        arguments = slots.arguments(schemas[name].parameters)
        if arguments is not None and arguments:
            moves.append(Move(tool=name, arguments=arguments, asks=_asks(environment, schemas[name], arguments)))
    for name, samples in found.reads.items():
        arguments = slots.arguments(schemas[name].parameters)
        for key in _keys([content for _, content in samples]) if arguments else ():
            slot = f"r_{len(records)}".translate(str.maketrans("0123456789", "abcdefghij"))
            records[slot] = _record(name, arguments or {}, key, samples[0][1])
            asks = _questions(schemas[name], arguments or {}, key)
            moves.append(Move(answer=f"{{{slot}.value}}", asks=asks))
    probes = [probe for name in found.reads for probe in _probes(schemas[name], slots, found.reads[name])]
    if not probes:
        raise InputError("no tool is seen to show the servers' state", where="source.servers", mend="give a book")
    if not moves:
        mend = "give values for their arguments in questions.hints, or a book"
        raise InputError("nothing can be asked of the servers' tools", where="questions", mend=mend)
    return Book(
        servers=tuple(sorted(info["name"] or "server" for info in environment.servers.values())),
        words=slots.words,
        records=records,
        probes=tuple(probes),
        moves=tuple(moves),
    )


class _Slots:
    """Words by argument; a name of its own for each set of choices."""

    def __init__(self, hints: Mapping[str, Sequence[str]]) -> None:
        self.hints = hints
        self.words: dict[str, tuple[str | dict[str, str], ...]] = {}

    def arguments(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """A template of the required arguments; None where there are no words for one."""
        properties = schema.get("properties", {})
        found = {}
        for name in schema.get("required", ()):
            value = self._value(name, properties.get(name, {}))
            if value is None:
                return None
            found[name] = value
        return found

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        kind = schema.get("type")
        if "enum" in schema:
            return self._hole(name, [str(value) for value in schema["enum"] if isinstance(value, str)])
        if kind == "array":
            item = self._value(name, schema.get("items", {}))
            return None if item is None else [item]
        if kind == "object":
            return self.arguments(schema)
        if kind == "boolean":
            return self._hole(name, ["true", "false"])
        if kind in ("integer", "number"):
            return self._hole(name, list(self.hints.get(name, _NUMBERS)))
        return self._hole(name, list(self.hints.get(name, ())))

    def _hole(self, name: str, values: Sequence[str]) -> str | None:
        if not values:
            return None
        plain = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_") or "value"
        slot = plain
        while slot in self.words and self.words[slot] != tuple(values):
            slot += "_x"
        self.words[slot] = tuple(values)
        return f"{{{slot}}}"


def phrase(environment: McpEnvironment, tool: ToolSchema) -> str:
    """What a tool does, as a clause that could follow "please"."""
    suspicious = {warning.tool for warning in environment.warnings}
    known = environment.tool(tool.name)
    first = tool.description.split("\n")[0].split(". ")[0].strip().rstrip(".")
    if (
        known is None
        or known.remote in suspicious
        or not _PHRASE.fullmatch(first)
        or first.split()[0].lower() in _NO_VERBS
    ):
        words = re.sub(r"[_-]+", " ", tool.name.split("__")[-1])
        return words.lower()
    verb, _, rest = first.partition(" ")
    return f"{imperative(verb.lower())} {rest}"


_NO_VERBS = frozenset("a an the this that these everything all tool notes titles use result".split())


def _asks(environment: McpEnvironment, tool: ToolSchema, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    what = phrase(environment, tool)
    named = list(_named(arguments))
    listed = ", ".join(f"{name} “{hole}”" for name, hole in named)
    with_ = " and ".join(f"“{hole}” as the {name}" for name, hole in named)
    return (f"{what}, with {with_}", f"{what} ({listed})", f"{what}, using {with_}")


def _named(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(name in words, hole) of every hole in a template."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _named(item, re.sub(r"[_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)).lower())
    elif isinstance(value, list):
        for item in value:
            yield from _named(item, name)
    else:
        yield name, str(value)


def _keys(contents: Sequence[str]) -> list[str]:
    """Names of plain values that every answer of a tool shows."""
    found: list[set[str]] = []
    for content in contents:
        try:
            value = json.loads(content)
        except ValueError:
            found.append({match["key"] for match in _LINE.finditer(content)})
            continue
        plain = value.items() if isinstance(value, dict) else ()
        found.append({key for key, item in plain if isinstance(item, str | int | float) and 0 < len(str(item)) <= 60})
    return sorted(set.intersection(*found))[:6] if found else []


def _record(tool: str, arguments: dict[str, Any], key: str, content: str) -> Record:
    pattern = rf"^{re.escape(key)}: (?P<value>.+)$"
    if re.search(pattern, content, re.MULTILINE) is None:
        pattern = rf'"{re.escape(key)}": *"?(?P<value>[^"\\,}}\n]+)"?'
    return Record(tool=tool, arguments=arguments, pattern=pattern)


def _questions(tool: ToolSchema, arguments: Mapping[str, Any], key: str) -> tuple[str, ...]:
    wanted = re.sub(r"[_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)).lower()
    given = " and ".join(f"{name} “{hole}”" for name, hole in _named(arguments))
    what = re.sub(r"[_-]+", " ", tool.name.split("__")[-1])
    return (
        f"What is the {wanted} for {given}?",
        f"For {given}, what does “{what}” give as the {wanted}?",
        f"Please look up the {wanted} for {given}. What is it?",
    )


def _probes(
    tool: ToolSchema, slots: _Slots, samples: Sequence[tuple[tuple[str, dict[str, Any]], str]]
) -> Iterator[Look]:
    """Without arguments where that is possible; else for each word that its only argument may be, else as tried."""
    required = tool.parameters.get("required", ())
    if not required:
        yield Look(tool=tool.name)
        return
    template = slots.arguments(tool.parameters)
    holes = list(_named(template)) if template is not None else []
    if template is not None and len(required) == 1 and len(holes) == 1 and isinstance(template[required[0]], str):
        for value in slots.words[holes[0][1].strip("{}")][:_MOST]:
            yield Look(tool=tool.name, arguments={required[0]: value})
        return
    for (_, arguments), _ in samples:
        yield Look(tool=tool.name, arguments=arguments)
