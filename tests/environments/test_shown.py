"""What an observation shows is read back as it was written, whatever stands in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.environments import outline, pages, triples
from synth.environments.observed import observe
from synth.environments.outline import Block, Outline
from synth.environments.passages import End, Link, Triple
from synth.environments.shown import (
    Count,
    Facts,
    Heading,
    Headings,
    Hit,
    Hits,
    Listed,
    Listing,
    Match,
    Matches,
    Page,
    Relations,
    Result,
    Rows,
    Text,
)

_LINES = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20)
_WORDS = _LINES.map(lambda text: " ".join(text.split()))
_NAMES = _WORDS.filter(bool)
_IDS = st.text("abc/()#- é", min_size=1, max_size=10).map(str.strip).filter(bool)
_NUMBERS = st.integers(1, 30)
_RELATIONS = st.from_regex(r"[a-z_][a-z_ :(),-]{0,10}[a-z_)]", fullmatch=True).map(lambda text: " ".join(text.split()))
_WAYS = st.sampled_from(["out", "in", "both"])
_ENTITIES = st.builds(End, _NAMES, _IDS)
_HITS = st.lists(st.builds(Hit, _NAMES, _IDS, _WORDS), max_size=4).map(tuple)


@st.composite
def _page(draw: st.DrawFn) -> Page:
    number = draw(_NUMBERS)
    text = st.lists(_LINES, max_size=4).map("\n".join)
    return Page(draw(_NAMES), draw(_IDS), number, number + draw(st.integers(0, 3)), draw(text))


@st.composite
def _matches(draw: st.DrawFn) -> Matches:
    found = tuple(draw(st.lists(st.builds(Match, _NUMBERS, st.integers(0, 9999), _WORDS), max_size=3)))
    more = draw(st.integers(0, 9)) if found else 0
    return Matches(draw(_NAMES), draw(_NAMES), draw(_IDS), draw(_NUMBERS), len(found) + more, found)


@st.composite
def _relations(draw: st.DrawFn) -> Relations:
    kinds = st.lists(st.sampled_from(["book", "city", "date", "place of birth"]), max_size=3, unique=True).map(tuple)
    items = st.lists(st.builds(Listed, _RELATIONS, _WAYS, st.integers(1, 20_000), kinds), max_size=3).map(tuple)
    thing, description, number = draw(_ENTITIES), draw(_NAMES), draw(_NUMBERS)
    return Relations(thing, description, draw(st.integers(0, 99)), number, number + 1, draw(items))


@st.composite
def _facts(draw: st.DrawFn) -> Facts:
    relation = draw(_RELATIONS)
    values = _NAMES.filter(lambda name: "](" not in name).map(End)
    facts = draw(st.lists(st.builds(Triple, _ENTITIES, st.just(relation), _ENTITIES | values), max_size=4).map(tuple))
    pages = draw(_NUMBERS)
    total = len(facts) if pages == 1 else draw(st.integers(2, 999))
    way = draw(_WAYS | st.just("out and in"))
    return Facts(draw(_ENTITIES), relation, way, total, draw(st.integers(1, pages)), pages, facts)


@st.composite
def _outline(draw: st.DrawFn) -> Outline:
    notes = tuple(draw(st.lists(st.sampled_from(["A second window was closed.", "The page said: 'x'."]), max_size=2)))
    part, body = draw(_NUMBERS), draw(st.lists(_LINES.filter(bool), max_size=4).map("\n".join))
    return Outline(notes, draw(_WORDS), draw(_WORDS), part, part + draw(st.integers(0, 3)), body)


@st.composite
def _headings(draw: st.DrawFn) -> Headings:
    found = tuple(draw(st.lists(st.builds(Heading, _NUMBERS, st.integers(1, 6), _NAMES), max_size=3)))
    more = draw(st.integers(0, 9)) if found else 0
    return Headings(draw(_NAMES), draw(_IDS), draw(_NUMBERS), len(found) + more, found)


@st.composite
def _listing(draw: st.DrawFn) -> Listing:
    field, number, hits = draw(st.sampled_from(["kind", "folder"])), draw(_NUMBERS), draw(_HITS)
    return Listing(field, draw(_NAMES), draw(st.integers(0, 99)), number, number + draw(st.integers(0, 3)), hits)


@st.composite
def _count(draw: st.DrawFn) -> Count:
    field, value = draw(st.tuples(st.sampled_from(["kind", "year"]), _NAMES) | st.just(("", "")))
    return Count(draw(_NAMES), field, value, draw(st.integers(0, 99)), draw(st.integers(0, 99)))


@st.composite
def _rows(draw: st.DrawFn) -> Rows:
    cells = _NAMES.filter(lambda name: "|" not in name and not name.startswith("(The first"))
    width = draw(st.integers(1, 3))
    row = st.lists(cells | st.just(""), min_size=width, max_size=width).map(tuple)
    found = tuple(draw(st.lists(row, max_size=3)))
    heading = draw(st.lists(cells, min_size=width, max_size=width).map(tuple)) if found else ()
    return Rows(draw(_WORDS), heading, found, len(found) + (draw(st.integers(0, 9)) if found else 0))


_RESULTS = st.builds(
    Result,
    st.sampled_from(["years from 3 May 1900 to 1950", "1,200 km - 350 km", "(3 + 4) / 2"]),
    st.sampled_from(["50 years", "850 km", "-3.5"]),
)


@given(st.builds(Hits, _WORDS, _HITS) | _page() | _matches() | _headings() | _listing() | _count() | _rows() | _RESULTS)
def test_pages_are_read_back(shown: Any) -> None:
    assert pages.read(pages.render(shown)) == observe(pages.render(shown)) == shown


@given(st.builds(Hits, _WORDS, _HITS) | _relations() | _facts())
def test_facts_are_read_back(shown: Any) -> None:
    assert triples.read(triples.render(shown)) == observe(triples.render(shown)) == shown


@given(_outline())
def test_web_pages_are_read_back(shown: Outline) -> None:
    text = outline.render(shown)
    assert outline.read(text) == observe(text) == shown
    assert observe(text).passages == Text(text).passages


@given(st.builds(Block, st.from_regex(r"[a-z]{1,8}", fullmatch=True), _NAMES, st.sampled_from(["", "1", "12"])))
def test_blocks_of_a_page_are_read_back(block: Block) -> None:
    assert Block.read(block.line()) == block


def test_a_page_says_what_was_done_and_names_its_elements() -> None:
    lines = ["main:", '  status "Saved."', '  - [e2] link "Moth Light", due. [e3] button "Renew"', '  status "Sent."']
    shown = Outline((), "T", "http://a.test/", 1, 1, "\n".join(lines))
    assert (shown.status, shown.element("e3"), shown.element("e1")) == ("Sent.", ("button", "Renew"), None)
    assert Outline((), 'status "No."', "", 1, 1, "").status == ""


@pytest.mark.parametrize(
    "text", ["", "Done.", '{"rows": [1]}', "Page: [a](b), page 1 of 2", "5 results\n\nNone.", "x = 5", "5 = five"]
)
def test_other_text_is_read_as_words(text: str) -> None:
    assert observe(text) == Text(text)


def test_matches_that_end_in_a_line_of_settings_are_no_sum() -> None:
    matches = Matches("pots", "Kilns", "kilns.html", 12, 2, (Match(3, 8, "pots"), Match(4, 97, "pots = 64")))
    assert observe(pages.render(matches)) == matches


def test_a_list_of_links_that_no_environment_of_ours_wrote_is_a_list_of_results() -> None:
    seen = observe("These are open:\n1. [One](a/one)\n   First. See [Two](a/two#top).\n2. [Three](a/three)")
    assert [(hit.title, hit.document) for hit in seen.results] == [("One", "a/one"), ("Three", "a/three")]
    assert [(said.document, said.text) for said in seen.passages] == [
        ("", "These are open:"),
        ("a/one", "First."),
        ("a/one", "See Two."),
    ]
    assert seen.passages[2].links == (Link("Two", "a/two#top"),)
    assert seen.passages[2].links[0].document == "a/two"


def test_sentences_of_a_page_know_their_heading_and_the_terms_above_them() -> None:
    text = "Intro. More.\n\n## [Life](life)\nthing(size)\n   Makes [a thing](thing#x). New.\n\n"
    shown = Page("T", "doc", 1, 2, text)
    assert [(said.text, said.heading, said.parents) for said in shown.passages] == [
        ("Intro.", "", ()),
        ("More.", "", ()),
        ("Life", "Life", ()),
        ("thing(size)", "Life", ()),
        ("Makes a thing.", "Life", ("thing(size)",)),
        ("New.", "Life", ("thing(size)",)),
    ]
    assert shown.passages[4].links == (Link("a thing", "thing#x"),)
