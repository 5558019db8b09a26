"""What there is to know: documents, the entities they are about, and the edges they state."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from synth.schemas.row import Key, NonEmpty, Ref, Row, Split

__all__ = ["DISTRACTOR", "Anchor", "Document", "Edge", "Entity", "Evidence", "Link", "Section", "ValueKind"]

ValueKind = Literal["entity", "date", "year", "number", "quantity", "text"]
"""What an edge's object, and so an answer, is. ``quantity`` = number with a unit ("412 metres")."""


class Section(Row):
    """A heading and the text under it, up to the next heading of any level."""

    heading: str
    """Text of the heading, without markup."""
    level: int
    """1 for the title of the document, 2 for its sections, and so on."""
    start: int
    """Offset in ``Document.text`` where the section's text begins (after its heading line), in code points."""
    end: int
    """Offset just past the section's text."""


class Link(Row):
    """A hyperlink: ``text[start:end]`` is its anchor."""

    start: int
    """Offset of the anchor text, in code points."""
    end: int
    """Offset just past it."""
    target: Annotated[NonEmpty, Ref("documents")]
    """Id of the document it leads to. A link that leads out of the source is not kept."""
    fragment: str | None = None
    """What stood behind ``#`` in the reference."""


class Anchor(Row):
    """A place in a page that a fragment (``page#name``) leads to: ``text[start:end]`` is the heading or term there."""

    name: NonEmpty
    """The fragment. One place may have several."""
    start: int
    """Offset of the place, in code points."""
    end: int
    """Offset just past it."""
    kind: str = ""
    """``heading``, ``term`` (of a definition list), or what the markup calls it (``py function``, ``c macro``, ...)."""


class Document(Row):
    """A page that an agent can find, open and cite. Offsets are code points of ``text``."""

    table: ClassVar[str | None] = "documents"

    id: Annotated[NonEmpty, Key()]
    """Stable id, relative to the root of the source: it holds no absolute path and no host name."""
    title: NonEmpty
    """Name of the page."""
    text: NonEmpty
    """The whole text, markup and boilerplate removed."""
    kind: str
    """``page`` for documents that we read, ``index`` for those that are little but links (walks avoid them); the entity
    type for pages of the fictional world."""
    aliases: tuple[str, ...] = ()
    """Other names of what the page is about."""
    sections: tuple[Section, ...] = ()
    """Headings with the spans of their texts."""
    links: tuple[Link, ...] = ()
    """Hyperlinks to other documents."""
    anchors: tuple[Anchor, ...] = ()
    """Places that a fragment of an address leads to."""
    source: NonEmpty
    """Name of the source in the recipe."""
    path: str | None = None
    """Path relative to the source's root; None for generated pages."""
    url: str | None = None
    """Where the page stands on the web, when the source says so."""
    licence: str | None = None
    """SPDX id, or None when not stated: to be settled before the text is published."""
    date: str | None = None
    """ISO 8601 date of the document, if it states one."""
    partition: Split = "train"
    """The split that owns this document as gold. Every split may search and read every document."""


class Evidence(Row):
    """Where something is stated: ``document.text[start:end] == quote``."""

    document_id: Annotated[NonEmpty, Ref("documents")]
    """Id in ``documents``."""
    start: int
    """Offset in the text, in code points."""
    end: int
    """Offset just past the quote."""
    quote: str
    """The words themselves."""


class Entity(Row):
    """A node of the graph. Edges name it by ``ordinal``, its row number in this table."""

    table: ClassVar[str | None] = "entities"

    ordinal: int
    id: NonEmpty
    name: NonEmpty
    kind: str
    aliases: tuple[str, ...] = ()
    document: int
    """Row number, in ``documents``, of the page about this entity; -1 when it has none."""
    partition: Split = "train"


DISTRACTOR = "distractor"
"""``Document.kind`` of pages written to mislead. Agents never see it; it is in the published table."""


class Edge(Row):
    """A fact with its evidence. Columnar code reads this table as arrays, so ends are row numbers."""

    table: ClassVar[str | None] = "edges"

    subject: int
    """Ordinal in ``entities``."""
    relation: NonEmpty
    object: int
    """Ordinal in ``entities``; -1 when the object is a value."""
    value: str | None = None
    """The object as text when it is a value: ISO date, plain decimal number, or text. None for an entity."""
    value_kind: ValueKind = "entity"
    document: int
    """Row number, in ``documents``, of the page that states the edge."""
    start: int
    """The span that states it, in code points of that page's text: a whole sentence or clause."""
    end: int
