"""What documents of any maker define and state: entities, facts, and that every span says it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.names import group_kind, page_kind, page_name, section_name, term_name
from synth.sources.docs.relations import ANCHOR, linked_relation
from synth.sources.docs.salient import salient
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.sources.docs.values import default_in, field_in, since_in
from synth.text.sentences import spans

DIRECTIVE = """<h2 id="{name}">{name} Directive</h2><table><tr><th>Description:</th><td>{what}</td></tr>
<tr><th>Default:</th><td>{name} {default}</td></tr><tr><th>Status:</th><td>Base</td></tr></table>
<p>The {name} directive needs paper.</p>"""
FILES = {
    # Generated pages of an API.
    "alpha.html": """<h1 id="module-alpha">alpha — First things</h1>
<p>This module provides first things for small programs.</p>
<dl class="py function"><dt class="sig" id="alpha.run">alpha.run(task, *, limit=10)</dt>
<dd><p>Run the given task until it ends.</p><p>New in version 3.5.</p></dd></dl>
<dl class="py class"><dt class="sig" id="alpha.Box">class alpha.Box</dt><dd><p>A subclass of
<a href="beta.html#beta.End">End</a>.</p></dd></dl>
<div class="admonition seealso"><p class="admonition-title">See also</p>
<p>Module <a href="beta.html">beta</a></p></div>""",
    "beta.html": """<h1 id="module-beta">beta — Second things</h1><p>The beta module implements second things.</p>
<dl class="py exception"><dt class="sig" id="beta.End">exception beta.End</dt><dd><p>Raised at the end.</p></dd></dl>
<p>Whoever wants first things reads about <a href="alpha.html#alpha.run">alpha.run()</a> before anything else.</p>""",
    # A manual with a table of fields under each heading.
    "paper.html": "<h1>Paper Module mod_paper</h1>"
    + "".join(
        DIRECTIVE.format(name=name, what=what, default=default)
        for name, what, default in (
            ("FoldDepth", "Sets how deep a crease may be", "40"),
            ("FoldEdge", "Names the edge that is folded first", "left"),
            ("FoldLog", "Writes each crease to a file", "logs/crease"),
        )
    ),
    # A man page.
    "kite.html": """<h1>kite(1)</h1><h2>NAME</h2><p>kite - fly a kite from the shell</p><h2>OPTIONS</h2>
<dl><dt>-t &lt;m&gt;</dt><dt>--tail=&lt;m&gt;</dt><dd><p>Limit the length of the tail. Defaults to 12.</p></dd>
<dt>--[no-]wind</dt><dd><p>Wait for wind before the start.</p></dd></dl>
<h2>ENVIRONMENT VARIABLES</h2><dl><dt>KITE_HOME</dt><dd>Names the folder of all kites.</dd></dl>
<h2>FORMATS</h2><table><tr><th>Format</th><th>Meaning</th><th>Size</th></tr>
<tr><td>%w</td><td>speed of the wind</td><td>4 bytes</td></tr><tr><td>%t</td><td>length of the tail</td><td>2</td></tr>
</table>""",
    # Prose.
    "story.html": """<h1>How kites came</h1><p>The first kite of the valley flew in the garden of Mina Okafor Lund.
