"""A book for a server that has none: from what a survey finds out of its tools, their schemas, and hints.

A tool reads when, after calls of it, equal probes answer as they did before. Where a server says nothing
(``readOnlyHint``), the names of tools say which may be a probe, and the probes are tried against each other first: a
set of calls that answers twice alike changes nothing that it can see itself. A tool that is not shown to read counts
as one that writes: the safe side.

What the servers list is spoken of by name ("delete the task “Book a band”"), and agents have to find its number. Else
it is plainer than a written one: "write a note under a title, with “Tides” as the title".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.environments.contract import ToolCall, ToolSchema
from synth.environments.mcp.environment import McpEnvironment, McpEpisode
from synth.environments.mcp.goals import canonical, open_parts
from synth.errors import InputError
from synth.exploration.black_box import SeenProposer
from synth.exploration.mcp.book import Book, Look, Move, Record, things
from synth.exploration.mcp.listings import Listing, listings, unwrapped, words_of
from synth.exploration.mcp.reading import value_of
from synth.exploration.mcp.trials import Call, look, typed
from synth.exploration.mcp.wording import about_thing, asks_of, phrase, questions_of, questions_on_thing, setting_of
from synth.exploration.pipeline import blank_task
from synth.exploration.walks import Explorer, ExplorerConfig
from synth.identity import canonical_json
from synth.lexicon.reading import phrases

__all__ = ["Survey", "described_book", "survey"]

_LINE = re.compile(r"^(?P<key>[A-Za-z][A-Za-z _-]{1,30}): (?P<value>\S.{0,60})$", re.MULTILINE)
_MOST = 12
"""Values of a slot that are looked at as probes."""
_NO_CHOICES = frozenset(phrases("word_lists")["no_choices"])
_NUMBERS = ("1", "2", "3", "5", "8")


def described_book(environment: McpEnvironment, found: Survey, hints: Mapping[str, Sequence[str]]) -> Book:
    """A book of what can be asked of the servers.

    Args:
        hints: Argument's name -> values that it may take.

    Raises:
        InputError: no tool shows the state, or nothing can be asked for.
    """
    schemas = {tool.name: tool for tool in environment.tools()}
    bare: list[Call] = [(name, {}) for name in found.reads if not schemas[name].parameters.get("required")]
    listed = listings({tool: content for (tool, _), content in _told(environment, bare)})
    slots = _Slots(hints, listed)
    moves: list[Move] = []
    for name in found.writes:
        moves += _doings(environment, schemas[name], slots)
    for listing in listed:
        slot = slots.of(listing)
        for field in listing.asked():
            values = [thing[field] for thing in listing.things if field in thing]
            asks = questions_on_thing(field, values, listing, f"{{{slot}.{listing.name}}}")
            moves.append(Move(answer=f"{{{slot}.{field}}}", asks=asks))
    probes = [probe for name in found.reads for probe in _probes(schemas[name], slots, found.reads[name])]
    for name, samples in found.reads.items():
        moves += _findings(environment, schemas[name], slots, [content for _, content in samples])
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

    def thing(self, tool: ToolSchema) -> tuple[Listing, dict[str, str]] | None:
        """The list of which the tool takes one, and the fields that its arguments are: those that take the most."""
        best: tuple[Listing, dict[str, str]] | None = None
        for listing in self.listed:
            fields = {
                name: field
                for name in tool.parameters.get("required", ())
                if name not in self.hints and (field := listing.field_of(name, tool.name)) is not None
            }
            if fields and (best is None or len(fields) > len(best[1])):
                best = listing, fields
        return best

    def arguments(self, tool: ToolSchema) -> dict[str, Any] | None:
        """A template of the required arguments; None where there are no words for one."""
        listing, fields = self.thing(tool) or (None, {})
        given = {name: f"{{{self.of(listing)}.{field}}}" for name, field in fields.items()} if listing else {}
        return self._filled(tool.parameters, given)

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
        schema = unwrapped(schema)
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


def _doings(environment: McpEnvironment, tool: ToolSchema, slots: _Slots) -> Iterator[Move]:
    """What may be asked of a tool that writes."""
    arguments = slots.arguments(tool)
    if not arguments:
        return
    what, thing = phrase(environment, tool), slots.thing(tool)
    if thing is None:
        yield Move(tool=tool.name, arguments=arguments, asks=asks_of(what, arguments))
        return
    listing, fields = thing
    hole = f"{{{slots.of(listing)}.{listing.name}}}"
    properties = tool.parameters.get("properties", {})
    others = {name: value for name, value in arguments.items() if name not in fields}
    settings = {
        name: value
        for name, schema in properties.items()
        if name not in arguments
        and (name in slots.hints or "enum" in unwrapped(schema) or any(one.values_of(name) for one in slots.listed))
        and (value := slots.value(name, schema)) is not None
    }
    about = about_thing(what, tool.name, listing, hole)
    if others:
        yield Move(tool=tool.name, arguments=arguments, asks=asks_of(about, others))
    elif not settings:
        yield Move(tool=tool.name, arguments=arguments, asks=(about,))
    for name, value in settings.items() if not others else ():
        plain = value[0] if isinstance(value, list) else value
        if isinstance(plain, str):
            asks = setting_of(name, listing, hole, plain)
            yield Move(tool=tool.name, arguments=arguments | {name: value}, asks=asks)


def _findings(environment: McpEnvironment, tool: ToolSchema, slots: _Slots, samples: Sequence[str]) -> Iterator[Move]:
    """What may be asked of a tool that reads something by arguments."""
    arguments = slots.arguments(tool)
    if not arguments:
        return
    thing = slots.thing(tool)
    if thing is not None and len(thing[1]) == len(arguments):
        listing, fields = thing
        calls = [
            (tool.name, typed({name: one[field] for name, field in fields.items()}, tool.parameters))
            for one in listing.things[:_SAMPLES]
        ]
        samples = [content for _, content in _told(environment, calls)]
        told = {field for one in listing.things for field in one}
        for key in _keys(samples):
            if key not in told:
                record = _record(tool.name, arguments, key, samples[0])
                values = [parts["value"] for sample in samples for parts in things(record, sample)]
                if len(set(values)) == 1:
                    continue  # how the call went, and nothing of the thing
                slot, hole = slots.keep(record, f"{listing.noun} {key}"), f"{{{slots.of(listing)}.{listing.name}}}"
                yield Move(answer=f"{{{slot}.value}}", asks=questions_on_thing(key, values, listing, hole))
        return
    for key in _keys(samples):
        slot = slots.keep(_record(tool.name, arguments, key, samples[0]), f"found {key}")
        yield Move(answer=f"{{{slot}.value}}", asks=questions_of(tool, arguments, key))


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
    tool: ToolSchema, slots: _Slots, samples: Sequence[tuple[tuple[str, dict[str, Any]], str]]
) -> Iterator[Look]:
    """Without arguments where that is possible; else for each word that its only argument may be, else as tried."""
    required = tool.parameters.get("required", ())
    if not required:
        yield Look(tool=tool.name)
        return
    template = slots.arguments(tool)
    if template is not None and slots.thing(tool) is not None:
        yield Look(tool=tool.name, arguments=template)  # of each thing that is there
        return
    only = template[required[0]] if template is not None and len(required) == 1 else None
    if isinstance(only, str) and only.strip("{}") in slots.words:
        for value in slots.words[only.strip("{}")][:_MOST]:
            yield Look(tool=tool.name, arguments={required[0]: value})
        return
    for (_, arguments), _ in samples:
        yield Look(tool=tool.name, arguments=arguments)


_READS = re.compile(
    r"(?:^|[_-])(?:get|list|read|search|find|show|describe|query|count|titles?|status|view|open|look|fetch|check|tree|info"
    r"|convert|current)(?:[_-]|$)|(?:^|[_-])(?:log|diff)(?:[_-]|$)"
)
_SAMPLES = 4
"""Different calls of a tool that are kept."""


@dataclass(frozen=True)
class Survey:
    """What was found out."""

    reads: Mapping[str, tuple[tuple[Call, str], ...]]
    """Tool that only reads -> calls of it that were answered, and the answers."""
    writes: tuple[str, ...]
    """The other tools."""
    said: frozenset[str]
    """Tools of which the server itself says whether they read."""


def survey(environment: McpEnvironment, *, hints: Iterable[str] = (), seed: int = 0, calls: int = 60) -> Survey:
    """Try a server's tools.

    Args:
        hints: Words to begin with, where tools take words that no answer has shown.
        calls: Calls of the exploration. All are made on servers of their own, which end with it.
    """
    names = [tool.name for tool in environment.tools()]
    said = {name: claim for name in names if (claim := _claim(environment, name)) is not None}
    words = tuple(hints)
    explorer = Explorer(
        environment,
        lambda: SeenProposer(environment, words),
        seed=seed,
        config=ExplorerConfig(calls=calls, idle=0.5),
        state=lambda episode: "",  # nothing is known of the state yet: what shows something new counts
    )
    walk = explorer.walk(blank_task("survey", "mcp", {}))
    made: dict[str, list[Call]] = {}
    for step in walk.steps:
        if step.result.error is None:
            known = made.setdefault(step.call.name, [])
            call = (step.call.name, step.call.arguments)
            if len(known) < _SAMPLES and call not in known:
                known.append(call)
    may_read = [name for name in made if said.get(name, bool(_READS.search(name)))]
    context = [(s.call.name, s.call.arguments) for s in walk.effective if s.call.name not in may_read]
    reads = _proved(environment, may_read, made, context)
    answers = _answers(environment, context, [call for name in reads for call in made[name]])
    found = {name: tuple((call, answers[canonical_json(call)]) for call in made[name]) for name in reads}
    return Survey(found, tuple(name for name in names if name not in found), frozenset(said))


def _claim(environment: McpEnvironment, name: str) -> bool | None:
    tool = environment.tool(name)
    claim = tool.hints.get("readOnlyHint") if tool is not None else None
    return claim if isinstance(claim, bool) else None


def _proved(
    environment: McpEnvironment, may_read: Sequence[str], made: Mapping[str, Sequence[Call]], context: Sequence[Call]
) -> list[str]:
    """The tools of ``may_read`` whose calls, all of them together, answer twice alike."""
    left = list(may_read)
    while left and not _steady(environment, context, [call for name in left for call in made[name]]):
        culprit = next(
            (
                name
                for name in left
                if _steady(environment, context, [call for other in left if other != name for call in made[other]])
            ),
            left[-1],
        )
        left.remove(culprit)
    return left


def _steady(environment: McpEnvironment, context: Sequence[Call], calls: Sequence[Call]) -> bool:
    episode = _behind(environment, context)
    try:
        first, second = ([_plain(episode, call) for call in calls] for _ in range(2))
        return first == second
    finally:
        episode.close()


def _answers(environment: McpEnvironment, context: Sequence[Call], calls: Sequence[Call]) -> dict[str, str]:
    episode = _behind(environment, context)
    try:
        return {canonical_json(call): look(episode, *call).content for call in calls}
    finally:
        episode.close()


def _told(environment: McpEnvironment, calls: Sequence[Call]) -> list[tuple[Call, str]]:
    """What fresh servers answer to calls, where they do."""
    episode = _behind(environment, ())
    try:
        results = [(call, look(episode, *call)) for call in calls]
        return [(call, result.content) for call, result in results if result.error is None]
    finally:
        episode.close()


def _behind(environment: McpEnvironment, calls: Sequence[Call]) -> McpEpisode:
    """A fresh episode in which ``calls`` were made."""
    episode = environment.reset(blank_task("survey", "mcp", {}))
    for number, (tool, arguments) in enumerate(calls):
        episode.step(ToolCall(id=f"context_{number}", name=tool, arguments=arguments))
    return episode


def _plain(episode: McpEpisode, call: Call) -> tuple[tuple[str, ...], str | None]:
    result = look(episode, *call)
    return open_parts(canonical(result.content)), result.error
