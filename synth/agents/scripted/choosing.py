"""What decides: the interface between the planner and whoever picks among options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from synth.agents.scripted.options import Option
from synth.agents.scripted.seen import Fan, Far, SeenDocument
from synth.agents.scripted.state import Value
from synth.environments.shown import Hit, Listed, Passage
from synth.tasks.values import Measure

__all__ = ["Chooser", "GraphChooser", "PageChooser"]


class Chooser(Protocol):
    """What every chooser decides, whatever it walks over: what comes out of what was found, and when to answer."""

    def extreme(self, measures: Sequence[Measure], least: bool) -> tuple[int, bool]:
        """The place of the least (or greatest) of several values, and whether it took the least."""

    def result(self, number: int) -> int:
        """What comes out of counting or reckoning, where ``number`` is right."""

    def verifies(self, value: Value) -> bool:
        """Whether to look once more before answering."""

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

    def reads_on(self, clue: int, fan: Fan) -> bool:
        """Whether to read the next page of a relation's facts."""

    def looks_around(self, clue: int, ends: Sequence[Far]) -> bool:
        """Whether to read another condition on the same thing before picking one of several."""

    def end(self, clue: int, ends: Sequence[Far]) -> Far | None:
        """What answers the clue, of one or several far ends."""

    def members(self, clue: int, ends: Sequence[Far]) -> Sequence[Far]:
        """All that answer a clue that asks for all."""

    def on_candidate(self, clue: int) -> bool:
        """Whether to test a condition by facts of the candidate (else by those of the name in the clue)."""

    def shortcut(self, clue: int, entity: str) -> bool:
        """Whether to ask an entity for a relation that was found at another one of its kind."""

    def meets(self, clue: int, name: str, candidate: Value, ends: Sequence[Far], *, source: bool) -> Far | None:
        """The fact by which ``candidate`` meets a condition, if one does. ``source``: they are facts of the clue's
        start, and the candidate must be among their far ends; else they are facts of the candidate."""
