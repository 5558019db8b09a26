"""The last look at a question, and what things are called: each of these was asked over a manual once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.identity import derive_generator
from synth.schemas.rejections import Rejection
from synth.sources.docs.names import group_kind, page_kind
from synth.tasks.docs.english import clause
from synth.tasks.docs.gate import Gate
from synth.tasks.docs.leaks import leaks
from synth.tasks.docs.proposer import Proposed
from synth.tasks.docs.spoken import statement_question
from synth.tasks.docs.wording import Words
from synth.text.subjects import statement
from tests.tasks.docs.test_docs_proposer import build

LOG = " ".join(f"Version 1.{n} came out. The oven glows at night, version 1.{n}." for n in range(8))
LAMPS = "".join(f"<dt>LAMP_{n}</dt><dd><p>Holds the color of the lamp in row {n}.</p></dd>" for n in range(2))
CELLS = "".join(
    f"<tr><td>jar_{name}</td><td>{'text' if name != 'k' else 'number'}</td>"
    f"<td>Holds the {name} side of a jar in the cellar.</td></tr>"
    for name in "abcdefghijkl"
)
PAGES = {
    "changes.html": f"<h1>Release notes</h1><p>{LOG}</p>"
    "<p>The KilnDoor class opens the kiln without asking anyone in the hall.</p>",
    "find.html": "<h1>Lamps</h1><p>A lamp hangs in the hall. Many lamps are red.</p>"
    f"<p>This page reads an environment variable once. These options are read:</p><dl>{LAMPS}</dl>",
    "files.html": "<h1>Hall reference</h1><h2>Configuration files</h2>"
    "<h3>hall_search</h3><p>Looks for the best seat in the hall of the tavern.</p>"
    "<h3>Cellar</h3><p>Keeps the Cellar files of every guest in the tavern.</p>"
    "<h3>hall.conf</h3><p>Holds the seats of every guest in the tavern.</p>",
    "fields.html": "<h1>Vase fields</h1><h2>GlazeField</h2><p>Signature: GlazeField(tint, thick)</p>"
    "<ul><li>tint - The color of the outer glaze in the evening. Default: red.</li>"
    "<li>thick - The depth of the inner glaze in the morning. Default: 5.</li></ul>"
    "<h2>RimField</h2><ul><li>edge - The form of the upper edge in the evening. Default: round.</li>"
    "<li>width - The breadth of the lower edge in the morning. Default: 7.</li></ul>",
    "jars.html": "<h1>Jars of the cellar</h1><table><tr><th>Variable</th><th>Type</th><th>Description</th></tr>"
    f"{CELLS}</table><table><tr><th>Message</th><th>Description</th></tr>"
    "<tr><td>jar=cellar:left</td><td>The name of the jar that was moved last.</td></tr>"
    "<tr><td>jar_moved</td><td>The name of the jar that was broken first.</td></tr></table>",
    "guide.html": "<h1>Guide</h1><h2>Buffers</h2>"
    "<p>A buffer holds the plates that the cook has washed in the evening.</p>"
    "<p>A thief takes the plates that the cook has washed through the window.</p>",
}


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><head><title>x</title></head><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("gate"), pages).proposer()


def kind(proposer: Any, name: str) -> str | None:
    found = next(entity for entity in proposer.corpus.entities if entity.name == name)
    noun: str | None = Words(proposer.corpus).noun(found.ordinal)
    return noun


class _Draft:
    """The words of a draft."""

    answer_parts = ()

    def __init__(self, question: str, answer: str, surface: str = "subject/is", kind: str = "text") -> None:
        self.question, self.answer, self.surface, self.answer_kind = question, answer, surface, kind


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which option closes the door of the hall when set?", "--shut"),
        ("Which package is another way to close the doors?", "doors"),
        ("What covers the first area, by drawing charts?", "Munin"),
        ("What do you call a type + number of plates?", "array"),
        ("What tries to open the window of the kitchen at night?", "burglars"),
        ("What holds the plates of the cook?", "Plates — Kitchen 1.2 documentation"),
        ("What is often used to wash the plates of the cook?", "empty string"),
        ("What carries the plates of the cook?", "attackers"),
        ("Which protocol is supported in the hall for all protocols?", "WebSocket"),
        ("Which code moves the character of the cursor?", "19 + b + #"),
        ("Which flag holds the key of the cellar in the evening?", "K"),
        ("Which exception is raised if x is not a guest of the hall?", "GuestError"),
        ("Which switch finds all the plates of the cook?", "Advanced options"),
        ("What provides a much more configurable and tested server?", "Gunicorn"),
        ("What was led by Jean Ichbiah and has included Bernd Krieg and John G.P?", "Ada design team"),
        ("Which cards are dealt out to two columns of cells?", "eight cards"),
        ("What do you call the early closing of the hall?", "nice feature"),
    ],
)
def test_questions_with_a_flaw_are_refused(proposer: Any, question: str, answer: str) -> None:
    draft: Any = _Draft(question, answer)
    assert Gate(proposer.corpus).flaw(draft) is not None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What holds the plates that the cook has washed?", "buffer"),
        ("What holds the plates that the cook has washed?", "washing_up"),
        ("What do you call a thing in which plates are washed?", "sink"),
        ("Which option in “Doors + windows” closes the lock in the hall?", "--lock"),
        ("Which option closes the first door of the hall when the cook has left?", "--shut"),
    ],
)
def test_others_are_asked(proposer: Any, question: str, answer: str) -> None:
    draft: Any = _Draft(question, answer)
    assert Gate(proposer.corpus).flaw(draft) is None


def test_the_gate_stands_behind_the_families(tmp_path: Path) -> None:
    body = (
        "<h1>Guide</h1><p>A buffer is a shelf that holds the plates of the cook in the evening.</p>"
        "<p>A sieve is a bowl that drains the noodles of the guests when enabled, and the soup of the hall.</p>"
    )
    prose = build(tmp_path, {"guide.html": f"<html><body>{body}</body></html>"}).proposer()
    listed = range(len(prose.order))
    made = [prose.propose(number, "train", derive_generator(3, "docs", number)) for number in listed]
    assert {each.draft.answer for each in made if isinstance(each, Proposed)} == {"buffer"}
    refused = {each.detail for each in made if isinstance(each, Rejection)}
    assert refused == {"subject: 'when enabled' in it", "told: 'when enabled' in it"}


def test_lists_of_changes_are_not_asked_about(proposer: Any) -> None:
    corpus = proposer.corpus
    assert corpus.row_of["changes.html"] not in corpus.english
    assert corpus.row_of["guide.html"] in corpus.english


def test_names_in_capitals_are_what_their_list_is_a_list_of(proposer: Any) -> None:
    assert kind(proposer, "LAMP_0") == "option"


def test_what_is_no_file_is_not_called_one(proposer: Any) -> None:
    assert kind(proposer, "hall_search") is None
    assert kind(proposer, "Cellar") is None  # "the Cellar files"
    assert kind(proposer, "hall.conf") == "file"


def test_bullets_below_a_class_are_its_arguments(proposer: Any) -> None:
    assert kind(proposer, "tint") == "argument"
    assert "edge" not in {entity.name for entity in proposer.corpus.entities}


def test_a_name_with_its_value_names_nothing(proposer: Any) -> None:
    assert kind(proposer, "jar=cellar:left") is None
    assert kind(proposer, "jar_moved") == "message"


def test_a_value_that_nearly_all_things_of_a_page_have_is_not_asked_for(proposer: Any) -> None:
    foregone = proposer.items.foregone
    names = {proposer.corpus.entities[entity].name for entity, relation in foregone if relation == "type"}
    assert names == {f"jar_{letter}" for letter in "cdefghijl"}
    made = [proposer.propose(number, "train", derive_generator(3, "docs", number)) for number in range(400)]
    asked = " ".join(
        each.draft.question for each in made if isinstance(each, Proposed) and "type" in each.draft.question
    )
    assert "jar_k" in asked
    assert not [name for name in names if f"the {name} variable" in asked]


def test_kinds_by_headings_and_titles() -> None:
    assert group_kind("ENVIRONMENT VARIABLES") == "environment variable"
    assert group_kind("Input Variables") == "variable"
    assert page_kind("Format suffixes") is None
    assert page_kind("Command prune") is not None


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "A plate is a thin disc, made of clay and burnt, which is carried by the cook.",
            "What do you call a thin disc, made of clay and burnt, which is carried by the cook?",
        ),
        (
            "A plate is a thin disc that carries the soup of the guests.",
            "What do you call a thin disc that carries the soup of the guests?",
        ),
        ("Pagination links that are shown in the head of every page, such as the next page.", None),
        ("Glazing requires many bowls to be ready in the morning of the day.", None),
        ("Fairwell is slightly more known for plates and bowls of the old kind.", None),
        ("Fairwell burns plates at night while XMark is burning them in the open.", None),
        ("Security also includes taking the plates of the hall into the cellar.", None),
        (
            "Time_Error is raised if the result is too large for the hall.",
            "What is raised if the result is too large for the hall?",
        ),
        ("The mark_designator is Read and T is a limited extension of the hall.", None),
        (
            "Managers are expected to write the results of the year into the book.",
            None,
        ),
        ("The Fold package holds the effects of the glaze defined in F.3.2.", None),
        ("Shisen is a game of the old city and uses the same tiles as many others.", None),
        ("The name Salic Law is a reference to a law of the old city of the west.", None),
        ("Postix provides two interesting features for handling plates of clay.", None),
    ],
)
def test_sentences(sentence: str, question: str | None) -> None:
    said = statement(sentence)
    asked = None if said is None else statement_question(said)
    assert (asked and asked[0]) == question


def test_people_are_asked_for_by_who() -> None:
    said = statement("Managers write the results of the year into the book of the house.")
    assert said is not None
    asked = statement_question(said)
    assert asked is not None
    assert asked[0] == "Who writes the results of the year into the book of the house?"


def test_a_name_is_told_by_its_words_without_hyphens() -> None:
    assert leaks("an email address with a name", "e-mail address")
    assert not leaks("a letter with a name", "e-mail address")


def test_names_in_capitals_below_a_heading_are_what_the_page_calls_them(tmp_path: Path) -> None:
    body = (
        "<h1>Extensions</h1><p>The setting of each extension is read once, and every setting has a default.</p>"
        "<h2>CLOSE_COUNT</h2><p>The number of plates after which the hall is closed.</p>"
        "<h2>closer</h2><p>Closes the hall of the tavern when no plate is left.</p>"
        "<h2>old lids</h2><p>Lids of the old kind are made of wood.</p>"
    )
    proposer = build(tmp_path, {"ext.html": f"<html><body>{body}</body></html>"}).proposer()
    assert kind(proposer, "CLOSE_COUNT") == "setting"
    assert kind(proposer, "closer") == "extension"
    assert kind(proposer, "old lids") is None


def test_a_module_has_no_property_of_its_own(tmp_path: Path) -> None:
    """Sphinx's pages of two modules, each with a class that has a property and with a function."""
    page = (
        '<h1 id="module-{m}">{m}</h1><p>The {m} module bakes plates.</p><dl class="py property"><dt id="{m}.Plate.rim">'
        "rim</dt><dd><p>The {m} edge of the plate in the hall as a number.</p></dd></dl>"
        '<dl class="py function"><dt id="{m}.fold">{m}.fold(x)</dt><dd><p>Fold the {m} side of a plate into the middle.'
        "</p></dd></dl>"
    )
    files = {f"{m}.html": f"<html><body>{page.format(m=m)}</body></html>" for m in ("kilner", "glazer")}
    proposer = build(tmp_path, files).proposer()
    items = [item for found in proposer.items.by_family.values() for item in found.get("holder", [])]
    parts = {proposer.corpus.entities[proposer.corpus.edges[item.edges[0]].subject].kind for item in items}
    assert parts == {"function"}


