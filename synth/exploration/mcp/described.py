"""A book for a server that has none: from what a survey finds out of its tools, their schemas, and hints.

What the servers list is spoken of by name ("delete the task “Book a band”"), and agents have to find its number. Else
it is plainer than a written one: "write a note under a title, with “Tides” as the title".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.environments.mcp.environment import McpEnvironment
from synth.errors import InputError
from synth.exploration.mcp.book import Book, Look, Move, Record, things
from synth.exploration.mcp.listings import Listing, listings, squeezed, words_of
from synth.exploration.mcp.reading import value_of
from synth.exploration.mcp.signatures import Signature, signature_of
from synth.exploration.mcp.survey import SAMPLES, Survey, seems_to_read, told, tried
from synth.exploration.mcp.trials import Call, typed
from synth.exploration.mcp.wording import about_thing, asks_of, phrase, questions_of, questions_on_thing, setting_of
from synth.lexicon.reading import phrases

__all__ = ["described_book"]

_LINE = re.compile(r"^(?P<key>[A-Za-z][A-Za-z _-]{1,30}): (?P<value>\S.{0,60})$", re.MULTILINE)
_MOST = 12
"""Values of a slot that are looked at as probes."""
_NO_CHOICES = frozenset(phrases("word_lists")["no_choices"])
_NOT_ASKED = frozenset(phrases("word_lists")["not_asked"])
_NUMBERS = ("1", "2", "3", "5", "8")


def described_book(environment: McpEnvironment, found: Survey, hints: Mapping[str, Sequence[str]]) -> Book:
    """A book of what can be asked of the servers.

    Args:
        hints: Argument's name -> values that it may take.

    Raises:
        InputError: no tool shows the state, or nothing can be asked for.
    """
    signatures = {tool.name: signature_of(tool) for tool in environment.tools()}
    bare: list[Call] = [(name, signatures[name].look({})) for name in found.reads if not signatures[name].required]
    listed = listings(told(environment, bare))
    slots = _Slots(hints, listed)
    unread = (signatures[name] for name in found.writes if seems_to_read(environment, name))
    found = tried(environment, found, {tool.name: calls for tool in unread if (calls := slots.calls(tool))})
    moves: list[Move] = []
    for name in found.writes:
        moves += _doings(environment, signatures[name], slots)
    for listing in listed:
        slot = slots.of(listing)
        for field in listing.asked():
            values = [thing[field] for thing in listing.things if field in thing]
            asks = questions_on_thing(field, values, listing, f"{{{slot}.{listing.name}}}")
            moves.append(Move(answer=f"{{{slot}.{field}}}", asks=asks))
    probes = [probe for name in found.reads for probe in _probes(signatures[name], slots, found.reads[name])]
    for name, samples in found.reads.items():
        moves += _findings(environment, signatures[name], slots, [content for _, content in samples])
    if not probes:
        raise InputError("no tool is seen to show the servers' state", where="source.servers", mend="give a book")
    if not moves:
        mend = "give values for their arguments in questions.hints, or a book"
        raise InputError("nothing can be asked of the servers' tools", where="questions", mend=mend)
    return Book(
        servers=tuple(sorted(info["name"] or "server" for info in environment.servers.values())),
        words=slots.words,
        records=slots.records,
        probes=tuple(probes),
        moves=tuple(moves),
    )


class _Slots:
    """Words by argument, a name of its own for each set of choices; and the things that are listed."""

    def __init__(self, hints: Mapping[str, Sequence[str]], listed: Sequence[Listing] = ()) -> None:
        self.hints = hints
        self.listed = listed
        self.words: dict[str, tuple[str | dict[str, str], ...]] = {}
        self.records: dict[str, Record] = {}

    def of(self, listing: Listing) -> str:
        """The slot of one of its things."""
        return self.keep(listing.record, "_".join(listing.noun.split()))

    def keep(self, record: Record, name: str) -> str:
        slot = re.sub(r"[^a-z]+", "_", name.lower()).strip("_") or "thing"
        while slot in self.words or self.records.get(slot, record) != record:
            slot += "_x"
        self.records[slot] = record
        return slot

    def thing(self, tool: Signature) -> tuple[Listing, dict[str, str]] | None:
        """The list of which the tool takes one, and the fields that its arguments are: those that take the most."""
        best: tuple[Listing, dict[str, str]] | None = None
        for listing in self.listed:
            fields = {
                name: field
                for name in tool.required
                if name not in self.hints and (field := listing.field_of(name, tool.name)) is not None
            }
            if fields and (best is None or len(fields) > len(best[1])):
                best = listing, fields
        return best

    def calls(self, tool: Signature) -> list[Call]:
        """Calls of a tool that takes nothing but what is listed, for the first few things."""
        listing, fields = self.thing(tool) or (None, {})
        if listing is None or len(fields) != len(tool.required):
            return []
        given = [{name: one[field] for name, field in fields.items()} for one in listing.things[:SAMPLES]]
        return [(tool.name, tool.look(typed(one, tool.tool.parameters))) for one in given]

    def arguments(self, tool: Signature) -> dict[str, Any] | None:
        """A template of the required arguments; None where there are no words for one."""
        listing, fields = self.thing(tool) or (None, {})
        given = {name: f"{{{self.of(listing)}.{field}}}" for name, field in fields.items()} if listing else {}
        return self._filled(tool.tool.parameters, given)

    def _filled(self, schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any] | None:
        properties = schema.get("properties", {})
        found = dict(given)
        for name in schema.get("required", ()):
            value = given.get(name) or self.value(name, properties.get(name, {}))
            if value is None:
                return None
            found[name] = value
        return found

    def value(self, name: str, schema: Mapping[str, Any]) -> Any:
        """A template of one argument."""
        kind = schema.get("type")
        if "enum" in schema:
            plain = [str(value) for value in schema["enum"] if isinstance(value, str)]
            return self._hole(name, [value for value in plain if value not in _NO_CHOICES] or plain)
        if kind == "array":
            item = self.value(name, schema.get("items", {}))
            return None if item is None else [item]
        if kind == "object":
            return self._filled(schema, {})
        if kind == "boolean":
            return self._hole(name, ["true", "false"])
        known = self.hints.get(name) or next((values for one in self.listed if (values := one.values_of(name))), ())
        if kind in ("integer", "number"):
            return self._hole(name, list(known or _NUMBERS))
        return self._hole(name, list(known))

    def _hole(self, name: str, values: Sequence[str]) -> str | None:
        if not values:
            return None
        plain = re.sub(r"[^a-z]+", "_", "_".join(words_of(name))).strip("_") or "value"
        slot = plain
        while slot in self.records or (slot in self.words and self.words[slot] != tuple(values)):
            slot += "_x"
        self.words[slot] = tuple(values)
        return f"{{{slot}}}"


def _doings(environment: McpEnvironment, tool: Signature, slots: _Slots) -> Iterator[Move]:
    """What may be asked of a tool that writes."""
    arguments = slots.arguments(tool)
    if not arguments:
        return
    what, thing = phrase(environment, tool.tool), slots.thing(tool)
    if thing is None:
        yield Move(tool=tool.name, arguments=tool.call(arguments), asks=asks_of(what, arguments))
        return
    listing, fields = thing
    hole = f"{{{slots.of(listing)}.{listing.name}}}"
    others = {name: value for name, value in arguments.items() if name not in fields}
    settings = {
        name: value
        for name, schema in tool.properties.items()
        if name not in arguments
        and (name in slots.hints or "enum" in schema or any(one.values_of(name) for one in slots.listed))
        and (value := slots.value(name, schema)) is not None
    }
    about = about_thing(what, tool.name, listing, hole)
    if others:
        yield Move(tool=tool.name, arguments=tool.call(arguments), asks=asks_of(about, others))
    elif not settings:
        yield Move(tool=tool.name, arguments=tool.call(arguments), asks=(about,))
    for name, value in settings.items() if not others else ():
        plain = value[0] if isinstance(value, list) else value
        if isinstance(plain, str):
            asks = setting_of(name, listing, hole, plain)
            yield Move(tool=tool.name, arguments=tool.call(arguments | {name: value}), asks=asks)


def _findings(environment: McpEnvironment, tool: Signature, slots: _Slots, samples: Sequence[str]) -> Iterator[Move]:
    """What may be asked of a tool that reads something by arguments."""
    arguments = slots.arguments(tool)
    if not arguments:
        return
    thing, calls = slots.thing(tool), slots.calls(tool)
    if thing is not None and calls:
        listing, _ = thing
        samples = [content for _, content in told(environment, calls)]
        listed = {field for one in listing.things for field in one}
        for key in _keys(samples):
            if key not in listed and squeezed(key) not in _NOT_ASKED:
                record = _record(tool.name, tool.look(arguments), key, samples[0])
                values = [parts["value"] for sample in samples for parts in things(record, sample)]
                if len(set(values)) == 1 or _tells_the_name(values, listing):
                    continue  # how the call went, and nothing of the thing; or where it is kept, by its name
                slot, hole = slots.keep(record, f"{listing.noun} {key}"), f"{{{slots.of(listing)}.{listing.name}}}"
                yield Move(answer=f"{{{slot}.value}}", asks=questions_on_thing(key, values, listing, hole))
        return
    for key in _keys(samples):
        slot = slots.keep(_record(tool.name, tool.look(arguments), key, samples[0]), f"found {key}")
        yield Move(answer=f"{{{slot}.value}}", asks=questions_of(tool.tool, arguments, key))


def _tells_the_name(values: Sequence[str], listing: Listing) -> bool:
    names = [squeezed(thing[listing.name]) for thing in listing.things]
    return any(name in squeezed(value) for name, value in zip(names, values, strict=False))


def _keys(contents: Sequence[str]) -> list[str]:
    """Names of plain values that every answer of a tool shows."""
    found: list[set[str]] = []
    for content in contents:
        try:
            value = value_of(content)
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


def _probes(
    tool: Signature, slots: _Slots, samples: Sequence[tuple[tuple[str, dict[str, Any]], str]]
) -> Iterator[Look]:
    """Without arguments where that is possible; else for each word that its only argument may be, else as tried."""
    required = tool.required
    if not required:
        yield Look(tool=tool.name, arguments=tool.look({}))
        return
    template = slots.arguments(tool)
    if template is not None and slots.thing(tool) is not None:
        yield Look(tool=tool.name, arguments=tool.look(template))  # of each thing that is there
        return
    only = template[required[0]] if template is not None and len(required) == 1 else None
    if isinstance(only, str) and only.strip("{}") in slots.words:
        for value in slots.words[only.strip("{}")][:_MOST]:
            yield Look(tool=tool.name, arguments=tool.look({required[0]: value}))
        return
    for (_, arguments), _ in samples:
        yield Look(tool=tool.name, arguments=arguments)
