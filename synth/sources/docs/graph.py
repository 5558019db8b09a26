"""From documents to a graph: what pages define, and which relations their layout and sentences prove.

Entities are pages, the entries that pages define (functions, classes, options, terms of a glossary, ...) and sections
that a link can lead to. Relations, subject first:

    described_as      entity -> text     the sentence that says what it is (evidence: that sentence)
    subtitle          page   -> text     what the title says behind the name ("getopt -- C-style parser ...")
    defined_in        entry  -> page     (evidence: the entry's signature or term)
    member_of         entry  -> entry    a method and its class
    part_of           section -> page
    listed_in         page   -> page     an index page that lists it under its own title
    added_in, deprecated_since, removed_in                  entity -> version
    changed_in, added_partly, deprecated_partly             entity -> version in which a part of it changed
    source_file, availability, audit_event, default_setting, set_when, bare_unit    entity -> text
    row_of      row    -> table      a thing that a titled table lists (evidence: the title, and all up to the row)
    far_row_of  row    -> table      the same, too far from the title for a piece of evidence: known, never asked for
    has_list    section -> table     the titled table that stands in it
    column      row    -> text       another cell of its row; the first word of ``value`` up to the colon is the heading
    references  page   -> page       a column of its table that holds ids of rows of the other's (evidence: that line)
    see_also          entity or page -> entity   stands in a "See also" remark or section
    alias_of, subclass_of, replacement, raises, returns, like, refers_for     see ``relations``
    links_to          entity or page -> entity   any other link (evidence: the sentence around the anchor)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from synth.schemas.arrow import arrow_schema, from_arrow
from synth.schemas.documents import Anchor, Document, Edge, Entity, Section, ValueKind
from synth.sources.docs.names import Named, entry_name, page_kind, page_name, section_name
from synth.sources.docs.outline import Entry, Outline
from synth.sources.docs.relations import ANCHOR, is_deprecation, linked_relation, stated_values
from synth.sources.docs.tables import Table, tables

__all__ = ["graph_tables"]

_LEADS = 3
"""Paragraphs at the head of a page whose first sentences may say what the page is about."""
_SKIP = (
    "Source code:",
    "Part of the",
    "Return value:",
    "Availability:",
    "New in version",
    "Changed in version",
    "Deprecated",
)
_THINGS = frozenset(
    ("package", "command", "option", "variable", "signal", "program", "tool", "extension", "keyword", "parameter")
)
"""Headings of a first column that say what kind of thing each row is about."""
_SAYING = frozenset(("description", "meaning", "function", "purpose"))
"""Headings of columns that say what the thing is."""
_ROW_NAME = re.compile(r"[A-Za-z0-9][\w.+:-]+(?: [a-z]+)?$")
_LONGEST_LIST = 2500
"""Characters from the title of a list to the end of a row that still are one piece of evidence."""
_REFERENCE = re.compile(r"(?P<column>\w+) [^()\n]{1,30} \(references (?P<table>\w+)\.\w+\) ")
_GLOSSARY = re.compile(r"(?:\w+ \w+\. )?Glossary$", re.IGNORECASE)
_NAMED_AS = re.compile(
    r"Deprecated since version [^:]*: The (?P<name>\S+) (?:function|method|class|module|exception|package)"
)
_INDEX_LINKS = 80
"""An index with more links than this lists everything: being on it says nothing."""


@dataclass
class _Columns:
    """Rows of a table, column by column."""

    rows: dict[str, list[Any]]

    @classmethod
    def of(cls, names: list[str]) -> _Columns:
        return cls({name: [] for name in names})

    def add(self, **values: Any) -> int:
        for name, column in self.rows.items():
            column.append(values[name])
        return len(next(iter(self.rows.values()))) - 1

    def table(self, schema: pa.Schema) -> pa.Table:
        return pa.Table.from_arrays([pa.array(self.rows[f.name], f.type) for f in schema], schema=schema)


@dataclass
class _Page:
    row: int
    document: Document
    outline: Outline
    entity: int
    entries: list[tuple[Entry, int]] = field(default_factory=list)
    """Entries with their entities, in order of place; inner ones come after the ones that hold them."""
    by_fragment: dict[str, int] = field(default_factory=dict)
    headings: list[tuple[int, int, int]] = field(default_factory=list)
    """(start of its text, end, entity) of sections that are entities."""
    first_section: int = 0
    """Where the head of the page ends: the second heading, or the first entry."""


def graph_tables(documents: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Entities and edges of ``documents`` (rows of ``Document``), in an order that depends on nothing but theirs.

    Links to pages that are not in ``documents`` (their files were rejected) are left out.
    """
    builder = _Builder(arrow_schema(Entity), arrow_schema(Edge))
    for row, document in enumerate(_rows(documents)):
        builder.page(row, document)
    builder.entries()
    for page in builder.pages:
        builder.relations(page)
    return builder.tables()


