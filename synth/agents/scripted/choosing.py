"""Choosers: the planner lays out options and a chooser picks one; and what teachers and policies share over pages and
over a graph.

A teacher knows the gold walk and uses it for one thing: to choose among options that are visible. Everything that it
picks or says stands in an observation of its history (Honesty rules: privilege may choose, never tell).
What it has not seen it can't pick: then it reads on or searches, like anyone. A policy knows the question and what it
has read, picks by likeness of words, and errs: its mistakes are functions of what is visible, drawn turn by turn from
the turn's generator, never planned, and each is logged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.config import PolicyConfig, TeacherConfig
from synth.agents.scripted.matching import Lexicon, likeness, same_name
from synth.agents.scripted.options import Option
from synth.agents.scripted.reading import clue_hops
from synth.agents.scripted.seen import Fan, Far, SeenDocument
from synth.agents.scripted.state import State, Value
from synth.environments.contract import ToolCall
from synth.environments.passages import Passage
from synth.environments.shown import Hit, Listed
from synth.schemas.injected import InjectedError
from synth.schemas.tasks import Hop, Node, Task
from synth.tasks.values import Measure

__all__ = [
    "Chooser",
    "ErrorInjection",
    "GoldChooser",
    "GraphChooser",
    "Mistakes",
    "PageChooser",
    "extreme_of",
    "is_end",
]


def extreme_of(measures: Sequence[Measure], least: bool) -> int:
    """The place of the least or greatest; of equals the first."""
    order = sorted(range(len(measures)), key=lambda n: (measures[n].low if least else -measures[n].high, n))
    return order[0]


class Chooser(Protocol):
    """What every chooser decides, whatever it walks over: what comes out of what was found, and when to answer."""

    def extreme(self, measures: Sequence[Measure], least: bool) -> tuple[int, bool]:
        """The place of the least (or greatest) of several values, and whether it took the least."""

    def result(self, number: int) -> int:
        """What comes out of counting or reckoning, where ``number`` is right."""

    def verifies(self, value: Value) -> bool:
        """Whether to look once more before answering."""

    def reads_rest(self) -> bool:
        """Whether to read of the others on a list although one of them fits."""

    def answer(self, value: Value, title: str | None) -> str:
        """How to put the answer: the name as read, or the title of the page that it leads to."""

    def early_answer(self) -> str | None:
        """An answer given before all is settled, if the agent is so inclined."""

    def guess(self) -> str | None:
        """An answer when all ways are used up."""

    def look_at(self, clue: int, member: Value | None, document: SeenDocument | None = None) -> None:
        """Told before anything is asked about one member of a set (None: about whatever ``document`` shows of the
        set)."""


class PageChooser(Chooser, Protocol):
    """Picks among what is visible. Every method may draw from the generator of the turn."""

    def source_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        """The result to open as the page of ``name``, if any."""

    def related_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        """The result to open in search of a page that states the clue, if any."""

    def left_over(self, clue: int, name: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Results that look as good as what was tried for the clue, where a narrower search is to tell."""

    def searches_on(self, clue: int, made: int) -> bool:
        """Whether to search once more for a page that states the clue, after ``made`` searches."""

    def is_source(self, clue: int, name: str, document: SeenDocument) -> bool:
        """Whether an opened page is the page of ``name``."""

    def overlooks(self, clue: int, name: str, document: SeenDocument) -> bool:
        """Whether to take a page that was opened for ``name`` and is not about it for the right one all the same."""

    def option(self, clue: int, name: str, document: SeenDocument) -> Option | None:
        """What answers the clue on the pages of ``document`` that were read, if anything."""

    def support(self, clue: int, name: str, document: SeenDocument) -> Passage | None:
        """The sentence by which the page of a candidate states the clue about ``name``, if any."""

    def members(self, clue: int, name: str, document: SeenDocument) -> Sequence[Option]:
        """All that the pages of ``document`` that were read name as answers to a clue that asks for all."""

    def candidates(self, clue: int, name: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Results that may be further members, the likeliest first."""

    def stops_listing(self, clue: int, names: Sequence[str]) -> bool:
        """Whether to close the list although not every search was made."""

    def subject(self, clue: int, document: SeenDocument, sentence: Passage) -> str:
        """What the page or entry is called that ``sentence`` is about."""

    def confirmation(self, clue: int, name: str, candidate: str, document: SeenDocument) -> Passage | None:
        """The sentence by which ``document`` ties ``candidate`` to ``name`` as the clue says, if any."""

    def contrary(self, clue: int, name: str, document: SeenDocument) -> Passage | None:
        """The sentence in which a page speaks of what the clue asks for and says something else, if any."""

    def excludes(self, clue: int, name: str, document: SeenDocument) -> bool:
        """Whether a candidate's page is known to contradict the clue: it gives another birthplace."""

    def tells(self, clue: int, name: str, hit: Hit) -> bool:
        """Whether the snippet of a result is known to state the clue about ``name``."""

    def of_kind(self, clue: int, name: str, document: SeenDocument) -> Sequence[str]:
        """Other things on a page of the kind that the clue asks for, as far as known."""

    def denies(self, clue: int, sentence: Passage, name: str = "") -> bool:
        """Whether a sentence is known to say something else than the clue (of ``name``, which it starts from), however
        like it is worded."""

    def states(self, clue: int, document: SeenDocument) -> bool:
        """Whether a page is known to state what the clue asks for, about anything at all."""

    def states_line(self, clue: int, sentence: Passage) -> bool:
        """As :meth:`states`, for a sentence."""

    def crosschecks(self, value: Value | None) -> bool:
        """Whether to read, before answering ``value`` (None: what comes out of several), a page that has it
        otherwise, where a result shows one."""

    def shown_to_meet(self, clue: int, document: str | None) -> Passage | None:
        """The line of a result by which a candidate for what the clue leads to meets another condition on it."""

    def better_result(self, clue: int, name: str) -> Hit | None:
        """A result that was not opened and is shown to state the clue and to meet another condition, if any."""

    def shown_to_fail(self, clue: int, document: str | None) -> Passage | None:
        """The line of a result by which a candidate for what the clue leads to fails a condition on it."""

    def disputes(self, clue: int, name: str, end: str, hit: Hit) -> Passage | None:
        """The line of a result by which a page about ``name`` says something else than ``end`` to the clue, if any."""

    def reads_on(self, clue: int, document: SeenDocument) -> bool:
        """Whether to read the next page of a document."""

    def pattern(self, clue: int, document: SeenDocument, patterns: Sequence[str]) -> str | None:
        """The words to look for in a long document, if any."""

    def page(self, clue: int, document: SeenDocument, pages: Sequence[int]) -> int | None:
        """Which of the pages that a find points to, if any of them."""

    def leaf(self, clue: int, document: SeenDocument) -> int | None:
        """Which page of a long document to turn to where no find helped; None to read on."""

    def starts_with_candidate(self, clue: int) -> bool:
        """Whether to test a condition on the candidate's page first (else on the page of the name in the clue)."""


class GraphChooser(Chooser, Protocol):
    """Picks among what is visible. Every method may draw from the generator of the turn."""

    def entity(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        """The result that is meant by ``name``, if any."""

    def is_entity(self, clue: int, name: str, title: str, entity: str) -> bool:
        """Whether an entity whose relations were just read is the one that is meant by ``name``."""

    def relation(self, clue: int, entity: str, listed: Sequence[Listed], *, source: bool) -> Listed | None:
        """The relation of ``entity`` that the clue speaks of, if any: ``entity`` is where the clue starts (``source``)
        or what it leads to."""

    def accepts(self, clue: int, entity: str, relation: Listed, ends: Sequence[Far], *, source: bool) -> bool:
        """Whether facts that were just read are what the clue speaks of."""

    def fits(self, clue: int, relation: Listed) -> bool:
        """Whether the words of the clue speak for a relation."""

    def is_for(self, clue: int, entity: str, relation: Listed) -> bool:
        """Whether a relation of ``entity`` is what a clue speaks of, which need not be the one at work."""

    def reads_on(self, clue: int, fan: Fan) -> bool:
        """Whether to read the next page of a relation's facts."""

    def looks_around(self, clue: int, ends: Sequence[Far]) -> bool:
        """Whether to read another condition on the same thing before picking one of several."""

    def end(self, clue: int, ends: Sequence[Far]) -> Far | None:
        """What answers the clue, of one or several far ends."""

    def members(self, clue: int, ends: Sequence[Far]) -> Sequence[Far]:
        """All that answer a clue that asks for all."""

    def meets(self, clue: int, name: str, candidate: Value, ends: Sequence[Far], *, source: bool) -> Far | None:
        """The fact by which ``candidate`` meets a condition, if one does. ``source``: they are facts of the clue's
        start, and the candidate must be among their far ends; else they are facts of the candidate."""


class GoldChooser:
    """The choices that are the same over pages and over a graph."""

    def __init__(
        self, task: Task, state: State, lexicon: Lexicon, config: TeacherConfig, generator: np.random.Generator
    ) -> None:
        self._task = task
        self._state = state
        self._seen = state.seen
        self._lexicon = lexicon
        self._config = config
        self._generator = generator
        self._behind = clue_hops(task)

    def _all_hops(self, clue: int) -> list[Hop]:
        """The hops behind a clue: several where it asks for all that fit."""
        return [self._task.walk.hops[number] for number in self._behind[clue]] if clue < len(self._behind) else []

    def _decided_later(self, clue: int) -> bool:
        """Whether what a clue leads to is put to the test by others: they ask more of it, or lead on from it."""
        clues = self._state.reading.clues
        target = clues[clue].target
        return sum(other.target == target for other in clues) > 1 or any(other.source == target for other in clues)

    def _off_the_walk(self, clue: int) -> bool:
        """Whether a clue starts from something that was taken on trial and is not on the walk."""
        source = self._state.reading.clues[clue].source
        value = self._state.values.get(source) if source is not None else None
        return value is not None and not any(is_end(hop.source, value) for hop in self._all_hops(clue))

    def extreme(self, measures: Sequence[Measure], least: bool) -> tuple[int, bool]:
        return extreme_of(measures, least), least

    def result(self, number: int) -> int:
        return number

    def reads_rest(self) -> bool:
        return self._config.rest >= 1 or float(self._generator.random()) < self._config.rest

    def early_answer(self) -> str | None:
        return None

    def guess(self) -> str | None:
        return None


def is_end(node: Node, value: Value) -> bool:
    """Whether ``value`` is what ``node`` of the walk is."""
    if value.document is not None and node.document_id is not None:
        return value.document in (node.id, node.document_id)
    return any(same_name(value.name, name) for name in (node.name, *node.aliases))


class Mistakes:
    """Draws what a scripted policy does wrong in a turn. Every mistake is in ``injected``."""

    def __init__(self, skill: float, turn: int, generator: np.random.Generator) -> None:
        self._skill, self._turn, self._draws = skill, turn, generator
        self.injected: list[InjectedError] = []

    def errs(self, rate: float) -> bool:
        """Whether to make a mistake of this rate, which is that of ``skill`` 0.5."""
        return float(self._draws.random()) < min(0.95, rate * 2 * (1 - self._skill))

    def log(self, mode: str, detail: str) -> None:
        made = InjectedError(trajectory_id="unassigned", turn=self._turn, mode=mode, detail=detail[:500])
        self.injected.append(made)


class ErrorInjection(Mistakes, ABC):
    """Chooses for a planner, and errs."""

    def __init__(self, state: State, lexicon: Lexicon, config: PolicyConfig, generator: np.random.Generator) -> None:
        super().__init__(config.skill, state.seen.turns, generator)
        self._state = state
        self._seen = state.seen
        self._lexicon = lexicon
        self._config = config
        self._generator = generator

    def _named(self, name: str, hits: Sequence[Hit], exact: Sequence[Hit], done: str) -> tuple[Hit | None, list[Hit]]:
        """The result that goes by ``name``, mostly; those whose titles are like it."""
        alike = [hit for hit in hits if hit not in exact and likeness(hit.title, name) >= 0.3]
        if exact and alike and self.errs(self._config.lookalike):
            chosen = alike[int(self._generator.integers(len(alike)))]
            self.log("lookalike", f"{done} {chosen.title!r} for {name!r} although {exact[0].title!r} was in the list")
            return chosen, alike
        return (exact[0] if exact else None), alike

    def look_at(self, clue: int, member: Value | None, document: SeenDocument | None = None) -> None:
        """What it reads is the same whichever member it reads for."""

    def extreme(self, measures: Sequence[Measure], least: bool) -> tuple[int, bool]:
        if self.errs(self._config.wrong_extreme):
            self.log("wrong_extreme", "took the last for the first" if least else "took the first for the last")
            least = not least
        return extreme_of(measures, least), least

    def result(self, number: int) -> int:
        if number < 1 or not self.errs(self._config.arithmetic_slip):
            return number
        slipped = number + (1 if number < 2 or float(self._generator.random()) < 0.5 else -1)
        self.log("arithmetic_slip", f"made it {slipped} instead of {number}")
        return slipped

    def corrupt(self, turn: Turn) -> Turn:
        """Now and then one call goes wrong on the way out. The next turn sees the error and can mend it."""
        if not turn.calls or self._seen.last_failure is not None or not self.errs(self._config.bad_argument):
            return turn
        call = turn.calls[0]
        corrupted = self._corrupted(call)
        self.log("bad_argument", f"{call.name} with {corrupted.arguments} instead of {call.arguments}")
        return turn.model_copy(update={"calls": (corrupted, *turn.calls[1:])})

    def early_answer(self) -> str | None:
        reading, number = self._state.reading, self._state.open_clue()
        if number is None or self._seen.turns < 2:
            return None
        value = self._state.values.get(reading.answer)
        if value is None or reading.answer < 0:
            return self._early_guess(number)
        if not self.errs(self._config.skipped_check / 2):
            return None
        self.log("skipped_check", f"answered {value.name!r} before clue {number} was tested")
        return value.name

    def verifies(self, value: Value) -> bool:
        return float(self._generator.random()) < 0.4 * self._config.skill

    def reads_rest(self) -> bool:
        return float(self._generator.random()) < 0.4 * self._config.skill

    @abstractmethod
    def _early_guess(self, number: int) -> str | None:
        """An answer from what is in view, given with clue ``number`` still open."""

    @abstractmethod
    def _corrupted(self, call: ToolCall) -> ToolCall:
        """``call`` with a mistake that its tool refuses."""
