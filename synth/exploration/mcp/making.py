"""New things that tools make when no hints are given: a task with a title, a value under a key.

Values come from the schema (choices, examples), else from fields of that name in what is listed, else from what people
call such things. A tool is left out where any value that it needs comes from none of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from synth.exploration.mcp.book import Move
from synth.exploration.mcp.listings import Listing, squeezed, words_of
from synth.exploration.mcp.signatures import Signature
from synth.exploration.mcp.slots import Slots, filled
from synth.exploration.mcp.wording import thing_called
from synth.lexicon.reading import phrases
from synth.text.inflection import singular

__all__ = ["Maker"]

_CALLED = phrases("new_names")
_SAID = phrases("new_values")
_PAIRS = [pair.split(": ", 1) for pair in phrases("new_pairs")["pairs"]]
_LISTS = phrases("word_lists")
_NAMES = frozenset({*_LISTS["naming_fields"], "text", "content", "task", "item", "todo"})
_MAKES = frozenset(_LISTS["making_verbs"])
_VERBS = {"new": "create", "insert": "add", "import": "add", "post": "add", "put": "add", "make": "create"}
_BEHIND = frozenset({"to", "in", "for", "from", "with", "on", "at", "of", "by"})
_DISPATCH = frozenset(_LISTS["of_dispatch"])
_QUOTED = r"['\"“`‘]([^'\"”`’\n]{2,60})['\"”`’]"
_EXAMPLES = re.compile(
    rf"(?:e\.g\.|for example|for instance|such as|examples?:),?:? *((?:(?:, *|,? +or +|,? +and +)?{_QUOTED})+)", re.I
)
_STORES = frozenset({"set", "put", *_MAKES})
_MOST = 3
"""Arguments that need not be given and are asked for, one at a time."""


class Maker:
    """Makes requests for what one tool adds."""

    def __init__(self, tool: Signature, slots: Slots, *, trusted: bool) -> None:
        """
        Args:
            trusted: Whether examples in the tool's description may get into requests.
        """
        self.tool = tool
        self.trusted = trusted
        self.slots = slots
        words = words_of(tool.name)
        self.verb = next((word for word in words if word in _MAKES), "")
        behind = next((at for at, word in enumerate(words) if word in _BEHIND and at), len(words))
        rest = [word for word in words[:behind] if word not in _MAKES]
        self.noun = " ".join([*rest[:-1], singular(rest[-1])]) if rest else ""

    def moves(self, thing: tuple[Listing, dict[str, str]] | None = None) -> Iterator[Move]:
        """What may be asked for.

        Args:
            thing: What is listed that the tool takes one of, and the fields that its arguments are.
        """
        if (pair := self._pair()) is not None:
            yield pair
            return
        if not self.verb or not self.noun or _DISPATCH & set(self.tool.required):
            return
        given = self.slots.taken(self.tool, thing)
        needed = filled(self.tool.tool.parameters, given, self._value)
        if not needed or set(needed) == set(given):
            return
        yield self._move(needed, given, thing)
        optional = [name for name in self.tool.properties if name not in needed]
        found = [(name, value) for name in optional if (value := self._choice(name)) is not None]
        for name, value in found[:_MOST]:
            yield self._move({**needed, name: value}, given, thing).model_copy(
                update={"weight": 1 / len(found[:_MOST])}
            )

    def _move(
        self, arguments: Mapping[str, Any], given: Mapping[str, Any], thing: tuple[Listing, dict[str, str]] | None
    ) -> Move:
        leaves = list(_leaves({name: value for name, value in arguments.items() if name not in given}))
        called = next((hole for name, hole in leaves if self._names_it(name)), None)
        others = [(name, hole) for name, hole in leaves if hole != called]
        verb, noun, about = _VERBS.get(self.verb, self.verb), self.noun, ""
        if thing is not None:
            about = f" {'to' if verb == 'add' else 'for'} the {thing[0].noun} “{self.slots.spoken(thing[0])}”"
            noun = noun.removeprefix(f"{thing[0].noun} ")
        asks = thing_called(verb, noun, called, about, others)
        return Move(tool=self.tool.name, arguments=self.tool.call(arguments), asks=asks)

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        kind = schema.get("type")
        if squeezed(name).endswith("id") or kind == "boolean":
            return None
        if "enum" in schema or name in self.slots.hints:
            return self.slots.value(name, schema)
        if kind == "array":
            inner = self._value(singular(name), schema.get("items", {}))
            return None if inner is None else [inner]
        if kind == "object":
            return filled(schema, {}, self._value) or None
        if kind in ("integer", "number"):
            return self.slots.value(name, schema)
        if kind not in (None, "string"):
            return None
        examples = _examples(schema) if self.trusted else []
        if self._names_it(name):
            values = [*examples, *self._called(name)]
            return self.slots.new_of(name, values) if values else None
        return self.slots.value(name, schema) or self.slots.hole_of(name, examples or _fitting(_SAID, name))

    def _choice(self, name: str) -> Any:
        """A value of an argument that need not be given: one of few, a date, or what is said about the thing."""
        schema = self.tool.properties[name]
        if schema.get("type") not in (None, "string") or squeezed(name).endswith("id"):
            return None
        known = "enum" in schema or any(one.values_of(name) for one in self.slots.listed)
        return self._value(name, schema) if known or _fitting(_SAID, name) else None

    def _names_it(self, name: str) -> bool:
        """Whether an argument is what the thing is called: of a note with a title and a text, the title."""
        words, last = words_of(name), words_of(name)[-1]
        if last not in _NAMES or not self._called(name):
            return False
        better = [
            other for other in _inner(self.tool.tool.parameters) if words_of(other)[-1] in _LISTS["naming_fields"]
        ]
        return (last in _LISTS["naming_fields"] and len(words) <= 2) or not better

    def _called(self, name: str) -> list[str]:
        return _fitting(_CALLED, f"{self.noun} {name}")

    def _pair(self) -> Move | None:
        """A value under a key that is not there yet."""
        required = {squeezed(name): name for name in self.tool.required}
        if set(required) != {"key", "value"} or not _STORES & set(words_of(self.tool.name)):
            return None
        keys = [one[listing.name] for listing in self.slots.listed if listing.noun == "key" for one in listing.things]
        between = Counter(sign for key in keys for sign in key if sign in "-_:./").most_common(1)
        sign = between[0][0] if between else "_"
        pairs = [{"key": key.replace("/", sign), "value": value} for key, value in _PAIRS]
        slot = self.slots.new_pairs("pair", pairs)
        asks = (
            f"set the key “{{{slot}.key}}” to “{{{slot}.value}}”",
            f"store “{{{slot}.value}}” under the key “{{{slot}.key}}”",
            f"save “{{{slot}.value}}” under the key “{{{slot}.key}}”",
        )
        given = {required["key"]: f"{{{slot}.key}}", required["value"]: f"{{{slot}.value}}"}
        return Move(tool=self.tool.name, arguments=self.tool.call(given), asks=asks)


def _fitting(patterns: Mapping[str, Any], name: str) -> list[str]:
    words = " ".join(words_of(name))
    return next((list(values) for pattern, values in patterns.items() if re.search(pattern, words)), [])


def _examples(schema: Mapping[str, Any]) -> list[str]:
    """Values that the schema names as examples."""
    listed = [one for one in schema.get("examples", ()) if isinstance(one, str)]
    told = [
        one for found in _EXAMPLES.finditer(str(schema.get("description", ""))) for one in re.findall(_QUOTED, found[1])
    ]
    return list(dict.fromkeys(one for one in (*listed, *told) if re.fullmatch(r"[^{}“”\n]{2,60}", one)))


def _inner(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, one in schema.get("properties", {}).items():
        yield name
        yield from _inner(one)
        yield from _inner(one.get("items", {}))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(argument, hole) of every hole."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, singular(name))
    else:
        yield name, str(value)
