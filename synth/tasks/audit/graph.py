"""All facts of a source in plain dictionaries: what the audit asks, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from synth.schemas.row import Split
from synth.schemas.tasks import Node

__all__ = ["VALUE_KINDS", "FactGraph", "Key", "Thing", "key_of", "value_key"]

Key: TypeAlias = str
"""A node: an entity's id, or a value's text behind a zero character, which no id holds."""

VALUE_KINDS = frozenset(("date", "year", "number", "quantity", "text"))
_MANY = 8
"""Neighbours from which on they are kept in a hash table."""
_Neighbours: TypeAlias = Key | tuple[Key, ...] | dict[Key, None]


@dataclass(frozen=True)
class Thing:
    """An entity, as the audit needs it."""

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...]
    document_id: str | None
    partition: Split


def value_key(value: str) -> Key:
    return "\0" + value


def key_of(node: Node) -> Key:
    return value_key(node.id) if node.kind in VALUE_KINDS and node.document_id is None else node.id


class FactGraph:
    """Grows fact by fact; ``freeze`` ends that. About 300 bytes per fact."""

    def __init__(self) -> None:
        self.things: dict[str, Thing] = {}
        self.kinds: dict[Key, str] = {}
        """Value kind of every value."""
        self._names: dict[str, tuple[str, bool]] = {}
        """Relation -> the one that it is kept under, and whether it is kept turned round."""
        self._out: dict[str, dict[Key, _Neighbours]] = {}
        self._into: dict[str, dict[Key, _Neighbours]] = {}

    def add_thing(self, thing: Thing) -> None:
        self.things[thing.id] = thing

    def add(self, subject: str, relation: str, target: Key, value_kind: str, inverse: str | None) -> None:
        """A fact. ``inverse`` is the relation that reads it from its other end, or the relation itself."""
        if target[:1] == "\0":
            self.kinds[target] = value_kind
        kept, turned = self._kept(relation, inverse)
        ends = (target, subject) if turned else (subject, target)
        for one, two in (ends, ends[::-1])[: 2 if inverse == relation else 1]:
            _enter(self._out.setdefault(kept, {}), one, two)
            _enter(self._into.setdefault(kept, {}), two, one)

    def _kept(self, relation: str, inverse: str | None) -> tuple[str, bool]:
        known = self._names.get(relation)
        if known is None:
            turned = inverse is not None and inverse < relation
            known = self._names[relation] = (inverse if turned and inverse else relation, turned)
            if inverse is not None and inverse != relation:
                self._names[inverse] = (known[0], not turned)
        return known

    def freeze(self) -> None:
        """Say that all facts are there: large neighbourhoods become hash tables, doubles go."""
        for ways in (self._out, self._into):
            for table in ways.values():
                for key, held in table.items():
                    if isinstance(held, tuple):
                        once = dict.fromkeys(held)
                        table[key] = once if len(once) > _MANY else tuple(once)

    @property
    def relations(self) -> Collection[str]:
        """Every name by which a fact is read."""
        return self._names.keys()

    def same(self, one: str, two: str) -> bool:
        """Whether two names are readings of one relation, from the same or from opposite ends."""
        return self._names.get(one, (one, False))[0] == self._names.get(two, (two, False))[0]

    def step(self, start: Key, relation: str, forward: bool) -> Collection[Key]:
        """All ends of ``relation`` from ``start``, each once."""
        held = self._table(relation, forward).get(start)
        if held is None:
            return ()
        return (held,) if isinstance(held, str) else held

    def starts(self, relation: str, forward: bool) -> Mapping[Key, object]:
        """All nodes from which ``step`` leads anywhere."""
        return self._table(relation, forward)

    def _table(self, relation: str, forward: bool) -> dict[Key, _Neighbours]:
        kept, turned = self._names.get(relation, (relation, False))
        return (self._out if forward != turned else self._into).get(kept, {})

    def joining(self, left: Key, right: Key) -> Iterator[str]:
        """Relations by which one fact joins the two, in either direction."""
        for relation in self._out:
            for ways in (self._out, self._into):
                held = ways[relation].get(left)
                if held is not None and (held == right if isinstance(held, str) else right in held):
                    yield relation
                    break

    def kind(self, key: Key) -> str:
        """Type of an entity, kind of a value; empty for what the graph does not know."""
        thing = self.things.get(key)
        return thing.kind if thing is not None else self.kinds.get(key, "")

    def name(self, key: Key) -> str:
        """As a message calls it."""
        thing = self.things.get(key)
        return repr(thing.name if thing is not None else key.removeprefix("\0"))


def _enter(table: dict[Key, _Neighbours], start: Key, end: Key) -> None:
    held = table.get(start)
    if held is None:
        table[start] = end
    elif isinstance(held, str):
        if held != end:
            table[start] = (held, end)
    elif isinstance(held, tuple):
        if len(held) < 64:
            table[start] = (*held, end)
        else:
            table[start] = dict.fromkeys((*held, end))
    else:
        held[end] = None
