"""Sentences of manuals that were read wrongly: each of these made a question that no reader would ask."""

from __future__ import annotations

from typing import Any

import pytest

from synth.tasks.docs.doubts import doubt, opens_with_a_noun
from synth.tasks.docs.english import clause, is_fragment
from synth.tasks.docs.spoken import statement_question
from synth.tasks.docs.wording import Words
from synth.text.subjects import statement
from tests.tasks.docs.test_docs_proposer import build

TERMS = (
    ("$HOME/archive", "FILES", "The historical recipes of the oven in the cellar."),
    ("$HOME/menu", "FILES", "The menu of the tavern at the river."),
    ("%t", "MESSAGES", "The name of the table at the window."),
    ("Cold dishes", "STATISTICS", "The number of cold dishes brought from the cellar."),
    ("--daemon", "OPTIONS", "Runs as a task behind the stage of the tavern."),
    ("--early", "OPTIONS", "Is specific for the kitchen of the upper floor."),
    ("--debug", "OPTIONS", "Writes every step of the cook to the slate."),
    ("--pepper", "OPTIONS", "Adds every spice of the shelf to the soup."),
    ("TOO_MANY", "FORMATS", "One or more of the guests has reached the limit of the evening."),
)
PAGES = {
    "serve.html": "<h1>serve - serve the guests of a tavern</h1>"
    + "".join(f"<h2>{head}</h2><dl><dt>{name}</dt><dd><p>{said}</p></dd></dl>" for name, head, said in TERMS),
    "sweep.html": "<h1>sweep - sweep the floor of a tavern</h1><p>It sweeps the floor of Tavernix.</p>",
    **{
        f"tour{n}.html": f"<h1>Tour {n}</h1><p>A visitor of the {place} meets Tavernix at the door. The {place} lies "
        "far from the road, and a visit takes the whole day.</p><p>Tavernix greets every guest of the tavern with a "
        "song.</p><p>A gravyboat greets every guest of the kitchen with a plate.</p>"
        for n, place in enumerate("cellar attic kitchen yard stable garden barn".split())
    },
    "keys.html": "<h1>Keys of the bar</h1><table><tr><th>Command</th><th>Default</th><th>Description</th></tr>"
    "<tr><td>PourWine</td><td>w</td><td>Pours a glass of the red wine.</td></tr>"
    "<tr><td>PourBeer</td><td>b</td><td>Pours a jug of the dark beer.</td></tr></table>"
    "<table><tr><th>Long form</th><th>Description</th></tr>"
    "<tr><td>?sweet</td><td>Finds all wines of the south.</td></tr>"
    "<tr><td>?sour</td><td>Finds all wines of the north.</td></tr></table>"
    "<h2>Exceptions</h2><dl><dt>SoupError</dt><dd><p>Raised when it is cold.</p></dd></dl>",
    "field.html": "<h1>Orders</h1><p>Field has a value that is greater than the number of the guests in the hall.</p>"
    "<p>A field is empty at first, and the field is set by the cook, as every other field is.</p>",
}


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><head><title>x</title></head><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("readings"), pages).proposer()


def clauses(proposer: Any) -> dict[str, str]:
    return {proposer.corpus.entities[entity].name: said for entity, (_, said) in proposer.items.all_said()}


def test_what_is_said_of_several_things_tells_no_single_one(proposer: Any) -> None:
    said = clauses(proposer)
    assert "$HOME/menu" in said
    assert "$HOME/archive" not in said


def test_signs_stand_for_something(proposer: Any) -> None:
    corpus = proposer.corpus
    sign = next(entity.ordinal for entity in corpus.entities if entity.name == "%t")
    assert proposer.items.clause(sign) == "that stands for the name of the table at the window"
    assert Words(proposer.corpus).noun(sign) == "placeholder"


def test_a_label_of_several_words_is_no_keyword(proposer: Any) -> None:
    corpus = proposer.corpus
    assert Words(proposer.corpus).noun(next(e.ordinal for e in corpus.entities if e.name == "Cold dishes")) == "term"


def test_what_tells_no_option_from_others_is_not_said(proposer: Any) -> None:
    said = clauses(proposer)
    assert "--pepper" in said
    assert not {"--daemon", "--early", "TOO_MANY"} & set(said)


def test_options_of_every_command_do_not_tell_which_command_it_is(proposer: Any) -> None:
    corpus = proposer.corpus
    held = {
        corpus.entities[corpus.edges[item.edges[0]].subject].name
        for families in proposer.items.by_family.values()
        for item in families["holder"]
    }
    assert "--pepper" in held
    assert "--debug" not in held