def _rows(documents: pa.Table) -> Iterator[Document]:
    for start in range(0, len(documents), 1024):
        yield from from_arrow(documents.slice(start, 1024), Document)


def _entry_kind(document: Document, anchor: Anchor, name: str) -> str:
    """What a term of a plain definition list is: a term of the glossary, a function whose call is shown below it."""
    if _GLOSSARY.fullmatch(document.title):
        return "glossary term"
    if re.fullmatch(r"\w+", name) and re.search(
        rf"\b{re.escape(name)}\s?\(", document.text[anchor.end : anchor.end + 400]
    ):
        return "function"
    return "constant" if re.fullmatch(r"[A-Z]+(?:_[A-Z0-9]+)+", name) else "entry"


def _kind(document: Document, outline: Outline, name: str) -> str:
    if document.kind == "index":
        return "index"
    text = document.text
    _, purpose = page_name(document.title, None)
    lead = ""
    for line in outline.lines[:40]:
        said = text[line.start : line.end]
        if purpose is None and said.startswith(document.title) and " — " in said[len(document.title) :]:
            purpose = said.partition(" — ")[2]
        elif line.prose and line.indent == 0 and said.endswith((".", ":", ")")) and line.start > len(document.title):
            lead = said
            break
    calls = re.search(rf"^ +[\w* ]*\b{re.escape(name)}\s*\(", text[:3000], re.MULTILINE) is not None
    return page_kind(document.title, purpose, lead, calls)


def _heading_span(text: str, section: Section) -> tuple[int, int] | None:
    """Where a section's heading stands: just before its text."""
    start = text.rfind(section.heading, 0, section.start)
    end = start + len(section.heading)
    return (start, end) if start >= 0 and text[end : section.start].isspace() else None


