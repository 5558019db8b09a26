"""The part of a planner that works on clues about sets: all that fit, and something of each of them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence

from synth.agents.scripted.matching import dangling, strip
from synth.agents.scripted.options import kind_called, of_other_kinds
from synth.agents.scripted.phrases import PHRASES
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.state import Value
from synth.agents.scripted.turn_planner import AT_ONCE, Call, Need, TurnPlanner
from synth.text.inflection import article
from synth.text.lists import listed

__all__ = ["SetQuestions"]

_OF_ONE = re.compile(r"\b(?:most|least|first|last|\w{2,}est)\b")  # holds for one of several: not for each


_OF_EACH = ("name", "names", "titles", "others")
"""What a thought says of each of those that are read for the same."""


def _for_same(need: Need, other: Need) -> bool:
    """Whether two calls are made for the same: "area" of both."""
    return all(need.slots.get(slot) == value for slot, value in other.slots.items() if slot not in _OF_EACH)


class SetQuestions(TurnPlanner):
    """The part of a planner that works on clues about sets."""

    def _work_on_set(self, number: int, clue: Clue) -> list[Call] | None:
        if self.explains and not self._members(clue):
            self._turn_to(number)
        if not self.state.lists(number):
            return self._ask(number, clue)
        if self.state.sifts(number):
            return self._sift(number, clue)
        return self._list(number, clue)

    @abstractmethod
    def _list(self, number: int, clue: Clue) -> list[Call] | None:
        """All members: notes for those that were read, calls while there is more to read, then :meth:`_close`."""

    @abstractmethod
    def _tell(self, number: int, value: Value) -> Need | bool | None:
        """Note what the clue asks of ``value``. False where nothing that was read says it; what must be called first;
        None where it has to be looked for, after the others."""

    def _seek(self, number: int, value: Value) -> list[Call]:
        """Look for ``value``, of which nothing was read."""
        return []

    def _members(self, clue: Clue) -> list[Value]:
        return self.state.members.get(clue.target, [])

    def _begin_list(self, name: str) -> None:
        if self.seen.turns == 0 and not self.thoughts:
            self.thoughts.add("plan_list", name=name)

    def _close(self, clue: Clue, name: str) -> list[Call] | None:
        members = self._members(clue)
        if not members:
            if clue.source is not None:
                self.thoughts.add("dead_end", name=name)
                self.note("dismiss", name)
            return None if clue.source is None else []
        self.note("complete", name or members[-1].name)
        self.thoughts.add("all_listed", names=listed([value.name for value in members]))
        return []

    def disputes(self, number: int, value: Value, kind: str) -> bool:
        """Say what was read that speaks against a member of a list of things of ``kind``; False, and nothing is said,
        where nothing does."""
        if not of_other_kinds(f"{kind}/", [(value.name, value.place)], self.state.reading.question):
            return False
        called = kind_called(kind, self.state.reading.question)
        self.thoughts.add("of_kind", kind=f"{article(called)} {called}", titles=value.name)
        return True

    def _sift(self, number: int, clue: Clue) -> list[Call] | None:
        """A further condition on the members."""
        name, place = self.source(clue)
        needs: list[Need] = []
        for value in self.state.unsifted(number):
            self.chooser.look_at(number, value)
            verdict = self.check(number, clue, name, place, value)
            if isinstance(verdict, Need):
                needs.append(verdict)
                # Not about this one but about what all are tested by, or a first look at a member.
                if verdict.intent == "g_relations" or verdict.slots.get("name") != value.name:
                    break
            elif verdict:
                self.note("keep", value.name)
            else:
                self.fails(clue, name, value)
                self.note("strike", value.name)
        if needs:
            return self._together(needs)
        if self._members(clue):
            return []
        self.state.resolved.add(number)
        return None

    def _ask(self, number: int, clue: Clue) -> list[Call]:
        """Something of each."""
        wanted = self.state.untold(number)
        if self._introduces(number, wanted):
            cue = strip(clue.cue)
            # "how many people live in the cities on the River Orl" is said of all of them, and not of each.
            of_all = any(one.name and one.name in cue for one in self.state.reading.clues if one is not clue)
            plain = of_all or dangling(cue) or '"' in cue or _OF_ONE.search(cue) is not None
            self.thoughts.add("each_plain" if plain else "each", cue=cue)
        needs: list[Need] = []
        later: list[Value] = []
        for value in wanted:
            told = self._tell(number, value)
            if isinstance(told, Need):
                if not told.intent:
                    return told.calls
                needs.append(told)
                if told.intent == "g_relations":
                    break  # one of them shows which relation to ask of the others
            elif told is None:
                later.append(value)
            elif not told:
                self.note("untold", value.name)
        return self._together(needs) if needs else self._seek(number, later[0]) if later else []

    def _introduces(self, number: int, wanted: Sequence[Value]) -> bool:
        """Whether to say that something is asked of each."""
        source = self.state.reading.clues[number].source
        assert source is not None
        return len(wanted) == len(self.state.of_each(source)) and self.noted

    def _together(self, needs: Sequence[Need]) -> list[Call]:
        """One need; or several of one kind in one turn."""
        alike = [need for need in needs if need.intent == needs[0].intent and _for_same(need, needs[0])][:AT_ONCE]
        calls = [call for need in alike for call in need.calls]
        distinct = [call for at, call in enumerate(calls) if call not in calls[:at]]
        names = list(dict.fromkeys(str(need.slots.get("name", "")) for need in alike))
        each = f"{alike[0].intent}_each"
        if len(distinct) == 1 or "" in names:
            return self.do(needs[0])
        slots = {**alike[0].slots, "names": listed(names), "titles": listed(names)}
        self.thoughts.add(each if each in PHRASES else alike[0].intent, **slots)
        return distinct