def test_what_a_small_manual_is_about_is_no_answer(proposer: Any) -> None:
    assert proposer.corpus.is_everywhere("Tavernix")
    assert not proposer.corpus.is_everywhere("Orderix")


def test_a_common_word_with_a_capital_names_nothing(proposer: Any) -> None:
    corpus = proposer.corpus
    row = next(row for name, row in corpus.row_of.items() if name.endswith("field.html"))
    sentence = "Field has a value that is greater than the number of the guests in the hall."
    assert Words(proposer.corpus).spoken_of(sentence, row) is None
    assert Words(proposer.corpus).spoken_of(sentence.replace("Field", "Orderix"), row) is not None


@pytest.mark.parametrize(
    ("sentence", "name", "kind"),
    [
        ("The serve_tea PAM module prints tea for every guest of the house.", "serve_tea", "module"),
        ("The Library class provides the methods that change the books.", "Library", "class"),
        ("New module tavern.cellar keeps the barrels of the tavern below the kitchen.", "tavern.cellar", "module"),
        ("The absubmit plugin sends the results of the analysis to the server.", "absubmit", "plugin"),
    ],
)
def test_the_kind_stands_behind_the_name(sentence: str, name: str, kind: str) -> None:
    said = statement(sentence)
    assert said is not None
    assert (said.name, said.kind) == (name, kind)


@pytest.mark.parametrize(
    "sentence",
    [
        "Experience shows that some ovens need wood of the beech in winter.",
        "The word password is avoided where a guest shows a ring instead of a note.",
    ],
)
def test_words_that_name_nothing(sentence: str) -> None:
    assert statement(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("Tavernix uses libsoup, newer versions rely on the kitchen of the neighbour.", False),
        ("Tavernix uses libsoup, libsalad and the kitchen of the neighbour for cold dishes.", True),
        ("The serve_handle is a blind structure and the guest should not look into it at all.", False),
        ("MenuFile is the layer that beets uses to make cold dishes simple.", False),
        ("MenuFile is a layer that uses menus of the neighbours to make cold dishes simple.", True),
        ("EmptyPlate is a valid answer to indicate that a guest wants no soup today.", False),
        ("Tavernix is for printing messages that inform the guests of the house.", False),
    ],
)
def test_sentences_that_make_no_question(sentence: str, asked: bool) -> None:
    said = statement(sentence)
    assert said is not None
    assert (statement_question(said) is not None) is asked


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Query form displayed when the door is opened with no key", True),
        ("Query the form that is displayed when the door is opened", False),
        ("Access to the cellar was denied", True),
        ("Access the cellar that was denied", False),
    ],
)
def test_a_noun_opens_a_description(text: str, opens: bool) -> None:
    assert opens_with_a_noun(text, "file") is opens


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("receives status- updates from the cook", True),
        ("receives pre- and post-orders from the cook", False),
        ("handles orders more directly", True),
        ("handles orders more directly than the cook", False),
        ("makes the check of the order to be late", True),
        ("the method supplied by the guest returned NO_SOUP", True),
        ("the method supplied by the guest needed by the cook", False),
        ("the display by default ends with the current time", True),
    ],
)
def test_signs_of_broken_clauses(text: str, sign: bool) -> None:
    assert (doubt(text) is not None) is sign


def test_a_second_verb_agrees_behind_but() -> None:
    assert clause("Run but do not make any changes.", "thing", "option") == "that runs but does not make any changes"
    assert clause("A little more extreme than the debug option.", "thing", "option") is None


def test_what_a_command_is_bound_to_is_no_default_of_it(proposer: Any) -> None:
    corpus = proposer.corpus
    commands = [entity.ordinal for entity in corpus.entities if entity.kind == "command" and entity.name[:4] == "Pour"]
    assert len(commands) == 2
    assert not any(proposer.items.values(entity) for entity in commands)


def test_a_way_to_write_things_is_no_kind_of_them(proposer: Any) -> None:
    corpus = proposer.corpus
    forms = [entity.ordinal for entity in corpus.entities if entity.kind == "long form"]
    assert len(forms) == 2
    assert {Words(corpus).noun(entity) for entity in forms} == {None}


def test_an_exception_is_not_told_by_being_one(proposer: Any) -> None:
    words = Words(proposer.corpus)
    error = next(entity.ordinal for entity in proposer.corpus.entities if entity.name == "SoupError")
    assert words.said_of(error, "Exception class for bowls that the guests of the hall sent back.") is None
    assert words.said_of(error, "Exception raised for bowls that the guests of the hall sent back.") is not None


def test_a_clause_that_ends_at_a_formula_is_cut_off() -> None:
    assert is_fragment("computes the inverse of the soup of the day, satisfying") is not None
    assert is_fragment("computes the inverse of the soup of the day") is None
