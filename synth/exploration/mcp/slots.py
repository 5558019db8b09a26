"""What templates of a described book are made of: a slot for each set of words, and for the things that are listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from synth.exploration.mcp.book import Record
from synth.exploration.mcp.listings import PATH, TEXT, Listing, words_of
from synth.exploration.mcp.signatures import Signature
from synth.exploration.mcp.survey import SAMPLES
from synth.exploration.mcp.trials import Call, typed
from synth.lexicon.reading import phrases

__all__ = ["Slots", "chooses", "filled", "is_free"]

_NO_CHOICES = frozenset(phrases("word_lists")["no_choices"])
_OF_CONDITIONS = frozenset(phrases("word_lists")["of_conditions"])
_NUMBERS = ("1", "2", "3", "5", "8")


class Slots:
    """Words by argument, a name of its own for each set of choices; and the things that are listed."""

    def __init__(self, hints: Mapping[str, Sequence[str]], listed: Sequence[Listing] = ()) -> None:
        self.hints = hints
        self.listed = listed
        self.words: dict[str, tuple[str | dict[str, str], ...]] = {}
        self.new: dict[str, tuple[str | dict[str, str], ...]] = {}
        """The same for what is made, which is there under no such name yet."""
        self.records: dict[str, Record] = {}
        self.told: dict[str, dict[str, list[str]]] = {}
        """Noun -> fields that a second look tells, with their values."""

    def of(self, listing: Listing) -> str:
        """The slot of one of its things."""
        return self.keep(listing.record, "_".join(listing.noun.split()))

    def keep(self, record: Record, name: str) -> str:
        slot = re.sub(r"[^a-z]+", "_", name.lower()).strip("_") or "thing"
        while slot in self.words or slot in self.new or self.records.get(slot, record) != record:
            slot += "_x"
        self.records[slot] = record
        return slot

    def hole(self, listing: Listing, field: str) -> str:
        """The hole for a field of one of its things, or (``^requestId``) of what that hangs below."""
        if field == PATH:
            above = f"{self.hole(listing.parent, PATH)}/" if listing.parent is not None else ""
            return f"{above}{{{self.of(listing)}.{TEXT}}}"
        if field.startswith("^") and listing.parent is not None:
            return self.hole(listing.parent, field[1:])
        return f"{{{self.of(listing)}.{field}}}"

    def spoken(self, listing: Listing) -> str:
        """What stands in quotation marks to name one of its things, and what it hangs below."""
        name, parent = self.hole(listing, listing.name), listing.parent
        if parent is not None and parent.name == TEXT:
            return self.hole(listing, PATH)
        return (
            name
            if parent is None or len(parent.things) == 1
            else f"{name}” of the {parent.noun} “{self.hole(parent, parent.name)}"
        )

    def thing(self, tool: Signature) -> tuple[Listing, dict[str, str]] | None:
        """The list of which the tool takes one, and the fields that its arguments are: those that take the most."""
        best: tuple[Listing, dict[str, str]] | None = None
        for listing in self.listed:
            fields = {
                name: field
                for name in tool.required
                if name not in self.hints
                and not _of_objects(tool, name)
                and (field := listing.field_of(name, tool.name)) is not None
            }
            if listing.parent is not None:
                above = {
                    name: f"^{field}"
                    for name in tool.required
                    if name not in {*fields, *self.hints}
                    and (field := listing.parent.field_of(name, tool.name)) is not None
                }
                if not fields and above:
                    fields = {name: listing.name for name in tool.required if chooses(tool, name)}
                fields = fields | above if fields else {}
            if fields and (best is None or len(fields) > len(best[1])):
                best = listing, fields
        return best

    def alike(self, tool: Signature) -> list[tuple[Listing, dict[str, str]]]:
        """The list of :meth:`thing`; of tables, which a tool takes by name, that of each; of files, those of every
        folder."""
        best = self.thing(tool)
        if best is not None and best[0].of_files:
            folders = [one for one in self.listed if one is not best[0] and one.noun == best[0].noun]
            inside = {name: PATH if field == TEXT else field for name, field in best[1].items()}
            return [best, *((one, inside) for one in folders)]
        if best is None or not any(chooses(tool, name) for name in best[1]):
            return [best] if best is not None else []
        others = [one for one in self.listed if one.parent is not None and one.name == best[0].name]
        return [(one, best[1]) for one in others if one.record.tool == best[0].record.tool]

    def calls(
        self, tool: Signature, most: int = SAMPLES, thing: tuple[Listing, dict[str, str]] | None = None
    ) -> list[Call]:
        """Calls of a tool that takes nothing but what is listed, for the first few things, or one argument that the
        recipe has words for."""
        if len(tool.required) == 1 and (words := self.hints.get(tool.required[0])):
            return [
                (tool.name, tool.look(typed({tool.required[0]: word}, tool.tool.parameters))) for word in words[:most]
            ]
        listing, fields = thing or self.thing(tool) or (None, {})
        if listing is None or len(fields) != len(tool.required):
            return []
        given = [
            {name: _as_taken(tool, name, field, one[field]) for name, field in fields.items()}
            for one in listing.things[:most]
            if all(field in one for field in fields.values())
        ]
        return [(tool.name, tool.look(typed(one, tool.tool.parameters))) for one in given]

    def arguments(
        self, tool: Signature, thing: tuple[Listing, dict[str, str]] | None = None, left: str = ""
    ) -> dict[str, Any] | None:
        """A template of the required arguments, but for ``left``; None where there are no words for one."""
        given = self.taken(tool, thing or self.thing(tool))
        return self._filled(tool.tool.parameters, given, left)

    def taken(self, tool: Signature, thing: tuple[Listing, dict[str, str]] | None) -> dict[str, Any]:
        """A template of the arguments that one of the things that are listed is given by."""
        listing, fields = thing or (None, {})
        return {
            name: _as_taken(tool, name, field, self.hole(listing, field))
            for name, field in fields.items()
            if listing is not None
        }

    def _filled(self, schema: Mapping[str, Any], given: Mapping[str, Any], left: str = "") -> dict[str, Any] | None:
        return filled(schema, given, self.value, left=left)

    def value(self, name: str, schema: Mapping[str, Any]) -> Any:
        """A template of one argument."""
        kind = schema.get("type")
        if "enum" in schema:
            plain = [str(value) for value in schema["enum"] if isinstance(value, str)]
            return self.hole_of(name, [value for value in plain if value not in _NO_CHOICES] or plain)
        if kind == "array":
            item = self.value(name, schema.get("items", {}))
            return None if item is None else [item]
        if kind == "object":
            return self._filled(schema, {}) or None
        if kind == "boolean":
            return self.hole_of(name, ["true", "false"])
        known = self.hints.get(name) or next((values for one in self.listed if (values := one.values_of(name))), ())
        if kind in ("integer", "number"):
            return self.hole_of(name, list(known or _NUMBERS))
        return self.hole_of(name, list(known))

    def hole_of(self, name: str, values: Sequence[str]) -> str | None:
        if not values:
            return None
        plain = re.sub(r"[^a-z]+", "_", "_".join(words_of(name))).strip("_") or "value"
        return f"{{{self._keep_in(self.words, plain, tuple(values))}}}"

    def new_of(self, name: str, values: Sequence[str]) -> str:
        """A hole for what something new is called."""
        plain = re.sub(r"[^a-z]+", "_", "_".join(words_of(name))).strip("_") or "name"
        return f"{{{self._keep_in(self.new, f'new_{plain}', tuple(values))}}}"

    def new_pairs(self, name: str, values: Sequence[dict[str, str]]) -> str:
        """A slot of new things in parts, the first of which is the name."""
        return self._keep_in(self.new, name, tuple(values))

    def _keep_in(self, table: dict[str, tuple[str | dict[str, str], ...]], name: str, values: tuple[Any, ...]) -> str:
        slot = name
        others = [one for one in (self.words, self.new, self.records) if one is not table]
        while any(slot in one for one in others) or table.get(slot, values) != values:
            slot += "_x"
        table[slot] = values
        return slot


def is_free(tool: Signature, name: str) -> bool:
    """Whether an argument is an object of any fields."""
    schema = tool.properties.get(name, {})
    return bool(schema.get("type") == "object" and not schema.get("properties"))


def chooses(tool: Signature, name: str) -> bool:
    """Whether an argument is an object that says which rows are meant: ``conditions``."""
    return is_free(tool, name) and (words_of(name) or [""])[-1] in _OF_CONDITIONS


def _of_objects(tool: Signature, name: str) -> bool:
    """Whether an argument is a list of objects, which says more of each than which one it is."""
    schema = tool.properties.get(name, {})
    return bool(schema.get("type") == "array" and schema.get("items", {}).get("type") == "object")


def _as_taken(tool: Signature, name: str, field: str, value: str) -> Any:
    """A value as the argument takes it: alone, in a list, or as the field of an object."""
    if chooses(tool, name):
        return {field: value}
    return [value] if tool.properties.get(name, {}).get("type") == "array" else value


def filled(
    schema: Mapping[str, Any],
    given: Mapping[str, Any],
    value: Callable[[str, Mapping[str, Any]], Any],
    *,
    left: str = "",
) -> dict[str, Any] | None:
    """``given`` and a ``value(name, schema)`` for every other argument that ``schema`` requires, but for ``left``. None
    when one of them has none."""
    properties, found = schema.get("properties", {}), dict(given)
    for name in schema.get("required", ()):
        if name == left:
            continue
        made = given.get(name) or value(name, properties.get(name, {}))
        if made is None:
            return None
        found[name] = made
    return found
