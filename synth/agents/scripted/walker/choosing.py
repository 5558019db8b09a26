"""What decides in a graph: the interface between the planner and whoever picks among what is visible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from synth.agents.scripted.chooser import Ender
from synth.agents.scripted.seen import Fan, Far
from synth.agents.scripted.state import Value
from synth.environments.shown import Hit, Listed

__all__ = ["GraphChooser"]


class GraphChooser(Ender, Protocol):
    """Picks among what is visible. Every method may draw from the generator of the turn."""

    def look_at(self, clue: int, member: Value | None) -> None:
        """Told before anything is asked about one member of a set (None: about the set)."""

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