class _Builder:
    def __init__(self, entities: pa.Schema, edges: pa.Schema) -> None:
        self._schemas = (entities, edges)
        self.entities = _Columns.of(entities.names)
        self.edges = _Columns.of(edges.names)
        self.pages: list[_Page] = []
        self._by_id: dict[str, _Page] = {}
        self._by_name: dict[str, list[_Page]] = defaultdict(list)
        self._things: dict[tuple[str, str], int] = {}
        """(kind, name) of what tables list: one entity, however many tables list it."""

    def tables(self) -> tuple[pa.Table, pa.Table]:
        return self.entities.table(self._schemas[0]), self.edges.table(self._schemas[1])

    def page(self, row: int, document: Document) -> None:
        module = next(
            (
                a.name.removeprefix("module-")
                for a in document.anchors
                if a.kind == "heading" and a.name.startswith("module-")
            ),
            None,
        )
        top = document.anchors and any(
            a.name == f"module-{module}" and document.text[a.start : a.end] == document.title for a in document.anchors
        )
        named, _ = page_name(document.title, module if top else None)
        outline = Outline(document.text)
        kind = named.kind if named.kind != "page" else _kind(document, outline, named.name)
        entity = self._entity(document.id, Named(named.name, kind, named.aliases), row, document)
        page = _Page(row, document, outline, entity)
        self.pages.append(page)
        self._by_id[document.id] = page
        self._by_name[named.name].append(page)

    def _entity(self, name: str, named: Named, row: int, document: Document) -> int:
        ordinal = len(self.entities.rows["id"])
        return self.entities.add(
            ordinal=ordinal,
            id=name,
            name=named.name,
            kind=named.kind,
            aliases=list(named.aliases),
            document=row,
            partition=document.partition,
        )

    def entries(self) -> None:
        """Entities of all pages' sections and entries: after the pages, so that a page's ordinal is its row number."""
        for page in self.pages:
            document = page.document
            sections = [s for s in document.sections if s.level > 1 and s.heading != document.title]
            heads = {place: s for s in sections if (place := _heading_span(document.text, s))}
            page.first_section = min((start for start, _ in heads), default=len(document.text))
            known: dict[int, int] = {}
            for anchor in sorted(document.anchors, key=lambda a: (a.start, -a.end)):
                if anchor.kind and document.kind != "index":
                    if anchor.start not in known and (entity := self._place(page, anchor, heads)) is not None:
                        known[anchor.start] = entity
                    if anchor.start in known:
                        page.by_fragment.setdefault(anchor.name, known[anchor.start])

    def _place(self, page: _Page, anchor: Anchor, heads: dict[tuple[int, int], Section]) -> int | None:
        """The entity of a heading or term, made here; None when it is no name or nothing is said under it."""
        document = page.document
        text = document.text[anchor.start : anchor.end]
        named: Named | None
        section = heads.get((anchor.start, anchor.end))
        entry = None
        if anchor.kind == "heading":
            if section is None:
                return page.entity  # the title
            named = section_name(text)
            module = anchor.name.removeprefix("module-")
            if module != anchor.name and re.match(rf"{re.escape(module)}(?!\w)", section_name(text).name):
                named = Named(module, "module", (named.name,) if named.name != module else ())
        else:
            named, entry = entry_name(anchor, text), page.outline.entry(anchor)
            if entry is None:
                return None
        ident = f"{document.id}#{anchor.name}"
        if named is not None and named.kind == "configuration parameter":
            of_command = self.entities.rows["kind"][page.entity] == "command"  # then it is one of what that makes
            named = Named(named.name, "parameter" if of_command else named.kind, named.aliases)
        elif named is not None and named.kind == "entry":
            named = Named(named.name, _entry_kind(document, anchor, named.name), named.aliases)
        if named is None or anchor.name in page.by_fragment:
            return None
        entity = self._entity(ident, named, page.row, document)
        page.by_fragment[anchor.name] = entity
        if section is not None:
            page.headings.append((section.start, section.end, entity))
            # Without its number, which is a sentence of its own to whoever looks for full stops.
            bare = anchor.start + text.find(named.name) if named.name in text else anchor.start
            self._edge(page, entity, "part_of", bare, anchor.end, target=page.entity)
        elif entry is not None:
            page.entries.append((entry, entity))
            page.first_section = min(page.first_section, anchor.start)
            self._edge(page, entity, "defined_in", anchor.start, anchor.end, target=page.entity)
            owner = page.by_fragment.get(anchor.name.rpartition(".")[0])
            if owner is not None and owner != page.entity:
                self._edge(page, entity, "member_of", anchor.start, anchor.end, target=owner)
        return entity

    def _edge(
        self, page: _Page, subject: int, relation: str, start: int, end: int, *,
        target: int = -1, value: str | None = None, kind: ValueKind = "entity",
    ) -> None:  # fmt: skip
        self.edges.add(
            subject=subject,
            relation=relation,
            object=target,
            value=value,
            value_kind=kind,
            document=page.row,
            start=start,
            end=end,
        )

    def relations(self, page: _Page) -> None:
        if page.document.kind == "index":
            self._listed(page)
            return
        self._descriptions(page)
        self._values(page)
        self._links(page)
        self._references(page)
        for table in tables(page.outline):
            self._rows(page, table)

    def _listed(self, page: _Page) -> None:
        """Pages that an index lists by their own titles."""
        if len(page.document.links) > _INDEX_LINKS:
            return
        seen = set()
        for link in page.document.links:
            other = self._by_id.get(link.target)
            if other is None or other is page or other.entity in seen:
                continue
            anchor = section_name(page.document.text[link.start : link.end]).name
            title = section_name(other.document.title).name
            number = page.outline.line_at(link.start)
            if anchor == title and number is not None:
                seen.add(other.entity)
                words = page.document.text[link.start : link.end]
                bare = link.start + max(words.find(anchor), 0)  # without its number, as a reader looks for it
                end = page.outline.lines[number].end
                self._edge(page, other.entity, "listed_in", bare, end, target=page.entity)

    def _descriptions(self, page: _Page) -> None:
        document, outline = page.document, page.outline
        _, subtitle = page_name(document.title, None)
        if subtitle:
            place = document.text.find(document.title)
            if place >= 0:
                end = place + len(document.title)
                self._edge(page, page.entity, "subtitle", place, end, value=subtitle, kind="text")
        found = 0
        for number in range(len(outline.lines)):
            line = outline.lines[number]
            # DocBook states the purpose of a command in a line of its own: "CLUSTER — cluster a table".
            text = document.text[line.start : line.end]
            if number < 4 and not subtitle and text.startswith(document.title + " — "):
                purpose = text[len(document.title) + 3 :]
                self._edge(page, page.entity, "subtitle", line.start, line.end, value=purpose, kind="text")
            if found == _LEADS or (line.start >= page.first_section and found):
                break
            if number > 40 or line.start > page.first_section + 3000:
                break
            if line.prose and not line.heads and not text.startswith(_SKIP) and line.indent <= 4 and text.endswith("."):
                start, end = outline.sentences(number)[0]
                self._describe(page, page.entity, start, end)
                found += 1
        for start, end, entity in page.headings:
            for number in outline.lines_between(start, end):
                if outline.lines[number].prose and not document.text.startswith(_SKIP, outline.lines[number].start):
                    self._describe(page, entity, *outline.sentences(number)[0])
                    break
        for entry, entity in page.entries:
            for number in outline.own_lines(entry):
                line = outline.lines[number]
                if not document.text.startswith(_SKIP, line.start):
                    if line.prose:
                        self._describe(page, entity, *outline.sentences(number)[0])
                    break

    def _describe(self, page: _Page, entity: int, start: int, end: int) -> None:
        value = page.document.text[start:end]
        if 20 <= len(value) <= 400:
            self._edge(page, entity, "described_as", start, end, value=value, kind="text")

    def _subject(self, page: _Page, place: int) -> tuple[int, Entry | None]:
        """The innermost entry whose definition holds ``place``, else the page."""
        lines = page.outline.lines
        found: tuple[int, Entry | None] = (page.entity, None)
        for entry, entity in page.entries:
            if lines[entry.line].start > place:
                break
            if place < lines[entry.stop - 1].end:
                found = (entity, entry)
        return found

    def _values(self, page: _Page) -> None:
        outline, text = page.outline, page.document.text
        own = {number: entity for entry, entity in page.entries for number in outline.own_lines(entry)}
        heads = {}
        for start, end, entity in page.headings:
            numbers = outline.lines_between(start, end)
            if numbers:
                heads[numbers[0]] = entity
        for number, line in enumerate(outline.lines):
            subject = own.get(number)
            if subject is None and line.indent == 0:
                subject = heads.get(number, page.entity if line.start < page.first_section else None)
            if subject is None:
                continue
            said = text[line.start : line.end]
            for stated in stated_values(said):
                start, end = line.start + stated.start, line.start + stated.end
                relation = stated.relation
                if relation == "deprecated_since" and not self._is_own(subject, said):
                    relation = "deprecated_partly"
                self._edge(page, subject, relation, start, end, value=stated.value, kind="text")

    def _is_own(self, subject: int, said: str) -> bool:
        """Whether a note of deprecation that names a thing names its subject."""
        rows = self.entities.rows
        match = _NAMED_AS.match(said)
        return match is None or match["name"].removesuffix("()") in (rows["name"][subject], *rows["aliases"][subject])

    def _references(self, page: _Page) -> None:
        """Columns of a catalog that hold the ids of another's rows, as schema descriptions note it."""
        text = page.document.text
        for line in page.outline.lines:
            if match := _REFERENCE.match(text, line.start, line.end):
                others = self._by_name.get(match["table"], [])
                if len(others) == 1 and others[0] is not page:
                    self._edge(page, page.entity, "references", line.start, line.end, target=others[0].entity)

    def _rows(self, page: _Page, table: Table) -> None:
        """The things that a titled table lists, where the heading of its first column says what they are."""
        kind = table.heading[0].lower()
        kind = kind if kind in _THINGS else kind.removesuffix("s")
        if kind not in _THINGS:
            return
        document = page.document
        ident = f"{document.id}#table:{table.number}"
        title = re.sub(r"^List of (?:the )?", "", table.title.text)
        aliases = (table.title.text,) if title != table.title.text else ()
        listing = self._entity(ident, Named(title, "list", aliases), page.row, document)
        self._edge(page, listing, "part_of", table.start, table.title.end, target=page.entity)
        section = self._numbered_section(page, table.start)
        if section != page.entity:
            self._edge(page, section, "has_list", table.start, table.title.end, target=listing)
        for row in table.rows:
            name = row[0].text
            if not _ROW_NAME.fullmatch(name):
                continue
            thing = self._things.get((kind, name))
            if thing is None:
                thing = self._entity(f"{document.id}#{kind}:{name}", Named(name, kind), page.row, document)
                self._things[kind, name] = thing
            start, end = row[0].start, row[-1].end
            if end - table.start <= _LONGEST_LIST:
                # The title says what the list is, the row that the thing is in it: no shorter span states both.
                self._edge(page, thing, "row_of", table.start, end, target=listing)
            else:
                self._edge(page, thing, "far_row_of", start, end, target=listing)
            for heading, cell in zip(table.heading[1:], row[1:], strict=True):
                if not cell.text:
                    continue
                if heading.lower() in _SAYING:
                    if len(cell.text) >= 12:
                        self._edge(page, thing, "described_as", start, end, value=cell.text, kind="text")
                elif re.fullmatch(r"[a-z][a-z ]+", heading):
                    self._edge(page, thing, "column", start, end, value=f"{heading}: {cell.text}", kind="text")

    def _links(self, page: _Page) -> None:
        document, outline = page.document, page.outline
        see_also = list(outline.see_also)
        see_also += [(s.start, s.end) for s in document.sections if s.heading.strip().lower() == "see also"]
        done = set()
        for link in document.links:
            target = self._target(link.target, link.fragment)
            number = outline.line_at(link.start)
            if target is None or number is None:
                continue
            subject, entry = self._subject(page, link.start)
            if entry is None:
                subject = self._numbered_section(page, link.start)
            if subject == target:
                continue
            boxed = any(start <= link.start < end for start, end in see_also)
            spans = outline.sentences(number) if outline.lines[number].prose else []
            span = next(((s, e) for s, e in spans if s <= link.start < e), None)
            if boxed:
                line = outline.lines[number]
                start, end = span or (line.start, line.end)
                relation = "see_also"
            elif span is None:
                continue
            else:
                start, end = span
                masked = document.text[start : link.start] + ANCHOR + document.text[link.end : end]
                first = self._is_first(page, number, start, entry)
                stated = linked_relation(masked, first)
                relation = stated[0] if stated else "links_to"
                # What is to be used instead is said of the page's subject at its head, of an entry where that is
                # deprecated; elsewhere it may be said of anything.
                deprecated = is_deprecation(document.text[outline.lines[number].start : outline.lines[number].end])
                if relation == "replacement" and not deprecated and (entry or start >= page.first_section):
                    relation = "links_to"
            key = (subject, relation, target, start)
            if key not in done:
                done.add(key)
                self._edge(page, subject, relation, start, end, target=target)

    def _numbered_section(self, page: _Page, place: int) -> int:
        """The section with a number of its own ("9.4.15. ...") that holds ``place``, else the page."""
        for start, end, entity in page.headings:
            if start <= place < end and any(a.startswith("Section ") for a in self.entities.rows["aliases"][entity]):
                return entity
        return page.entity

    def _is_first(self, page: _Page, number: int, start: int, entry: Entry | None) -> bool:
        outline = page.outline
        if outline.sentences(number)[0][0] != start:
            return False
        if entry is None:
            return start < page.first_section
        for own in outline.own_lines(entry):
            if not page.document.text.startswith(_SKIP, outline.lines[own].start):
                return own == number
        return False

    def _target(self, name: str, fragment: str | None) -> int | None:
        other = self._by_id.get(name)
        if other is None:
            return None
        return other.by_fragment.get(fragment, other.entity) if fragment else other.entity
