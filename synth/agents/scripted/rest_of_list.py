"""The part of a planner that, where what fits was taken from a list, looks at the others on that list as well.

The question asks for the one that meets all its conditions: who answers with the first that fits has left the others
unread.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from synth.agents.grounding.said import named_in, says
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.set_questions import SetQuestions
from synth.agents.scripted.state import Value
from synth.agents.scripted.turn_planner import Call, Need
from synth.text.words import fold

__all__ = ["RestOfList"]

_MOST = 8
"""So many others are read; where more are left, none is."""
_CUT = "and others"
"""How a long list ends whose names were not all said."""


class RestOfList(SetQuestions):
    """The part of a planner that reads the rest of a list."""

    @abstractmethod
    def rivals(self, number: int, value: Value) -> list[Value]:
        """What was listed for a clue beside ``value``, and is of its kind."""

    @abstractmethod
    def looked_at(self, rival: Value) -> bool:
        """Whether anything of a rival was read."""

    def weigh(self, number: int, clue: Clue, rival: Value) -> Need | bool:
        """Whether ``rival`` meets a condition, as far as was read; what must be called first."""
        name, place = self.source(clue)
        return self.check(number, clue, name, place, rival)

    def _rest(self) -> list[Call]:
        needs: list[Need] = []
        first, begun, reads = "", False, self.chooser.reads_rest()
        for unknown, value in sorted(self.state.values.items()):
            numbers = self._conditions(unknown)
            for leading in numbers if len(numbers) > 1 else ():
                left = self._named_rivals(leading, value)
                if len(left) > _MOST:
                    continue
                begun |= any(map(self.looked_at, left))
                for rival in left if reads else filter(self.looked_at, left):
                    need = self._try_rival(unknown, rival, [number for number in numbers if number != leading])
                    if need is not None:
                        needs.append(need)
                        first = first or value.name
        if not needs or not reads:
            return []
        if not begun:
            self.thoughts.add("rest_too", name=first)
        return self._together(needs)

    def _conditions(self, unknown: int) -> list[int]:
        """The conditions on one thing, where all of them start from something that is known."""
        return [
            number
            for number, clue in enumerate(self.state.reading.clues)
            if clue.target == unknown
            and not (clue.every or clue.described)
            and (clue.source is None or clue.source in self.state.values)
        ]

    def _named_rivals(self, number: int, value: Value) -> list[Value]:
        """Those that the run has named as possibilities and not put aside; nothing that it goes by otherwise. Where it
        has said what two lists share, only those."""
        ours = {fold(one.name) for one in self.state.values.values()}
        ours |= {fold(clue.name) for clue in self.state.reading.clues}
        rivals = self.rivals(number, value)
        if not any(self.thoughts.told(rival.name) for rival in rivals):
            return []
        for thought in (*self.seen.thoughts, self.thoughts.said):
            shared = says(("g_common",), thought)
            if shared is not None and named_in(shared.group(), value.name) and _CUT not in shared.group():
                rivals = [rival for rival in rivals if named_in(shared.group(), rival.name)]
        return [
            rival
            for rival in rivals
            if fold(rival.name) not in ours and not self.state.is_dismissed(number, rival.name, rival.document)
        ]

    def _try_rival(self, unknown: int, rival: Value, numbers: Sequence[int]) -> Need | None:
        """Put a rival to the test of the other conditions, as if it had been taken: what must be called first, or None
        and it is said why it is out. Where it fits as well, nothing speaks against it, and nothing is said."""
        kept = self.state.values[unknown]
        self.state.values[unknown] = rival
        try:
            for number in numbers:
                clue = self.state.reading.clues[number]
                verdict = self.weigh(number, clue, rival)
                if isinstance(verdict, Need):
                    return verdict
                if not verdict:
                    self.fails(clue, self.source(clue)[0], rival)
                    break
            else:
                return None
        finally:
            self.state.values[unknown] = kept
        self.note("dismiss", rival.name)
        return None
