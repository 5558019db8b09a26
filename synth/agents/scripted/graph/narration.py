"""What a planner over a graph says of relations and facts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from synth.agents.grounding.told import clauses
from synth.agents.scripted.choosing import GraphChooser
from synth.agents.scripted.matching import dangling, quotable, strip
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.rest_of_list import RestOfList
from synth.agents.scripted.seen import Far
from synth.agents.scripted.state import Value
from synth.agents.scripted.wording import is_predicate
from synth.environments.shown import Listed
from synth.text.lists import listed

__all__ = ["GraphNarration", "some"]

_SHOWN = 6
"""Names that a thought lists."""
_IN_WORDS = 0.3
"""How often a fact is told in words and not quoted."""
_BESIDE = 0.3
"""How often a thought names relations that it does not follow."""


class GraphNarration(RestOfList):
    """The words of a planner over a graph."""

    chooser: GraphChooser

    def is_wanted(self, entity: str, way: Listed) -> bool:
        """Whether a part of the question speaks of a relation of ``entity``."""
        return any(self.chooser.is_for(number, entity, way) for number in range(len(self.state.reading.clues)))

    def quote(self, end: Far) -> None:
        text = end.text()
        if not quotable(text):
            return
        if not self.thoughts.leads_in and float(self.thoughts.generator.random()) < _IN_WORDS:
            ways = clauses(end.fact)
            self.thoughts.add("g_told", fact=ways[int(self.thoughts.generator.integers(len(ways)))])
        else:
            self.thoughts.add("g_quote_plain" if self.thoughts.leads_in else "g_quote", quote=text)

    def relations_beside(self, entity: str, way: Listed) -> str:
        """One or two relations of ``entity`` that no part of the question speaks of, to be mentioned; usually empty."""
        read = {label.rpartition(" ")[0] for _, label in self.seen.fans}  # for another part of the question
        names = {
            item.relation
            for item in self.seen.listed.get(entity, {}).values()
            if item.relation not in (way.relation, *read) and not self.is_wanted(entity, item)
        }
        if not names or float(self.thoughts.generator.random()) >= _BESIDE:
            return ""
        order = self.thoughts.generator.permutation(len(names))[:2]
        return listed([sorted(names)[int(at)] for at in order])

    def say_wrong(self, way: Listed, ends: Sequence[Far], cue: str) -> None:
        """That a relation leads to something else than is asked for."""
        said = "g_wrong_plain" if dangling(cue) or '"' in cue else "g_wrong_relation"
        self.thoughts.add(said, relation=way.label, names=some(ends), cue=cue)

    def _say_dead_end(self, clue: Clue, name: str, *, tried: bool) -> None:
        cue = strip(clue.cue)
        if tried:
            self.thoughts.add("used_up", name=name)
        elif dangling(cue) or '"' in cue:
            self.thoughts.add("g_no_way_on", name=name)
        else:
            self.thoughts.add("g_dead_end", name=name, cue=cue)

    def fails(self, clue: Clue, name: str, value: Value) -> None:
        cue = strip(clue.cue)
        if (clue.value or not name) and '"' not in cue:
            intent = "g_fails_predicate" if is_predicate(cue) and not dangling(cue) else "g_fails_value"
            self.thoughts.add(intent, title=value.name, cue=cue)
        elif (relation := self.listed_under(clue, name)) is not None:
            self.thoughts.add("g_fails_listed", title=value.name, name=name, relation=relation)
        else:
            self.thoughts.add("g_fails", title=value.name, name=name)

    @abstractmethod
    def listed_under(self, clue: Clue, name: str) -> str | None:
        """The relation of ``name`` that was read for a condition, where all that it leads to was read."""


def some(ends: Sequence[Far]) -> str:
    """Names of far ends for a thought; of many, the first."""
    names = list(dict.fromkeys(end.name for end in ends))
    return listed(names) if len(names) <= _SHOWN else f"{', '.join(names[:_SHOWN])} and others"
