"""What a planner over a graph knows of the rest of a relation's far ends, and of the other parts of the question."""

from __future__ import annotations

from abc import abstractmethod

from synth.agents.scripted.graph.narration import GraphNarration
from synth.agents.scripted.matching import same_name
from synth.agents.scripted.options import of_other_kinds
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import Far
from synth.agents.scripted.state import Value
from synth.agents.scripted.turn_planner import Need
from synth.environments.shown import Listed

__all__ = ["GraphRest"]


class GraphRest(GraphNarration):
    """The part of a planner over a graph that looks beyond the clue at work."""

    few_starts = 8  # several are asked about in one turn

    def title(self, entity: str) -> str:
        if entity in self.seen.documents:
            return self.seen.documents[entity].title
        return next((hit.title for hit in self.seen.hits() if hit.document == entity), entity)

    def listed_under(self, clue: Clue, name: str) -> str | None:
        number = self.state.reading.clues.index(clue)
        for (entity, label), fan in self.seen.fans.items():
            way = self.seen.listed.get(entity, {}).get(label)
            whole = way is not None and self.title(entity) == name and fan.unread is None
            if way is not None and whole and self.chooser.fits(number, way):
                return way.relation
        return None

    def is_for_another(self, number: int, entity: str, way: Listed) -> bool:
        """Whether another part of the question asks for what a relation shows: death_date, where an age is asked."""
        return any(
            n != number
            and clue.target != self.state.reading.clues[number].target
            and self.chooser.is_for(n, entity, way)
            for n, clue in enumerate(self.state.reading.clues)
        )

    def say_useless(self, number: int, entity: str, cue: str) -> None:
        """Who thinks elsewhere says of what was read last of ``entity`` that another relation is meant."""
        if not self.explains or number != self.state.open_clue():
            return
        for (about, label), fan in self.seen.fans.items():
            if about != entity or fan.turn != self.seen.turns - 1 or not fan.ends():
                continue
            relation, _, direction = label.rpartition(" ")
            way = Listed(relation, direction.strip("()"), len(fan.ends()), ())
            if not self.chooser.is_for(number, entity, way) and not self.is_for_another(number, entity, way):
                self.say_wrong(way, fan.ends(), cue)

    def rivals(self, number: int, value: Value) -> list[Value]:
        found: dict[str, Value] = {}
        for (entity, _), fan in self.seen.fans.items():
            ends = fan.ends()
            if all(end.id != value.place for end in ends) or not self._starts(number, entity):
                continue
            others = of_other_kinds(value.place, ((end.name, end.id) for end in ends), self.state.reading.question)
            found |= {end.id: Value(end.name, end.id, fan.turn) for end in ends if end.id and end.name not in others}
        return [one for one in found.values() if one.place != value.place]

    def looked_at(self, rival: Value) -> bool:
        return rival.place in self.seen.listed or any(entity == rival.place for entity, _ in self.seen.fans)

    def ahead(self, number: int, rival: Value) -> list[Value] | Need | None:
        if rival.place is None:
            return None
        if rival.place not in self.seen.listed:  # what one of a kind has, another may lack
            return Need([("get_relations", {"entity": rival.place})], "g_relations", {"name": rival.name})
        found = self.facts(number, rival.place, rival.name, source=True)
        if isinstance(found, Need):
            return found
        taken = self.state.values[self.state.reading.clues[number].target]
        others = of_other_kinds(taken.place, ((end.name, end.id) for end in found or ()), self.state.reading.question)
        return [Value(end.name, end.id, self.seen.turns) for end in found or () if end.id and end.name not in others]

    @abstractmethod
    def facts(self, number: int, entity: str, name: str, *, source: bool) -> list[Far] | Need | None:
        """The far ends by the relation of ``entity`` that a clue speaks of, all that are to be read of them; what must
        be called first; None where the entity has no such relation."""

    def _starts(self, number: int, entity: str) -> bool:
        """Whether a condition starts from ``entity``."""
        clue = self.state.reading.clues[number]
        if clue.value or clue.described:
            return False
        name, place = self.source(clue)
        return entity == place if place is not None else same_name(self.title(entity), name)
