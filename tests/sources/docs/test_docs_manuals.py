"""What manuals say of their own things: names and kinds of pages, lists of settings, values and their types."""

from __future__ import annotations

from typing import Any

import pytest

from synth.sources.docs.markdown import parse_markdown
from synth.sources.docs.names import heading_name, page_kind, term_name
from synth.sources.docs.relations import ANCHOR, linked_relation
from synth.sources.docs.values import are_types, default_in
from tests.tasks.docs.test_docs_proposer import build, site

HEAD = "<h1>{0}</h1><p>Section: Maintenance Commands (8)<br>Updated: Version 4</p><h2>NAME</h2><p>{1} - {2}</p>"
OPTIONS = "<h2>OPTIONS</h2><dl><dt>retry=N</dt><dd><p>Knocks at most N times at the door of the garden.</p></dd></dl>"
LIST = (
    "<ul><li>auto: Waters the roses while a guest is in the garden. Default: yes.</li>"
    "<li>label: Writes the name of the rose on a sign of wood. Default: rose. {0}</li>"
    "<li>hose (required): Names the hose that waters the beds.</li></ul>"
)
PAGES = {
    "gated.8.html": HEAD.format("GATED", "gated", "opens the gate of the garden") + OPTIONS,
    "wall.8.html": HEAD.format("WALL", "fence", "stands around the garden"),
    "lock.html": "<h1>garden_lock - lock the garden at night</h1><p>This module locks the garden.</p>" + OPTIONS,
    "rake.html": "<h1>rake - rake the leaves of the garden</h1><p>This program rakes the leaves of a module.</p>"
    "<h2>RETURN VALUES</h2><dl><dt>RAKE_LEAVES_LEFT</dt><dd><p>Some leaves were left on the lawn.</p></dd></dl>"
    "<h2>ENVIRONMENT</h2><p>These environment variables are read.</p><dl><dt>RAKE_WIDTH</dt>"
    "<dd><p>Sets the width of the rake in the shed.</p></dd></dl>",
    "water.html": f"<h1>Water</h1><h2>Use</h2><p>The available options are:</p>{LIST}",
    "dig.html": "<h1>Dig</h1><dl><dt>dig_bed()</dt><dd><p>Digs a bed of the garden before the winter.</p>"
    "<p>Its parameters are:</p><ul><li>depth: Says how deep the spade goes into the earth.</li>"
    "<li>width: Says how wide the new bed is at its end.</li></ul></dd></dl>",
    "sun.html": f"<h1>Sun</h1><h2>Use</h2><p>Gardeners love these words:</p>{LIST}",
    "shade.html": "<h1>Shade</h1><p>Moving a tree works best if:</p><ul><li>The elder gardener moves a spade of steel "
    "into the yard.</li></ul><p>The young gardener moves a bucket of water into the yard.</p>",
    "data.html": "<h1>Data</h1>"
    + "".join(
        f"<h2>{name} setting</h2><ul><li>Format: {kind}</li><li>Default value: N/A</li></ul>"
        for name, kind in (("bed_size", "int"), ("bed_names", "List[str]"), ("bed_open", "bool"))
    ),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><head><title>x</title></head><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("manuals"), site() | pages).proposer().corpus


def found(corpus: Any, name: str, page: str) -> Any:
    rows = [row for title, row in corpus.row_of.items() if title.endswith(page)]
    return next((e for e in corpus.entities if e.name == name and e.document in rows), None)


def facts(corpus: Any, name: str, page: str) -> dict[str, str]:
    entity = found(corpus, name, page)
    return {e.relation: e.value for e in corpus.edges if e.subject == entity.ordinal and e.value is not None}


def test_a_manual_page_goes_by_the_name_that_it_gives(corpus: Any) -> None:
    assert found(corpus, "gated", "gated.8.html").kind == "command"
    assert found(corpus, "WALL", "wall.8.html").kind == "page"


def test_a_page_says_what_kind_of_thing_it_is_about(corpus: Any) -> None:
    assert found(corpus, "garden_lock", "lock.html").kind == "module"
    assert found(corpus, "rake", "rake.html").kind == "command"