It was red. A paper kite of the old school weighs 120 grams and needs 40 metres of cord.</p>""",
    "genindex.html": "<h1>Index</h1><p>The words of the index are long and many and without any link at all.</p>",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Document], list[Entity], list[Edge]]:
    root: Path = tmp_path_factory.mktemp("docs")
    for name, body in FILES.items():
        (root / name).write_text(f"<html><body>{body}</body></html>")
    return read(root)


def read(root: Path) -> tuple[list[Document], list[Entity], list[Edge]]:
    source = DocsSource(DocsConfig(path=str(root)))
    documents = source.read(source.files)[0]
    entities, edges = graph_tables(to_arrow(documents, Document))
    return documents, list(from_arrow(entities, Entity)), list(from_arrow(edges, Edge))


def facts(graph: tuple[list[Document], list[Entity], list[Edge]]) -> set[tuple[str, str, str]]:
    _, entities, edges = graph
    return {
        (entities[e.subject].name, e.relation, entities[e.object].name if e.object >= 0 else str(e.value))
        for e in edges
    }


def test_what_pages_define(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    _, entities, _ = graph
    assert [e.ordinal for e in entities] == list(range(len(entities)))
    assert {(e.name, e.kind) for e in entities if e.kind not in ("section", "page", "index")} == {
        ("alpha", "module"),
        ("beta", "module"),
        ("alpha.run", "function"),
        ("alpha.Box", "class"),
        ("beta.End", "exception"),
        ("mod_paper", "module"),
        ("FoldDepth", "directive"),
        ("FoldEdge", "directive"),
        ("FoldLog", "directive"),
        ("kite", "command"),
        ("--tail", "option"),
        ("--wind", "option"),
        ("KITE_HOME", "environment variable"),
        ("%w", "format"),
        ("%t", "format"),
    }
    run = next(e for e in entities if e.name == "alpha.run")
    assert run.aliases == ("run", "alpha.run()", "run()")
    assert run.id == "alpha.html#alpha.run"


@pytest.mark.parametrize(
    "fact",
    [
        ("alpha", "subtitle", "First things"),
        ("alpha", "described_as", "This module provides first things for small programs."),
        ("alpha", "see_also", "beta"),
        ("alpha.run", "part_of", "alpha"),
        ("alpha.run", "since", "3.5"),
        ("alpha.run", "described_as", "Run the given task until it ends."),
        ("alpha.Box", "subclass_of", "beta.End"),
        ("beta", "links_to", "alpha.run"),
        ("FoldDepth", "default", "40"),
        ("FoldEdge", "default", "left"),
        ("FoldLog", "status", "Base"),
        ("FoldEdge", "described_as", "Names the edge that is folded first"),
        ("kite", "subtitle", "fly a kite from the shell"),
        ("--tail", "default", "12"),
        ("--wind", "described_as", "Wait for wind before the start."),
        ("KITE_HOME", "described_as", "Names the folder of all kites."),
        ("%w", "described_as", "speed of the wind"),
        ("%w", "size", "4 bytes"),
        ("How kites came", "states", "Mina Okafor Lund"),
    ],
)
def test_facts(graph: tuple[list[Document], list[Entity], list[Edge]], fact: tuple[str, str, str]) -> None:
    assert fact in facts(graph)


COMPARED = """# Kites and Balloons

A Balloon rises. A big Balloon rises higher, and a red Balloon as high.

| Kite | Balloon |
|---|---|
| Easy to build | Hard to build |
| Needs wind | Needs gas |
| Flies at forty metres | Flies at ninety |

| Balloon | Expands to |
|---|---|
| Big One | ninety litres |
| Small One | forty litres |

| Lever name | Moves |
|---|---|
| Long Lever | the burner |
| Short Lever | the vent |

| Maker and year | Colour |
|---|---|
| Ann 1901 | red |
| Bob 1902 | blue |
"""


def test_a_table_that_sets_two_things_side_by_side_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "compared.md").write_text(COMPARED, encoding="utf-8")
    found = read(tmp_path)
    assert not {entity.name for entity in found[1]} & {"Easy to build", "Needs wind", "Flies at forty metres"}
    assert ("Big One", "expands_to", "ninety litres") in facts(found)
    # A heading that the page writes large everywhere is a name, no word for what stands below it.
    assert {entity.kind for entity in found[1] if entity.name == "Big One"} == {"entry"}
    # What has a name is called by what the name is of; a heading of two nouns says of neither what a row is.
    assert {entity.name: entity.kind for entity in found[1]}["Long Lever"] == "lever"
    assert {entity.name: entity.kind for entity in found[1]}["Ann 1901"] == "entry"


def test_a_heading_says_what_stands_below_it_and_no_further(tmp_path: Path) -> None:
    lists = "<h2>{}</h2><dl><dt>{}</dt><dd><p>Holds the sheet that is folded.</p></dd></dl>"
    page = "<h1>Paper</h1>" + lists.format("Options", "fold_limit") + lists.format("Of old", "crease_limit")
    (tmp_path / "paper.html").write_text(page, encoding="utf-8")
    kinds = {entity.name: entity.kind for entity in read(tmp_path)[1]}
    assert (kinds["fold_limit"], kinds["crease_limit"]) == ("option", "term")


def test_what_stands_inside_an_entry_is_not_what_its_section_lists(tmp_path: Path) -> None:
    inner = "<dl><dt>whole</dt><dd><p>Folds the sheet once.</p></dd></dl>"
    page = f"<h1>Paper</h1><h2>Options</h2><dl><dt>fold</dt><dd><p>Sets the fold.</p>{inner}</dd></dl>"
    (tmp_path / "paper.html").write_text(page, encoding="utf-8")
    kinds = {entity.name: entity.kind for entity in read(tmp_path)[1]}
    assert (kinds["fold"], kinds["whole"]) == ("option", "term")


def test_columns_are_called_as_people_call_them(tmp_path: Path) -> None:
    """A heading that is a product's name is no relation, and one in two words written as one names a kind."""
    heads, row = ("ParameterName", "Available since", "Oracle", "Unit"), "<tr>" + "<td>{}</td>" * 4 + "</tr>"
    rows = "".join(row.format(f"fold_{at}", f"2.{at}", "same", "mm") for at in range(3))
    table = f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>"
    text = "<p>Sheets of Oracle are folded as in Oracle.</p>"
    (tmp_path / "paper.html").write_text(f"<h1>Paper</h1>{text}{table}", encoding="utf-8")
    _, entities, edges = read(tmp_path)
    assert {entity.kind for entity in entities if entity.name.startswith("fold_")} == {"parameter"}
    assert {edge.relation for edge in edges} >= {"since", "unit"}
    assert "oracle" not in {edge.relation for edge in edges}


