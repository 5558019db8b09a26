"""From documents of any maker to a graph: what pages define, and what their layout and sentences state of it.

Entities are pages, the things that pages define (terms of definition lists, headings that name a thing, rows of tables
with a heading) and other sections. Relations, subject first:

    described_as      thing -> text     the sentence or field that says what it is
    subtitle          page  -> text     what the title, or the line of its name, says behind the name
    default, since    thing -> value    a default; the version in which it came
    <label>           thing -> value    a field that many things have ("Status: Base"), or a cell under that heading
    states            page  -> text     a telling word or number of a sentence that stands on its own
    part_of           thing or section -> page
    see_also          page or thing -> entity    stands in a "See also" remark or section
    alias_of, subclass_of, replacement, raises, returns, like, refers_for     see ``relations``
    links_to          page or thing -> entity    any other link in a sentence (evidence: that sentence)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from synth.schemas.arrow import arrow_schema, from_arrow
from synth.schemas.documents import Document, Edge, Entity, ValueKind
from synth.sources.docs.bullets import bullet_rows, heads_items, is_of_item
from synth.sources.docs.defined import Page, Thing, heading_span, is_remark
from synth.sources.docs.manuals import self_named
from synth.sources.docs.names import Named, entry_name, group_kind, page_kind, page_name, section_name
from synth.sources.docs.outline import Outline
from synth.sources.docs.relations import ANCHOR, linked_relation
from synth.sources.docs.rows import ROW_LABELS, OptionRow, kind_of_rows, option_rows, products_compared
from synth.sources.docs.salient import answers_of, telling_words
from synth.sources.docs.tables import Table, tables
from synth.sources.docs.values import (
    DESCRIBING,
    Stated,
    are_types,
    default_in,
    doing,
    field_in,
    is_tick,
    plain_value,
    relation_name,
    since_in,
)
from synth.text.inflection import capital
from synth.text.shell_lines import code_commands

__all__ = ["graph_tables"]

_SEE_ALSO = re.compile(r"(?:\d+\.?\s)*see also:?$", re.IGNORECASE)
_PURPOSE = re.compile(r"(?P<name>\S+(?:, \S+)*) (?:-|—|–|--) (?P<purpose>\S.+)")
_LEAST_SCHEMA = 3
"""So many things must have a field before it is one, and no heading of a remark."""
_REMARK = re.compile(r" \((?:required|optional|default|deprecated|experimental)\)$")
_CODE = ("c ", "cp", "js", "py")
_NEVER_NAMES = frozenset(("default", "since", "type", "status", "version"))
"""Relations that no heading is the name of a product for."""
_OWN_LINES = 12
_ENDS = (".", "!", "?", ":", "…", "。", "”")
"""How sentences end: a page's first line is often its title over again, or a path to it."""


