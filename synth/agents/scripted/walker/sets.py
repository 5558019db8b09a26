"""The part of the graph planner that collects all members of a set, and asks something of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from synth.agents.scripted.course import Call
from synth.agents.scripted.cues import dangling, strip
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.state import Value, key_of
from synth.agents.scripted.walker.need import Need
from synth.text.lists import listed

if TYPE_CHECKING:
    from synth.agents.scripted.walker.planner import GraphPlanner

__all__ = ["GraphSets"]

_AT_ONCE = 4


class GraphSets:
    """Works on the clues that ask for all that fit. Returns what ``Course._work`` returns."""

    def __init__(self, planner: GraphPlanner) -> None:
        self._planner = planner
        self._state = planner.state
        self._chooser = planner.chooser
        self._thoughts = planner.thoughts

    def work(self, number: int, clue: Clue) -> list[Call] | None:
        if not self._state.lists(number):
            return self._ask(number, clue)
        if self._state.sifts(number):
            return self._sift(number, clue)
        return self._list(number, clue)

    # All members.

    def _list(self, number: int, clue: Clue) -> list[Call] | None:
        planner = self._planner
        if clue.value or clue.described:
            return None
        name, place = planner.source(clue)
        if planner.seen.turns == 0 and not self._thoughts:
            self._thoughts.add("plan_list", name=name)
        self._chooser.look_at(number, None)
        entity = planner.entity(number, name, place)
        if isinstance(entity, Need):
            return planner.do(entity)
        found = None if entity is None else planner.facts(number, entity, name, source=True)
        if isinstance(found, Need):
            return planner.do(found)
        self._chooser.look_at(number, None)
        quoted = False
        for end in self._chooser.members(number, found or ()):
            if any(key_of(value) == (end.id or value.name) for value in self._members(clue)):
                continue
            if self._state.is_dismissed(number, end.name, end.id or None):
                continue
            if not quoted:
                planner.quote(end)
                quoted = True
            planner.note("member", end.name)
        members = self._members(clue)
        if not members:
            if clue.source is None:
                return None
            self._thoughts.add("dead_end", name=name)
            planner.note("dismiss", name)
            return []
        planner.note("complete", name)
        self._thoughts.add("all_listed", names=listed([value.name for value in members]))
        return []

    def _members(self, clue: Clue) -> list[Value]:
        return self._state.members.get(clue.target, [])

    # A further condition on the members.

    def _sift(self, number: int, clue: Clue) -> list[Call] | None:
        planner = self._planner
        name, place = planner.source(clue)
        needs: list[Need] = []
        for value in self._state.unsifted(number):
            self._chooser.look_at(number, value)
            verdict = planner.check(number, clue, name, place, value)
            if isinstance(verdict, Need):
                needs.append(verdict)
                if _is_alone(verdict, value):
                    break
            elif verdict:
                planner.note("keep", value.name)
            else:
                planner.fails(clue, name, value)
                planner.note("strike", value.name)
        if needs:
            return self._together(needs)
        if self._members(clue):
            return []
        self._state.resolved.add(number)
        return None

    def _together(self, needs: Sequence[Need]) -> list[Call]:
        """One need; or several of one kind in one turn."""
        alike = [need for need in needs if need.intent == needs[0].intent][:_AT_ONCE]
        calls = [call for need in alike for call in need.calls]
        distinct = [call for at, call in enumerate(calls) if call not in calls[:at]]
        names = list(dict.fromkeys(str(need.slots.get("name", "")) for need in alike))
        if len(distinct) == 1 or "" in names:
            return self._planner.do(needs[0])
        self._thoughts.add(f"{alike[0].intent}_each", names=listed(names), **_without_name(alike[0]))
        return distinct

    # Something of each.

    def _ask(self, number: int, clue: Clue) -> list[Call] | None:
        planner = self._planner
        wanted = self._state.untold(number)
        self._introduce(clue, wanted)
        needs: list[Need] = []
        for value in wanted:
            self._chooser.look_at(number, value)
            if value.place is None:
                planner.note("untold", value.name)
                continue
            found = planner.facts(number, value.place, value.name, source=True)
            if isinstance(found, Need):
                needs.append(found)
                if found.intent == "g_relations":
                    break  # one of them shows which relation to ask of the others
                continue
            end = self._chooser.end(number, found) if found else None
            if end is None:
                planner.note("untold", value.name)
                continue
            planner.note("about", value.name)
            planner.quote(end)
            planner.note("told", end.name)
        return self._together(needs) if needs else []

    def _introduce(self, clue: Clue, wanted: Sequence[Value]) -> None:
        assert clue.source is not None
        if len(wanted) == len(self._state.of_each(clue.source)) and self._planner.noted:
            cue = strip(clue.cue)
            if dangling(cue) or '"' in cue:
                self._thoughts.add("each_plain")
            else:
                self._thoughts.add("each", cue=cue)


def _is_alone(need: Need, value: Value) -> bool:
    """Whether the need is not about ``value`` but about what all are tested by, or a first look at a member."""
    return need.intent == "g_relations" or need.slots.get("name") != value.name


def _without_name(need: Need) -> dict[str, object]:
    return {key: value for key, value in need.slots.items() if key != "name"}
