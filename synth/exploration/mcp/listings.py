"""Things that a server lists: what people call them, which key its tools take, and what can be asked about them.

Tools that need no arguments and answer with JSON show lists of objects. A field that tells the objects apart in words
is their name; a field that other tools take as an argument is their key; and where an argument has the name of a field,
the values of the field are choices for it. Names are compared regardless of spelling: ``taskId``, ``task_id`` and the
``id`` of an object under ``tasks`` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.exploration.mcp.book import Record, things
from synth.exploration.mcp.reading import value_of
from synth.lexicon.reading import phrases
from synth.text.inflection import singular

__all__ = ["Listing", "listings", "squeezed", "unwrapped", "words_of"]

_LISTS = phrases("word_lists")
_READS = frozenset(_LISTS["reading_verbs"])
_MAKES = frozenset(_LISTS["making_verbs"])
_NAMES = tuple(_LISTS["naming_fields"])
_KEYS = frozenset({"id", "uuid", "guid", "key", "number", "slug", "code", "ref", "reference"})
_LONGEST = 80
"""Characters of a name, an answer or a choice."""
_FEWEST = 2
"""Objects that a list must have to be asked about."""
_MOST_CHOICES = 8
"""Values of a field that count as choices."""
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
"""A time to the second: people don't ask for it."""


