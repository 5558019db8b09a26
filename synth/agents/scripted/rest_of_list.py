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
_SPENT = 0.6
"""Of its turns: who has made more of them begins with no other start."""
_CUT = "and others"
"""How a long list ends whose names were not all said."""


class RestOfList(SetQuestions):
    """The part of a planner that reads the rest of a list."""

    few_starts = 4
    """So many others of an earlier part are followed: each leads to a list of its own."""

    @abstractmethod
    def rivals(self, number: int, value: Value) -> list[Value]:
        """What was listed for a clue beside ``value``, and is of its kind."""

    def unlisted(self, number: int, value: Value) -> list[Value]:
        """What a page that was read names for a clue, ``value`` not among it."""
        return []

    def beside(self, number: int, value: Value) -> list[Value]:
        """What results say of a clue beside ``value``, and no list names."""
        return []

    def is_ruled_out(self, number: int, rival: Value) -> bool:
        """Whether a result shows that a rival fails: then it is said, and noted."""
        return False

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
            named = {number: self._named_rivals(number, value) for number in numbers}
            for leading in numbers if len(numbers) > 1 and not needs else ():
                left = self._unnamed_rivals(leading, value)
                if any(named.values()):
                    # A page may leave out of its list what a result says of the same; what was read is judged.
                    told = self._with_results(leading, value, named[leading]) if named[leading] else []
                    known = {one.document for one in told}
                    told += [one for one in left if one.document not in known and self.looked_at(one)]
                    left = self._left(leading, told)
                if len(left) > _MOST:
                    continue
                begun |= any(map(self.looked_at, left))
                for rival in left if reads else filter(self.looked_at, left):
                    if self.is_ruled_out(leading, rival):
                        continue
                    met = None if self.state.reading.clues[leading].value else leading
                    need = self._try_rival(unknown, rival, [number for number in numbers if number != met])
                    if need is not None:
                        needs.append(need)
                        first = first or value.name
        if not reads:
            return []
        if not needs:
            needs, first, begun = self._earlier()
        if not needs:
            return []
        if not begun:
            self.thoughts.add("rest_too", name=first)
        return self._together(needs)

    def _earlier(self) -> tuple[list[Need], str, bool]:
        """As :meth:`_rest`, for what an earlier part took from its list on trust: nothing but what it leads to tells
        whether it is right. The needs, what was taken, and whether others beside it were looked at before."""
        for unknown, value in sorted(self.state.values.items()):
            leading, onward = self._conditions(unknown), self._onward(unknown)
            single = len(leading) == 1 and onward is not None
            left = self._left(leading[0], self._named_rivals(leading[0], value)) if single else []
            if onward is None or not 0 < len(left) <= self.few_starts:
                continue
            begun = any(map(self.looked_at, left))
            if not begun and self.seen.turns >= _SPENT * self.patience:
                continue
            needs = [need for rival in left for need in self._try_start(unknown, onward, rival)]
            if needs:
                return needs, value.name, begun
        return [], "", False

    def ahead(self, number: int, rival: Value) -> list[Value] | Need | None:
        """Where a clue leads from ``rival``; what must be called first; None where that can't be told."""
        return None

    def _onward(self, unknown: int) -> int | None:
        """The one clue that leads on from an unknown, where further conditions tell what is right of its far ends."""
        onward = [n for n, clue in enumerate(self.state.reading.clues) if clue.source == unknown]
        if len(onward) != 1 or self.state.reading.clues[onward[0]].every:
            return None
        target = self.state.reading.clues[onward[0]].target
        return onward[0] if target in self.state.values and len(self._conditions(target)) > 1 else None

    def _try_start(self, unknown: int, onward: int, rival: Value) -> list[Need]:
        """Follow another start as if it had been taken: what must be called first, or nothing and it is said why it is
        out, with all that it leads to."""
        clue, kept = self.state.reading.clues[onward], self.state.values[unknown]
        numbers = [number for number in self._conditions(clue.target) if number != onward]
        self.state.values[unknown] = rival
        try:
            ends = self.ahead(onward, rival)
            if ends is None or isinstance(ends, Need):
                return [ends] if ends is not None else []
            ours = {one.place or fold(one.name) for one in self.state.values.values()}
            if len(ends) > _MOST or any((end.place or fold(end.name)) in ours for end in ends):
                return []
            left = [end for end in ends if not self.state.is_dismissed(onward, end.name, end.document)]
            left = [end for end in left if not self.is_ruled_out(onward, end)]
            verdicts = [(end, self._fits(clue.target, end, numbers)) for end in left]
        finally:
            self.state.values[unknown] = kept
        needs = [verdict for _, verdict in verdicts if isinstance(verdict, Need)]
        for end, verdict in verdicts:
            if verdict is False:
                self.note("dismiss", end.name)
        if not any(verdict for _, verdict in verdicts):
            if ends:
                self.thoughts.add("rest_used_up", name=rival.name)
            else:
                self._say_dead_end(clue, rival.name, tried=False)
            self.note("dismiss", rival.name)
        return needs

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
        """Those that the run has named as possibilities. Where it has said what two lists share, only those."""
        rivals = self.rivals(number, value)
        if not any(self.thoughts.told(rival.name) for rival in rivals):
            rivals = []
        for thought in (*self.seen.thoughts, self.thoughts.said):
            shared = says(("g_common",), thought)
            if shared is not None and named_in(shared.group(), value.name) and _CUT not in shared.group():
                rivals = [rival for rival in rivals if named_in(shared.group(), rival.name)]
        return rivals

    def _unnamed_rivals(self, number: int, value: Value) -> list[Value]:
        """As :meth:`_named_rivals`, for what came up by a search and stands on no list that was named."""
        return self._left(number, self._with_results(number, value, self.unlisted(number, value)))

    def _with_results(self, number: int, value: Value, rivals: Sequence[Value]) -> list[Value]:
        known = {rival.document for rival in rivals}
        return [*rivals, *(one for one in self.beside(number, value) if one.document not in known)]

    def _left(self, number: int, rivals: Sequence[Value]) -> list[Value]:
        """What the run has not put aside, and nothing that it goes by otherwise."""
        ours = {fold(one.name) for one in self.state.values.values()}
        ours |= {fold(clue.name) for clue in self.state.reading.clues}
        return [
            rival
            for rival in rivals
            if fold(rival.name) not in ours and not self.state.is_dismissed(number, rival.name, rival.document)
        ]

    def _try_rival(self, unknown: int, rival: Value, numbers: Sequence[int]) -> Need | None:
        """Put a rival to the test of the other conditions, as if it had been taken: what must be called first, or None
        and it is said why it is out. Where it fits as well, nothing speaks against it, and nothing is said."""
        verdict = self._fits(unknown, rival, numbers)
        if isinstance(verdict, Need):
            return verdict
        if not verdict:
            self.note("dismiss", rival.name)
        return None

    def _fits(self, unknown: int, rival: Value, numbers: Sequence[int]) -> Need | bool:
        """Whether a rival meets these conditions: what must be called first, or the answer, and it is said why not."""
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
                    return False
        finally:
            self.state.values[unknown] = kept
        return True