def test_a_colour_is_not_what_is_shown_in_it(tmp_path: Path) -> None:
    body = (
        "<h1>Looks</h1><table><tr><th>Colour</th><th>Description</th></tr>"
        "<tr><td>rim_line</td><td>The line between the plate and the table of the guest.</td></tr>"
        "<tr><td>rim_dark</td><td>Marks the edge of the plate on the table at night.</td></tr></table>"
    )
    proposer = build(tmp_path, {"looks.html": f"<html><body>{body}</body></html>"}).proposer()
    told = {proposer.corpus.entities[entity].name for entity, _ in proposer.items.all_said()}
    assert told == {"rim_dark"}


def test_what_depends_on_the_page_is_not_asked_for_without_it(tmp_path: Path) -> None:
    body = "<h1>Game {n}</h1><h2>Rows</h2><p>{said} The rows of game {n} are long, and {n} cards lie in the rows.</p>"
    said = "Rows grow down in rank by colour with every trump of the {n} hands in the hall."
    names = "alder birch cedar ebony elm fir hazel larch maple oak pine rowan willow yew".split()
    pages = {f"{name}.html": body.format(n=name, said=said.format(n=name) if name == "oak" else "") for name in names}
    proposer = build(tmp_path, {name: f"<html><body>{text}</body></html>" for name, text in pages.items()}).proposer()
    draft: Any = _Draft("What grows down in rank by colour with every trump?", "rows", "plain/grow")
    assert Gate(proposer.corpus).flaw(draft) == "which 'rows', its page says"
    alone: Any = _Draft("What grows down in rank by colour with every trump?", "row_counter", "plain/grow")
    assert Gate(proposer.corpus).flaw(alone) is None


def test_a_heading_s_attributes_may_stand_apart(tmp_path: Path) -> None:
    lines = (
        "# Rules",
        "## glaze",
        "Glazes.",
        "### Configuration { #glaze-configuration }",
        "#### `glaze.heat`",
        "Heat.",
    )
    text = "\n\n".join(lines)
    proposer = build(tmp_path, {"rules.md": text}).proposer()
    assert kind(proposer, "glaze.heat") == "setting"


def test_set_is_an_order_before_attributes() -> None:
    assert clause("Set attributes and color of the plate.", "x", "code") == (
        "that sets attributes and color of the plate"
    )
    assert clause("Set when the plate of the cook is warm.", "x", "code") == (
        "that is set when the plate of the cook is warm"
    )


@pytest.mark.parametrize(("answer", "flawed"), [("Line 11", True), ("final operation", True), ("drying rack", False)])
def test_what_its_place_alone_tells_is_no_answer(proposer: Any, answer: str, flawed: bool) -> None:
    draft: Any = _Draft("According to “Doors”, what dries the plates of the cook?", answer, surface="told/dries")
    assert (Gate(proposer.corpus).flaw(draft) is not None) is flawed
