"""How a scripted agent makes one turn: clue by clue, until there is a call to make or an answer.

What it takes to follow one clue, or to test it, is left to a planner over pages or over a graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.choosing import Chooser
from synth.agents.scripted.matching import dangling, strip
from synth.agents.scripted.operations import Operations
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.state import State, Value
from synth.agents.scripted.wording import is_noun_phrase, is_predicate
from synth.environments.contract import ToolCall
from synth.text.lists import listed
from synth.text.words import fold

__all__ = [
    "AT_ONCE",
    "Call",
    "Need",
    "TurnPlanner",
]

AT_ONCE = 4  # things that are looked at in one turn
Call = tuple[str, dict[str, Any]]
_IN_OWN_WORDS = 0.7  # how often the question's words become part of a sentence, where they can, and are not quoted
_RETOLD = 0.4  # how often the answer comes with the way to it
_MOST_OF = 0.6  # who quotes so much of the question says nothing of what comes next


class Need(NamedTuple):
    """Calls that must be made before planning can go on, and what is thought of them."""

    calls: list[Call]
    intent: str = ""
    """Empty where it was said already."""
    slots: dict[str, Any] = {}


class TurnPlanner(ABC):
    """Makes one turn; a new one is made for each."""

    chooser: Chooser
    tools: frozenset[str] = frozenset()
    """Names of the tools that there are, where it matters."""

    def __init__(
        self, state: State, chooser: Chooser, generator: np.random.Generator, *, patience: int, parallel: float
    ) -> None:
        self.state = state
        self.seen = state.seen
        self.chooser = chooser
        self.generator = generator
        self.patience = patience
        self.parallel = parallel
        self.together = False
        """Whether independent questions are begun at the same time."""
        self.thoughts = Thoughts(state.reading.question, generator, earlier=state.seen.thoughts)
        self.explains = False
        """Whether to say which part of the question a turn is for, though nothing was settled in it."""
        self.noted = False  # whether something was settled in this turn
        self.put_aside: dict[str, str] = {}
        """Folded name -> name of what the run had put aside and may look at again: who takes it up says so."""
        self._begun = False
        self._turned_to: int | None = None

    def begin(self) -> None:
        """What comes first in a thought: that a call failed."""
        failed = self.seen.last_failure
        if not self._begun and failed is not None:
            self.thoughts.add("failed_none" if failed.missing else "failed")
        self._begun = True

    def turn(self) -> Turn:
        self.begin()
        early = self.chooser.early_answer()
        if early is not None:
            return self._answer("answer", early)  # in the words of who has the answer: it takes it to be one
        if self.seen.turns >= self.patience:
            return self._stop()
        for _ in range(48):
            number = self.state.open_clue()
            if number is None:
                rest = self._rest()
                return self._act(rest) if rest else self._finish()
            calls = self._work(number)
            if calls is None:
                if not self.state.can_wait(number):
                    return self._stop()
                self.note("postpone", self.state.reading.clues[number].name)
            if calls:
                return self._act(calls)
        return self._stop()

    def _work(self, number: int) -> list[Call] | None:
        """One clue. A list of calls ends the turn; an empty one: a note was made, planning goes on; None: no way is
        left."""
        clue = self.state.reading.clues[number]
        if clue.every:
            return self._work_on_set(number, clue)
        self._turn_to(number)
        if clue.described:
            return self._from_description(number, clue)
        name, place = self.source(clue)
        if clue.target in self.state.values:
            return self._test(number, clue, name, place)
        if clue.value:
            return self._from_value(number, clue, name)
        return self._follow(number, clue, name, place)

    @abstractmethod
    def _work_on_set(self, number: int, clue: Clue) -> list[Call] | None:
        """As :meth:`_work`, for a clue that asks for all that fit or something of each of them."""

    @abstractmethod
    def _follow(self, number: int, clue: Clue, name: str, place: str | None) -> list[Call] | None:
        """As :meth:`_work`, for a clue that leads on from a thing that is known."""

    def _from_description(self, number: int, clue: Clue) -> list[Call] | None:
        """As :meth:`_work`, for a clue that starts from what is described and not named."""
        return None

    def _from_value(self, number: int, clue: Clue, name: str) -> list[Call] | None:
        """As :meth:`_work`, for a clue that starts from a value. Where another condition leads, it is tested there."""
        return None

    @abstractmethod
    def check(self, number: int, clue: Clue, name: str, hint: str | None, value: Value) -> Need | bool:
        """Whether ``value`` meets a further condition, as far as was read; what must be called first."""

    @abstractmethod
    def fails(self, clue: Clue, name: str, value: Value) -> None:
        """Say that ``value`` does not meet a condition."""

    def _test(self, number: int, clue: Clue, name: str, hint: str | None) -> list[Call]:
        """A further condition on something that is settled already."""
        value = self.state.values[clue.target]
        verdict = self.check(number, clue, name, hint, value)
        if isinstance(verdict, Need):
            return self.do(verdict)
        if not verdict:
            self.fails(clue, name, value)
        self.note("confirm" if verdict else "dismiss", value.name)
        return []

    def do(self, need: Need) -> list[Call]:
        if need.intent:
            self.thoughts.add(need.intent, **need.slots)
        return need.calls

    @abstractmethod
    def objects(self, unknown: int, kind: str) -> bool:
        """Say what was read that speaks against what ``unknown``, a ``kind``, was settled as; False, and nothing is
        said, where nothing does."""

    def _dead_end(self, clue: Clue, name: str, *, tried: bool = False) -> list[Call] | None:
        """Nothing leads on from ``name``, or nothing that was ``tried``: go back to where it came from."""
        if clue.source is None:
            return None
        self._say_dead_end(clue, name, tried=tried)
        self.note("dismiss", name)
        return []

    def _say_dead_end(self, clue: Clue, name: str, *, tried: bool) -> None:
        self.thoughts.add("used_up" if tried else "dead_end", name=name)

    def _rest(self) -> list[Call]:
        """All clues are settled: calls that read of what stood on a list beside what fits; none, and what was read of
        it is said."""
        return []

    def _finish(self) -> Turn:
        """All clues are settled: a last look, or the answer."""
        if self.state.reading.answer < 0:
            operations = self._operations
            answer = operations.answer()
            if operations.to_calculate is not None:
                return self._act([("calculate", {"expression": operations.to_calculate})])
            return self._answer("answer", answer) if answer is not None else self._stop()
        value = self.state.values[self.state.reading.answer]
        calls = self._last_look(value)
        if calls:
            return self._act(calls)
        page = self.seen.documents.get(value.document or "")
        return self._answer("answer", self.chooser.answer(value, page.title if page else None))

    def _last_look(self, value: Value) -> list[Call]:
        """Calls that look once more at the answer, where there is a reason to; none, and what it showed is said."""
        return []

    @property
    def _operations(self) -> Operations:
        return Operations(self.state, self.chooser, self.thoughts, calculator="calculate" in self.tools)

    def source(self, clue: Clue) -> tuple[str, str | None]:
        if clue.source is None:
            return clue.name, None
        value = self.state.values[clue.source]
        return value.name, value.place

    def _stop(self) -> Turn:
        value = self.state.values.get(self.state.reading.answer)
        guess = value.name if value is not None else self._operations.partial() or self.chooser.guess()
        if guess is not None:
            return self._answer("answer_guess", guess)
        self.thoughts.add("give_up" if self.seen.turns else "give_up_start")
        return Turn(thought=self.thoughts.text(), said=None, answer=None)

    def _answer(self, intent: str, answer: str) -> Turn:
        way = self.state.way_to(self.state.reading.answer) if intent == "answer" else []
        told = "answer_chain" if len(way) > 1 and float(self.thoughts.generator.random()) < _RETOLD else intent
        self.thoughts.add(told, answer=answer, names=listed(way))
        return Turn(thought=self.thoughts.text(), answer=answer)

    def _act(self, calls: Sequence[Call]) -> Turn:
        made = tuple(
            ToolCall(id=f"call_{self.seen.turns}_{place}", name=name, arguments=arguments)
            for place, (name, arguments) in enumerate(one for call in calls for one in self.as_tools(call))
        )
        return Turn(thought=self.thoughts.text() or None, calls=made)

    def as_tools(self, call: Call) -> list[Call]:
        """A call in terms of the tools that there are."""
        return [call]

    def taken_as(self, number: int) -> str:
        """What a note calls something whose page was just read: settled, or to be tested by a further condition."""
        clues = self.state.reading.clues
        tested = any(
            n != number and clue.target == clues[number].target and n not in self.state.resolved
            for n, clue in enumerate(clues)
        )
        return "candidate_read" if tested else "found"

    def note(self, intent: str, name: str) -> None:
        back = self.put_aside.pop(fold(name), None)
        if back is not None and intent not in ("dismiss", "strike", "elsewhere"):
            self.thoughts.add("mend_return", name=back)
        self.thoughts.add(intent, found=name)
        self.state.note(intent, name, self.seen.turns)
        if intent in ("dismiss", "elsewhere"):
            self._turned_to = self.state.open_clue()
        self.noted = True

    def _turn_to(self, number: int) -> None:
        """Say which part of the question comes now, when another one was settled in this turn."""
        clue = self.state.reading.clues[number]
        if not (self.noted or (self.explains and self.seen.turns)) or number == self._turned_to:
            return
        self._turned_to = number
        known = self.state.values.get(clue.source) if clue.source is not None else None
        cue = strip(clue.cue)
        if clue.target in self.state.values:
            named = not dangling(cue) and '"' not in cue
            if named and cue[0].islower() and is_predicate(cue) and float(self.generator.random()) < _IN_OWN_WORDS:
                self.thoughts.add("check_whether", cue=cue, name=self.state.values[clue.target].name)
            else:
                self.thoughts.add("check_that" if named else "check_condition", cue=cue)
            return
        draw = 0.5 if self.explains else float(self.generator.random())
        if known is not None and (dangling(cue) or draw < 0.4):
            if draw < 0.7:
                self.thoughts.add("next_plain", name=known.name)
        elif is_noun_phrase(cue) and not dangling(cue) and len(cue) < _MOST_OF * len(self.state.reading.question):
            plain = '"' not in cue and float(self.generator.random()) < _IN_OWN_WORDS
            self.thoughts.add("next_noun" if plain else "next_clue", cue=cue)
        elif known is not None:  # half a sentence ("is home to the fewest people") is no part that one comes to
            self.thoughts.add("next_plain", name=known.name)

    def independent(self, number: int) -> list[tuple[int, str]]:
        """(clue, name) where other questions begin that have nothing to do with that of ``number`` (HyperEyes)."""
        reading = self.state.reading
        clues = reading.clues
        if not self.together or reading.answer >= 0 or reading.deeds or any(clue.every for clue in clues):
            return []
        roots = [(n, clue.name) for n, clue in enumerate(clues) if clue.source is None and clue.name and not clue.value]
        if number not in dict(roots):
            return []
        return [(n, name) for n, name in roots if n != number and n not in self.state.resolved]

    def at_once(self, number: int, name: str) -> list[str]:
        """``name`` and, in the first turn, what else of the question is looked up beside it: where others begin."""
        others = [] if self.seen.turns else [other for _, other in self.independent(number)]
        starts = [clue.name for clue in self.state.reading.clues if clue.source is None and not clue.value]
        if not (self.seen.turns or others) and starts[1:] and float(self.generator.random()) < self.parallel:
            others = starts
        return list({fold(one): one for one in (name, *others) if one}.values())[:AT_ONCE]

    def _begin(self, number: int, name: str, others: Sequence[str] = ()) -> None:
        clues = self.state.reading.clues
        if self.seen.turns == 0 and not clues[number].every and not others:
            many = sum(clue.target == clues[number].target for clue in clues) > 1
            starts = {fold(clue.name) for clue in clues if clue.source is None}
            self.thoughts.add("plan_many" if many else "plan_first" if len(starts) > 1 else "plan", name=name)