@dataclass(frozen=True)
class Listing:
    """A list of objects of one kind."""

    tool: str
    each: str
    """The path to them (:attr:`synth.exploration.mcp.book.Record.each`)."""
    noun: str
    """One of them: "task"."""
    name: str
    """The field that is their name: all have it, and no two share a value."""
    things: tuple[Mapping[str, str], ...]
    choices: Mapping[str, tuple[str, ...]]
    """Field that holds a list of texts -> all texts in it."""

    @property
    def record(self) -> Record:
        return Record(tool=self.tool, each=self.each, names=self.name)

    def field_of(self, argument: str, tool: str) -> str | None:
        """The field whose value ``argument`` of ``tool`` takes, None where it is no key or name of these objects."""
        wanted, about = squeezed(argument), squeezed(self.noun)
        said = {singular(word) for word in words_of(tool)}
        made = bool(_MAKES & said)  # then its name is a new one
        for field in self._plain():
            plain = squeezed(field)
            key = plain in _KEYS or plain.endswith("id") or (field == self.name and not made)
            if not key or not self._tells_apart(field):
                continue
            if wanted == f"{about}{plain.removeprefix(about)}" and (field != self.name or wanted != about):
                return field
            if wanted == plain and (plain not in _KEYS | {squeezed(self.name)} or set(self.noun.split()) <= said):
                return field
        return self.name if wanted == about and not made else None

    def asked(self) -> Iterator[str]:
        """Fields worth a question: plain values, neither name nor key, not the same for all."""
        for field in self._plain():
            values = {thing[field] for thing in self.things if field in thing}
            plain = squeezed(field)
            if field == self.name or plain in _KEYS or plain.endswith("id") or len(values) < _FEWEST:
                continue
            if all(
                0 < len(value) <= _LONGEST and "\n" not in value and not _STAMP.fullmatch(value) for value in values
            ):
                yield field

    def values_of(self, argument: str) -> tuple[str, ...]:
        """Choices for an argument that has the name of a field."""
        wanted = squeezed(argument)
        for field, values in self.choices.items():
            if squeezed(field) == wanted:
                return values
        for field in self._plain():
            told = [thing[field] for thing in self.things if field in thing]
            values = tuple(dict.fromkeys(told))
            if squeezed(field) == wanted and _FEWEST <= len(values) <= min(_MOST_CHOICES, len(told) // 2):
                return tuple(value for value in values if 0 < len(value) <= _LONGEST)
        return ()

    def _plain(self) -> list[str]:
        return list(dict.fromkeys(field for thing in self.things for field in thing))

    def _tells_apart(self, field: str) -> bool:
        values = [thing.get(field) for thing in self.things]
        return None not in values and len(set(values)) == len(values)


def listings(answers: Mapping[str, str]) -> list[Listing]:
    """All lists in the answers, the innermost first: a task says more than the request that it belongs to.

    Args:
        answers: Tool -> its answer.
    """
    found = []
    for tool, content in answers.items():
        try:
            value = value_of(content)
        except ValueError:
            continue
        for way in dict.fromkeys(_ways(value, "")):
            listing = _listing(tool, way, content, value)
            if listing is not None:
                found.append(listing)
    return sorted(found, key=lambda one: -one.each.count("[]"))


def _ways(value: Any, way: str) -> Iterator[str]:
    """Paths to lists of objects."""
    if isinstance(value, dict):
        for name, item in value.items():
            if "." not in name and "[" not in name:
                yield from _ways(item, f"{way}.{name}" if way else name)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield f"{way}[]"
        for item in value:
            if isinstance(item, dict):
                yield from _ways(item, f"{way}[]")


def _listing(tool: str, way: str, content: str, value: Any) -> Listing | None:
    plain = {field for item in _items(value, way.split(".")) for field, told in item.items() if _is_plain(told)}
    shown = [
        {field: told for field, told in thing.items() if field in plain}
        for thing in things(Record(tool=tool, each=way), content)
    ]
    noun = _noun(way, tool)
    name = next((field for field in _names(plain, noun) if _names_all(field, shown)), None)
    if name is None or not noun:
        return None
    choices: dict[str, dict[str, None]] = {}
    for item in _items(value, way.split(".")):
        for field, told in item.items():
            if isinstance(told, list) and all(isinstance(one, str) and 0 < len(one) <= _LONGEST for one in told):
                choices.setdefault(field, {}).update(dict.fromkeys(told))
    several = {field: tuple(values) for field, values in choices.items() if len(values) >= _FEWEST}
    return Listing(tool, way, noun, name, tuple(shown), several)


def _items(value: Any, way: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The objects themselves, without the fields of what holds them."""
    if not way:
        if isinstance(value, dict):
            yield value
        return
    name, listed = way[0].removesuffix("[]"), way[0].endswith("[]")
    inner = value.get(name) if isinstance(value, dict) and name else value
    for item in (inner if isinstance(inner, list) else ()) if listed else (inner,):
        yield from _items(item, way[1:])


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _noun(way: str, tool: str) -> str:
    last = way.split(".")[-1].removesuffix("[]")
    words = words_of(last) if last and last not in ("items", "results", "data", "entries") else words_of(tool)
    return singular(" ".join(word for word in words if word not in _READS))


def _names(fields: set[str], noun: str) -> list[str]:
    """Fields that may be the name, the likeliest first."""
    usual = [field for name in _NAMES for field in sorted(fields) if squeezed(field) in (name, squeezed(noun) + name)]
    return [*usual, *sorted(field for field in fields if field not in usual)]


def _names_all(field: str, shown: Sequence[Mapping[str, str]]) -> bool:
    """Whether ``field`` reads like a name and tells all objects apart."""
    values = [thing.get(field, "") for thing in shown]
    return (
        len(values) >= _FEWEST
        and len({value.casefold() for value in values}) == len(values)
        and all(
            0 < len(value) <= _LONGEST and re.search(r"[^\W\d]{2}", value) and re.search(r"[\n“”{}]", value) is None
            for value in values
        )
        and (squeezed(field) in _NAMES or sum(" " in value for value in values) * 2 > len(values))
    )


def words_of(name: str) -> list[str]:
    """The words of an identifier: ``mark_task_done``, ``taskId``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.split("__")[-1])
    return re.sub(r"[^A-Za-z0-9]+", " ", spaced).lower().split()


def squeezed(name: str) -> str:
    """An identifier without its spelling: ``taskId`` and ``task_id`` are ``taskid``."""
    return "".join(words_of(name))


def unwrapped(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a nullable value without null; any other as it is."""
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list) and "type" not in schema:
        real = [one for one in options if isinstance(one, dict) and one.get("type") != "null"]
        if len(real) == 1:
            return real[0]
    kind = schema.get("type")
    if isinstance(kind, list):
        real_kinds = [one for one in kind if one != "null"]
        if len(real_kinds) == 1:
            return {**schema, "type": real_kinds[0]}
    return schema
