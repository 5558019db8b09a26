"""A book for a server that has none: from what a survey finds out of its tools, their schemas, and hints.

What the servers list is spoken of by name ("delete the task “Book a band”"), and agents have to find its number. Else
it is plainer than a written one: "write a note under a title, with “Tides” as the title".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from synth.environments.mcp.environment import McpEnvironment
from synth.errors import InputError
from synth.exploration.mcp.below import below
from synth.exploration.mcp.book import HOLE, Book, Look, Move, Record, things
from synth.exploration.mcp.folders import folders
from synth.exploration.mcp.listings import Listing, fullest, is_plain, is_worth, listings, squeezed, verb_of, words_of
from synth.exploration.mcp.making import Maker
from synth.exploration.mcp.plain_lists import group_arguments, plain_listings
from synth.exploration.mcp.reading import value_of
from synth.exploration.mcp.signatures import Signature, signature_of
from synth.exploration.mcp.slots import Slots, is_free
from synth.exploration.mcp.survey import Survey, seems_to_read, told, tried
from synth.exploration.mcp.trials import Call
from synth.exploration.mcp.wording import (
    about_thing,
    asks_of,
    phrase,
    questions_of,
    questions_on_thing,
    setting_of,
    setting_of_tool,
)
from synth.lexicon.reading import phrases

__all__ = ["described_book"]

_LINE = re.compile(r"^(?P<key>[A-Za-z][A-Za-z _-]{1,30}): (?P<value>\S.{0,60})$", re.MULTILINE)
_SETS = frozenset(phrases("word_lists")["setting_verbs"])
_OF_VALUES = frozenset(phrases("word_lists")["of_values"])
_OF_DISPATCH = frozenset(phrases("word_lists")["of_dispatch"])
_MOST = 12
"""Values of a slot that are looked at as probes."""
_NOT_ASKED = frozenset(phrases("word_lists")["not_asked"])


def described_book(environment: McpEnvironment, found: Survey, hints: Mapping[str, Sequence[str]]) -> Book:
    """A book of what can be asked of the servers.

    Args:
        hints: Argument's name -> values that it may take.

    Raises:
        InputError: no tool shows the state, or nothing can be asked for.
    """
    signatures = {tool.name: signature_of(tool) for tool in environment.tools()}
    unread = [signatures[name] for name in found.writes if seems_to_read(environment, name)]
    found = tried(environment, found, {one.name: [(one.name, one.look({}))] for one in unread if not one.required})
    bare: list[Call] = [(name, signatures[name].look({})) for name in found.reads if not signatures[name].required]
    answers = told(environment, bare)
    plain = plain_listings(answers, lambda tool, keys: _grouped(environment, signatures[tool], keys))
    slots = Slots(hints, [*listings(answers), *_of_tools(plain, signatures)])
    found = tried(environment, found, _untried(environment, found, signatures, slots))
    under = [one for name in found.reads for one in below(environment, signatures[name], slots)]
    if under:
        slots.listed = fullest([*slots.listed, *under])
        found = tried(environment, found, _untried(environment, found, signatures, slots))
    inside = list(folders(environment, signatures, slots))
    slots.listed = [*slots.listed, *inside]
    moves: list[Move] = []
    for name, samples in found.reads.items():
        moves += _findings(environment, signatures[name], slots, [content for _, content in samples])
    for name in found.writes:
        if not seems_to_read(environment, name):
            moves += _doings(environment, signatures[name], slots)
    for listing in slots.listed:
        for field in listing.asked():
            values = [thing[field] for thing in listing.things if field in thing]
            asks = questions_on_thing(field, values, listing, slots.spoken(listing))
            moves.append(Move(answer=slots.hole(listing, field), asks=asks))
    probes = [probe for name in found.reads for probe in _probes(signatures[name], slots, found.reads[name])]
    probes += [Look(tool=one.record.tool, arguments=one.record.arguments) for one in inside]
    if not probes:
        raise InputError("no tool is seen to show the servers' state", where="source.servers", mend="give a book")
    if not moves:
        mend = "give values for their arguments in questions.hints, or a book"
        raise InputError("nothing can be asked of the servers' tools", where="questions", mend=mend)
    return Book(
        servers=tuple(sorted(info["name"] or "server" for info in environment.servers.values())),
        new=slots.new,
        words=slots.words,
        records=slots.records,
        probes=tuple(probes),
        moves=tuple(moves),
    )


def _doings(environment: McpEnvironment, tool: Signature, slots: Slots) -> Iterator[Move]:
    """What may be asked of a tool that writes."""
    about = slots.alike(tool)
    for thing in about:
        yield from _doings_on(environment, tool, slots, thing)
    arguments = slots.arguments(tool) if not about else None
    if not arguments:
        yield from () if about else _maker(environment, tool, slots).moves()
        return
    if _OF_DISPATCH & set(arguments):
        return
    yield Move(tool=tool.name, arguments=tool.call(arguments), asks=asks_of(phrase(environment, tool.tool), arguments))


def _maker(environment: McpEnvironment, tool: Signature, slots: Slots) -> Maker:
    known, suspicious = environment.tool(tool.name), {warning.tool for warning in environment.warnings}
    return Maker(tool, slots, trusted=known is not None and known.remote not in suspicious)


def _doings_on(
    environment: McpEnvironment, tool: Signature, slots: Slots, thing: tuple[Listing, dict[str, str]]
) -> Iterator[Move]:
    """What may be asked of a tool that changes one of the things that are listed."""
    listing, fields = thing
    free = [name for name in tool.required if is_free(tool, name) and name not in fields]
    arguments = slots.arguments(tool, thing, left=free[0] if len(free) == 1 else "")
    if not arguments:
        yield from _maker(environment, tool, slots).moves(thing)
        return
    what = phrase(environment, tool.tool)
    hole = slots.spoken(listing)
    others = {name: value for name, value in arguments.items() if name not in fields}
    verb, sets = verb_of(tool.name), verb_of(tool.name) in _SETS
    settings = {
        name: value
        for name, schema in tool.properties.items()
        if (sets or not verb)  # else it is how something is done, and not what a thing becomes
        and name not in arguments
        and (name in slots.hints or "enum" in schema or any(one.values_of(name) for one in slots.listed))
        and (value := slots.value(name, schema)) is not None
    }
    if free:
        yield from _fields_set(tool, slots, listing, free[0], arguments)
        return
    about = about_thing(what, tool.name, listing, hole)
    if _OF_DISPATCH & set(others) or any(tool.properties[name].get("type") == "boolean" for name in others):
        return  # what the tool does hangs on it, and no words of ours say so
    if others:
        asks = asks_of(about, others)
        if len(others) == 1 and isinstance(value := next(iter(others.values())), str):
            asks = setting_of_tool(tool.name, next(iter(others)), listing, hole, value) or asks
        yield Move(tool=tool.name, arguments=tool.call(arguments), asks=asks)
    elif not settings and not sets:
        yield Move(tool=tool.name, arguments=tool.call(arguments), asks=(about,))
    for name, value in settings.items() if not others else ():
        plain = value[0] if isinstance(value, list) else value
        if isinstance(plain, str):
            asks = setting_of(name, listing, hole, plain)
            yield Move(tool=tool.name, arguments=tool.call(arguments | {name: value}), asks=asks)


def _fields_set(
    tool: Signature, slots: Slots, listing: Listing, name: str, arguments: Mapping[str, Any]
) -> Iterator[Move]:
    """What may be asked of a tool that takes an object of any fields, and sets those."""
    if squeezed(name) not in _OF_VALUES:
        return
    for field in {**dict.fromkeys(listing.asked()), **slots.told.get(listing.noun, {})}:
        told = slots.told.get(listing.noun, {}).get(field) or [one[field] for one in listing.things if field in one]
        values = list(dict.fromkeys(told))
        if len(values) == len(told) and not all(value.isdigit() for value in values):
            continue  # each has its own: no choices
        template = slots.hole_of(field, values[:8]) if len(values) > 1 else None
        if template is not None:
            asks = setting_of(field, listing, slots.spoken(listing), template)
            given = {**arguments, name: {field: template}}
            yield Move(tool=tool.name, arguments=tool.call(given), asks=asks)


def _findings(environment: McpEnvironment, tool: Signature, slots: Slots, samples: Sequence[str]) -> Iterator[Move]:
    """What may be asked of a tool that reads something by arguments."""
    arguments = slots.arguments(tool)
    if not arguments:
        return
    about = slots.alike(tool) if slots.calls(tool) else []
    for thing in about:
        yield from _findings_on(environment, tool, slots, thing)
    if about:
        return
    calls = slots.calls(tool)
    if calls:  # what the recipe names is there; what the survey tried may not be
        samples = [content for _, content in told(environment, calls)]
    echoed = {squeezed(name) for name in tool.properties}
    for key in _keys([(sample, {}) for sample in samples], ()) if samples else ():
        record = _pattern(tool.name, tool.look(arguments), key, samples[0])
        values = [parts["value"] for sample in samples for parts in things(record, sample)]
        if (len(values) > 1 and len(set(values)) == 1) or squeezed(key) in _NOT_ASKED | echoed:
            continue
        slot = slots.keep(record, f"found {key}")
        yield Move(answer=f"{{{slot}.value}}", asks=questions_of(tool.tool, arguments, key))


def _findings_on(
    environment: McpEnvironment, tool: Signature, slots: Slots, thing: tuple[Listing, dict[str, str]]
) -> Iterator[Move]:
    """What may be asked of a tool that shows more of one of the things that are listed."""
    listing, fields = thing
    arguments, calls = slots.arguments(tool, thing), slots.calls(tool, thing=thing)
    samples = [content for _, content in told(environment, calls)]
    if not arguments or len(samples) < len(calls):
        return
    listed = {field for one in listing.things for field in one}
    others = {word for one in slots.listed if one.noun != listing.noun for word in (one.noun, one.noun.split()[-1])}
    about = [one for one in listing.things if all(field in one for field in fields.values())]
    for key in _keys(list(zip(samples, about, strict=False)), others):
        plain = squeezed(key)
        if key in listed or plain in _NOT_ASKED or plain.endswith("id"):
            continue
        record, part = _record(tool.name, tool.look(arguments), key, samples)
        told_once = [[parts[part] for parts in things(record, sample) if part in parts] for sample in samples]
        if not all(len(some) == 1 for some in told_once):
            continue  # of several things below it, each of which has one
        values = [value for some in told_once for value in some]
        above = {name for one in listing.things for field, name in one.items() if field[:1] == "^"}
        if listing.parent is not None:
            above |= {one[listing.parent.name] for one in listing.parent.things}
        known = slots.told.setdefault(listing.noun, {})
        said = (len(set(values)) > 1 or key in known) and is_worth(key, values) and not above & set(values)
        if not said or _tells_the_name(values, listing):
            continue  # how the call went, and nothing of the thing; or where it is kept, by its name
        known.setdefault(key, []).extend(values)
        slot, hole = slots.keep(record, f"{listing.noun} {key}"), slots.spoken(listing)
        yield Move(answer=f"{{{slot}.{part}}}", asks=questions_on_thing(key, values, listing, hole))
    values = [sample.strip() for sample in samples]
    whole = listing.noun == "key" and "value" not in listed and len(set(values)) > 1
    if whole and is_worth("value", values) and not _tells_the_name(values, listing):  # the answer is the value itself
        record = Record(tool=tool.name, arguments=tool.look(arguments), pattern=r"\A\s*(?P<value>[^\n]+?)\s*\Z")
        slot = slots.keep(record, "key value")
        yield Move(answer=f"{{{slot}.value}}", asks=questions_on_thing("value", values, listing, slots.spoken(listing)))


def _untried(
    environment: McpEnvironment, found: Survey, signatures: Mapping[str, Signature], slots: Slots
) -> dict[str, list[Call]]:
    """Calls of tools that seem to read and take nothing but what is listed."""
    unread = (signatures[name] for name in found.writes if seems_to_read(environment, name))
    return {tool.name: calls for tool in unread if (calls := slots.calls(tool))}


def _grouped(environment: McpEnvironment, tool: Signature, keys: Sequence[str]) -> str | None:
    """The argument by which the tool shows one of the lists that its answer holds under ``keys``."""
    for name in group_arguments(tool.properties, tool.required):
        answers = told(environment, [(tool.name, tool.look({name: key})) for key in keys[:2]])
        if len(answers) == 2 and all(
            key in content and other not in content
            for (_, content), key, other in zip(answers, keys, keys[1::-1], strict=False)
        ):
            return name
    return None


def _of_tools(plain: Iterable[Listing], signatures: Mapping[str, Signature]) -> Iterator[Listing]:
    """Lists of texts; files are called what most tools call those that they take: notes."""
    for one in plain:
        nouns = Counter(
            words[1]
            for tool in signatures.values()
            if len(words := words_of(tool.name)) == 2 and any(one.field_of(name, words[1]) for name in tool.required)
        )
        noun, many = nouns.most_common(1)[0] if nouns else ("", 0)
        yield replace(one, noun=noun) if one.noun == "file" and many > 1 else one


def _tells_the_name(values: Sequence[str], listing: Listing) -> bool:
    names = [squeezed(thing[listing.name]) for thing in listing.things]
    return any(name in squeezed(value) for name, value in zip(names, values, strict=False))


def _keys(answers: Sequence[tuple[str, Mapping[str, str]]], others: Container[str]) -> list[str]:
    """Names of plain values that every answer of a tool shows.

    Args:
        answers: Each with the thing that the tool was asked about.
        others: What else is listed: an object of that name in an answer is another thing.
    """
    found: list[set[str]] = []
    for content, thing in answers:
        try:
            value = value_of(content)
        except ValueError:
            found.append({match["key"] for match in _LINE.finditer(content)})
            continue
        plain = dict(value) if isinstance(value, dict) else {}
        for name, inner in plain.copy().items():  # {"transaction": {...}}
            if isinstance(inner, dict) and not _is_another(name, inner, thing, others):
                plain |= {key: item for key, item in inner.items() if content.count(f'"{key}":') == 1}
        found.append({key for key, item in plain.items() if is_plain(item) and 0 < len(str(item)) <= 60})
    return sorted(set.intersection(*found))[:6] if found else []


def _is_another(name: str, inner: Mapping[str, Any], thing: Mapping[str, str], others: Container[str]) -> bool:
    """Whether an object within an answer is not the thing that was asked about: the first task of a request."""
    noun = " ".join(words_of(name))
    ids = [str(item) for key, item in inner.items() if squeezed(key) in ("id", "uuid", f"{squeezed(name)}id")]
    return noun in others or bool(thing and ids and not set(ids) & set(thing.values()))


def _record(tool: str, arguments: dict[str, Any], key: str, samples: Sequence[str]) -> tuple[Record, str]:
    """Where a value is found, and as which part; the whole answer's own, where things within it have one too."""
    if HOLE.fullmatch(f"{{a.{key}}}") and any(sample.count(f'"{key}":') > 1 for sample in samples):
        return Record(tool=tool, arguments=arguments, each=""), key
    return _pattern(tool, arguments, key, samples[0]), "value"


