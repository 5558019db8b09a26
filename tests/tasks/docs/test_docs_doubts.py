"""Facts that make a doubtful question are dropped: nouns taken for verbs, labels for names, what every page repeats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.sources.docs.names import heading_name, term_name
from synth.sources.docs.values import since_in
from synth.tasks.docs.doubts import doubt, opens_with_a_noun
from synth.tasks.docs.english import clause, is_fragment
from synth.tasks.docs.spoken import statement_question
from synth.text.subjects import statement
from tests.tasks.docs.test_docs_proposer import build, site

HELP = "<dt>--ui</dt><dd><p>Forces the launch of a window with buttons.</p></dd>"
LINES = "".join(f"<p>The {{0}} of the vase in the hall has the number {line}.</p>" for line in range(30))
"""At its head and its foot a page repeats what all pages of a site do."""
PAGES = {
    f"tool{n}.html": f"<h1>vase-{name}</h1>{LINES.format(name)}<h2>Options</h2><dl>"
    f"<dt>--glaze</dt><dd><p>Draws the {name} of the vase in {color} ink.</p></dd>{HELP}"
    f"<dt>--dry</dt><dd><p>Dries the {name} below a {color} lamp.</p></dd></dl>{LINES.format(color)}"
    for n, (name, color) in enumerate(
        zip(
            "rim neck lip foot belly handle spout base cover stem".split(),
            "red green blue black white yellow orange purple pink brown".split(),
            strict=True,
        )
    )
} | {
    "env.html": "<h1>Kiln variables</h1><p>Potters set environment variables in front of the kiln.</p>"
    "<dl><dt>KILN_HEAT_MAX</dt><dd><p>Limits the heat of the upper chamber in the morning.</p><p>Defaults to 25.</p>"
    "</dd></dl>",
    "poll.html": "<h1>Pollers</h1><h2>Configuration</h2><h3>ClayPoller</h3><p>Some text on it.</p>"
    "<p>ClayPoller fetches the clay of a distant river every morning.</p>"
    "<p>Replacement is a formatter of clay that was passed to the wheel of the potter.</p>"
    "<p>A replacement is made by hand, and the replacement of a wheel takes a day or two.</p>"
    "<p>Automated prints the dates of the wheel on the bottom of the vase.</p>"
    "<p>An automated wheel is fast, and most potters have an automated wheel by now.</p>",
    "hook.html": "<h1>Hooks</h1><h2>PotHub hook</h2><p>Calls the potter of the town when a vase is sold.</p>",
    "map.html": "<h1>Maps</h1><h2>Parameters</h2><dl>"
    "<dt>gutter</dt><dd><p>Name for the outer map of all gutters.</p></dd>"
    "<dt>tilt</dt><dd><p>Either a plain angle of the vase or its slope.</p></dd>"
    "<dt>width=width in mm</dt><dd><p>Sets the distance between two vases.</p></dd></dl>",
}


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><head><title>x</title></head><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("doubts"), site() | pages).proposer()


def test_what_every_page_repeats_is_not_asked(proposer: Any) -> None:
    told = {proposer.corpus.entities[entity].name for entity, _ in proposer.items.all_said()}
    assert "--glaze" in told
    assert "--ui" not in told
    assert proposer.items.dropped["descriptions that many pages repeat"] == 10


def test_what_a_description_opens_with_need_not_be_a_verb(proposer: Any) -> None:
    told = {proposer.corpus.entities[entity].name for entity, _ in proposer.items.all_said()}
    assert not {"gutter", "tilt"} & told
    assert "width" in told


def test_variables_of_the_environment_are_no_constants(proposer: Any) -> None:
    found = next(entity for entity in proposer.corpus.entities if entity.name == "KILN_HEAT_MAX")
    assert found.kind == "environment variable"


def test_evidence_of_a_default_names_what_has_it(proposer: Any) -> None:
    corpus = proposer.corpus
    edge = next(
        e for e in corpus.edges if corpus.entities[e.subject].name == "KILN_HEAT_MAX" and e.relation == "default"
    )
    assert corpus.quote(edge).startswith("KILN_HEAT_MAX")
    assert corpus.quote(edge).endswith("Defaults to 25.")


def test_labels_and_adjectives_are_no_answers(proposer: Any) -> None:
    spoken = {said.name: said for said in proposer.items.spoken.values()}
    assert not {"Replacement", "Automated"} & set(spoken)
    assert spoken["ClayPoller"].kind == ""


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        ("that fires when when the bell is rung", "when when"),
        ("that allows to install the kiln of a museum", "allows to"),
        ("that is an textual note on the wheel", "an textual"),
        ("that takes a option of the wheel", "a option"),
        ("that is cat int,label varchar of the table", "t,l"),
        ("that gives the time between two cycles, eg", "eg"),
        ("that makes a top and a bottom, both sheets are required", ", both"),
        ("that makes a new vase of clay, do not break the old one", ", do not"),
        ("that makes the firing of clay a breeze", "a breeze"),
    ],
)
def test_broken_words_show(words: str, sign: str) -> None:
    found = doubt(words)
    assert found is not None
    assert sign in found
    assert is_fragment(words) is not None


@pytest.mark.parametrize(
    "words",
    ["that reads an SQL file and an html page", "that makes a one-time key for an hour", "that saves a user and a URL"],
)
def test_articles_of_acronyms_and_of_sounds_are_right(words: str) -> None:
    assert doubt(words) is None


@pytest.mark.parametrize(
    ("text", "kind", "noun"),
    [
        ("Name for the outer map", "parameter", True),
        ("Scale factor for heights", "parameter", True),
        ("Point and centroid symbol", "parameter", True),
        ("Cover values extracted from the labels", "option", True),
        ("Test helpers for the wheels of a potter", "class", True),
        ("Search for vases in the kiln", "option", False),
        ("Limit the heat of the kiln", "parameter", False),
        ("Print and close the list", "option", False),
        ("Update attribute table of the map", "option", False),
    ],
)
def test_first_words_that_may_be_nouns(text: str, kind: str, noun: bool) -> None:
    assert opens_with_a_noun(text, kind) is noun


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Scale the output to the input and copy color rules", None),
        ("Preserve the relative hues, adjust brightness only", None),
        ("Check all input and output operations of it", "that checks all input and output operations of it"),
        ("Convert on the fly, uses less space of the disk", None),
        ("Allocate a full system of the wheel, default is a small one", "that allocates a full system of the wheel"),
        ("Enable the swap of all memory: Operation is slow", "that enables the swap of all memory"),
    ],
)
def test_later_verbs_agree_or_nothing_is_asked(sentence: str, expected: str | None) -> None:
    assert clause(sentence, "thing", "option") == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Potted edits to the register of the museum will render the list useless for a visitor.",
        "The decorated method is an instance of Wheel, allowing it to be started and stopped.",
        "The calculation method is based on the method of an old potter from the north.",
        "The parent method handles any pending orders of the clay from the river.",
        "The Deferred fires with the remote instance of the wheel as its value.",
        "Run builds in a room of the museum with a strict guard at the door.",
        "Clay exchanges matches routing keys of the potters by words with dots.",
        "Created overview is stored in the museum and is not affected by light.",
        "Step 3 allows you to select the vase of the museum in the list.",
        "Labels present in the sample of the kiln will be sent to the museum.",
        "The lowest layer is the register, either read directly or from afar.",
        "The option threshold defines the least heat that will fire a vase.",
        "Potters already provide a list of the vases in the kiln of a museum.",
    ],
)
def test_what_names_nothing_is_no_subject(sentence: str) -> None:
    assert statement(sentence) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "Wheels have to behave in certain ways or the clay of the river will break.",
        "SQLite3 is perfectly suitable for small kilns with a few potters.",
        "Regression tests are even more rare in kilns than tests of the clay.",
        "Dusk is a simple structure originally developed for clay that dries at night.",
        "Solar energy is an important input of many kilns in the valley.",
        "The clay API is an interface against which various wheels of potters can be written.",
        "Encryption is currently always on in the cellar of the old potter.",
        "Clay certificates are strongly recommended when running a kiln of potters.",
        "ClayGIS extends the function to support all common kinds of vases.",
        "Kiln paths are relative to the hall, by default the hall of the potter.",
        "WKT is abbreviation for the well-known text of the potters.",
    ],
)
def test_what_says_too_little_is_no_question(sentence: str) -> None:
    said = statement(sentence)
    assert said is not None
    assert statement_question(said) is None


def test_a_sort_of_tool_is_no_name() -> None:
    assert heading_name("Command-line Tool", "") is None
    assert heading_name("git-log command", "") is not None
    assert heading_name("ClayPoller", "setting") is None
    assert heading_name("clay_poller", "setting") is not None


def test_rows_of_options_without_headings_are_read(tmp_path: Path) -> None:
    rows = (
        ("-d, --dry", "keep the glaze of the vase out of the kiln (default: kept)"),
        ("--lid NAME", "use NAME for the lid of the vase (default: ‘dome’)"),
        ("width=number", "sets the width of the vase on the table"),
    )
    body = "".join(f"<tr><td></td><td>{name}</td><td>{said}</td></tr>" for name, said in rows)
    page = f"<html><body><h1>Vases</h1><table>{body}</table></body></html>"
    corpus = build(tmp_path, site() | {"vases.html": page}).proposer().corpus
    said = {
        (corpus.entities[e.subject].name, e.relation): e.value
        for e in corpus.edges
        if corpus.columns.ids[e.document] == "vases.html"
    }
    assert said["--dry", "described_as"] == "Keep the glaze of the vase out of the kiln (default: kept)"
    assert ("--dry", "default") not in said
    assert said["--lid", "default"] == "dome"
    assert not any(name.startswith("width") for name, _ in said)


@pytest.mark.parametrize(
    ("text", "group", "name"),
    [("separator=character", "parameter", "separator"), ("memory=memory in MB", "parameter", "memory")],
)
def test_what_a_parameter_takes_is_no_part_of_its_name(text: str, group: str, name: str) -> None:
    named = term_name(text, group)
    assert named is not None
    assert named.name == name


def test_a_kind_that_one_page_gives_is_not_used_on_another(proposer: Any) -> None:
    words, corpus = proposer._words, proposer.corpus
    row = next(row for row, name in enumerate(corpus.columns.ids) if name == "hook.html")
    sentence = "PotHub shows the list of all vases in the museum of the town."
    assert words.spoken_of(sentence, row).kind == "hook"
    assert words.spoken_of(sentence, row - 1).kind == ""


def test_the_subject_of_a_book_is_no_answer(tmp_path: Path) -> None:
    said = "stores the drawings of all vases in the cellar of the museum."
    lids = said.replace("vases", "lids")
    book = f"<html><body><h1>KilnDB 3 Manual</h1><p>KilnDB {said}</p><p>PotServer {lids}</p></body></html>"
    words = build(tmp_path, {"book.html": book}).proposer()._words
    assert words.spoken_of(f"KilnDB {said}", 0) is None
    assert words.spoken_of(f"PotServer {said}", 0) is not None


def test_a_relation_with_things_and_values_keeps_the_commoner_form(tmp_path: Path) -> None:
    """A field "Returns" of some functions, and sentences that say of which class the others return an object."""
    files = site()
    cells = "".join(f"<tr><td>fold_{n}</td><td>type{n}</td></tr>" for n in range(6))
    head = "<tr><th>Function</th><th>Returns</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{cells}</tbody></table>"
    entry = (
        "<dl class='py function'><dt class='sig' id='f.open'>f.open(x)</dt><dd><p>Return a new "
        "<a href='lib/quarn.html#quarn.work_quarn'>quarn.work_quarn</a> object of a vase.</p></dd></dl>"
    )
    files["fold.html"] = f"<html><body><h1>Folds</h1><p>All returns at a glance.</p>{table}{entry}</body></html>"
    proposer = build(tmp_path, files).proposer()
    forms = {edge.object >= 0 for edge in proposer.corpus.edges if edge.relation == "returns"}
    assert forms == {True, False}
    assert [one for index in range(60) if hasattr(one := proposer.shapes.propose(index, 3), "draft")]


def test_what_a_version_changed_is_not_when_a_thing_came() -> None:
    assert since_in("New in version 1.9.2 Hard-coded paths.") is None
    assert since_in("New in version 1.9.2.") == "1.9.2"
