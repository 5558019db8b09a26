"""Tables read back from the layout, kinds of pages, and what schema descriptions and settings state."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Anchor, Document, Edge, Entity
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.names import entry_name, page_kind
from synth.sources.docs.outline import Outline
from synth.sources.docs.relations import stated_values
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.sources.docs.tables import tables

ROW = "<tr><td>{}</td><td>{}</td><td>{}</td></tr>"
TOOLS = "".join(
    ROW.format(*cells)
    for cells in (
        ("package", "size", "description"),
        ("wubble", "12", "folds paper kites"),
        ("zarn", "7", "knot untier"),
    )
)
KNOTS = "".join(
    ROW.format(*cells)
    for cells in (("package", "size", "description"), ("zarn", "7", "tool for knots"), ("plim", "3", "rope measure"))
)
FILES = {
    "ch1.html": f"""<h1>Chapter 1. Paper</h1><h2 id="tools">1.1. Tools for paper</h2><p>There are tools for it.</p>
<p>Table 1.1. List of paper tools</p><table>{TOOLS}</table><p>More in <a href="ch2.html#knots">Section 2.1</a>.</p>""",
    "ch2.html": f"""<h1>Chapter 2. Rope</h1><h2 id="knots">2.1. Knots</h2><p>Knots hold the rope.</p>
<p>Table 2.1. List of knot tools</p><table>{KNOTS}</table>""",
    "kite.html": """<h1>9.1. kite_frame</h1><p>The catalog kite_frame stores the frames of all kites.</p>
<p>framecord oid (references kite_cord.oid) The cord that holds the frame</p>""",
    "cord.html": "<h1>9.2. kite_cord</h1><p>The catalog kite_cord stores what cords a kite hangs on.</p>",
    "fold.html": """<h1>FOLD PAPER</h1><p>FOLD PAPER — make a crease in a sheet</p><h2>Description</h2>
<p>FOLD PAPER makes a crease.</p>""",
    "settings.html": """<h1>Settings</h1><dl><dt id="crease">crease_depth (integer)</dt>
