"""What documents state of each other: entities, relations, and that every span says it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.relations import ANCHOR, is_deprecation, linked_relation, stated_values
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.text.sentences import spans

FILES = {
    "library/alpha.html": """<h1 id="module-alpha">alpha — First things</h1>
<p>Source code: <a href="https://x.org">Lib/alpha.py</a></p><p>New in version 3.2.</p>
<p>This module provides first things for small programs.</p>
<p>Users of old programs should consider using the <a href="beta.html#module-beta">beta</a> module instead.</p>
<dl class="py function"><dt class="sig" id="alpha.run">alpha.run(task, *, limit=10)</dt>
<dd><p>Run the given task until it ends. Raises <a href="beta.html#beta.Stop">Stop</a> if the limit is reached.</p>
<p>New in version 3.5.</p><p>Changed in version 3.6: Added the limit parameter.</p></dd></dl>
<dl class="py class"><dt class="sig" id="alpha.Box">class alpha.Box</dt><dd><p>A container that keeps one thing.</p>
<dl class="py method"><dt class="sig" id="alpha.Box.open">open()</dt><dd><p>Open it.</p></dd></dl>
<p>Deprecated since version 3.9: Use <a href="#alpha.run">run()</a> instead.</p></dd></dl>
<div class="admonition seealso"><p class="admonition-title">See also</p>
<p>Module <a href="beta.html#module-beta">beta</a></p></div>""",
    "library/beta.html": """<h1 id="module-beta">beta — Second things</h1>
<p>The <code>beta</code> module implements second things.</p>
<dl class="py exception"><dt class="sig" id="beta.Stop">exception beta.Stop</dt>
<dd><p>A subclass of <a href="#beta.End">End</a>.</p></dd></dl>
<dl class="py exception"><dt class="sig" id="beta.End">exception beta.End</dt><dd><p>Raised at the end.</p></dd></dl>
<h2 id="more">3.1. More about it</h2>
<p>It is <a href="gone.html">gone</a>. See <a href="alpha.html">alpha</a> for the rest of it.</p>""",
    "library/index.html": """<h1>Library</h1><ul><li><a href="alpha.html">alpha — First things</a></li>
<li><a href="beta.html">beta — Second things</a></li></ul>""",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Document], list[Entity], list[Edge]]:
    root: Path = tmp_path_factory.mktemp("docs")
    for name, body in FILES.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"<html><body>{body}</body></html>")
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
    assert {(e.name, e.kind) for e in entities} == {
        ("alpha", "module"),
        ("beta", "module"),
        ("Library", "index"),
        ("alpha.run", "function"),
        ("alpha.Box", "class"),
        ("alpha.Box.open", "method"),
        ("beta.Stop", "exception"),
        ("beta.End", "exception"),
        ("More about it", "section"),
    }
    run = next(e for e in entities if e.name == "alpha.run")
    assert run.aliases == ("run", "alpha.run()", "run()")
    assert run.id == "library/alpha.html#alpha.run"
    assert "Section 3.1" in next(e for e in entities if e.kind == "section").aliases


@pytest.mark.parametrize(
    "fact",
    [
        ("alpha", "subtitle", "First things"),
        ("alpha", "source_file", "Lib/alpha.py"),
        ("alpha", "added_in", "3.2"),
        ("alpha", "described_as", "This module provides first things for small programs."),
        ("alpha", "replacement", "beta"),
        ("alpha", "see_also", "beta"),
        ("alpha", "listed_in", "Library"),
        ("alpha.run", "defined_in", "alpha"),
        ("alpha.run", "added_in", "3.5"),
        ("alpha.run", "changed_in", "3.6"),
        ("alpha.run", "raises", "beta.Stop"),
        ("alpha.run", "described_as", "Run the given task until it ends."),
        ("alpha.Box", "deprecated_since", "3.9"),
        ("alpha.Box", "replacement", "alpha.run"),
        ("alpha.Box.open", "member_of", "alpha.Box"),
        ("beta.Stop", "subclass_of", "beta.End"),
        ("More about it", "part_of", "beta"),
        ("More about it", "refers_for", "alpha"),  # a section with a number is a subject of its own
    ],
)
def test_relations(graph: tuple[list[Document], list[Entity], list[Edge]], fact: tuple[str, str, str]) -> None:
    assert fact in facts(graph)


def test_nothing_is_claimed_that_is_not_said(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    found = facts(graph)
    assert ("alpha", "added_in", "3.5") not in found
    assert ("alpha", "deprecated_since", "3.9") not in found
    assert not any(relation == "added_in" and subject == "alpha.Box" for subject, relation, _ in found)
    assert not any(subject == "Library" and relation == "links_to" for subject, relation, _ in found)


def test_every_span_states_its_edge(graph: tuple[list[Document], list[Entity], list[Edge]]) -> None:
    documents, entities, edges = graph
    for edge in edges:
        text = documents[edge.document].text
        assert 0 <= edge.start < edge.end <= len(text)
        quote = text[edge.start : edge.end]
        if edge.value is not None:
            assert edge.value in quote
        elif edge.relation not in ("defined_in", "member_of", "part_of"):
            names = (entities[edge.object].name, *entities[edge.object].aliases)
            subject = (entities[edge.subject].name, *entities[edge.subject].aliases)
            assert any(name in quote for name in (subject if edge.relation == "listed_in" else names))


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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("New in version 3.4.", [("added_in", "3.4")]),
        ("New in version 3.4: The key parameter.", [("added_partly", "3.4")]),
        (
            "Deprecated since version 3.11, will be removed in version 3.13.",
            [("deprecated_since", "3.11"), ("removed_in", "3.13")],
        ),
        ("Deprecated since version 3.6: The loop argument.", [("deprecated_partly", "3.6")]),
        ("Deprecated since version 3.6: Use other() instead.", [("deprecated_since", "3.6")]),
        ("Changed in version 3.8: The key parameter was added.", [("changed_in", "3.8")]),
        ("Availability: Unix.", [("availability", "Unix")]),
        ("Raises an auditing event os.chdir with argument path.", [("audit_event", "os.chdir")]),
        ("Sets the planner's estimate. The default is 0.1. More.", [("default_setting", "0.1")]),
        ("It is new in version 3.4.", []),
    ],
)
def test_lines_that_state_values(line: str, expected: list[tuple[str, str]]) -> None:
    found = list(stated_values(line))
    assert [(s.relation, s.value) for s in found] == expected
    assert all(s.value in line[s.start : s.end] for s in found)


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


def test_a_deprecated_parameter_deprecates_nothing_else() -> None:
    assert is_deprecation("Deprecated since version 3.9: This method is deprecated.")
    assert not is_deprecation("Deprecated since version 3.9: Use context instead of the key_file parameter.")


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
