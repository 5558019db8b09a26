"""Questions over the manuals of many programs: each of these classes was asked of five trees once."""

from __future__ import annotations

from typing import Any

import pytest

from synth.dataset.audit import documentation
from synth.identity import derive_generator
from synth.schemas.documents import Evidence
from synth.schemas.tasks import Hop, Node, Walk
from synth.tasks.docs.doubts import doubt, opens_with_a_noun
from synth.tasks.docs.english import active
from synth.tasks.docs.gate import Gate
from synth.tasks.docs.leaks import leaks
from synth.tasks.docs.proposer import Proposed
from synth.tasks.docs.ranks import rank_of_walk
from synth.tasks.docs.spoken import statement_question
from synth.text.asked import asked_sentences
from synth.text.headings import how_to
from synth.text.subjects import statement
from tests.tasks.docs.test_docs_gate import _Draft
from tests.tasks.docs.test_docs_proposer import build

HEAD = "<h1>{0}(1)</h1><h2>NAME</h2><p>{0} - {1}</p>"
SETTINGS = "".join(
    f"<dt>tub_{name}</dt><dd><p>Names the {name} tub of the yard behind the laundry.</p><p>Type: {kind}</p>"
    f"<p>Default: {default}</p><p>Introduced: 2.0</p></dd>"
    for name, kind, default in (
        *((n, "string", "null") for n in "oak elm ash fir yew".split()),
        *((n, "number", str(len(n) * 7)) for n in "copper bronze iron".split()),
        *((n, "string", n.upper()) for n in "granite marble sandstone basalt".split()),
    )
)
PAGES = {
    "wash.1.html": HEAD.format("wash", "wash the shirts of a hotel")
    + "<p>To check the collars of all shirts twice, use the --neck option.</p>"
    "<h2>COMMANDS</h2><dl><dt>soak</dt><dd><p>Leave the shirts in cold water for a night.</p></dd></dl>",
    "iron.1.html": HEAD.format("iron", "press the shirts of a hotel")
    + "<p>To count the cuffs of all shirts and sheets, use the --wrist option.</p>"
    "<p>To leave out the buttons of all shirts, use the --bare flag.</p>"
    "<h2>COMMANDS</h2><dl><dt>steam</dt><dd><p>Blow hot steam through the cloth of the shirts.</p></dd></dl>",
    "tubs.conf.5.html": "<h1>tubs.conf(5)</h1><h2>NAME</h2><p>tubs.conf - Tub Definition Files for Night Shifts</p>"
    f"<h2>Settings</h2><dl>{SETTINGS}</dl>",
    "codes.html": "<h1>Codes of the laundry</h1><table><tr><th>Code</th><th>Description</th></tr>"
    "<tr><td>WASH_AGAIN</td><td>A shirt with the same number already exists</td></tr>"
    "<tr><td>WASH_BAD</td><td>The laundry received an invalid order</td></tr>"
    "<tr><td>WASH_TWICE</td><td>The second round of hot water in the copper</td></tr></table>",
    "calls.html": "<h1>Calls of the laundry</h1><h2>Methods</h2><dl>"
    "<dt>fold_line()</dt><dd><p>Takes a name object of the shirt and the drawer.</p></dd>"
    "<dt>count_line()</dt><dd><p>Takes a name object and counts the shirts of its owner.</p></dd>"
    "<dt>hang_line()</dt><dd><p>The main routine called when the sheets are wet.</p></dd>"
    "<dt>dry_line()</dt><dd><p>Checks the wind above the yard, and returns the result.</p></dd>"
    "<dt>bleach_line()</dt><dd><p>Moves the sheets of the upper floor into the sun.</p></dd></dl>",
}


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><head><title>x</title></head><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("programs"), pages).proposer()


@pytest.fixture(scope="module")
def made(proposer: Any) -> dict[str, str]:
    """Every question that is accepted, with its answer."""
    found = [proposer.propose(n, None, derive_generator(5, "docs", n)) for n in range(len(proposer.order))]
    return {one.draft.question: one.draft.answer for one in found if isinstance(one, Proposed)}