def test_return_values_are_no_variables_of_the_environment(corpus: Any) -> None:
    assert found(corpus, "RAKE_LEAVES_LEFT", "rake.html").kind == "return value"
    assert found(corpus, "RAKE_WIDTH", "rake.html").kind == "environment variable"


def test_a_list_that_says_what_it_lists_gives_facts(corpus: Any) -> None:
    assert found(corpus, "auto", "water.html").kind == "option"
    assert facts(corpus, "auto", "water.html") == {
        "described_as": "Waters the roses while a guest is in the garden.",
        "default": "yes",
    }
    assert "default" not in facts(corpus, "label", "water.html")
    assert found(corpus, "hose", "water.html") is not None
    assert found(corpus, "auto", "sun.html") is None


def test_what_a_list_asks_for_is_not_stated(corpus: Any) -> None:
    rows = [row for title, row in corpus.row_of.items() if title.endswith("shade.html")]
    stated = {corpus.quote(e) for e in corpus.edges if e.relation == "states" and e.document in rows}
    assert len(stated) == 1
    assert "young gardener" in next(iter(stated))


def test_formats_that_are_types_are_called_types(corpus: Any) -> None:
    assert facts(corpus, "bed_names", "data.html") == {"type": "List[str]"}
    assert are_types(["bool", "str", "list[int]"])
    assert not are_types(["PNG", "string", "JPEG"])
    assert not are_types([])


@pytest.mark.parametrize(
    ("text", "group", "name"),
    [
        ("retry=N", "option", "retry"),
        ("read=0|1", "option", "read"),
        ("GUEST:", "option", "GUEST"),
        ("GUEST:[+|-]name", "option", "GUEST"),
        ("mtime>1h", "setting", None),
        ("name=value", "term", "name"),
    ],
)
def test_a_name_is_without_what_it_takes(text: str, group: str, name: str | None) -> None:
    named = term_name(text, group)
    assert (named and named.name) == name


@pytest.mark.parametrize(
    ("sentence", "default"),
    [
        ("Where a sign is missing, the default setting is ignored for this host.", None),
        ("The default is enabled for all hosts.", "enabled"),
        ('Default: "--file=report"', "report"),
        ("Default value: N/A", None),
    ],
)
def test_what_is_done_with_a_default_is_none(sentence: str, default: str | None) -> None:
    assert default_in(sentence, ("--file",)) == default


def test_attributes_of_a_heading_are_no_part_of_it() -> None:
    page = parse_markdown(
        "# Beds\n\n## `bed-size` {: #size .new env-var }\n\nx\n\n## Tulips {#red}\n\n## Use {name}\n\n"
    )
    found = [(page.text[place.start : place.end], place.names) for place in page.places]
    assert found == [("Beds", ("beds",)), ("bed-size", ("size",)), ("Tulips", ("red",)), ("Use {name}", ("use-name",))]


def test_attributes_behind_code_are_no_text() -> None:
    page = parse_markdown("Labels: `needs-rain`{ .label .pending } and `sun`{: .label} but {garden} and a set {1, 2}.")
    assert page.text == "Labels: needs-rain and sun but {garden} and a set {1, 2}."


def test_a_list_inside_an_entry_is_of_that_entry(corpus: Any) -> None:
    assert found(corpus, "depth", "dig.html") is None


@pytest.mark.parametrize(("what", "relation"), [("spade", "replacement"), ("returned spade", None)])
def test_what_a_call_returns_replaces_nothing(what: str, relation: str | None) -> None:
    assert linked_relation(f"For large beds, use the {ANCHOR} instead.", first=False) is None
    stated = linked_relation(f"Use the {what.replace('spade', ANCHOR)} instead.", first=False)
    assert (stated and stated[0]) == relation


def test_headings_of_a_section_and_a_key_name_settings() -> None:
    named = heading_name("[kiln] lid_heat", "")
    assert named is not None
    assert (named.name, named.kind, named.aliases) == ("[kiln] lid_heat", "setting", ("lid_heat",))
    assert heading_name("[kiln] The lid", "") is None


def test_a_manual_page_keeps_its_name_beside_its_version() -> None:
    named = page_kind("kiln-fire(1) Kiln 0.33.7")
    assert named is not None
    assert (named.name, named.kind) == ("kiln-fire", "command")