def _pattern(tool: str, arguments: dict[str, Any], key: str, content: str) -> Record:
    pattern = rf"^{re.escape(key)}: (?P<value>.+)$"
    if re.search(pattern, content, re.MULTILINE) is None:
        pattern = rf'"{re.escape(key)}": *"?(?P<value>[^"\\,}}\n]+)"?'
    return Record(tool=tool, arguments=arguments, pattern=pattern)


def _probes(tool: Signature, slots: Slots, samples: Sequence[tuple[tuple[str, dict[str, Any]], str]]) -> Iterator[Look]:
    """Without arguments where that is possible; else for each word that its only argument may be, else as tried."""
    required = tool.required
    if not required:
        yield Look(tool=tool.name, arguments=tool.look({}))
        return
    about = [slots.arguments(tool, thing) for thing in slots.alike(tool)]
    if about and None not in about:
        for given in about:
            yield Look(tool=tool.name, arguments=tool.look(given or {}))  # of each thing that is there
        return
    template = slots.arguments(tool)
    only = template[required[0]] if template is not None and len(required) == 1 else None
    if isinstance(only, str) and only.strip("{}") in slots.words:
        for value in slots.words[only.strip("{}")][:_MOST]:
            yield Look(tool=tool.name, arguments=tool.look({required[0]: value}))
        return
    for (_, arguments), _ in samples:
        yield Look(tool=tool.name, arguments=arguments)