def test_an_option_is_asked_for_with_its_program(made: dict[str, str]) -> None:
    assert made["Which option of wash do you use to check the collars of all shirts twice?"] == "--neck"
    assert made["Which option of iron do you use to count the cuffs of all shirts and sheets?"] == "--wrist"
    assert made["Which flag of iron do you use to leave out the buttons of all shirts?"] == "--bare"
    assert not [question for question in made if question.startswith(("Which option do you", "Which flag do you"))]


def test_a_command_on_the_page_of_a_command_is_asked_for_with_it(made: dict[str, str]) -> None:
    of_soak = [question for question, answer in made.items() if answer == "soak"]
    assert of_soak
    assert all("of wash" in question for question in of_soak)


def test_null_gathers_no_set_and_one_version_for_all_is_no_answer(made: dict[str, str]) -> None:
    assert not [question for question in made if "null" in question]
    versions = [answer for question, answer in made.items() if "version" in question]
    assert len(versions) < 3


def test_what_a_call_is_given_tells_it_from_no_other(proposer: Any) -> None:
    said = {proposer.corpus.entities[entity].name for entity, _ in proposer.items.all_said()}
    assert "bleach_line" in said
    assert "count_line" in said
    assert not {"fold_line", "dry_line", "hang_line"} & said


@pytest.mark.parametrize(
    "question",
    [
        "Which command exposes a new selector of the laundry which?",
        "Which header is used to auto-replied by the laundry?",
        "What shows the state of the shirts, possible values vary by cloth?",
        'Which labels are "cold", "warm" and "hot" on the shirts?',
        "Which module is used to set up a similar command of the laundry?",
        "What is the name of the heart of reporting in the laundry?",
        "Which flag follows the same logic as the mangle of the laundry?",
        "Which hook is called in order on the shirts that define it?",
    ],
)
def test_broken_and_leaning_questions_are_refused(proposer: Any, question: str) -> None:
    draft: Any = _Draft(question, "wash_shirts")
    assert Gate(proposer.corpus).flaw(draft) is not None


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Checks of the shirts are performed by washd(8).", "Which command performs checks of the shirts?"),
        (
            "Use washctl(1) to see the shirts of all guests.",
            "Which command do you use to see the shirts of all guests?",
        ),
        (
            "Use wash_open(3) to see the shirts of all guests.",
            "Which function do you use to see the shirts of all guests?",
        ),
        ("Use wash.conf(5) to see the shirts of all guests.", "What do you use to see the shirts of all guests?"),
    ],
)
def test_what_a_sentence_names_goes_by_its_section(sentence: str, question: str) -> None:
    assert [one.question for one in asked_sentences(sentence)] == [question]


@pytest.mark.parametrize(
    "sentence",
    [
        "Shared tubs are described in Wash::Tubs.",
        "Use TubCount= to set the number and TubSize= to set how much goes in.",
        "Use TubCount= to set the number of tubs and defaults to three.",
        "Shirts can be taken from wash.zip as well as directly from the tubs.",
        "Returns nothing if no shirts were uploaded in wash_shirts.",
    ],
)
def test_sentences_that_do_two_things_or_tell_of_a_place_ask_nothing(sentence: str) -> None:
    assert list(asked_sentences(sentence)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        'X-style washes for special shirts as well as the usual "%"-tubs are dried in the yard.',
        "Wash washes selected shirts in the format of the hotel.",
    ],
)
def test_nouns_taken_for_verbs_and_verbs_that_are_the_name_ask_nothing(sentence: str) -> None:
    said = statement(sentence)
    assert said is None or statement_question(said) is None


@pytest.mark.parametrize(
    ("sentence", "local"),
    [
        ("Unused shirts are removed by washd(8).", True),
        ("Shirts without a name tag are removed by washd(8).", False),
        ("Settings are kept in /etc/wash.conf.", True),
        ("Hashes of keys are kept in /etc/wash.conf.", False),
    ],
)
def test_two_common_words_are_a_subject_of_their_page_alone(sentence: str, local: bool) -> None:
    assert [one.local for one in asked_sentences(sentence)] == [local]


def test_a_second_thing_by_another_option_is_no_use_of_the_first() -> None:
    said = "You can add names to the shirts by using the --name flag and colours can be set using the --dye flag."
    assert statement(said) is None


