"""What a scripted agent does with what it has found: counts, compares, narrows down, takes differences and sums.

Every step is said in the open, in forms that ``synth.agents.grounding.computed`` recomputes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from synth.agents.grounding.computed import measure_of
from synth.agents.scripted.choosing import Chooser
from synth.agents.scripted.matching import strip
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Bound, Deed
from synth.agents.scripted.state import State, Value, key_of
from synth.schemas.documents import ValueKind
from synth.tasks.values import Measure, difference, in_range, parse_measure, total
from synth.text.lists import listed
from synth.text.numbers import parse_quantity

__all__ = ["Operations", "span_holds", "written_measure"]


@dataclass(frozen=True)
class _Told:
    """A candidate and the value that was read for it."""

    candidate: Value
    value: Value
    measure: Measure


class Operations:
    """Carries out the operations of the question over what was found."""

    def __init__(self, state: State, chooser: Chooser, thoughts: Thoughts, *, calculator: bool = False) -> None:
        """
        Args:
            calculator: Whether there is one to work out sums, differences and years.
        """
        self._state = state
        self._calculator = calculator
        self.to_calculate: str | None = None
        """What the calculator has to work out before there is an answer."""
        self._seen = state.seen
        self._chooser = chooser
        self._thoughts = thoughts

    def answer(self) -> str | None:
        """The answer, with the thoughts that lead to it; None when something that it needs is not known."""
        reading = self._state.reading
        done: list[list[Value]] = []
        for deed in reading.deeds:
            within = None if deed.within is None else done[deed.within]
            result = self._do(deed, within)
            if result is None:
                if self.to_calculate is None:
                    self._thoughts.add("no_result")
                return None
            done.append(result)
        parts: list[Value] = []
        for what, number in reading.wanted:
            found = (
                done[number] if what == "deed" else [self._state.values[number]] if number in self._state.values else []
            )
            if not found:
                return None
            parts += found
        return listed([self._named(value) for value in parts]) if parts else None

    def partial(self) -> str | None:
        """The answer by what was listed so far, when the agent has to stop before all of it was gone through."""
        begun = self._state.reading.answer < 0 and self._state.open_clue() is not None
        return self.answer() if begun and (self._state.told or self._state.members) else None

    def _named(self, value: Value) -> str:
        page = self._seen.documents.get(value.document or "")
        return self._chooser.answer(value, page.title if page else None)

    def _do(self, deed: Deed, within: Sequence[Value] | None) -> list[Value] | None:
        if deed.kind in ("list", "count"):
            members = self._members(deed, within)
            return self._count(members) if deed.kind == "count" else members or None
        told = self._told(deed, within)
        if not told:
            return None
        if deed.kind == "filter":
            return self._filter(deed, told)
        if deed.kind in ("argmin", "argmax"):
            return self._extreme(deed, told)
        return self._compute(deed, told)

    # Candidates.

    def _members(self, deed: Deed, within: Sequence[Value] | None) -> list[Value]:
        allowed = None if within is None else {key_of(value) for value in within}
        members: dict[str, Value] = {}
        for number in deed.over:
            for _, value in self._state.of_each(self._state.reading.clues[number].target):
                if allowed is None or key_of(value) in allowed:
                    members.setdefault(key_of(value), value)
        return list(members.values())

    def _told(self, deed: Deed, within: Sequence[Value] | None) -> list[_Told]:
        allowed = None if within is None else {key_of(value) for value in within}
        found: list[_Told] = []
        for number in deed.over:
            clue = self._state.reading.clues[number]
            if clue.every:
                pairs = self._state.of_each(clue.target)
            elif clue.target in self._state.values:
                candidate = self._state.values[clue.source] if clue.source is not None else self._start(clue.name)
                pairs = [(candidate, self._state.values[clue.target])]
            else:
                pairs = []
            for candidate, value in pairs:
                measure = written_measure(value.name, clue.kind)
                if measure is not None and (allowed is None or key_of(candidate) in allowed):
                    found.append(_Told(candidate, value, measure))
        return found

    def _start(self, name: str) -> Value:
        return Value(name, self._state.place(name), 0)

    # Operations.

    def _count(self, members: Sequence[Value]) -> list[Value] | None:
        if not members:
            return None
        number = self._chooser.result(len(members))
        self._thoughts.add("counted", names=listed([value.name for value in members]), number=number)
        return [Value(str(number), None, self._seen.turns)]

    def _filter(self, deed: Deed, told: Sequence[_Told]) -> list[Value] | None:
        assert deed.bound is not None
        ends = self._ends(deed.bound, told[0].measure.kind)
        if ends is None:
            return None
        left = [one for one in told if _inside(one.measure, *ends)]
        intent = "fits_bound_several" if left[1:] else "fits_bound" if left else "fits_none"
        names = listed([one.candidate.name for one in left])
        self._thoughts.add(intent, told=_said(told), bound=self._in_words(deed), names=names)
        return [one.candidate for one in left] or None

    def _in_words(self, deed: Deed) -> str:
        """The bound as a sentence says it: where the question has it from an event, with the date that was found."""
        words, bound = strip(deed.cue), deed.bound
        found = [end for end in (bound.low, bound.high) if isinstance(end, int)] if bound is not None else []
        date = self._state.values.get(found[0]) if len(found) == 1 else None
        return words if date is None or " " in words else f"{words} {date.name}"

    def _ends(self, bound: Bound, kind: str) -> tuple[Measure | None, Measure | None] | None:
        """The ends of a bound; None when one of them was not found."""
        ends: list[Measure | None] = []
        for end in (bound.low, bound.high):
            if isinstance(end, int):
                if end not in self._state.values:
                    return None
                ends.append(written_measure(self._state.values[end].name, "date" if kind in _DATED else "quantity"))
            else:
                ends.append(plain_measure(end, kind) if end else None)
        return ends[0], ends[1]

    def _extreme(self, deed: Deed, told: Sequence[_Told]) -> list[Value] | None:
        if any(not one.measure.comparable(told[0].measure) for one in told):
            return None
        if len(told) == 1:
            return [told[0].candidate]
        least = deed.kind == "argmin"
        place, taken_least = self._chooser.extreme([one.measure for one in told], least)
        dated = told[0].measure.dated
        intent = ("is_first" if taken_least else "is_last") if dated else ("is_least" if taken_least else "is_most")
        chosen = told[place]
        intent += "_of_two" if len(told) == 2 else ""
        self._thoughts.add(intent, told=_said(told), value=chosen.value.name, answer=chosen.candidate.name)
        return [chosen.candidate]

    def _compute(self, deed: Deed, told: Sequence[_Told]) -> list[Value] | None:
        measures = [one.measure for one in told]
        found = total(measures) if deed.kind == "sum" else difference(*measures) if len(measures) == 2 else None
        if found is None:
            return None
        dated = deed.kind == "difference" and measures[0].dated
        ordered = sorted(told, key=lambda one: one.measure.low if dated else -one.measure.low)
        if deed.kind == "sum":
            ordered = list(told)
        read = [_trim(one.value.name) for one in ordered]
        sign = " + " if deed.kind == "sum" else " - "
        expression = f"years from {read[0]} to {read[-1]}" if dated else sign.join(read)
        each = any(self._state.reading.clues[number].every for number in deed.over)
        if self._calculator and expression not in self._refused():
            if expression not in self._seen.results:
                self.to_calculate = expression
                self._thoughts.add("to_calculate", told=_said(ordered))
                return None
            result, intent = self._seen.results[expression], "calculated"
        else:
            worked_out = self._chooser.result(number) if isinstance(number := found[0], int) else number
            result = (
                f"{worked_out} {'year' if worked_out == 1 else 'years'}"
                if dated
                else f"{worked_out:,} {_unit_as_read(read[0], found[1])}".strip()
            )
            intent = "apart" if deed.kind == "difference" else "added"
        if each:
            self._thoughts.add("told_each", told=_said(ordered))
        if dated:
            full = result if measures[0].kind == "year" else result.replace(" ", " full ", 1)
            early, late = ordered[0].value.name, ordered[-1].value.name
            self._thoughts.add("apart_years", early=early, late=late, number=full)
        else:
            self._thoughts.add(intent, sum=f"{expression} = {result}")
        return [Value(result, None, self._seen.turns)]

    def _refused(self) -> set[str]:
        """Expressions that the calculator does not take: the agent works them out itself."""
        return {str(failure.call.arguments.get("expression")) for failure in self._seen.failures}


_DATED = ("date", "year")


def _unit_as_read(text: str, unit: str) -> str:
    """The unit as ``text`` spells it: a measure holds it normalized ("km2" for "km²")."""
    written = text.partition(" ")[2]
    found = parse_quantity(f"1 {written}")
    return written if found is not None and found.unit == unit else unit


def written_measure(text: str, kind: ValueKind | str) -> Measure | None:
    """What a page writes, as a quantity: a number that looks like a year is one only where a time is asked for."""
    if kind in _DATED:
        found = measure_of(text)
        return found if found is not None and found.dated else None
    quantity = parse_quantity(text)
    if quantity is None:
        return None
    return Measure("quantity" if quantity.unit else "number", quantity.number, quantity.number, quantity.unit)


def plain_measure(text: str, kind: str) -> Measure | None:
    """The end of a range (a plain value: ISO date, year, number, number with unit) on the scale of ``kind``."""
    if kind in _DATED:
        return parse_measure("date", text) or parse_measure("year", text)
    return written_measure(text, kind)


def _inside(measure: Measure, low: Measure | None, high: Measure | None) -> bool:
    """Whether the value lies within; units that are only written on one side are passed over."""
    ends = [end if end is None or end.unit or not measure.unit else _with_unit(end, measure) for end in (low, high)]
    if any(end is not None and not measure.comparable(end) for end in ends):
        return False
    return in_range(measure, ends[0], ends[1]) is True


def _with_unit(end: Measure, other: Measure) -> Measure:
    return Measure(other.kind, end.low, end.high, other.unit)


def span_holds(text: str, span: tuple[str, str]) -> bool:
    """Whether a value as written lies in a span of plain values."""
    dated = any(re.fullmatch(r"\d{4}-\d\d-\d\d", end) for end in span)
    measure = written_measure(text, "date" if dated else "quantity")
    if measure is None:
        return False
    low, high = (plain_measure(end, measure.kind) if end else None for end in span)
    return _inside(measure, low, high)


def _said(told: Sequence[_Told]) -> str:
    return listed([f"{one.value.name} for {one.candidate.name}" for one in told])


def _trim(text: str) -> str:
    return text.strip().rstrip(".")
