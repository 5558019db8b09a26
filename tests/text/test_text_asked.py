"""Sentences that say what one uses for something, where it is kept or what a command does, asked for that word."""

from __future__ import annotations

import pytest

from synth.text.asked import asked_of, asked_sentences, command_asked, commented, written_subject
from synth.text.headings import how_to
from synth.text.shell_lines import code_commands

WEIGHT = "Which option do you use to list all pots by weight?"
COMMANDS = code_commands("Fire it:\n\n    kiln fire --slow\n    $ kiln list\n    x = 3\n")


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "local"),
    [
        ("Hashes of keys are stored in /etc/keys.", "Where are hashes of keys stored?", "/etc/keys", False),
        ("To list all pots by weight, use the --heavy option.", WEIGHT, "--heavy", False),
        ("You can also use --heavy to list all pots by weight.", WEIGHT, "--heavy", False),
        ("Use PotList to sort the pots by weight.", "What do you use to sort the pots by weight?", "PotList", True),
        ("If you are new to clay, use soap.", "What should you use if you are new to clay?", "soap", True),
        ("KilnDB 2.1 was released in March 2019.", "When was KilnDB 2.1 released?", "March 2019", False),
        ("The server listens on port_7 by default.", "What does the server listen on by default?", "port_7", True),
        ("Static pots are checked against ISO 9001.", "What are static pots checked against?", "ISO 9001", False),
    ],
)  # fmt: skip
def test_a_sentence_is_asked_for_its_word(sentence: str, question: str, answer: str, local: bool) -> None:
    found = list(asked_sentences(sentence))
    assert [(one.question, one.answer, one.local) for one in found] == [(question, answer, local)]
    assert asked_of(sentence, answer) == found[0]
    assert asked_of(sentence, "something else") is None


@pytest.mark.parametrize(
    "sentence",
    [
        "It is stored in /etc/kiln/shadow for the whole of the night.",
        "To list them by weight, use the --heavy option.",
        "The same hashes are stored in /etc/kiln/shadow.",
        "The password hashes are stored in a safe place of the house.",
        "If you are new to pottery, use this.",
        "The resulting pots are written to /var/kiln/pots.",
        "Further information is kept in /var/kiln/pots.",
        "In the evening the hashes are stored in /etc/kiln/shadow.",
    ],
)
def test_what_leans_on_other_sentences_or_names_nothing_is_not_asked(sentence: str) -> None:
    assert list(asked_sentences(sentence)) == []


@pytest.mark.parametrize(
    ("sentence", "line", "command"),
    [
        ("To fire the pots over night, run:", "kiln fire --slow", "kiln fire --slow"),
        ("To fire the pots over night, run the following command:", "$ kiln fire --slow", "kiln fire --slow"),
        ("To fire the pots over night execute the command", "kiln fire --slow", "kiln fire --slow"),
        ("To fire them over night, run:", "kiln fire --slow", None),
        ("To fire the pots over night, run:", "kiln fire <name> | sort", None),
        ("The pots of last night:", "kiln fire --slow", None),
    ],
)
def test_the_command_below_a_sentence(sentence: str, line: str, command: str | None) -> None:
    found = command_asked(sentence, line)
    assert (found and found.answer) == command
    if found is not None:
        assert found.question == "Which command do you run to fire the pots over night?"
        assert asked_of(f"{sentence}\n\n    {line}", found.answer) == found


def test_a_comment_says_what_its_command_does() -> None:
    assert commented("kiln fire --slow    # fires the pots over night", COMMANDS) == (
        "kiln fire --slow",
        "fires the pots over night",
    )
    for line in ("kiln fire # too near", "x = fire(3)    # counts the pots twice", "set -e    # exits on any error"):
        assert commented(line, {*COMMANDS, "x"} - {"set"}) is None


def test_commands_of_two_words_are_known_from_code() -> None:
    assert {"kiln", "kiln fire", "kiln list"} == COMMANDS
    prose = "\n    percentage of chances a try fails.\n    format and returns the time\n    log stderr format raw\n"
    assert code_commands(prose) == set()
    found = written_subject("kiln fire heats the pots until the clay is hard; kiln list counts them.", COMMANDS)
    assert found is not None
    assert (found.question, found.answer) == ("Which command heats the pots until the clay is hard?", "kiln fire")
    assert written_subject("kiln glaze heats the pots until the clay is hard.", COMMANDS) is None
    option = written_subject("--slow (short: -s) limits how fast the kiln is heated.", ())
    assert option is not None
    assert option.question == "Which option limits how fast the kiln is heated?"


@pytest.mark.parametrize(
    ("heading", "done"),
    [
        ("Resuming a build", "resume a build"),
        ("3.2. How do I put a package on hold?", "put a package on hold"),
        ("How to glaze pots", "glaze pots"),
        ("Install the kiln", "install the kiln"),
        ("Exit codes", None),
        ("Rendering options", None),
        ("How do I create my own pots?", None),
        ("Kilns", None),
    ],
)
def test_what_a_heading_shows_how_to_do(heading: str, done: str | None) -> None:
    assert how_to(heading) == done