def test_lists_and_remarks_state_nothing(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    found = facts(graph)
    assert not any(subject == "Index" for subject, _, _ in found)
    assert not any(value == "It was red." for _, _, value in found)


def test_every_span_states_its_edge(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    documents, entities, edges = graph
    for edge in edges:
        text = documents[edge.document].text
        assert 0 <= edge.start < edge.end <= len(text)
        quote = text[edge.start : edge.end]
        if edge.value is not None:
            assert edge.value in quote
        elif edge.relation != "part_of":
            assert any(name in quote for name in (entities[edge.object].name, *entities[edge.object].aliases))


def test_links_to_pages_outside_the_table_are_left_out() -> None:
    row = Document.model_validate(
        {
            "id": "a",
            "title": "A",
            "text": "A word here is a link to b.",
            "kind": "page",
            "source": "s",
            "links": [{"start": 2, "end": 6, "target": "b"}],
        }
    )
    _, edges = graph_tables(to_arrow([row], Document))
    assert edges["relation"].to_pylist() == ["described_as"]


def test_an_anchor_that_a_page_uses_twice_names_two_things(tmp_path: Path) -> None:
    terms = "".join(
        f'<dl><dt id="size">{name}</dt><dd>Limits the {name} of a sheet.</dd></dl>' for name in ("-a", "-b")
    )
    (tmp_path / "page.html").write_text(f"<html><body><h1>fold(1)</h1><h2>OPTIONS</h2>{terms}</body></html>")
    source = DocsSource(DocsConfig(path=str(tmp_path)))
    entities, _ = graph_tables(to_arrow(source.read(source.files)[0], Document))
    ids = dict(zip(entities["name"].to_pylist(), entities["id"].to_pylist(), strict=True))
    assert {"-a", "-b"} <= set(ids)
    assert len(set(entities["id"].to_pylist())) == len(entities)


@pytest.mark.parametrize(
    ("read", "line", "expected"),
    [
        (since_in, "New in version 3.4.", "3.4"),
        (since_in, "This option was added in Kite 2.4.8 and later.", "2.4.8"),
        (since_in, "Available in version 1.2 and later", "1.2"),
        (since_in, "New in version 3.4: The key parameter.", None),
        (since_in, "It is known that 3.4 was new.", None),
        (default_in, "The default is 0.1.", "0.1"),
        (default_in, "Sets the depth (default: 4).", "4"),
        (default_in, "If no value is given it defaults to omitted.", None),
        (default_in, "accuracy The default value is 0.001.", None),
        (default_in, "It defaults to the value “left” if nothing is said.", "left"),
        (default_in, "If unspecified, the default is to search for sendmail in /usr/sbin.", None),
        (default_in, "The default is set to 25.", "25"),
        (default_in, "The default is 30 seconds.", "30 seconds"),
        (default_in, "The default is the value of the other setting.", None),
        (default_in, "This option waits for a while (default: 3).", "3"),
        (default_in, "The depth parameter says how deep it goes (default: 450).", None),
        (default_in, "The sortorder defaults to lstint and may be any of these.", None),
        (default_in, "The default is platform-dependent.", None),
        (default_in, "The default is behavior that depends on nothing.", None),
        (default_in, "-1 is “true” (default policy), 0 is “false” (no padding)", None),
        (default_in, "Whether sheets are folded (default off).", "off"),
        (default_in, "The number of sheets (default 450).", "450"),
    ],
)
def test_sentences_that_state_values(read: object, line: str, expected: str | None) -> None:
    assert read(line) == expected  # type: ignore[operator]


def test_what_a_key_takes_is_no_part_of_its_name() -> None:
    terms = ("skip=integer", "exclude=string[,string,...]", "flags={users|assoc}", "Fence=", "a=b")
    assert [found.name for text in terms if (found := term_name(text, "key"))] == [
        "skip",
        "exclude",
        "flags",
        "Fence",
        "a=b",
    ]


def test_an_option_may_be_named_without_its_argument() -> None:
    terms = ("stratum number", "mrv assocID assocID", "includefile includefile", "lookup table", "limit")
    named = [found for text in terms if (found := term_name(text, "option"))]
    assert [found.aliases for found in named] == [("stratum",), ("mrv",), ("includefile includefile",), (), ()]
    assert named[2].name == "includefile"


def test_titles_and_terms_say_what_they_name() -> None:
    named, subtitle = page_name("umask - set or get the file creation mode mask", None)
    assert (named.name, named.kind, subtitle) == ("umask", "command", "set or get the file creation mode mask")
    assert page_name("Fold 2 - The Manual", None)[0].kind == "page"
    assert page_kind("Key folding") is None
    headings = ("Blocking clients from modules", "Defining info fields", "Logging options", "Module functions")
    assert [group_kind(heading) for heading in headings] == ["", "", "option", "function"]
    assert page_kind("Key: folding") is None
    assert (page_kind("Key fold") or named).name == "fold"
    terms = ("fold_limit (default: 50)", "fold_limit (boolean)", "fold(paper)", "fold_limit (50)")
    kinds = [named and named.kind for named in (term_name(text, "setting") for text in terms)]
    assert kinds == ["setting", "setting", "function", "function"]
    assert page_name("fold.conf - how sheets are folded", None)[0].kind == "file"
    assert section_name("1.2.16 Folding").name == "Folding"


@pytest.mark.parametrize(
    ("line", "relation", "value"),
    [
        ("Default: | FoldLog Off", "default", "Off"),
        ("- Type: Boolean", "type", "Boolean"),
        ("Source File: mod_paper.c", "source_file", "mod_paper.c"),
        ("Note: This is a remark.", None, None),
        ("The rule is this: fold it.", None, None),
    ],
)
def test_fields(line: str, relation: str | None, value: str | None) -> None:
    found = field_in(line, ("FoldLog",))
    assert (found and found.relation, found and found.value) == (relation, value)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("The loader reads all of the templates from the folder that template_path names.", "template_path"),
        ("A worker waits for at most 30 seconds until all of the other jobs are done.", "worker"),
        ("This option makes the worker wait for at most 30 seconds until the next job.", None),
        ("The name is template_path and everybody knows that template_path is the name.", None),
        ("Short is template_path.", None),
    ],
)
def test_the_telling_word_of_a_sentence(sentence: str, word: str | None) -> None:
    assert salient(sentence) == word