<dd><p>Sets how deep a crease may be. The default value is four megabytes (4MB). If this value is specified without
units, it is taken as millimetres. This parameter can only be set in the kite.conf file or at start.</p></dd></dl>""",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Document], list[Entity], list[Edge]]:
    root: Path = tmp_path_factory.mktemp("tables")
    for name, body in FILES.items():
        (root / name).write_text(f"<html><body>{body}</body></html>")
    source = DocsSource(DocsConfig(path=str(root)))
    documents = source.read(source.files)[0]
    entities, edges = graph_tables(to_arrow(documents, Document))
    return documents, list(from_arrow(entities, Entity)), list(from_arrow(edges, Edge))


def said(graph: tuple[list[Document], list[Entity], list[Edge]], relation: str) -> set[tuple[str, str, str]]:
    documents, entities, edges = graph
    return {
        (
            entities[e.subject].name,
            entities[e.object].name if e.object >= 0 else str(e.value),
            documents[e.document].text[e.start : e.end],
        )
        for e in edges
        if e.relation == relation
    }


def test_a_titled_table_lists_things_under_their_kind(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    rows = said(graph, "row_of")
    assert {(thing, listing) for thing, listing, _ in rows} == {
        ("wubble", "paper tools"), ("zarn", "paper tools"), ("zarn", "knot tools"), ("plim", "knot tools"),
    }  # fmt: skip
    for thing, listing, quote in rows:  # the evidence names both ends
        assert thing in quote
        assert quote.startswith(f"List of {listing}")
    kinds = {e.name: e.kind for e in graph[1]}
    assert kinds["zarn"] == "package"
    assert sum(e.name == "zarn" for e in graph[1]) == 1, "one thing, however many tables list it"
    assert ("zarn", "size: 7") in {(a, b) for a, b, _ in said(graph, "column")}
    assert ("zarn", "knot untier") not in {(a, b) for a, b, _ in said(graph, "described_as")}, "too short to describe"
    assert ("wubble", "folds paper kites") in {(a, b) for a, b, _ in said(graph, "described_as")}


def test_lists_stand_in_numbered_sections(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    assert {(a, b) for a, b, _ in said(graph, "has_list")} == {
        ("Tools for paper", "paper tools"), ("Knots", "knot tools"),
    }  # fmt: skip
    assert ("Tools for paper", "Knots") in {(a, b) for a, b, _ in said(graph, "links_to")}


def test_schema_references_and_settings(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    assert {(a, b) for a, b, _ in said(graph, "references")} == {("kite_frame", "kite_cord")}
    for relation, value in (
        ("default_setting", "4MB"),
        ("bare_unit", "millimetres"),
        ("set_when", "in the kite.conf file or at start"),
    ):
        ((name, found, quote),) = said(graph, relation)
        assert (name, found) == ("crease_depth", value)
        assert value in quote
        assert "Sets how deep" not in quote, "the evidence is the sentence, not the paragraph"


def test_kinds_of_pages(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    kinds = {e.name: e.kind for e in graph[1]}
    assert kinds["kite_frame"] == "catalog"
    assert kinds["FOLD PAPER"] == "command"
    assert kinds["Paper"] == "chapter"
    assert kinds["crease_depth"] == "configuration parameter"


@pytest.mark.parametrize(
    ("title", "purpose", "lead", "calls", "kind"),
    [
        ("54.12. pg_locks", None, "The view pg_locks provides access to locks.", False, "view"),
        ("F.1. adminpack", None, "The adminpack module provides functions.", False, "module"),
        ("oid2name", "resolve OIDs", "oid2name is a utility program that helps.", False, "program"),
        ("pg_dump", "extract a database", "", False, "program"),
        ("SPI_connect", "connect to the manager", "", True, "function"),
        ("DROP TABLE", "remove a table", "", False, "command"),
        ("19.9. Secure Connections", None, "Connections can be secured.", False, "section"),
        ("Chapter 9. System tips", None, "", False, "chapter"),
        ("Preface", None, "This is a preface.", False, "page"),
        ("The view from here", None, "The view is fine.", False, "page"),
    ],
)
def test_page_kind(title: str, purpose: str | None, lead: str, calls: bool, kind: str) -> None:
    assert page_kind(title, purpose, lead, calls) == kind


@pytest.mark.parametrize(
    ("term", "name", "kind"),
    [
        ("work_mem (integer)", "work_mem", "configuration parameter"),
        ("-k\n--data-checksums", "--data-checksums", "command-line option"),
        ("Vacuum (operation)", "Vacuum", "entry"),
    ],
)
def test_terms(term: str, name: str, kind: str) -> None:
    named = entry_name(Anchor(name="x", start=0, end=len(term), kind="term"), term)
    assert named is not None
    assert (named.name, named.kind) == (name, kind)


def test_defaults_that_depend_are_left_alone() -> None:
    line = "Sets the size. The default is typically 128 megabytes (128MB), but might be less."
    assert [s for s in stated_values(line) if s.relation == "default_setting"] == []


@given(
    st.lists(
        st.lists(st.text("abc xyz", min_size=1, max_size=6).map(str.strip).filter(bool), min_size=2, max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_cells_have_their_places(rows: list[list[str]]) -> None:
    text = (
        "Text before it.\n\nTable 1. Odd things\n\n" + "\n".join(" | ".join(row) for row in rows) + "\n\nText behind."
    )
    for table in tables(Outline(text)):
        assert text[table.title.start : table.title.end] == table.title.text
        assert list(table.heading) == rows[0]
        for row in table.rows:
            assert len(row) == len(table.heading)
            for cell in row:
                assert text[cell.start : cell.end] == cell.text
        assert [[cell.text for cell in row] for row in table.rows] == [r for r in rows[1:] if len(r) == len(rows[0])]
