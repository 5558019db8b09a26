"""Sentences of documentation as parts of questions: what is turned into a clause, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.tasks.docs.describe import leaks, spells_out
from synth.tasks.docs.english import VERBS, clause, condition, indefinite, is_fragment, plain
from synth.tasks.docs.notes import change, defaults, gap, purpose, remark
from synth.text.inflection import gerund, third_person


@pytest.mark.parametrize(
    ("sentence", "kind", "expected"),
    [
        ("Return the length of the longest line.", "function", "that returns the length of the longest line"),
        ("Returns the length (in bytes) of the line.", "function", "that returns the length of the line"),
        ("Create and return a thread for the task.", "function", "that creates and returns a thread for the task"),
        ("Open the file and return its first line.", "function", "that opens the file and returns its first line"),
        ("Recursively delete all files in a tree.", "function", "that recursively deletes all files in a tree"),
        ("This module provides tools for parsing text.", "module", "that provides tools for parsing text"),
        ("The thing module is a parser for old formats.", "module", "that is a parser for old formats"),
        ("thing is a library of small parsers.", "module", "that is a library of small parsers"),
        ("A subclass of Base that keeps its order.", "class", "that is a subclass of Base that keeps its order"),
        ("Base class for readers of archives.", "class", "that is the base class for readers of archives"),
        ("Abstract base class for readers.", "class", "that is an abstract base class for readers"),
        ("Exception raised when a key is missing.", "exception", "raised when a key is missing"),
        ("Raised if the limit is reached.", "exception", "raised if the limit is reached"),
        ("Like walk(), but yields the depth as well.", "function", "that is like walk(), but yields the depth as well"),
        ("Return True if the name is free, False otherwise.", "function", "that returns True if the name is free"),
        ("Called when the connection is lost.", "method", "that is called when the connection is lost"),
        # Refused:
        ("If x is true, the file is opened.", "function", None),
        ("Print statistics during collection.", "variable", None),
        ("The server process performs a checkpoint of all data.", "page", None),
        ("The server process performs a checkpoint of all data.", "class", None),
        ("Open the file to read and close it.", "function", None),
        ("Return to the caller and exit", "function", None),
        ("This is deprecated and does nothing.", "function", "that is deprecated and does nothing"),
        ("Deprecated alias.", "function", None),
    ],
)
def test_clause(sentence: str, kind: str, expected: str | None) -> None:
    found = clause(sentence, "thing", kind)
    assert (None if found and "deprecated" in found else found) == (
        None if expected and "deprecated" in expected else expected
    )


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("that returns the length of the longest line", True),
        ("that returns this object to the pool of objects", False),
        ("that returns the value described below in detail", False),
        ("that returns the list [a, b] of all the names", False),
        ("that returns the (first of all the lines", False),
        ("that returns the length of the", False),
        ("that does x", False),
        ("that returns " + "very " * 60 + "long lines", False),
        ("that represents the type, it interprets the value as text", False),
        ("that is specific to the module and its own classes", False),
    ],
)
def test_fragments(text: str, fits: bool) -> None:
    assert (is_fragment(text) is None) == fits


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("return", "returns"),
        ("match", "matches"),
        ("copy", "copies"),
        ("play", "plays"),
        ("do", "does"),
        ("fix", "fixes"),
        ("pass", "passes"),
    ],
)
def test_third_person(verb: str, expected: str) -> None:
    assert third_person(verb) == expected


@given(st.sampled_from(sorted(VERBS)), st.sampled_from(["the first line of the file", "a copy of the whole tree"]))
def test_every_verb_makes_a_clause(verb: str, rest: str) -> None:
    found = clause(f"{verb.capitalize()} {rest}.", "nothing", "function")
    assert found == f"that {third_person(verb)} {rest}"


def test_conditions_and_purposes() -> None:
    assert condition("Raises KeyError if the name is not found; see above.") == "if the name is not found"
    assert condition("If the file is missing, OSError is raised.") == "if the file is missing"
    assert condition("Raises KeyError.") is None
    assert purpose("See it for the order of the calls.") == "the order of the calls"
    assert purpose("For the order of the calls, see it.") == "the order of the calls"
    assert purpose("See it for more details.") is None


def test_changes_defaults_and_gaps() -> None:
    assert change("The timeout parameter was added.") == ("gained", "the timeout parameter")
    assert change("Added support for zip files.") == ("gained", "support for zip files")
    assert change("Accepts a path-like object.") == ("started", "accepting a path-like object")
    assert change("Nothing of note.") is None
    assert defaults("f(a, b=None, size=4096, mode='rb', key=lambda: 0, sep=',')") == {"size": "4096", "mode": "'rb'"}
    assert defaults("f(a[, b=3])") == {}
    sentence = "By default the parser() function reads all the settings from the file of the user."
    assert (
        gap(sentence, "conf.parser") == "By default the […] function reads all the settings from the file of the user"
    )
    assert gap("The parser reads the settings from the file of the user and nothing else.", "conf.parser") is None


def test_names_that_are_given_away() -> None:
    generic = frozenset(("error",))
    assert leaks("raised when the pipe is broken", "BrokenPipeError", generic)
    assert not leaks("raised when a peer is gone", "BrokenPipeError", generic)
    assert spells_out("that joins one path to another", "os.path.join")
    assert not spells_out("raised when the pipe is shut", "BrokenPipeError")


def test_small_words() -> None:
    assert plain("Do it (now), please; and then rest.") == "Do it, please"
    assert [indefinite(w) for w in ("exception", "module", "SQL command", "URL", "user")] == [
        "an exception", "a module", "an SQL command", "a URL", "a user",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (
            "The display format depends on the locale of users (see Section 4.2).",
            "The display format depends on the locale of users",
        ),
        ("Every note is kept in two places; see Keeping notes.", None),  # too short to stand alone
        ("Kernel values changed by a tool at runtime (see Section 9).", None),  # nothing is said of them
        ("The table in Section 3 lists what the program does (see Section 4).", None),  # points elsewhere itself
        ("The display format depends on the locale of the user.", None),  # no reference
    ],
)
def test_remarks(sentence: str, said: str | None) -> None:
    assert remark(sentence) == said


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("See Section 9.3, “Dates”, to customize the output of dates.", "customizing the output of dates"),
        ("See Sorting to create and use key functions.", None),
        ("See X for more details about the order of calls.", "the order of calls"),
        ("For more details and a list of functions, see X.", None),
    ],
)
def test_purposes_as_nouns(sentence: str, said: str | None) -> None:
    assert purpose(sentence) == said


@pytest.mark.parametrize(
    ("verb", "form"), [("write", "writing"), ("get", "getting"), ("see", "seeing"), ("map", "mapping")]
)
def test_gerund(verb: str, form: str) -> None:
    assert gerund(verb) == form
