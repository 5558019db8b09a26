"""A book for a server that has none: from what a survey finds out of its tools, their schemas, and hints.

A tool reads when, after calls of it, equal probes answer as they did before. Where a server says nothing
(``readOnlyHint``), the names of tools say which may be a probe, and the probes are tried against each other first: a
set of calls that answers twice alike changes nothing that it can see itself. A tool that is not shown to read counts
as one that writes: the safe side.

Plainer than a written one: "write a note under a title, with “Tides” as the title". What a server says of a tool is
data that somebody else wrote. It gets into a request only as a plain phrase, and not at all where the tool is
suspicious; it is never followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.environments.contract import ToolCall, ToolSchema
from synth.environments.mcp.environment import McpEnvironment, McpEpisode
from synth.environments.mcp.goals import canonical, open_parts
from synth.errors import InputError
from synth.exploration.black_box import SeenProposer
from synth.exploration.mcp.book import Book, Look, Move, Record
from synth.exploration.mcp.trials import Call, look
from synth.exploration.pipeline import blank_task
from synth.exploration.walks import Explorer, ExplorerConfig
from synth.identity import canonical_json
from synth.lexicon.reading import phrases
from synth.text.inflection import imperative

__all__ = ["Survey", "described_book", "phrase", "survey"]

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


_NO_VERBS = phrases("word_lists")["no_verbs"]


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


def _behind(environment: McpEnvironment, calls: Sequence[Call]) -> McpEpisode:
    """A fresh episode in which ``calls`` were made."""
    episode = environment.reset(blank_task("survey", "mcp", {}))
    for number, (tool, arguments) in enumerate(calls):
        episode.step(ToolCall(id=f"context_{number}", name=tool, arguments=arguments))
    return episode


def _plain(episode: McpEpisode, call: Call) -> tuple[tuple[str, ...], str | None]:
    result = look(episode, *call)
    return open_parts(canonical(result.content)), result.error
