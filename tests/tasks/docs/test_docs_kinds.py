"""What things of a manual are called, and facts and sentences that make no question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.lexicon.reading import document_words
from synth.schemas.documents import Anchor
from synth.sources.docs.names import entry_name, heading_name, term_name
from synth.sources.docs.values import default_in, is_tick, takes_a_value
from synth.tasks.docs.doubts import doubt, opens_with_a_noun
from synth.tasks.docs.english import clause, is_fragment
from synth.tasks.docs.families import is_value
from synth.tasks.docs.proposer import _ACTS
from synth.tasks.docs.sentences import stems
from synth.tasks.docs.spoken import statement_question
from synth.text.subjects import statement
from tests.tasks.docs.test_docs_proposer import build, site

LICENCE = "<p>Permission is granted to copy this manual. The front cover must present the full title of the kiln.</p>"
PAGES = {
    "commands.html": "<h1>Checks</h1><h2>Commands</h2>"
    "<h3>check_glaze</h3><p>The check_glaze plugin counts the cracks of a vase by its sound.</p>"
    "<h3>weigh_clay</h3><p>Weighs the clay of a distant river every morning.</p>",
    "set.html": "<h1>Kiln Settings</h1><p>All of them.</p><h2>Of the lid</h2><dl>"
    "<dt>LID_HEAT_MAX</dt><dd><p>Limits the heat under the lid in the afternoon.</p></dd></dl>",
    "options.html": "<h1>kilnctl</h1><p>Runs a kiln.</p><h2>Options</h2><dl>"
    "<dt>-R regexp</dt><dt>--room-regexp=regexp</dt><dd><p>Use another pattern of rooms for the shelves.</p></dd>"
    "<dt>--dry</dt><dd><p>Keep the glaze out of the oven (default: False)</p></dd>"
    "<dt>--lid=NAME</dt><dd><p>Choose the lid of the oven (default: dome)</p></dd></dl>",
    "pragmas.html": "<h1>Lids</h1><table><tr><th>Pragma</th><th>Recommended setting</th><th>Explanation</th></tr>"
    "<tr><td>lid_checks</td><td>0</td><td>Check the lids of all vases at noon</td></tr>"
    "<tr><td>lid_order</td><td>on</td><td>Order the lids of all vases by weight</td></tr></table>",
    "yaml.html": "<h1>Oven Settings</h1><h2>Global and local</h2><ul>"
    "<li>lid: the lid of the oven that is shut at night in the village. Default value: dome</li>"
    "<li>namespace: path within the cellar where all jars of the oven are kept. Default value: shelf9</li>"
    "<li>OVEN_NAME: name of the kitchen in which the oven stands at the moment.</li></ul>",
    "order.html": "<h1>Order</h1><table><tr><th>Rule</th><th>Description</th></tr>"
    "<tr><td>Optional</td><td>Omit all keys of the pantry at night</td></tr>"
    "<tr><td>Sorted</td><td>Sort all keys of the pantry at noon</td></tr></table>",
    "legal.html": f"<h1>Kiln Free License</h1>{LICENCE}<p>Publishers may print versions of it.</p>",
}


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("kinds"), site() | pages).proposer()


def kinds(proposer: Any) -> dict[str, str]:
    return {entity.name: entity.kind for entity in proposer.corpus.entities}


def test_a_thing_is_what_its_own_sentence_calls_it(proposer: Any) -> None:
    assert kinds(proposer)["check_glaze"] == "plugin"
    assert kinds(proposer)["weigh_clay"] == "command"


def test_a_name_in_capitals_on_a_page_of_settings_is_a_setting(proposer: Any) -> None:
    assert kinds(proposer)["LID_HEAT_MAX"] == "setting"


def test_two_spellings_of_an_option_are_one_option(proposer: Any) -> None:
    found = next(entity for entity in proposer.corpus.entities if entity.name == "--room-regexp")
    assert "-R" in found.aliases
    assert "-R" not in kinds(proposer)
    assert found.ordinal in {entity for entity, _ in proposer.items.all_said()}


def test_a_switch_that_is_off_has_no_default(proposer: Any) -> None:
    corpus = proposer.corpus
    told = {corpus.entities[e.subject].name: e.value for e in corpus.edges if e.relation == "default"}
    assert told["--lid"] == "dome"
    assert "--dry" not in told
    assert [takes_a_value(text) for text in ("-o FILE, --output FILE", "-d, --dry", "--lid=NAME")] == [
        True,
        False,
        True,
    ]
    assert is_tick("False")
    assert not is_tick("dome")


def test_bullets_name_what_they_speak_of_and_say_nothing_of_the_heading(proposer: Any) -> None:
    corpus = proposer.corpus
    row = corpus.columns.ids.index("yaml.html")
    told = {
        (corpus.entities[e.subject].name, e.value)
        for e in corpus.edges
        if e.document == row and e.relation == "default"
    }
    assert told == {("lid", "dome"), ("namespace", "shelf9")}
    assert {kinds(proposer)[name] for name in ("lid", "namespace", "OVEN_NAME")} == {"setting"}


def test_labels_in_the_first_column_name_nothing(proposer: Any) -> None:
    assert "Sorted" in kinds(proposer)
    assert "Optional" not in kinds(proposer)


def test_what_is_said_of_a_value_that_is_advised_is_not_said_of_the_thing(proposer: Any) -> None:
    told = {proposer.corpus.entities[entity].name for entity, _ in proposer.items.all_said()}
    assert "lid_checks" in kinds(proposer)
    assert not {"lid_checks", "lid_order"} & told


def test_a_heading_on_the_support_of_things_names_none() -> None:
    assert heading_name("Signal support", "") is None
    assert heading_name("Signal lid_opened", "") is not None


def test_licences_are_not_asked(proposer: Any) -> None:
    corpus = proposer.corpus
    row = corpus.columns.ids.index("legal.html")
    assert row not in corpus.english
    assert corpus.columns.ids.index("options.html") in corpus.english


def test_the_only_whole_that_has_parts_is_no_answer(tmp_path: Path) -> None:
    """ "Which module has a function that ...?" of a manual with one module."""
    entry = "<dl class='py function'><dt class='sig' id='{0}.{1}'>{0}.{1}(x)</dt><dd><p>{2}</p></dd></dl>"
    told = ("Return the weight of a vase in grains.", "Return the heat of the kiln at noon.")
    for count in (1, 3):
        files = {
            f"m{n}.html": f'<html><body><h1 id="module-clay{n}">clay{n} — Work with clay</h1><p>All of it.</p>'
            + "".join(
                entry.format(f"clay{n}", f"f{n}{k}", said.replace("the", f"the {n}th")) for k, said in enumerate(told)
            )
            + "</body></html>"
            for n in range(count)
        }
        items = build(tmp_path / str(count), files).proposer().items
        assert bool(items.by_family["train"].get("holder")) == (count == 3)


@pytest.mark.parametrize(
    ("anchor", "text", "expected"),
    [
        ("kiln kilnconfig", "lid.heat", ("lid.heat", "setting")),
        ("el defcustom", "defcustom kiln-lid-heat", ("kiln-lid-heat", "setting")),
        ("el define-lid", "define-lid shut", ("shut", "term")),
        ("el defun", "defun kiln-open", ("kiln-open", "function")),
        ("py class", "class kiln.core.Lid", ("kiln.core.Lid", "class")),
        ("std pragma", "pragma lid_heat", ("lid_heat", "pragma")),
    ],
)
def test_types_of_objects_are_said_as_people_say_them(anchor: str, text: str, expected: tuple[str, str]) -> None:
    named = entry_name(Anchor(name="kiln.core.kiln.core.Lid", start=0, end=len(text), kind=anchor), text, "")
    assert named is not None
    assert (named.name, named.kind) == expected


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("see HOOKS, below", False),
        ("$NAME variable if set, otherwise read from a file", False),
        ("not set", False),
        ("empty list", True),
        ("$XDG_HOME/kiln", True),
    ],
)
def test_a_default_that_is_told_in_words_is_none(proposer: Any, value: str, asked: bool) -> None:
    edge = next(edge for edge in proposer.corpus.edges if edge.relation == "default")
    assert is_value(edge.model_copy(update={"value": value})) is asked


def test_a_default_of_some_cases_is_none() -> None:
    assert default_in("The lid defaults to open on a kiln of clay, and to shut otherwise.", ("lid",)) is None
    assert default_in("The lid defaults to 25 on Mondays and 30 on Sundays.", ("lid",)) is None
    assert default_in("If GID is omitted, it defaults to UID.", ("--owner",)) is None
    assert default_in("If it is not set, it defaults to 7.", ("--owner",)) == "7"
    assert default_in("The lid defaults to 25 on a kiln of clay.", ("lid",)) == "25"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("KILN_DRY=1", "KILN_DRY"),
        ("Murder of CLAY pots", None),
        ("KILN_${LID}_HEAT", None),
        ("KILN_LID_HEAT", "KILN_LID_HEAT"),
    ],
)
def test_variables_go_by_their_names_alone(text: str, name: str | None) -> None:
    named = term_name(text, "variable")
    assert (None if named is None else named.name) == name


def test_what_a_deprecated_thing_was_replaced_by_is_said_forwards() -> None:
    question = document_words().relations["replacement"].question
    assert all(words.startswith("was ") for words in question.subject_does)
    assert question.object_is == ("the replacement for {x}",)


def test_a_page_has_no_source_code_to_ask_for(proposer: Any) -> None:
    assert proposer._words.asks("source_code", "x") == ()
    assert proposer._words.asks("exit_code", "x") != ()


def test_what_is_said_of_the_second_of_two_declarations_is_not_said_of_the_first(tmp_path: Path) -> None:
    entry = (
        "<dl class='py class'><dt class='sig' id='k.Lid'>class k.Lid</dt>"
        "<dt class='sig' id='k.Lid.shut'>Lid.shut(x)</dt><dd><p>Shut the lid of the kiln at night.</p></dd></dl>"
    )
    corpus = build(tmp_path, site() | {"k.html": f"<html><body><h1>Lids</h1>{entry}</body></html>"}).proposer().corpus
    told = {corpus.entities[e.subject].name for e in corpus.edges if e.value == "Shut the lid of the kiln at night."}
    assert told == {"k.Lid.shut"}


def test_columns_headed_by_a_verb_and_its_preposition_are_asked(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>lid_{n}</td><td>shelf{n}</td></tr>" for n in range(6))
    head = "<tr><th>Field</th><th>Corresponds to</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    page = f"<html><body><h1>Lids</h1><p>A field corresponds to a shelf.</p>{table}</body></html>"
    shapes = build(tmp_path, site() | {"lids.html": page}).proposer().shapes
    made = [one.draft.question for n in range(300) if hasattr(one := shapes.propose(n, 5), "draft")]
    assert any("correspond to?" in question for question in made)


def test_use_uses_and_used_are_one_word() -> None:
    assert stems("uses a pattern") == stems("use a pattern") == stems("using a pattern")


@pytest.mark.parametrize(
    "words",
    [
        "that needs the setup of a lid if set to ON. Not supported by the kiln",
        "that logs the heat of the lid, one of: low, high, none",
        "that breaks the clay into words, ignore dots",
        "that is faster that the old wheel of a kiln",
        "that works on the clay repository repo",
        "that frees the property prop in the kiln of a potter",
        "that opens the lid of the kiln and re-fetch",
        "that shuts if: at least one of its lids would be open",
        "that shortens each of the lids to num grains",
        "that specifies a list to specify the lids of a kiln",
        "that rings before the kiln exits useful for potters",
    ],
)
def test_what_is_spliced_or_cut_off_is_not_asked(words: str) -> None:
    assert is_fragment(words) is not None


def test_what_is_useful_is_no_splice() -> None:
    assert doubt("that is useful for potters of a museum, seems useful for all") is None
    assert doubt("that drops the lid, skip list and wheel of a kiln") is None


def test_a_word_that_is_joined_to_a_name_is_a_noun() -> None:
    assert opens_with_a_noun("Cluster and HTTP code of the kiln", "library")
    assert opens_with_a_noun("Models with hooks for the lids are kept in the kiln", "signal")
    assert not opens_with_a_noun("Models the lids that are kept in the kiln", "signal")
    assert not opens_with_a_noun("Collect and Print the lids of the kiln", "library")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Take the lid of the kiln, and slowly assign it a number",
            "that takes the lid of the kiln, and slowly assigns it a number",
        ),
        ("Takes the lid of a kiln, which must be hot, and slowly assign it a number", None),
        ("Accepts any number of arguments", "that accepts any number of arguments"),
    ],
)
def test_verbs_behind_an_adverb_agree(sentence: str, expected: str | None) -> None:
    assert clause(sentence, "thing", "function") == expected


def test_how_many_arguments_a_call_takes_tells_it_from_no_other(proposer: Any) -> None:
    function = next(entity.ordinal for entity in proposer.corpus.entities if entity.kind == "function")
    words = proposer._words
    assert words.said_of(function, "Accepts any number of arguments.") is None
    assert words.said_of(function, "Accepts any number of vases and lids.") is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "User guides for various kilns and the vases of a museum.",
        "Removed extraneous use directives from the modules of a kiln.",
        "The Clay objects representing tracks keep the address of the kiln.",
        "Purge duplicates base of all entries older than three days.",
        "Class 2 contains the lids, vases and a few pieces of clay.",
    ],
)
def test_lines_without_a_verb_are_no_statements(sentence: str) -> None:
    assert statement(sentence) is None


def test_a_remark_that_is_left_out_leaves_no_gap() -> None:
    said = statement("ClayPack freezes (packs) the vases of a kiln into a box of a museum.")
    assert said is not None
    asked = statement_question(said)
    assert asked is not None
    assert asked[0] == "What freezes the vases of a kiln into a box of a museum?"


def test_words_between_a_verb_and_what_it_does_are_no_kind_of_thing() -> None:
    said = statement("ClayParts are output as uncompressed clay of the kiln in a museum.")
    assert said is not None
    asked = statement_question(said)
    assert asked is not None
    assert asked[0] == "What is output as uncompressed clay of the kiln in a museum?"


def test_what_several_things_do_is_no_meaning_of_a_term() -> None:
    assert _ACTS.match("the quota clay commands operate on the lids of a kiln")
    assert _ACTS.match("the old GCs use the lids of a kiln")
    assert not _ACTS.match("the collection of clay vases that operate on the lids of a kiln")


def test_a_string_is_no_kind_of_thing(proposer: Any) -> None:
    words, corpus = proposer._words, proposer.corpus
    thing = next(entity for entity in corpus.entities if entity.name == "LID_HEAT_MAX")
    assert words.noun(thing.ordinal) == "setting"
    corpus.entities[thing.ordinal] = thing.model_copy(update={"kind": "string"})
    assert words.noun(thing.ordinal) is None
    corpus.entities[thing.ordinal] = thing


def test_of_two_names_in_front_of_a_kind_the_nearer_one_is_meant() -> None:
    said = statement("The PotSQL COPY command allows the vases of a kiln to be loaded into a museum.")
    assert said is not None
    assert (said.name, said.kind) == ("COPY", "command")


@pytest.mark.parametrize(
    "sentence",
    [
        "The pg-path option is compared with the heat of the kiln on every morning so it should always be right.",
        "ClayNotes print the heat of the kiln at noon and always appear in the museum of a town.",
        "ClayAuth requires a token of the kiln to work with and the ClayFetcher handles tokens of a potter.",
        "The -pw option takes a file name as an argument.",
        "The ClayNotes syntax is clay modes lid, where modes represents a change to the lid of a vase.",
        "QUIT is a special character that usually forcefully ends the work of a potter at the kiln.",
        "ClayPlugins are small programs on the shelf of the kiln in a museum.",
        "ClayOut is ended by a zero and outlen holds the length of the vase of a potter.",
        "GS2 is a protocol bridge between the kiln and the oven, and allows all lids to be used.",
        "Clay messages are output to the oven, the list of lids/pots is output to the kiln.",
        "ClayQueries are then just real vases of the kiln in the middle of a museum.",
        "ClayShells have their own way of a report on the crash of a kiln.",
        "Clay improvements are about the improvements of the kiln in a museum.",
        "The âclayâ method retrieves all groups of lids in the kiln of a museum.",
        "ClayTest shows that some lids of the kiln are of no use for a potter.",
        "DOME is a minor option which controls how the lids of a kiln are shut.",
        "ClayPaths name a shelf of the museum so the oven knows where a potter can find it.",
    ],
)
def test_what_goes_on_with_something_else_is_no_question(sentence: str) -> None:
    said = statement(sentence)
    assert said is not None
    assert statement_question(said) is None
