"""The choices of the scripted teacher in a graph.

Now and then it takes a wrong turn that is open to view (``detour``, ``rivals``): a relation that does not say what the
question asks, an entity of a like name, a candidate that fails a further condition. It notices from what it then
observes, says so, and goes back: recovery trajectories.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.scripted.choosing import GoldChooser, is_end
from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.graph.conditions import fact_that_meets
from synth.agents.scripted.matching import WORDED, Lexicon, content_stems, fit_of, is_value_kind, likeness, same_name
from synth.agents.scripted.options import of_other_kinds
from synth.agents.scripted.seen import Fan, Far, SeenDocument
from synth.agents.scripted.state import State, Value
from synth.environments.answers import judge
from synth.environments.shown import Hit, Listed
from synth.identity import derive_generator
from synth.schemas.tasks import Hop, Node, Task

__all__ = ["GraphGoldChooser"]


class GraphGoldChooser(GoldChooser):
    """Chooses what is on the walk, among what is visible."""

    def __init__(
        self, task: Task, state: State, lexicon: Lexicon, config: TeacherConfig, generator: np.random.Generator
    ) -> None:
        super().__init__(task, state, lexicon, config, generator)
        self._looks_at: dict[int, Value | None] = {}

    def _hops(self, clue: int) -> list[Hop]:
        """The hops behind a clue; of a set those of the member that is looked at."""
        hops = self._all_hops(clue)
        member = self._looks_at.get(clue)
        if member is None:
            return hops
        lists = self._state.lists(clue)
        return [hop for hop in hops if is_end(hop.target if lists else hop.source, member)]

    def _draw(self, rate: float, clue: int) -> bool:
        """Whether to take a wrong turn: once per clue at most, and never on the way to each member of a set."""
        turned = any(number == clue for number, _ in self._state.dismissed)
        if rate <= 0 or turned or self._state.reading.clues[clue].every or clue != self._state.open_clue():
            return False
        return float(self._generator.random()) < rate

    def look_at(self, clue: int, member: Value | None, document: SeenDocument | None = None) -> None:
        self._looks_at[clue] = member

    def entity(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        wanted = {part for hop in self._all_hops(clue) for part in (hop.source.id, hop.source.document_id)}
        gold = next((hit for hit in hits if hit.document in wanted), None)
        if gold is None:
            return None
        bar = 2.0 if same_name(gold.title, name) else 0.5  # who sees the very name looks at no other
        alike = [
            hit for hit in hits if hit is not gold and (same_name(hit.title, name) or likeness(hit.title, name) >= bar)
        ]
        if alike and self._draw(self._config.detour, clue):
            return alike[0]
        return gold

    def is_entity(self, clue: int, name: str, title: str, entity: str) -> bool:
        return same_name(title, name) or any(
            entity in (hop.source.id, hop.source.document_id) for hop in self._all_hops(clue)
        )

    def _is_gold(self, clue: int, item: Listed, *, source: bool) -> bool:
        return any(
            item.relation == " ".join(hop.relation.split())
            and item.direction in ("both", "out" if hop.forward == source else "in")
            for hop in self._hops(clue) or self._all_hops(clue)
        )

    def relation(self, clue: int, entity: str, listed: Sequence[Listed], *, source: bool) -> Listed | None:
        gold = next((item for item in listed if self._is_gold(clue, item, source=source)), None)
        if not source or gold is None or (entity, gold.label) in self._seen.fans:
            return gold
        # By the relation alone: the same mistake in every run.
        habit = self._config.habit > 0 and derive_generator(0, "habit", gold.relation).random() < self._config.habit
        if not self._off_the_walk(clue) and self._draw(1.0 if habit else self._config.detour, clue):
            return self._decoy(clue, gold, listed, habit=habit) or gold
        return gold

    def _decoy(self, clue: int, gold: Listed, listed: Sequence[Listed], *, habit: bool) -> Listed | None:
        """A relation that a hasty reader could take for the right one: it leads to the same kind of thing, and the
        question's words could speak of it."""
        right = 0.0 if habit else self._fit(clue, gold)
        named = content_stems(gold.relation.replace("_", " "))
        if not habit and named and named <= content_stems(self._state.reading.clues[clue].cue):
            return None  # a reader would not miss the question's own word
        own = {" ".join(hop.relation.split()) for hop in self._task.walk.hops}
        scored: list[tuple[float, int]] = []
        for place, item in enumerate(listed):
            fit, alike = self._fit(clue, item), bool(set(item.kinds) & set(gold.kinds))
            usable = item.relation not in own and item.facts <= 8 and is_value_kind(item) == is_value_kind(gold)
            # Nobody reads what the words hardly speak of where another relation fits. A habit needs no reason.
            if usable and (habit or (alike and fit >= 0.5 * right)):
                scored.append((fit + 0.3 * alike + 0.2 * (item.facts == gold.facts), -place))
        return listed[-max(scored)[1]] if scored else None

    def _fit(self, clue: int, item: Listed) -> float:
        return fit_of(self._state.reading.clues[clue].cue, item, self._lexicon)

    def fits(self, clue: int, relation: Listed) -> bool:
        return self._fit(clue, relation) >= WORDED

    def is_for(self, clue: int, entity: str, relation: Listed) -> bool:
        starts = any(entity in (hop.source.id, hop.source.document_id) for hop in self._all_hops(clue))
        return starts and self._is_gold(clue, relation, source=True)

    def accepts(self, clue: int, entity: str, relation: Listed, ends: Sequence[Far], *, source: bool) -> bool:
        return self._is_gold(clue, relation, source=source)

    def reads_on(self, clue: int, fan: Fan) -> bool:
        if self._state.reading.clues[clue].every or self._decided_later(clue):
            return True  # who stops at the right one has used what was not read
        shown = {end.id for end in fan.ends()} | {end.name for end in fan.ends()}
        return not any({hop.target.id, hop.target.name} & shown for hop in self._hops(clue))

    def looks_around(self, clue: int, ends: Sequence[Far]) -> bool:
        return not self._draw(self._config.detour, clue)

    def end(self, clue: int, ends: Sequence[Far]) -> Far | None:
        gold = next((end for end in ends if any(_is_far(hop.target, end) for hop in self._hops(clue))), None)
        if gold is None:
            kinds = {(hop.target.document_id or "").partition("/")[0] for hop in self._hops(clue)}
            alike = [end for end in ends if end.id.partition("/")[0] in kinds] if self._off_the_walk(clue) else []
            return next((end for end in alike if not self._state.is_dismissed(clue, end.name, end.id)), None)
        left = of_other_kinds(gold.id, ((end.name, end.id) for end in ends), self._state.reading.question)
        before = [end for end in ends[: ends.index(gold)] if end.id and end.name not in left]
        if not self._decided_later(clue) or not self._config.rivals or self._state.reading.clues[clue].every:
            return gold
        # In the order in which they stand: who goes straight to the right one has used what was not read.
        return next((end for end in before if not self._state.is_dismissed(clue, end.name, end.id)), gold)

    def members(self, clue: int, ends: Sequence[Far]) -> list[Far]:
        # All that the relation leads to belong, whether or not a further condition will strike them.
        return list(ends)

    def meets(self, clue: int, name: str, candidate: Value, ends: Sequence[Far], *, source: bool) -> Far | None:
        # A candidate that is wrong may meet this condition all the same: another one tells.
        found = fact_that_meets(self._state.reading.clues[clue], name, candidate, ends, source=source)
        right = not source and any(is_end(hop.target, candidate) for hop in self._hops(clue))
        return found or (ends[0] if right and ends else None)

    def answer(self, value: Value, title: str | None) -> str:
        return value.name


def _is_far(node: Node, end: Far) -> bool:
    if end.id:
        return end.id in (node.id, node.document_id)
    kind = node.kind if node.kind in ("date", "year", "number", "quantity", "text") else "text"
    return judge(end.name, gold=node.name, aliases=(node.id, *node.aliases), kind=kind).correct is True  # type: ignore[arg-type]
