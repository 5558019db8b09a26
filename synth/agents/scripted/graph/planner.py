"""The planner over a graph (GraphWalker, arXiv 2603.28533): look up, list relations, read one, go on from there.

One call of ``turn`` makes one turn. For each clue of the question it finds the entity that the clue starts from, lists
its relations, reads the facts of the one that the clue speaks of, and takes a far end. Conditions that meet in one
thing are read first and what their facts have in common is taken; what can only be tested is tested candidate by
candidate. A relation that turns out to say something else, an entity without a fitting one and a candidate that fails
a condition are put aside with what was observed as the reason, and the walk goes back to where it parted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.agents.scripted.choosing import GraphChooser
from synth.agents.scripted.graph.narration import some
from synth.agents.scripted.graph.rest import GraphRest
from synth.agents.scripted.matching import quotable, same_name, strip
from synth.agents.scripted.options import kind_called, of_other_kinds
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import Fan, Far
from synth.agents.scripted.state import Value, key_of
from synth.agents.scripted.turn_planner import Call, Need
from synth.environments.shown import Hit, Listed
from synth.text.inflection import article
from synth.text.lists import listed
from synth.text.words import fold

__all__ = ["GraphPlanner"]

_FEW = 3  # facts that are read at a glance


class GraphPlanner(GraphRest):
    """Makes one turn; a new one is made for each."""

    chooser: GraphChooser

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._read_for: dict[tuple[str, str], int] = {}
        """(entity, relation) -> the clue that its facts were used for in this turn."""
        self._sought: str | None = None
        """The entity that is looked for among facts: once it was seen, no more of them are read."""

    # One clue.

    def _follow(self, number: int, clue: Clue, name: str, place: str | None) -> list[Call] | None:
        entity = self.entity(number, name, place)
        if isinstance(entity, Need):
            return self.do(entity)
        if entity is None:
            return self._dead_end(clue, name)
        found = self.facts(number, entity, name, source=True)
        if isinstance(found, Need):
            return self.do(found)
        ends = [end for end in found or () if not self.state.is_dismissed(number, end.name, end.id or None)]
        again = len(ends) < len(found or ())  # of these, something was tried before
        if len(ends) > 1 and self.chooser.looks_around(number, ends):
            other = self._other_conditions(number)
            if isinstance(other, Need):
                return self.do(other)
            common = [end for end in ends if end.id in other] if other is not None else []
            if common:
                if len(common) < len(ends):
                    self.thoughts.add("g_common", names=some(common))
                ends = common
        chosen = self.chooser.end(number, ends) if ends else None
        if chosen is None:
            return self._dead_end(clue, name, tried=True) if again else self._nothing(number, clue, name, entity)
        return self._settle(number, chosen, ends, again=again)

    def _nothing(self, number: int, clue: Clue, name: str, entity: str) -> list[Call] | None:
        """No fact of ``entity`` answers the clue."""
        title = self.title(entity)
        if clue.source is None and not self.state.is_dismissed(number, title, entity):
            # Perhaps another entity of a like name is meant.
            rest = [hit for hit in self._hits(number, name) if hit.document != entity]
            if rest:
                self.thoughts.add("g_none", name=title)
                self.note("dismiss", title)
                return []
        return self._dead_end(clue, name)

    def _settle(self, number: int, chosen: Far, ends: Sequence[Far], *, again: bool) -> list[Call]:
        if not again:
            self.quote(chosen)  # else it stands in the list that was read before
        only = "candidate_next" if again else "found"
        if len(ends) == 1:
            self.note(only, chosen.name)
            return []
        others = of_other_kinds(chosen.id, ((end.name, end.id) for end in ends), self.state.reading.question)
        rivals = [end for end in ends if end.name not in others]
        if others and not again:
            kind = kind_called(chosen.id.partition("/")[0], self.state.reading.question)
            left_out = [end for end in ends if end.name in others]
            self.thoughts.add("of_kind", kind=f"{article(kind)} {kind}", titles=some(left_out))
        if len(rivals) == 1:
            self.note(only, chosen.name)
            return []
        if not again:
            self.thoughts.add("g_candidates", titles=some(rivals))
        self.note("candidate_next" if again else "candidate", chosen.name)
        return []

    def _other_conditions(self, number: int) -> set[str] | Need | None:
        """Entities that the other conditions on the same unknown lead to, as far as those start from something known;
        None where none does."""
        target = self.state.reading.clues[number].target
        common: set[str] | None = None
        for other, clue in enumerate(self.state.reading.clues):
            known = clue.source is None or clue.source in self.state.values
            if other == number or clue.target != target or clue.value or clue.described or clue.every or not known:
                continue
            name, place = self.source(clue)
            entity = self.entity(other, name, place)
            if isinstance(entity, Need):
                return entity
            found = None if entity is None else self.facts(other, entity, name, source=True)
            if isinstance(found, Need):
                return found
            if found:
                ids = {end.id for end in found if end.id}
                common = ids if common is None else common & ids
        return common

    # Entities.

    def entity(self, number: int, name: str, place: str | None) -> str | Need | None:
        """The id of ``name``, or what must be called to learn it; None when it can't be found."""
        if place is not None:
            return place
        hits = self._hits(number, name)
        for hit in [hit for hit in hits if self._was_opened_for(hit, name)]:
            judged = number == self.state.open_clue() and self._just_listed(hit.document)
            if not judged or self.chooser.is_entity(number, name, hit.title, hit.document):
                return hit.document
            self.thoughts.add("g_other", title=hit.title, name=name)
            self.note("dismiss", hit.title)
        left = [hit for hit in hits if not self.state.is_dismissed(number, hit.title, hit.document)]
        chosen = self.chooser.entity(number, name, left) if left else None
        if chosen is not None:
            others = [hit for hit in left if same_name(hit.title, name)]
            alike = not same_name(chosen.title, name)
            if alike:
                self.thoughts.add("hit_alike", title=chosen.title, name=name)
            elif len(others) > 1:
                self.thoughts.add("g_same_name", name=chosen.title, kind=chosen.text.split(",")[0])
            return chosen.document
        made = [search for search in self.seen.searches if fold(search.query) == fold(name)]
        if not made:
            names = self.at_once(number, name)
            self._begin(number, name, names[1:])
            calls: list[Call] = [("find_entity", {"name": one}) for one in names]
            return Need(calls, "search_names" if names[1:] else "g_find", {"name": name, "names": listed(names)})
        if all((search.k or 0) < 10 for search in made):
            return Need([("find_entity", {"name": name, "k": 10})], "g_find_more", {"name": name})
        return None

    def _hits(self, number: int, name: str) -> list[Hit]:
        """Results of lookups of that name that were not put aside for this clue, each once."""
        known = {
            hit.document: hit
            for search in self.seen.searches
            if fold(search.query) == fold(name)
            for hit in search.hits
            if not self.state.is_dismissed(number, hit.title, hit.document)
        }
        return list(known.values())

    def _was_opened_for(self, hit: Hit, name: str) -> bool:
        """Whether the relations of a result were listed because of ``name``: it is called so, it was opened straight
        after the name was looked up, or it is what was opened last and nothing was settled since."""
        others = [clue.name for clue in self.state.reading.clues if clue.name]
        ours = any(same_name(hit.title, other) for other in others) and not same_name(hit.title, name)
        if hit.document not in self.seen.listed or ours:
            return False  # another part of the question is about it
        looked = {search.turn + 1 for search in self.seen.searches if fold(search.query) == fold(name)}
        if same_name(hit.title, name) or self.seen.documents[hit.document].turns[0] in looked:
            return True
        return not self.noted and self._just_listed(hit.document) and not self._is_ours(hit.document)

    def _is_ours(self, entity: str) -> bool:
        """Whether something that was settled or listed means ``entity``: it was opened for that."""
        members = [value for values in self.state.members.values() for value in values]
        return any(value.document == entity for value in (*self.state.values.values(), *members))

    # Facts.

    def facts(self, number: int, entity: str, name: str, *, source: bool) -> list[Far] | Need | None:
        """The far ends by the relation of ``entity`` that the clue speaks of, all that are to be read of them; what
        must be called first; None where the entity has no such relation."""
        cue = strip(self.state.reading.clues[number].cue)
        relations = self.seen.listed.get(entity)
        if relations is None:
            way = self._known_way(number, entity, source=source)
            if way is not None:
                fan = self.seen.fans.get((entity, way.label))
                return self._read(number, entity, name, way, fan, source=source)
            self.say_useless(number, entity, cue)
            title = self.title(entity)
            other = title != entity and not same_name(title, name)  # it is looked at for its likeness
            return Need([("get_relations", {"entity": entity})], "g_relations", {"name": title if other else name})
        options = [
            item
            for item in relations.values()
            if not self.state.is_dismissed(number, item.label, None) or (entity, item.label) not in self.seen.fans
        ]
        chosen = self._just_read(number, entity, options) or self.chooser.relation(
            number, entity, options, source=source
        )
        if chosen is None:
            page = self.seen.more.get(entity)
            if page is not None:
                return Need([("get_relations", {"entity": entity, "page": page})], "g_relations_next", {"page": page})
            return None
        fan = self.seen.fans.get((entity, chosen.label))
        # What is put aside is put aside for the clue at work, and not because it was right for the one before.
        read_for = self._read_for.get((entity, chosen.label), number)
        judged = number == read_for == self.state.open_clue() and (fan is None or not self._settled_by(fan))
        if judged and fan is not None and fan.turn == self.seen.turns - 1 and len(fan.pages) == 1:
            ends = fan.ends()
            if not self.chooser.accepts(number, entity, chosen, ends, source=source):
                other = self.is_for_another(number, entity, chosen)
                if other:
                    self.thoughts.add("g_other_part", relation=chosen.label, names=some(ends))
                else:
                    self.say_wrong(chosen, ends, cue)
                self.note("elsewhere" if other else "dismiss", chosen.label)
                return self.facts(number, entity, name, source=source)
        if fan is not None:
            self._read_for.setdefault((entity, chosen.label), number)
        return self._read(number, entity, name, chosen, fan, source=source)

    def _read(
        self, number: int, entity: str, name: str, way: Listed, fan: Fan | None, *, source: bool
    ) -> list[Far] | Need:
        if fan is None:
            slots: dict[str, Any] = {"name": name, "relation": way.relation}
            others = [item for item in self.seen.listed.get(entity, {}).values() if set(item.kinds) & set(way.kinds)]
            every = self.state.reading.clues[number].every
            both = any(number in deed.over for deed in self.state.reading.deeds)
            doubts = {one.relation for one in others if one is not way and not self.is_wanted(entity, one)}
            clear = every or both or not doubts - {way.relation} or self.chooser.fits(number, way)
            beside = self.relations_beside(entity, way) if clear and not every else ""
            intent = "g_triples_among" if beside else "g_triples" if clear else "g_guess"
            if not every and any(one.relation == way.relation and one is not way for one in others):
                self.thoughts.add(f"g_way_{way.direction}", **slots)
            told = beside if clear else listed(sorted(doubts - {way.relation})[:2])
            return Need([_triples(entity, way)], intent, slots | {"others": told})
        page = fan.unread
        shown = self._sought is not None and any(end.id == self._sought for end in fan.ends())
        if page is not None and not shown and self.chooser.reads_on(number, fan):
            slots = {"name": name, "relation": way.relation, "page": page, "total": fan.total}
            return Need([_triples(entity, way, page)], "g_triples_next", slots)
        return fan.ends()

    def _just_read(self, number: int, entity: str, options: Sequence[Listed]) -> Listed | None:
        """The relation of ``entity`` that was read in the last turn: what it shows is judged first, for one clue."""
        for item in options:
            fan = self.seen.fans.get((entity, item.label))
            ours = self._read_for.get((entity, item.label), number) == number
            if ours and fan is not None and fan.turn == self.seen.turns - 1 and not self._settled_by(fan):
                return item
        return None

    def _settled_by(self, fan: Fan) -> bool:
        """Whether something was settled in this turn by what the relation shows."""
        settled = {value.name for value in self.state.values.values() if value.turn == self.seen.turns}
        return any(end.name in settled for end in fan.ends())

    def _known_way(self, number: int, entity: str, *, source: bool) -> Listed | None:
        """The relation by which other things of the kind of ``entity`` were asked for this clue, if there is one and
        ``entity`` is not known to lack it."""
        clues = self.state.reading.clues
        unknown = clues[number].source if source else clues[number].target
        others: list[str | None] = []
        if unknown is not None:
            others += [value.place for value in self.state.members.get(unknown, [])]
            others += [document for clue, document in sorted(self.state.dismissed) if clues[clue].target == unknown]
        # Who read the length of one river asks the next for it.
        kind, _, own = entity.rpartition("/")
        others += [one for one in self.seen.listed if kind and own and one.rpartition("/")[0] == kind]
        for other in others:
            relations = self.seen.listed.get(other or "")
            if relations is None or other == entity:
                continue
            read = [item for label, item in relations.items() if (str(other), label) in self.seen.fans]
            chosen = self.chooser.relation(number, str(other), read, source=source) if read else None
            if chosen is not None:
                return None if (entity, chosen.relation) in self.seen.missing else chosen
        return None

    def objects(self, unknown: int, kind: str) -> bool:
        name = self.state.values[unknown].name
        clues = [(n, clue) for n, clue in enumerate(self.state.reading.clues) if clue.target == unknown]
        for (entity, label), fan in self.seen.fans.items():
            ends, way = fan.ends(), self.seen.listed.get(entity, {}).get(label)
            if way is None or all(end.name != name for end in ends):
                continue
            if not any(self.chooser.accepts(n, entity, way, ends, source=True) for n, _ in clues):
                if self.is_for_another(clues[0][0], entity, way):
                    return False  # it is right, for another part of the question
                self.say_wrong(way, ends, strip(clues[0][1].cue))
                return True
        return False

    # Conditions.

    def check(self, number: int, clue: Clue, name: str, hint: str | None, value: Value) -> Need | bool:
        if not clue.value and not self._is_nearer(number, name, hint, value):
            entity = self.entity(number, name, hint)
            if isinstance(entity, Need):
                return entity
            if entity is not None:
                self._sought = value.place
                found = self.facts(number, entity, name, source=True)
                self._sought = None
                if isinstance(found, Need):
                    return found
                return self._meets(number, name, value, found or [], source=True)
        if value.place is None:
            return False
        found = self.facts(number, value.place, value.name, source=False)
        if isinstance(found, Need):
            return found
        if not found:
            self.thoughts.add("g_no_fact", name=value.name)
        return self._meets(number, name, value, found or [], source=False)

    def _is_nearer(self, number: int, name: str, hint: str | None, value: Value) -> bool:
        """Whether a listed candidate has few facts that decide, and none were read from the other side: a country has
        many citizens, and each of them has one country."""
        own = self.seen.listed.get(value.place or "")
        entity = hint or next((hit.document for hit in self._hits(number, name) if same_name(hit.title, name)), None)
        read = any((entity, label) in self.seen.fans for label in self.seen.listed.get(entity or "", {}))
        if own is None or value.place is None or read:
            return False
        way = self.chooser.relation(number, value.place, list(own.values()), source=False)
        return way is not None and way.facts <= _FEW

    def _meets(self, number: int, name: str, value: Value, ends: Sequence[Far], *, source: bool) -> bool:
        fact = self.chooser.meets(number, name, value, ends, source=source)
        if fact is not None:
            self.quote(fact)
        elif ends and not source and quotable(ends[0].text()):
            self.thoughts.add("g_instead", quote=ends[0].text())
        return fact is not None

    # Sets.

    def _list(self, number: int, clue: Clue) -> list[Call] | None:
        if clue.value or clue.described:
            return None
        name, place = self.source(clue)
        self._begin_list(name)
        self.chooser.look_at(number, None)
        entity = self.entity(number, name, place)
        if isinstance(entity, Need):
            return self.do(entity)
        found = None if entity is None else self.facts(number, entity, name, source=True)
        if isinstance(found, Need):
            return self.do(found)
        self.chooser.look_at(number, None)
        quoted = False
        for end in self.chooser.members(number, found or ()):
            if any(key_of(value) == (end.id or value.name) for value in self._members(clue)):
                continue
            if self.state.is_dismissed(number, end.name, end.id or None):
                continue
            if not quoted:
                self.quote(end)
                quoted = True
            self.note("member", end.name)
        return self._close(clue, name)

    def _tell(self, number: int, value: Value) -> Need | bool:
        self.chooser.look_at(number, value)
        if value.place is None:
            return False
        found = self.facts(number, value.place, value.name, source=True)
        if isinstance(found, Need):
            return found
        end = self.chooser.end(number, found) if found else None
        if end is None:
            return False
        self.note("about", value.name)
        self.quote(end)
        self.note("told", end.name)
        return True

    def _just_listed(self, entity: str) -> bool:
        known = self.seen.documents.get(entity)
        return known is not None and known.turns[-1] == self.seen.turns - 1


def _triples(entity: str, way: Listed, page: int | None = None) -> Call:
    arguments: dict[str, Any] = {"entity": entity, "relation": way.relation, "direction": way.direction}
    return "get_triples", arguments | ({"page": page} if page is not None else {})