def test_a_service_goes_by_its_name() -> None:
    said = statement("The service wash.service checks the shirts of the hotel in the yard.")
    assert said is not None
    assert (said.name, said.kind) == ("wash.service", "service")


def test_a_name_of_capitals_with_player_in_it_is_nobody() -> None:
    said = statement("TUB Player finds the shirts that are missing by the sound of the tub.")
    assert said is not None
    asked = statement_question(said)
    assert asked is None or asked[0].startswith("What ")


def test_a_utility_to_do_something_does_it() -> None:
    assert active("that is a utility to check the shirts on a line") == "that checks the shirts on a line"
    assert active("that is a utility to check or count shirts") == "that is a utility to check or count shirts"


def test_a_plural_is_told_by_its_singular() -> None:
    assert leaks("object of a number of WashTub objects", "WashTubs") is not None
    assert leaks("object of a number of shirts", "WashTubs") is None


def test_what_is_said_may_not_spell_the_name_with_its_verb() -> None:
    said = statement("The removeAllTubs setting removes all tubs that stand in the yard of the hotel.")
    assert said is not None
    assert statement_question(said) is None


@pytest.mark.parametrize("kind", ["code", "setting"])
def test_a_sentence_with_a_noun_in_front_that_may_be_a_verb_says_what_is_not_done(kind: str) -> None:
    assert opens_with_a_noun("Duplicate shirts of one guest are not allowed.", kind)
    assert not opens_with_a_noun("Check whether the shirts of one guest are allowed.", kind)
    assert not opens_with_a_noun("Duplicate the shirts of one guest at the end of the line.", kind)


def test_sentences_about_things_are_no_meanings_of_codes(proposer: Any) -> None:
    said = {proposer.corpus.entities[entity].name for entity, _ in proposer.items.all_said()}
    assert "WASH_TWICE" in said
    assert not {"WASH_AGAIN", "WASH_BAD"} & said


def test_what_a_page_explains_is_no_question(made: dict[str, str]) -> None:
    assert not [question for question in made if "explained" in question or "documented" in question]


@pytest.mark.parametrize(
    "text",
    [
        "displays the shirts only when set and the --tub flag is used to print them",
        "resets boolean - Default",
        "gets the last shirt registered or undefined",
        "disables reporting of the stack on bugs of the hotel even",
        "disables optimization of the yard, doing so has little impact",
        "that is the builder belongs to the tool of the laundry",
        "makes a name of a shirt and a number, Returns the string",
        "clears and re-initialize the list of the tubs",
        "get more soap for various reasons of the laundry",
        "that ensures that it's all shirts under the roof",
        "that is called to settle -- namely, the washing of shirts",
    ],
)
def test_words_that_are_cut_off_or_run_on_are_doubted(text: str) -> None:
    assert doubt(text) is not None


def test_headings_about_stuff_show_nothing() -> None:
    assert how_to("Starting with a verb") is None
    assert how_to("Removing stuff") is None
    assert how_to("Removing the shirts") == "remove the shirts"


@pytest.mark.parametrize(("relation", "rank"), [("type", "fair"), ("since", "good")])
def test_things_are_hardly_sought_by_their_type(relation: str, rank: str) -> None:
    hop = Hop(
        source=Node(id="string", name="string", kind="text"),
        target=Node(id="tubs#oak", name="tub_oak", kind="setting", document_id="tubs"),
        relation=relation,
        forward=False,
        evidence=Evidence(document_id="tubs", start=0, end=6, quote="string"),
        cue="has type string",
    )
    assert rank_of_walk(Walk(shape="composition", hops=(hop,))) == rank


@pytest.mark.parametrize(
    ("cue", "quote"),
    [
        ("performs checks of the shirts", "Checks of the shirts are performed by washd(8)."),
        ("verifies the sheets", "wash --all   # verify the sheets"),
        ("provides the tubs", "The tubs are provided by washd(8)."),
        ("stops the wheel", "The wheel is stopped by washd(8)."),
    ],
)
def test_the_audit_reads_a_verb_in_each_of_its_forms(cue: str, quote: str) -> None:
    assert documentation._words(cue) <= documentation._words(quote)
    assert not documentation._words(cue) <= documentation._words("The shirts of the hotel.")
