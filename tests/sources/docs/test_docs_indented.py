"""Manual pages and settings written as paragraphs with indented blocks, and what pages without a title are called."""

from __future__ import annotations

from typing import Any

import pytest

from synth.schemas.documents import Anchor
from synth.sources.docs.html import parse_html
from synth.sources.docs.manuals import spelt_title
from synth.sources.docs.names import Named, entry_name, group_kind, heading_name, term_name
from synth.sources.docs.values import default_in
from tests.tasks.docs.test_docs_proposer import build, site


def manual(title: str, name: str, purpose: str, body: str) -> str:
    """A page as mandoc writes it of what DocBook wrote."""
    return (
        f"<html><head><title>{title}</title></head><body><h1>NAME</h1><p>{name} - {purpose}</p>"
        f"<h1>DESCRIPTION</h1><p>{name} is used by the crew of a ship.</p>{body}</body></html>"
    )


def entry(term: str, said: str) -> str:
    return f'<p class="Pp">{term}</p>\n<div class="Bd-indent">{said}</div>\n'


PAGES = {
    "anchorctl.1.html": manual(
        "ANCHORCTL(1)",
        "anchorctl",
        "control the anchor of a ship",
        "<p>This driver of ropes is a driver.</p><h1>COMMANDS</h1>"
        + entry("<b>weigh</b> [<i>ROPE</i>...]", "Lift the anchor from the ground of the sea.")
        + "<h1>OPTIONS</h1>"
        + entry("<b>-d</b>, <b>--depth=</b>", "Specify the depth at which the anchor stops. Defaults to 40.")
        + entry("<b>--mud</b>", "Wash the mud off the flukes before they come on deck."),
    ),
    "rules.html": "<html><head><title>Rule 3</title></head><body><h1>Rule 3</h1><p>Parameters:</p><ul>"
    "<li><code>knots</code>: How many knots a rope may have (number, default 12)</li></ul></body></html>",
    "berths.html": "<html><head><title>Options - Berths</title></head><body><h1>Options - Berths</h1>"
    "<p>BERTH_WIDTH - How wide a berth of the crew is made. It may be small.</p>"
    "<p>BERTH_LIGHT - Whether a lamp hangs above the berth of the mate.</p>"
    "<p>BERTH_SHEETS - The number of sheets that a berth of the crew gets.</p></body></html>",
    "ship.rope.5.html": manual("SHIP.ROPE(5)", "ship.rope", "Rope configuration", "<p>Ropes are of hemp.</p>"),
    "harbour.conf.5.html": manual("HARBOUR.CONF(5)", "harbour.conf", "Harbour configuration file", "<p>Rows.</p>"),
    "settings.html": "<html><head><title>Settings of the mast</title></head><body><h1>Settings of the mast</h1>"
    "<h2>[mast:x] Section Values</h2>"
    + "".join(
        f"<p><code>{name}</code></p><blockquote><div><p>{said}</p><p><em>Default</em>: {default}</p>"
        f"<p><em>Introduced</em>: {since}</p></div></blockquote>"
        for name, said, default, since in (
            ("sailcount", "The number of sails that the mast carries.", "3", "1.0"),
            ("topcolour", "The colour of the flag on the top of the mast.", "red", "2.1"),
            ("ropelength", "The length of the rope that holds the mast.", "80", "1.4"),
        )
    )
    + "</body></html>",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return build(tmp_path_factory.mktemp("indented"), site() | PAGES).proposer().corpus


def kinds(corpus: Any) -> dict[str, str]:
    return {found.name: found.kind for found in corpus.entities}


def test_a_name_with_an_indented_block_is_a_definition(corpus: Any) -> None:
    found = kinds(corpus)
    assert found["--depth"] == "option"
    assert found["--mud"] == "option"
    assert found["weigh"] == "command"
    assert {found[name] for name in ("sailcount", "topcolour", "ropelength")} == {"setting"}


def test_what_such_a_block_states_belongs_to_its_name(corpus: Any) -> None:
    entity = next(e for e in corpus.entities if e.name == "topcolour")
    facts = {edge.relation: edge.value for edge in corpus.edges if edge.subject == entity.ordinal}
    assert facts["default"] == "red"
    assert facts["since"] == "2.1"
    assert facts["described_as"].startswith("The colour of the flag")


def test_one_bullet_below_a_line_that_says_of_what_is_a_list(corpus: Any) -> None:
    entity = next(e for e in corpus.entities if e.name == "knots")
    assert entity.kind == "parameter"
    assert {e.relation: e.value for e in corpus.edges if e.subject == entity.ordinal}["default"] == "12"


def test_paragraphs_that_open_with_a_name_describe_it(corpus: Any) -> None:
    found = [e for e in corpus.entities if e.name.startswith("BERTH_")]
    assert {e.kind for e in found} == {"option"}
    said = {corpus.entities[e.subject].name: e.value for e in corpus.edges if e.relation == "described_as"}
    assert said["BERTH_WIDTH"].startswith("How wide a berth of the crew is made")
    assert said["BERTH_SHEETS"].startswith("The number of sheets")


def test_a_manual_page_is_called_as_its_name_is_spelt(corpus: Any) -> None:
    titles = {name.rpartition("/")[2]: corpus.columns.titles[row] for name, row in corpus.row_of.items()}
    assert titles["anchorctl.1.html"] == "anchorctl(1)"
    found = kinds(corpus)
    assert found["anchorctl"] == "command"
    assert found["ship.rope"] == "page"  # a format, and no file of that name
    assert found["harbour.conf"] == "file"


@pytest.mark.parametrize(
    "paragraph",
    [
        "<p>Use <b>--depth</b> here.</p>",
        "<p><b>Example:</b></p>",
        "<p><b>--depth</b> is the option that says how deep.</p>",
        "<p><b>It stops.</b></p>",
        "<p>Rope</p>",
    ],
)
def test_a_sentence_in_front_of_a_quotation_names_nothing(paragraph: str) -> None:
    page = parse_html(f"<html><body><h1>Ropes</h1>{paragraph}<blockquote><p>Said so.</p></blockquote></body></html>")
    assert [place for place in page.places if place.kind == "term"] == []


def test_a_name_without_a_block_is_no_term() -> None:
    page = parse_html("<html><body><h1>Ropes</h1><p><b>--depth</b></p><p>Said so.</p></body></html>")
    assert [place for place in page.places if place.kind == "term"] == []


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("NAME", "List\n\nNAME\n\n  Ship::Rope - a rope of a ship\n", "Ship::Rope"),
        ("NAME", "NAME\n\nno line of a name\n", "NAME"),
        ("ROPED(8)", "NAME\n\nroped, roped.service - pulls ropes\n", "roped(8)"),
        ("ROPED.SERVICE(8)", "NAME\n\nroped, roped.service - pulls ropes\n", "roped.service(8)"),
        ("KNOT(1)", "NAME\n\nrope - pulls ropes\n", "KNOT(1)"),
        ("Ropes", "NAME\n\nropes - pulls ropes\n", "Ropes"),
    ],
)
def test_titles_in_capitals_or_of_the_first_heading_are_spelt_out(title: str, text: str, expected: str) -> None:
    assert spelt_title(title, text) == expected


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("[mast:x] Section Values", "setting"),
        ("[ROPE] SECTION OPTIONS", "setting"),
        ("Rope Commands (Listing and Changing)", "command"),
        ("[draft] of a chapter", ""),
    ],
)
def test_headings_that_tell_what_stands_below_them(heading: str, kind: str) -> None:
    assert group_kind(heading) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ropes.MAIN_SHEET", "constant"), ("number_of_ropes", "field"), ("rope_t", "C type"), ("ROPE_INFO", "C type")],
)
def test_what_is_declared_as_a_type_of_c_may_be_a_field(name: str, kind: str) -> None:
    last = name.rpartition(".")[2]
    found = entry_name(Anchor(name=f"c.{name}", kind="c type", start=0, end=9), f"type {last}", "")
    assert found is not None
    assert found.kind == kind


def test_a_word_in_brackets_alone_is_no_name() -> None:
    assert term_name("('record')", "mode") is None


def test_the_first_of_several_defaults_is_none() -> None:
    assert default_in('Defaults to "hemp".') == "hemp"
    assert default_in("How deep it stops (number, default 40)") == "40"
    assert default_in("How it stops (string, default slow, values slow / fast)") == "slow"
    assert default_in('If not used defaults to "hemp", "flax", i.e. what floats.') is None


def test_an_argument_in_capitals_is_no_kind() -> None:
    assert heading_name("LimitTo TARGET", "") is None
    assert heading_name("LimitTo method", "") == Named("LimitTo", "method", ("LimitTo method",))


def test_below_a_title_of_the_whole_site_a_page_goes_by_its_next_heading(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    names = "anchor rope mast sail deck keel rudder hold".split()
    pages = {
        f"{name}.html": f"<html><body><h1>Shipwright</h1><h2>The {name}</h2><p>It is made of oak.</p></body></html>"
        for name in names
    }
    titles = build(tmp_path_factory.mktemp("site"), pages).proposer().corpus.columns.titles
    assert sorted(titles) == sorted(f"The {name}" for name in names)
