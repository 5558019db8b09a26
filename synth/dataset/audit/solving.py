"""The answer to a walk worked out again from all facts, and again with each thing left out that the question says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from synth.dataset.audit.facts import Constraint, Facts, Key, Variable, key_of, text_of, value_key
from synth.dataset.audit.values import Measure, difference, measure, span_of
from synth.dataset.audit.walks import Reading
from synth.schemas.tasks import Operation

__all__ = ["Solving"]

_SHOWN = 5
_SET = 100_000
"""Members of a set that are looked for."""
_SINGLE = frozenset(("composition", "conjunction", "cycle"))
"""Shapes that are asked by names and constraints alone: no named thing may touch the answer by one more fact."""


@dataclass
class Solving:
    """One walk against the facts. ``problems`` fills as ``run`` goes: (rule, what)."""

    facts: Facts
    reading: Reading
    problems: list[tuple[str, str]] = field(default_factory=list)

    def run(self) -> list[tuple[str, str]]:
        """Raises Undecided where the search gave up, Unreadable where the walk does not hang together."""
        reading = self.reading
        for name in self._single:
            self._unique(name)
        for name, members in reading.sets.items():
            self._members(name, members)
        for number in sorted(reading.derived):
            self._derived(number)
        self._operations()
        self._needed()
        return self.problems

    def _add(self, rule: str, what: str) -> None:
        self.problems.append((rule, what))

    @cached_property
    def _constraints(self) -> list[Constraint]:
        return [constraint for constraint, _ in self.reading.constraints]

    @cached_property
    def _target(self) -> dict[Variable, Key]:
        """Where the walk says that a variable ends; of a set, the first member."""
        return {
            self.reading.variable[n]: key_of(hop.target) for n, hop in reversed(list(enumerate(self.reading.walk.hops)))
        }

    @cached_property
    def _single(self) -> list[Variable]:
        """Variables that must be one node: the answer; with operations, whatever is not a set."""
        reading = self.reading
        derived = {reading.variable[number] for number in reading.derived}
        if not reading.walk.operations and reading.walk.shape != "parallel":
            return [reading.variable[len(reading.walk.hops) - 1]]
        names = reading.variable.values() if reading.walk.operations else (reading.variable[n] for n in reading.ends)
        return [name for name in dict.fromkeys(names) if name not in reading.sets and name not in derived]

    def _constrained(self, name: Variable) -> bool:
        """False of what only follows from a member of a set."""
        return any(name in constraint.variables for constraint in self._constraints)

    def _named(self, keys: Collection[Key]) -> str:
        shown = ", ".join(self.facts.name(key) for key in list(keys)[:_SHOWN])
        return f"{shown} and more" if len(keys) > _SHOWN else shown

    # -- what the facts give -----------------------------------------------------------------------------------------

    def _unique(self, name: Variable) -> None:
        target = self._target[name]
        found = self.facts.ends(self._constraints, name, limit=_SHOWN + 1)
        if found == [target]:
            return
        if not found:
            self._add("unique", f"nothing satisfies the question; {self.facts.name(target)} does not")
        elif target not in found:
            self._add("unique", f"the facts give {self._named(found)}, not {self.facts.name(target)}")
        else:
            others = [key for key in found if key != target]
            self._add("unique", f"{self._named(others)} fits as well as {self.facts.name(target)}")

    def _members(self, name: Variable, members: Sequence[Key]) -> None:
        if not self._constrained(name):
            self._add("members", "no hop of the question says what belongs to the set")
            return
        kinds = {self.facts.kind(key) for key in members}
        found = self.facts.ends(self._constraints, name, kinds=kinds, limit=_SET)
        if missing := sorted(set(found) - set(members)):
            self._add("members", f"the walk leaves out {self._named(missing)}")
        if surplus := sorted(set(members) - set(found)):
            self._add("members", f"the facts do not make {self._named(surplus)} a member")

    def _derived(self, number: int) -> None:
        hop = self.reading.walk.hops[number]
        found = self.facts.step(key_of(hop.source), hop.relation, hop.forward)
        if list(found) != [key_of(hop.target)]:
            given = self._named(list(found)) if found else "nothing"
            self._add("members", f"{hop.relation} of {hop.source.name!r} is {given}, the walk says {hop.target.name!r}")

    # -- what is done with it ----------------------------------------------------------------------------------------

    def _operations(self) -> None:
        self.results(self.reading.walk.operations, report=True)

    def results(self, operations: Sequence[Operation], *, report: bool, idle: int = -1) -> list[list[Key] | None]:
        """The result of every operation, None where there is none. ``idle`` is a filter that lets everything pass."""
        results: list[list[Key] | None] = []
        for number, operation in enumerate(operations):
            try:
                result = self._result(operation, results, number == idle)
            except _Impossible as error:
                if report:
                    self._add("operation", f"operation {number} ({operation.kind}): {error}")
                result = None
            if result is not None and report:
                self._compare(number, operation, result)
            results.append(result)
        return results

    def _compare(self, number: int, operation: Operation, result: list[Key]) -> None:
        stated = [key_of(node) for node in operation.result]
        if operation.kind in ("count", "difference", "sum"):
            said = measure(text_of(stated[0])) if len(stated) == 1 else None
            computed = [measure(text_of(key)) for key in result]
            if said is None or not any(
                one is not None
                and abs(one.number - said.number) < 1e-9
                and said.unit in (one.unit, *self._units(operation))
                for one in computed
            ):
                self._add(
                    "operation",
                    f"operation {number} ({operation.kind}) gives {self._named(result)}, not {self._named(stated)}",
                )
        elif set(result) != set(stated) or len(stated) != len(set(stated)):
            self._add(
                "operation",
                f"operation {number} ({operation.kind}) gives {self._named(result)}, "
                f"not {self._named(stated) or 'nothing'}",
            )

    @staticmethod
    def _units(operation: Operation) -> tuple[str, ...]:
        return ("year", "years") if operation.kind == "difference" else ()

    def _result(self, operation: Operation, earlier: Sequence[list[Key] | None], idle: bool) -> list[Key]:
        reading = self.reading
        allowed: list[Key] | None = None
        if operation.within is not None:
            if not 0 <= operation.within < len(earlier):
                raise _Impossible(f"works on operation {operation.within}, which does not come before it")
            allowed = earlier[operation.within]
            if allowed is None:
                raise _Impossible(f"works on operation {operation.within}, which has no result")
        if operation.kind in ("list", "count"):
            names = {reading.variable[number] for number in operation.over if number in reading.variable}
            if len(names) != 1:
                raise _Impossible("is not over the members of one set")
            (name,) = names
            if not self._constrained(name):
                raise _Impossible("is over a set that no hop of the question leads to")
            members = self.facts.ends(
                self._constraints,
                name,
                kinds={self.facts.kind(key) for key in reading.sets.get(name, ())},
                limit=_SET,
            )
            kept = [key for key in members if allowed is None or key in allowed]
            return kept if operation.kind == "list" else [value_key(str(len(kept)))]
        measures = self._measures(operation, allowed)
        if operation.kind == "filter":
            return list(measures) if idle else self._filtered(operation, measures)
        if operation.kind in ("argmin", "argmax"):
            return [self._extreme(measures, least=operation.kind == "argmin")]
        values = list(measures.values())
        if len({value.unit for value in values} - {"", "date"}) > 1 or len(values) < 2:
            raise _Impossible("needs two values of one unit")
        if operation.kind == "difference":
            if len(values) != 2:
                raise _Impossible(f"is the difference of {len(values)} values")
            return [value_key(f"{number:g} {_unit(values[0])}".strip()) for number in sorted(difference(*values))]
        return [value_key(f"{sum(value.number for value in values):.12g} {_unit(values[0])}".strip())]

    def _measures(self, operation: Operation, allowed: Sequence[Key] | None) -> dict[Key, Measure]:
        """Candidate -> its value as the facts state it. All members of a set that is measured must be there."""
        reading = self.reading
        found: dict[Key, Measure] = {}
        whole: set[Key] = set()
        for number in operation.over:
            hop = reading.hop(number)
            candidate = key_of(hop.source)
            if number in reading.derived and hop.needs:
                variable = reading.variable[hop.needs[0]]
                whole |= set(reading.sets.get(variable, ()))
            values = self.facts.step(candidate, hop.relation, hop.forward)
            if len(values) != 1:
                raise _Impossible(f"{self.facts.name(candidate)} has {len(values)} values of {hop.relation}")
            value = measure(text_of(values[0]))
            if value is None:
                raise _Impossible(f"{hop.relation} of {self.facts.name(candidate)} has no order")
            # Two measures of one thing (born, died) are two operands.
            found[candidate if candidate not in found else f"{candidate}\0{number}"] = value
        wanted = whole if allowed is None else set(allowed)
        if missing := sorted(key for key in wanted if key not in found):
            raise _Impossible(f"{self._named(missing)} is not measured")
        return found if allowed is None else {key: found[key] for key in found if key in wanted}

    def _filtered(self, operation: Operation, measures: dict[Key, Measure]) -> list[Key]:
        span = span_of(operation.bound.id) if operation.bound is not None else None
        if span is None:
            raise _Impossible("has no bound that can be read")
        kept = []
        for key, value in measures.items():
            holds = span.holds(value)
            if holds is None:
                raise _Impossible(f"whether {self.facts.name(key)} lies in the bound can't be told")
            if holds:
                kept.append(key)
        return kept

    def _extreme(self, measures: dict[Key, Measure], *, least: bool) -> Key:
        if len(measures) < 2:
            raise _Impossible(f"is over {len(measures)} candidates")
        for key, value in measures.items():
            places = [value.place(other) for other_key, other in measures.items() if other_key != key]
            if all(place == (-1 if least else 1) for place in places):
                return key
        raise _Impossible("a tie, or values that can't be compared")

    # -- what could be left out --------------------------------------------------------------------------------------

    def _needed(self) -> None:
        reading, last = self.reading, len(self.reading.walk.hops) - 1
        wanted = [*self._single, *reading.sets]
        for constraint, hops in reading.constraints:
            rest = [other for other in self._constraints if other != constraint]
            for name in wanted:
                if not any(name in other.variables for other in rest):
                    continue
                # What comes after a node (a measure of it, the members of its set) says nothing about it.
                if name not in _downstream(self._constraints, constraint.target):
                    continue
                members = reading.sets.get(name, [self._target[name]])
                kinds = {self.facts.kind(key) for key in members} if name in reading.sets else None
                if len(self.facts.ends(rest, name, kinds=kinds, limit=len(members) + 1)) <= len(members):
                    self._add("shortcut", f"without hop {hops[0]} ({constraint.relation}) the answer is the same")
                    break
        for what in self._direct(last):
            self._add("shortcut", what)
        self._bounds()

    def _bounds(self) -> None:
        operations = self.reading.walk.operations
        if operations and operations[-1].kind == "filter":
            last = len(operations) - 1
            kept, all_ = (self.results(operations, report=False, idle=idle)[-1] for idle in (-1, last))
            if kept is not None and all_ is not None and len(kept) == len(all_):
                self._add("shortcut", f"the bound of operation {last} lets everything pass")
        bounds = [n for n, operation in enumerate(operations[:-1]) if operation.kind == "filter"]
        whole = self.results(operations, report=False)[-1] if bounds else None
        for number in bounds:
            if whole is not None and self.results(operations, report=False, idle=number)[-1] == whole:
                self._add("shortcut", f"without the bound of operation {number} the answer is the same")

    def _direct(self, last: int) -> Iterator[str]:
        reading = self.reading
        if reading.walk.shape not in _SINGLE or reading.walk.operations:
            return
        answer = reading.variable[last]
        beside = {key_of(hop.source) for n, hop in enumerate(reading.walk.hops) if reading.variable[n] == answer}
        for key, node in reading.named.items():
            if key not in beside and node.kind != "range":
                for relation in self.facts.joining(key, self._target[answer]):
                    yield f"one fact ({relation}) joins {node.name!r} to the answer"
                    break


def _downstream(constraints: Sequence[Constraint], start: Variable) -> set[Variable]:
    """The variables that are reached from ``start``, itself among them, in the direction of the walk."""
    reach = {start}
    while more := {item.target for item in constraints if item.source in reach} - reach:
        reach |= more
    return reach


class _Impossible(Exception):
    """An operation that can't be done; the message says why."""


def _unit(value: Measure) -> str:
    return "" if value.unit == "date" else value.unit