@pytest.mark.parametrize(
    ("sentence", "relation"),
    [
        (f"A subclass of {ANCHOR} that is fast.", "subclass_of"),
        (f"Return a {ANCHOR} object for the file.", "returns"),
        (f"If it fails, {ANCHOR} is raised.", "raises"),
        (f"Like {ANCHOR}, but faster.", "like"),
        (f"Use {ANCHOR} instead.", "replacement"),
        (f"For the order of calls, see {ANCHOR}.", "refers_for"),
        (f"The parameter is a subclass of {ANCHOR} or None.", None),
        (f"This works with {ANCHOR}.", None),
    ],
)
def test_sentences_that_state_relations(sentence: str, relation: str | None) -> None:
    found = linked_relation(sentence, first=True)
    assert (found[0] if found else None) == relation


MENU = "<p>Folding <a href='a.html'>Papers</a> of all the world</p>"


def test_menus_and_the_name_of_the_site_are_gone(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"p{number}.html").write_text(
            f"<html><head><title>Page {number} - The Great Book</title></head><body>{MENU}"
            f"<b>Next:</b> <a href='p1.html'>One</a> <b>Up:</b> <a href='p2.html'>Two</a><hr>"
            f"<p>Words of page {number} about <a href='p{(number + 1) % 10}.html'>the next</a> one.</p>"
            "<h2 id='x'>More</h2><p>Said at the end.</p><p>Made with folding tools</p></body></html>"
        )
    source = DocsSource(DocsConfig(path=str(tmp_path)))
    documents = source.read(source.files)[0]
    assert [d.title for d in documents] == [f"Page {number}" for number in range(10)]
    for number, document in enumerate(documents):
        # What the pages share at their ends goes with the menu; headings stay.
        assert document.text == f"Words of page {number} about the next one.\n\nMore"
        assert [document.text[link.start : link.end] for link in document.links] == ["the next"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("See e.g. Smith et al. for this. Next.", ["See e.g. Smith et al. for this.", "Next."]),
        ("Use os.path.join(a, b). It joins.", ["Use os.path.join(a, b).", "It joins."]),
        ("A name. id holds the name.", ["A name.", "id holds the name."]),
        ("It works (see above. Or not). Yes!", ["It works (see above. Or not).", "Yes!"]),
        ("Version 3.4 is new. J. R. Smith wrote it", ["Version 3.4 is new.", "J. R. Smith wrote it"]),
        ("He said “stop.” Then left.", ["He said “stop.”", "Then left."]),
        ("", []),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in spans(text)] == parts


@given(st.text(alphabet="aB .!?()\n“”e.g.", max_size=80))
def test_sentences_cover_the_text_in_order(text: str) -> None:
    found = spans(text)
    joined = "".join(text[start:end] for start, end in found)
    assert "".join(joined.split()) == "".join(text.split())
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(found))
