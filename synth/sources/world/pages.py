"""Pages: the facts of the world as wiki-style prose, with the exact span of the sentence that states each edge.

Every forward fact of an entity stands on its own page. Facts that point to it are told there for a part only (a city
names some of its natives), as edges of the inverse relation. Between them stands filler that states nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, pairwise

import numpy as np
import pyarrow as pa

from synth.identity import derive_generator
from synth.lexicon.names import written_value
from synth.sources.world.schema import ENTITY_TYPES, RELATIONS, article
from synth.sources.world.structure import NO_DATE, World
from synth.sources.world.tables import Columns
from synth.sources.world.templates import (
    AN,
    FAMILY,
    OBJECT,
    POSSESSIVE,
    SUBJECT,
    THEIR,
    THEM,
    THEY,
    Page,
    SectionProgram,
    Sentence,
    Unit,
    page_plan,
)
from synth.text.inflection import article as indefinite

__all__ = ["pages"]

_DRAWS = 64
"""Random numbers per page; a page that needs more starts over with the first."""

_SHORTEST, _SPREAD, _PER_SENTENCE = 560, 200, 72
"""Characters: what filler brings a page to at least, how much more it may aim at, and what a sentence takes about."""

_LISTED = 3
"""Objects that an inverse sentence lists at most."""

_INVERSE = 6
"""Inverse relations that a page tells at most."""

_ALIASED = frozenset({"person", "country", "university"})
"""Types that other pages sometimes call by another name."""

Value = tuple[str, str]
"""(as stored, as written)."""

Objects = list[int] | Value


def pages(world: World, start: int, stop: int, *, source: str = "world") -> tuple[pa.Table, pa.Table, pa.Table]:
    """Documents, entities and edges of the entities ``start <= ordinal < stop``.

    Each page depends on the world and its ordinal only, so any ranges that cover the world give the same rows.

    Returns:
        Tables with the schemas of ``Document``, ``Entity`` and ``Edge``. Row numbers in them count from the beginning
        of the world, not of the range: entity and document of ordinal i are row i.
    """
    columns = Columns(source)
    for kind, first in world.first.items():
        a, b = max(start, first), min(stop, first + world.count[kind])
        if a < b:
            _Writer(world, kind, a, b, columns).write()
    return columns.tables()


def _draws(world: World, start: int, stop: int) -> list[list[int]]:
    """``_DRAWS`` numbers below 2**31 per ordinal: a counter-based hash (splitmix64) under a derived key."""
    key = np.uint64(derive_generator(world.config.seed, "world", "pages").integers(0, 1 << 63))
    x = np.arange(start * _DRAWS, stop * _DRAWS, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + key
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = (x ^ (x >> np.uint64(31))) >> np.uint64(33)
    rows: list[list[int]] = x.reshape(stop - start, _DRAWS).tolist()
    return rows


class _Writer:
    """Writes the pages of one type in a range."""

    def __init__(self, world: World, kind: str, start: int, stop: int, columns: Columns) -> None:
        self.world = world
        self.kind = kind
        self.start = start
        self.stop = stop
        self.columns = columns
        self.plan: Page = page_plan(kind)
        self.person = kind == "person"
        low, high = start - world.first[kind], stop - world.first[kind]
        self.facts = {name: self._objects(name, low, high) for name in (*self.plan.forward, *self.plan.inverse)}

    def _objects(self, name: str, low: int, high: int) -> list[Objects | None]:
        """Objects of a relation per row of the range; None where there are none."""
        world, relation = self.world, RELATIONS[name]
        if relation.value_kind == "entity":
            if (name, self.kind) in world.lists:
                offsets, flat = world.lists[name, self.kind]
                at = offsets[low : high + 1].tolist()
                base = at[0]
                values = flat[base : at[-1]].tolist()
                return [values[a - base : b - base] or None for a, b in pairwise(at)]
            return [[item] if item >= 0 else None for item in world.facts[name, self.kind][low:high].tolist()]
        raw = world.facts[name, self.kind][low:high]
        if relation.value_kind == "text":
            texts = [world.text(name, self.kind, item) for item in raw.tolist()]
            return [(text, text) for text in texts]
        if relation.value_kind == "date":
            days = np.where(raw == NO_DATE, 0, raw).astype("datetime64[D]").astype(str).tolist()
            return [
                None if missing else (day, written_value(day, "date"))
                for day, missing in zip(days, (raw == NO_DATE).tolist(), strict=True)
            ]
        if relation.value_kind == "quantity":
            return [(f"{item} {relation.unit}", f"{item:,} {relation.unit}") for item in raw.tolist()]
        if relation.value_kind == "number":
            return [(str(item), f"{item:,}") for item in raw.tolist()]
        return [(str(item), str(item)) for item in raw.tolist()]

    def write(self) -> None:
        draws = _draws(self.world, self.start, self.stop)
        for row, numbers in enumerate(draws):
            _PageWriter(self, row, cycle(numbers).__next__).write()


class _PageWriter:
    """One page. ``pos`` is the length of the text so far; ``parts`` its pieces."""

    def __init__(self, block: _Writer, row: int, draw: Callable[[], int]) -> None:
        self.block = block
        self.world = block.world
        self.ordinal = block.start + row
        self.row = row
        self.draw = draw
        self.parts: list[str] = []
        self.pos = 0
        called = self.world.called[self.ordinal]
        self.full = article(block.kind, called) + called
        if block.person:
            self.short = called.rsplit(" ", 1)[1]
            she = self.world.gender[self.ordinal - self.world.first["person"]]
            self.they, self.their, self.them = ("she", "her", "her") if she else ("he", "his", "him")
            self.verb = "is" if self.world.end[self.ordinal] == 9999 else "was"
        else:
            self.short = "the " + ENTITY_TYPES[block.kind].noun
            self.they, self.their, self.them, self.verb = "it", "its", "it", "is"
        self.referable = False
        """The last sentence began with the subject and named nothing else that a pronoun could mean."""

    def write(self) -> None:
        block, draw, columns = self.block, self.draw, self.block.columns
        plan, facts, row = block.plan, block.facts, self.row
        present = {name for name in plan.forward if facts[name][row] is not None}
        inverse = [name for name in plan.inverse if facts[name][row] is not None and draw() % 4]
        if len(inverse) > _INVERSE:
            turn = draw() % len(inverse)
            inverse = (inverse[turn:] + inverse[:turn])[:_INVERSE]
        chosen = set(inverse)

        title = self.world.names[self.ordinal]
        self._literal(f"# {title}\n\n")
        begin = self.pos
        lead = self._lead(present)
        present.difference_update(lead.relations)
        if draw() % 2:
            self._aside(present, chosen)
        columns.section(title, 1, begin, self.pos)

        # Filler evens out the length: how much follows from what the facts will take, about. A good deal of it calls
        # for the section of general remarks; there it goes first, the rest is spread.
        told = [(section, self._units(section, present, chosen)) for section in plan.sections]
        general = plan.sections[plan.general]
        fillers = plan.fillers_alive if self.verb == "is" else plan.fillers
        turn, step = draw() % len(fillers), 0
        target = _SHORTEST + draw() % _SPREAD
        missing = target - self.pos - _PER_SENTENCE * sum(len(units) for _, units in told)
        wanted = min(len(fillers), max(0, -(-missing // _PER_SENTENCE)))
        lone = not any(units for _, units in told)
        told = [item for item in told if item[1] or (item[0] is general and (wanted >= 3 or lone))]
        share = wanted // (len(told) + 1)
        for section, units in told:
            count = wanted - share * (len(told) - 1) if section is general else share
            heading = section.headings[draw() % len(section.headings)]
            self._literal(f"\n\n## {heading}\n\n")
            begin = self.pos
            self.referable = False
            items: list[Unit | Sentence] = list(units)
            for _ in range(min(count, len(fillers) - step)):
                place = min(len(items), 1 + draw() % (len(items) + 1))
                items.insert(place, fillers[(turn + step) % len(fillers)])
                step += 1
            for number, item in enumerate(items):
                if number:
                    self._literal(" ")
                if isinstance(item, Unit):
                    self._tell(item, number == 0)
                else:
                    self._sentence(item, (), first=number == 0)
            columns.section(heading, 2, begin, self.pos)
        while step < len(fillers) and self.pos < _SHORTEST:
            self._literal(" ")
            self._sentence(fillers[(turn + step) % len(fillers)], (), first=False)
            step += 1
            columns.section_end(self.pos)
        columns.page(self.world, self.ordinal, block.kind, "".join(self.parts))

    def _literal(self, text: str) -> None:
        self.parts.append(text)
        self.pos += len(text)

    def _units(self, section: SectionProgram, present: set[str], chosen: set[str]) -> list[Unit]:
        """What a section tells, in order; two facts become one sentence for half of the pairs that can."""
        single = self.block.plan.single
        names = [name for name in section.forward if name in present]
        units: dict[str, Unit] = {name: single[name] for name in names}
        for joint in section.joints:
            if all(name in units and units[name] is single[name] for name in joint.relations) and (
                joint.always or self.draw() % 2
            ):
                units[joint.relations[0]] = joint
                for name in joint.relations[1:]:
                    del units[name]
        out = [units[name] for name in names if name in units]
        if section.free and len(out) > 1:
            turn = self.draw() % len(out)
            out = out[turn:] + out[:turn]
        out.extend(single[name] for name in section.inverse if name in chosen)
        return out

    def _lead(self, present: set[str]) -> Unit:
        leads = self.block.plan.leads
        turn = self.draw() % len(leads)
        for shift in range(len(leads)):
            unit = leads[(turn + shift) % len(leads)]
            if present.issuperset(unit.relations):
                aliases = self.world.aliases[self.ordinal]
                self._tell(unit, True, lead=True, alias=self._alias_clause(aliases))
                return unit
        raise AssertionError(f"no opening fits {self.world.names[self.ordinal]}")

    def _aside(self, present: set[str], chosen: set[str]) -> None:
        """One more fact in the opening, if there is a fitting one."""
        plan = self.block.plan
        pool = plan.inverse if self.block.person else plan.forward
        names = [name for name in pool if name in plan.asides and (name in present or name in chosen)]
        if names:
            name = names[self.draw() % len(names)]
            self._literal(" ")
            self._tell(plan.single[name], False)
            present.discard(name)
            chosen.discard(name)

    def _alias_clause(self, aliases: tuple[str, ...]) -> str:
        if not aliases or aliases[0] == self.world.called[self.ordinal]:
            return ""
        alias = aliases[0]
        kind = self.block.kind
        if kind == "person":
            return f" (in full {alias})" if self.draw() % 2 else f" (full name {alias})"
        if kind == "country":
            return f" (officially the {alias})"
        if kind == "city":
            return f" (formerly {alias})" if self.draw() % 2 else f" (known until modern times as {alias})"
        if kind == "species":
            return f" ({alias})" if self.draw() % 2 else f" (scientific name {alias})"
        return f" (also called {article(kind, alias)}{alias})"

    def _tell(self, unit: Unit, first: bool, *, lead: bool = False, alias: str = "") -> None:
        """One sentence with its edges."""
        facts, row = self.block.facts, self.row
        objects: list[Objects] = []
        for name in unit.relations:
            found = facts[name][row]
            assert found is not None
            if isinstance(found, list) and len(found) > _LISTED and not RELATIONS[name].primary:
                turn = self.draw() % len(found)
                found = sorted((found[turn:] + found[:turn])[:_LISTED])
            objects.append(found)
        sentence = unit.sentences[self.draw() % len(unit.sentences)]
        begin = self.pos
        full = lead or (self.block.person and unit.relations[0] in FAMILY)
        self._sentence(sentence, tuple(objects), first=first, full=full, after_subject=alias)
        self.block.columns.edges(self.ordinal, unit.relations, objects, begin, self.pos)

    def _sentence(
        self,
        sentence: Sentence,
        objects: tuple[Objects, ...],
        *,
        first: bool,
        full: bool = False,
        after_subject: str = "",
    ) -> None:
        draw = self.draw() % 8
        if sentence.opens and self.referable and not first and draw < 6:
            subject, possessive = self.they, self.their
        else:
            often = draw < 4 if first or not self.block.person else draw < 1
            subject = self.full if full or often or sentence.by_name else self.short
            possessive = subject + "'s"
        parts, pos, initial, others = self.parts, self.pos, True, False
        for piece in sentence.pieces:
            if piece.__class__ is str:
                text = piece
            elif piece == SUBJECT:
                text = (subject[0].upper() + subject[1:] if initial else subject) + after_subject
            elif piece >= OBJECT:  # type: ignore[operator]
                found = objects[piece - OBJECT]  # type: ignore[operator]
                if found.__class__ is tuple:
                    text = found[1]
                else:
                    pos, people = self._mentions(found, pos, initial)  # type: ignore[arg-type]
                    others = others or people == self.block.person
                    initial = False
                    continue
            elif piece == POSSESSIVE:
                text = possessive[0].upper() + possessive[1:] if initial else possessive
            elif piece == AN:
                text = indefinite(objects[0][1])  # type: ignore[arg-type]
            elif piece == THEIR:
                text = self.their
            elif piece == THEM:
                text = self.them
            elif piece == THEY:
                text = self.they
            else:
                text = self.verb
            parts.append(text)
            pos += len(text)
            initial = False
        self.pos = pos
        self.referable = sentence.opens and not others

    def _mentions(self, ordinals: list[int], pos: int, initial: bool) -> tuple[int, bool]:
        """Names of entities as a list in prose, each with its link. Returns the position after it, and if a person."""
        world, parts, columns = self.world, self.parts, self.block.columns
        kind = ""
        last = len(ordinals) - 1
        for at, ordinal in enumerate(ordinals):
            kind = world.kind_of(ordinal)
            name = world.called[ordinal]
            if kind in _ALIASED and world.aliases[ordinal] and self.draw() % 8 == 0:
                name = world.aliases[ordinal][0]
            before = article(kind, name)
            if initial and before:
                before = "The "
            if at:
                before = (" and " if at == last else ", ") + before
            initial = False
            pos += len(before)
            columns.link(pos, pos + len(name), world.ids[ordinal])
            parts.append(before)
            parts.append(name)
            pos += len(name)
        return pos, kind == "person"
