"""A gold walk read as a question: what is named, what is sought, which sets it speaks of, what follows from a member.

Hops with equal source, relation, direction and cue are one statement about a *set*: its members are one variable, so
that whoever else satisfies the statements shows up. What leads on from a member (its date, its director, the
director's date) is *derived*: it has to be read for each member anew, and must have one end only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from synth.dataset.audit.facts import Constraint, Key, Term, Variable, key_of
from synth.dataset.audit.values import span_of
from synth.schemas.tasks import Hop, Node, Walk

__all__ = ["Reading", "Unreadable"]


class Unreadable(Exception):
    """The walk does not hang together; the message says where."""


@dataclass(frozen=True)
class Reading:
    """Of one walk."""

    walk: Walk

    @cached_property
    def variable(self) -> dict[int, Variable]:
        """Hop -> the variable that its target is. Members of one set share theirs."""
        owner: dict[str, str] = {}

        def root(name: str) -> str:
            while owner.setdefault(name, name) != name:
                name = owner[name]
            return name

        # Two hops that end at one entity speak of one thing; equal values are a coincidence.
        names = [
            f"{hop.target.id} at {number}" if key_of(hop.target) != hop.target.id else hop.target.id
            for number, hop in enumerate(self.walk.hops)
        ]
        for group in self.groups.values():
            for number in group[1:]:
                owner[root(names[number])] = root(names[group[0]])
        return {number: Variable(root(name)) for number, name in enumerate(names)}

    @cached_property
    def groups(self) -> dict[tuple[object, ...], list[int]]:
        """Hops that say the same of several nodes, by what they say."""
        found: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for number, hop in enumerate(self.walk.hops):
            found[hop.source.id, hop.source.kind, bool(hop.needs), hop.relation, hop.forward, hop.cue].append(number)
        return found

    @cached_property
    def sets(self) -> dict[Variable, list[Key]]:
        """Variable of a set -> the members that the walk lists, once each, in order. Sets of one member are known by
        the operation that lists or counts them."""
        listed = {
            self.variable[number]
            for operation in self.walk.operations
            if operation.kind in ("list", "count")
            for number in operation.over
            if number in self.variable
        }
        found: dict[Variable, dict[Key, None]] = {}
        for number, hop in enumerate(self.walk.hops):
            found.setdefault(self.variable[number], {})[key_of(hop.target)] = None
        return {name: list(keys) for name, keys in found.items() if len(keys) > 1 or name in listed}

    @cached_property
    def derived(self) -> frozenset[int]:
        """Hops that lead on from a member of a set."""
        found: set[int] = set()
        for number, hop in enumerate(self.walk.hops):
            for need in hop.needs:
                if need in found or (need < number and self.variable[need] in self.sets):
                    found.add(number)
        return frozenset(found)

    @cached_property
    def constraints(self) -> list[tuple[Constraint, tuple[int, ...]]]:
        """What the question says, each with the hops that say it; derived hops are left out."""
        found: dict[tuple[object, ...], tuple[Constraint, list[int]]] = {}
        for number, hop in enumerate(self.walk.hops):
            if number in self.derived:
                continue
            constraint = Constraint(self.source(number), hop.relation, hop.forward, self.variable[number])
            found.setdefault((constraint, hop.cue), (constraint, []))[1].append(number)
        return [(constraint, tuple(numbers)) for constraint, numbers in found.values()]

    def source(self, number: int) -> Term:
        """The source of a hop as a term.

        Raises:
            Unreadable: a need that does not end at the source, or a range that is none.
        """
        hop = self.walk.hops[number]
        for need in hop.needs:
            if not 0 <= need < number:
                raise Unreadable(f"hop {number} needs hop {need}")
            if key_of(self.walk.hops[need].target) != key_of(hop.source):
                raise Unreadable(f"hop {number} starts where hop {need} does not end")
        if hop.needs:
            return self.variable[hop.needs[0]]
        if hop.source.kind == "range":
            span = span_of(hop.source.id)
            if span is None:
                raise Unreadable(f"hop {number}: {hop.source.id!r} is not a range")
            return span
        return key_of(hop.source)

    @cached_property
    def named(self) -> dict[Key, Node]:
        """Nodes that the question names."""
        return {key_of(hop.source): hop.source for hop in self.walk.hops if not hop.needs}

    @cached_property
    def used(self) -> frozenset[int]:
        """Hops that another hop starts from, or that an operation works on."""
        hops = {need for hop in self.walk.hops for need in hop.needs}
        return frozenset(hops | {number for operation in self.walk.operations for number in operation.over})

    @cached_property
    def ends(self) -> list[int]:
        """Hops that nothing goes on from: one per variable, the last."""
        last: dict[Variable, int] = {}
        used = {self.variable[number] for number in self.used}
        for number in range(len(self.walk.hops)):
            if number not in self.derived and self.variable[number] not in used:
                last.pop(self.variable[number], None)
                last[self.variable[number]] = number
        return list(last.values())

    def hop(self, number: int) -> Hop:
        """Raises Unreadable where there is no such hop."""
        if not 0 <= number < len(self.walk.hops):
            raise Unreadable(f"there is no hop {number}")
        return self.walk.hops[number]