def graph_tables(documents: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Entities and edges of ``documents`` (rows of ``Document``), in an order that depends on nothing but theirs.

    Links to pages that are not in ``documents`` (their files were rejected) are left out.
    """
    builder = _Builder()
    for row, document in enumerate(_rows(documents)):
        builder.page(row, document)
    for page in builder.pages:
        builder.define(page)
    builder.fields()
    for page in builder.pages:
        builder.facts(page)
    return builder.tables()


def _rows(documents: pa.Table) -> Iterator[Document]:
    for start in range(0, len(documents), 1024):
        yield from from_arrow(documents.slice(start, 1024), Document)


class _Builder:
    def __init__(self) -> None:
        self.entities: list[dict[str, Any]] = []
        self._ids: set[str] = set()
        self.edges: list[dict[str, Any]] = []
        self.pages: list[Page] = []
        self._by_id: dict[str, Page] = {}
        self._commands: set[str] = set()
        """Those of two words that lines of code begin with."""
        self._labels: Counter[str] = Counter()
        self._fields: dict[tuple[int, int], tuple[int, Stated]] = {}
        """(row of the page, number of the line) -> the thing and what the line says of it."""

    def tables(self) -> tuple[pa.Table, pa.Table]:
        return (
            pa.Table.from_pylist(self.entities, schema=arrow_schema(Entity)),
            pa.Table.from_pylist(self.edges, schema=arrow_schema(Edge)),
        )

    def page(self, row: int, document: Document) -> None:
        module = next((a.name[7:] for a in document.anchors if a.kind == "heading" and a.name[:7] == "module-"), None)
        top = module is not None and any(
            a.name == f"module-{module}" and document.text[a.start : a.end] == document.title for a in document.anchors
        )
        named, subtitle = page_name(document.title, module if top else None)
        named = self_named(page_kind(document.title) or named, document.title, document.text)
        if document.kind == "index":
            named = Named(named.name, "index", named.aliases)
        page = Page(row, document, Outline(document.text), named, self._entity(document.id, named, row, document))
        self.pages.append(page)
        self._by_id[document.id] = page
        self._commands |= code_commands(document.text)
        if subtitle and (place := document.text.find(document.title)) >= 0:
            self._edge(page, page.entity, "subtitle", place, place + len(document.title), value=subtitle)

    def _entity(self, name: str, named: Named, row: int, document: Document) -> int:
        name = f"{name}~{len(self.entities)}" if name in self._ids else name  # a page may use an anchor twice
        self._ids.add(name)
        self.entities.append(
            {
                "ordinal": len(self.entities),
                "id": name,
                "name": named.name,
                "kind": named.kind,
                "aliases": [alias for alias in named.aliases if alias.strip()],
                "document": row,
                "partition": document.partition,
            }
        )
        return len(self.entities) - 1

    def _edge(
        self, page: Page, subject: int, relation: str, start: int, end: int, *,
        target: int = -1, value: str | None = None, kind: ValueKind | None = None,
    ) -> None:  # fmt: skip
        self.edges.append(
            {
                "subject": subject,
                "relation": relation,
                "object": target,
                "value": value,
                "value_kind": kind or ("entity" if value is None else "text"),
                "document": page.row,
                "start": start,
                "end": end,
            }
        )

    # What a page defines.

    def define(self, page: Page) -> None:
        document, outline = page.document, page.outline
        if document.kind == "index":
            return
        anchors = {(a.start, a.end): a for a in document.anchors if a.kind == "heading"}
        by_place = defaultdict(list)
        for anchor in document.anchors:
            if anchor.kind:
                by_place[anchor.start].append(anchor.name)
        groups: list[tuple[int, str]] = []
        for section in document.sections:
            place = heading_span(document.text, section)
            if place is None:
                continue
            page.sections.append((place[0], section.end, section.heading))
            level = section.level
            while groups and groups[-1][0] >= level:
                groups.pop()
            if section.heading == document.title or level == 1:
                for name in by_place[place[0]]:
                    page.by_fragment.setdefault(name, page.entity)
                groups.append((level, group_kind(section.heading)))
                continue
            thing = page.named_by(section.heading, next((g for _, g in reversed(groups) if g), ""), place[0])
            groups.append((level, group_kind(section.heading)))
            found = anchors.get(place)
            ident = f"{document.id}#{found.name if found is not None else f'~{place[0]}'}"
            entity = self._entity(ident, thing or section_name(section.heading), page.row, document)
            self._edge(page, entity, "part_of", *place, target=page.entity)
            for name in by_place[place[0]]:
                page.by_fragment.setdefault(name, entity)
            if thing is not None:
                lines = [n for n in outline.lines_between(section.start, section.end) if not outline.lines[n].indent]
                page.things.append(Thing(entity, thing, place[0], section.end, lines))
        self._terms(page, by_place)
        page.things.sort(key=lambda thing: (thing.start, -thing.end))
        for entity, kind in page.own_kinds():
            self.entities[entity]["kind"] = kind

    def _terms(self, page: Page, by_place: dict[int, list[str]]) -> None:
        document, outline = page.document, page.outline
        seen: set[int] = set()
        last = 0
        for anchor in sorted(document.anchors, key=lambda a: (a.start, -a.end)):
            if anchor.kind in ("", "heading", "columns") or anchor.start in seen:
                continue
            seen.add(anchor.start)
            entry = outline.entry(anchor)
            # What stands inside another entry is a value or an argument of it, and not what the section is a list of.
            group = self._group(page, anchor.start) if anchor.start >= last else ""
            named = entry_name(anchor, document.text[anchor.start : anchor.end], group)
            if named is not None and named.kind in ("constant", "variable") and named.name.isupper():
                named = replace(named, kind=page.kind_of_capitals(anchor.start))
            # Declarations that follow each other share no description, as spellings of an option do.
            if entry is None or named is None or (anchor.kind[:2] in _CODE and entry.first > entry.line + 1):
                continue
            end, own = outline.lines[entry.stop - 1].end, outline.own_lines(entry)
            last = max(last, end)
            if page.things and page.things[-1].takes_spelling(named, own):
                known = page.things[-1]
                self.entities[known.entity].update(name=known.named.name, aliases=list(known.named.aliases))
                entity = known.entity
            else:
                entity = self._entity(f"{document.id}#{anchor.name}", named, page.row, document)
                self._edge(page, entity, "part_of", anchor.start, anchor.end, target=page.entity)
                page.things.append(Thing(entity, named, anchor.start, end, own))
            for name in by_place[anchor.start]:
                page.by_fragment.setdefault(name, entity)

    def _group(self, page: Page, place: int) -> str:
        """What the innermost headings above a place say that each thing there is."""
        return next(
            (g for start, end, h in reversed(page.sections) if start <= place < end and (g := group_kind(h))), ""
        )

    # Fields: lines with a label that many things have.

    def fields(self) -> None:
        found: dict[str, set[int]] = defaultdict(set)
        for page in self.pages:
            for thing in page.subjects():
                names = (thing.named.name, thing.named.name.rpartition(".")[2])
                for number in thing.lines[:_OWN_LINES]:
                    line = page.outline.lines[number]
                    stated = field_in(page.document.text[line.start : line.end], names)
                    if thing.entity == page.entity and not self._in_block(page, number):
                        continue  # a single line with a colon on a page of prose is a remark
                    if stated is not None and (page.row, number) not in self._fields:
                        self._fields[page.row, number] = (thing.entity, stated)
                        found[stated.relation].add(thing.entity)
        schema = {label for label, things in found.items() if len(things) >= _LEAST_SCHEMA}
        if are_types([stated.value for _, stated in self._fields.values() if stated.relation == "format"]):
            of_type = {p: (e, Stated("type", s.value)) for p, (e, s) in self._fields.items() if s.relation == "format"}
            self._fields, schema = self._fields | of_type, schema | {"type"}
        self._fields = {place: item for place, item in self._fields.items() if item[1].relation in schema}

    @staticmethod
    def _in_block(page: Page, number: int) -> bool:
        lines, text = page.outline.lines, page.document.text
        near = [n for n in (number - 1, number + 1) if 0 <= n < len(lines)]
        return any(field_in(text[lines[n].start : lines[n].end], ()) is not None for n in near)

    # What is stated.

    def facts(self, page: Page) -> None:
        if page.document.kind == "index":
            return
        for thing in page.subjects():
            self._stated(page, thing)
        for number, line in enumerate(page.outline.lines):
            if (found := self._fields.get((page.row, number))) is not None:
                self._value(page, found[0], found[1].relation, line.start, line.end, found[1].value)
        for table in tables(page.outline, page.document.anchors):
            self._rows(page, table)
        taken = [thing.start for thing in page.things]
        bullets = bullet_rows(page.outline, page.document.title, page.sections, taken)
        for row in (*option_rows(page.outline, taken), *bullets):
            self._option(page, row)
        self._links(page)
        self._salient(page)

    def _value(self, page: Page, entity: int, relation: str, start: int, end: int, value: str) -> None:
        kind: ValueKind = "text"
        if relation == "type":
            value = re.sub(r"(?<=\w) \((?:can be [^()]*|required|optional|deprecated)\)$", "", value)
        if relation != "described_as":
            value, kind = plain_value(value)[0], "number" if plain_value(value)[1] == "number" else "text"
        self._edge(page, entity, relation, start, end, value=value, kind=kind)

    def _stated(self, page: Page, thing: Thing) -> None:
        outline, text = page.outline, page.document.text
        described = False
        for number in thing.lines[:_OWN_LINES]:
            line = outline.lines[number]
            if (page.row, number) in self._fields:
                described |= self._fields[page.row, number][1].relation == "described_as"
                continue
            said = text[line.start : line.end]
            purpose = _PURPOSE.fullmatch(said)
            if thing.entity == page.entity and purpose and page.named.name in purpose["name"].split(", "):
                self._edge(page, thing.entity, "subtitle", line.start, line.end, value=purpose["purpose"])
                continue
            for start, end in outline.sentences(number) if line.prose or len(said) < 60 else ():
                sentence = text[start:end]
                if (since := since_in(sentence)) is not None:
                    if not heads_items(outline, number):
                        self._value(page, thing.entity, "since", start, end, since)
                    continue
                default = default_in(sentence, (thing.named.name, *thing.named.aliases))
                if default is not None and (is_of_item(said) or (is_tick(default) and page.is_switch(thing))):
                    continue
                if default is not None and thing.entity != page.entity:
                    self._value(page, thing.entity, "default", thing.with_name(start, end), end, default)
                if not described and line.prose and (thing.entity != page.entity or sentence.endswith(_ENDS)):
                    described = True
                    if 16 <= len(sentence) <= 400:
                        opens = thing.entity != page.entity and number == thing.lines[0]
                        begin = thing.with_name(start, end) if opens else start
                        self._edge(page, thing.entity, "described_as", begin, end, value=sentence)

    def _option(self, page: Page, row: OptionRow) -> None:
        entity = self._entity(f"{page.document.id}#~row{row.start}", row.named, page.row, page.document)
        self._edge(page, entity, "part_of", row.start, row.end, target=page.entity)
        self._edge(page, entity, "described_as", row.start, row.stop, value=row.said)
        if row.default is not None:
            self._value(page, entity, "default", row.start, row.end, row.default)

    def _rows(self, page: Page, table: Table) -> None:
        """A thing for each row of a table, and a fact for each cell behind its first."""
        kind = kind_of_rows(table.heading[0], page.document.text)
        labels = [relation_name(label) for label in table.heading]
        names = Counter(row[0].text for row in table.rows)
        if 4 * sum(1 for row in table.rows if is_remark(row[0].text)) >= len(table.rows):
            return  # it sets two things side by side, a remark on each a row
        text = page.document.text
        products = products_compared(table.heading, kind, text)
        advised = any(re.match(r"(?i:recommended|suggested|preferred|typical)\b", head) for head in table.heading)
        for row in table.rows:
            name = _REMARK.sub("", row[0].text.strip())
            odd = ": " in name or " - " in f" {name}" or len(name.split()) > 5 or name.lower() in ROW_LABELS
            if odd or not 0 < len(name) <= 48 or names[row[0].text] > 1:
                continue
            named = Named(name, kind)
            entity = self._entity(f"{page.document.id}#~row{row[0].start}", named, page.row, page.document)
            start, end = row[0].start, row[-1].end
            self._edge(page, entity, "part_of", start, end, target=page.entity)
            for label, heading, cell in zip(labels[1:], table.heading[1:], row[1:], strict=True):
                words = cell.text.strip()
                if not words or not label or labels.count(label) > 1:
                    continue
                does = doing(heading.lower().strip())
                described = (heading.lower().strip() in DESCRIBING or does is not None) and not advised
                if heading in products and label not in _NEVER_NAMES and not described:
                    continue  # what the thing is in another product
                if described:
                    said = capital(f"{does} {words}".strip()) if does is not None else words
                    self._edge(page, entity, "described_as", start, end, value=said)
                elif len(words) <= 80:
                    self._value(page, entity, label, start, end, words)

    def _links(self, page: Page) -> None:
        document, outline = page.document, page.outline
        boxes = list(outline.see_also) + [(start, end) for start, end, h in page.sections if _SEE_ALSO.match(h)]
        done: set[tuple[int, str, int, int]] = set()
        for link in document.links:
            target, number = self._target(link.target, link.fragment), outline.line_at(link.start)
            if target is None or number is None:
                continue
            holder = next((t for t in reversed(page.things) if t.start <= link.start < t.end), None)
            subject = page.entity if holder is None else holder.entity
            line = outline.lines[number]
            span = next(((s, e) for s, e in outline.sentences(number) if s <= link.start < e), None)
            if subject == target or (span is None and not line.prose):
                continue
            if any(start <= link.start < end for start, end in boxes):
                relation, (start, end) = "see_also", span or (line.start, line.end)
            elif span is None or not line.prose:
                continue
            else:
                start, end = span
                masked = document.text[start : link.start] + ANCHOR + document.text[link.end : end]
                first = holder is not None and number in holder.lines[:1]
                stated = linked_relation(masked, first)
                relation = stated[0] if stated and holder is not None else "links_to"
            if (subject, relation, target, start) not in done:
                done.add((subject, relation, target, start))
                self._edge(page, subject, relation, start, end, target=target)

    def _target(self, name: str, fragment: str | None) -> int | None:
        other = self._by_id.get(name)
        if other is None:
            return None
        return other.by_fragment.get(fragment, other.entity) if fragment else other.entity

    def _salient(self, page: Page) -> None:
        told = list(telling_words(page.outline))
        for start, end, word in told:
            self._value(page, page.entity, "states", start, end, word)
        for start, end, word in sorted({*answers_of(page.outline, self._commands)}.difference(told)):
            self._edge(page, page.entity, "states", start, end, value=word)
