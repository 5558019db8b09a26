"""Sentences of documentation as parts of questions: what is turned into a clause, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.tasks.docs.english import clause, indefinite, is_fragment, plain
from synth.tasks.docs.labels import verb_of
from synth.tasks.docs.leaks import leaks, spells_out
from synth.tasks.docs.spoken import statement_question
from synth.text.inflection import third_person
from synth.text.subjects import statement
from synth.text.verbs import VERBS


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
        ("Like walk(), but yields the depth as well.", "function", None),
        ("A connection attempt to a host timed out.", "rule", None),
        ("Return True if the name is free, False otherwise.", "function", "that returns True if the name is free"),
        ("Mangle the names of all files.", "option", "that mangles the names of all files"),
        ("Called when the connection is lost.", "method", "that is called when the connection is lost"),
        ("Log all folds to a file. Since Fold 1.6", "option", "that logs all folds to a file"),
        ("The number of sheets to keep, default is 25.", "option", "that is the number of sheets to keep"),
        # Refused:
        ("Output file encoding name of the sheet.", "option", None),
        ("Use like fold(), for sheets of the pool.", "function", None),
        ("See its own page for all of the folds.", "option", None),
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
        ("that holds the folder of the sheet. paper.Folder is used", False),
        ("that governs the folds of the sheet as follows", False),
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


def test_names_that_are_given_away() -> None:
    assert leaks("raised when the pipe error broken by a peer is seen", "BrokenPipeError")
    assert not leaks("raised when a peer is gone", "BrokenPipeError")
    assert leaks("that disables the renormalize option", "no-renormalize")
    assert spells_out("that joins one path to another", "os.path.join")
    assert not spells_out("raised when the pipe is shut", "BrokenPipeError")


def test_small_words() -> None:
    assert plain("Do it (now), please; and then rest.") == "Do it, please"
    assert [indefinite(w) for w in ("exception", "module", "SQL command", "URL", "user")] == [
        "an exception", "a module", "an SQL command", "a URL", "a user",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "name", "question"),
    [
        ("The TraceLog directive controls where the folded paper is put.", "TraceLog",
         "Which directive controls where the folded paper is put?"),
        ("Folder is a simple tool that counts the creases of a sheet.", "Folder",
         "Which simple tool counts the creases of a sheet?"),
        ("A crease is the line along which a sheet of paper was folded.", "crease",
         "What do you call the line along which a sheet of paper was folded?"),
        ("PAPER is a format for the exchange of folded sheets.", "PAPER",
         "What is the name of the format for the exchange of folded sheets?"),
        ("Night Folds is a film directed by Ann Fold in 1994.", "Night Folds",
         "Which film is directed by Ann Fold in 1994?"),
        ("Double folds are allowed to ignore the rules of single sheets.", "double folds",
         "Which folds are allowed to ignore the rules of single sheets?"),
        ("Creases define the shape of the sheet in an abstract way.", "creases",
         "What defines the shape of the sheet in an abstract way?"),
        ("Ann Fold was born in the village of Paper in 1937.", "Ann Fold",
         "Who was born in the village of Paper in 1937?"),
        ("In Fold, sheets without an owner are called orphans.", "orphans",
         "What are sheets without an owner in Fold called?"),
        ("The term crease refers to a consecutive sequence of folds.", "crease",
         "Which term refers to a consecutive sequence of folds?"),
        ("Use the --fold option to crease a whole sheet of paper at once.", "--fold",
         "Which option is used to crease a whole sheet of paper at once?"),
        ("To crease a whole sheet of paper at once, use the fold_all function.", "fold_all",
         "Which function is used to crease a whole sheet of paper at once?"),
        ("The global flag fold_all causes the printer to crease every sheet.", "fold_all",
         "Which global flag causes the printer to crease every sheet?"),
        ("Origami is the Japanese art of folding whole sheets of paper, and it has many schools in Asia.", "Origami",
         "What is the name of the Japanese art of folding whole sheets of paper?"),
        ("Sinks are names of creases, edges, corners or flaps of paper.", "sinks",
         "What do you call names of creases, edges, corners or flaps of paper?"),
        # Refused: what its page alone says which one it is, may be, or has; a word that names nothing.
        ("The fold edge separates the upper half of the sheet from the lower half.", "fold edge", None),
        ("A FoldSheet may contain members that are sheets and members that are lists.", "FoldSheet", None),
        ("Results show the sheets of paper that were folded by the printer.", "results", None),
        ("The returned sheet contains all folds that the printer has made.", None, None),
        ("Direct mode queues allow folds to use the printer at any time.", None, None),
        ("Fred was doing all the folds of the paper on his own.", "Fred", None),
        ("FoldServer keeps all sheets of the year in a big steel cabinet, and folders talk to the server over a wire.",
         "FoldServer",
         "What keeps all sheets of the year in a big steel cabinet?"),
        ("FoldServer sorts the sheets (of any size) by the number of creases.", "FoldServer",
         "What sorts the sheets by the number of creases?"),
        ("Ann Fold keeps all sheets of the last printer in her own drawer.", "Ann Fold",
         "Who keeps all sheets of the last printer in her own drawer?"),
        # Refused: a verb that is none, a sentence about several things, another kind, an adverb, a comma between two.
        ("Fold triggers include things such as paper that leaves the printer.", None, None),
        ("Creases are pure in-memory sheets, specific to the old printer.", "creases", None),
        ("FoldServer is failing to start with an error about duplicate sheets.", "FoldServer", None),
        ("The -s option simply makes for much quieter folds of the paper.", None, None),
        ("FoldServer does not require sheets to be folded by the printer.", "FoldServer", None),
        ("FoldServer makes wide folds, narrow folds are changed into wide ones.", "FoldServer", None),
        # Refused: an aside, another subject, what the sentence before has said, a noun that is no verb, hardly a word.
        ("The FoldLog setting is of course the same as FoldFile in all modes.", "FoldLog", None),
        ("Blue starts with ten sheets of paper, and the yellow team starts with fifty.", "Blue", None),
        ("The server folds all of the paper that arrives before the evening.", None, None),
        ("Symbolic links to relevant sheets are installed in the folder.", None, None),
        ("Folded paper can be very useful.", "folded paper", None),
        ("Ann Fold is the maintainer of it and of all other papers.", "Ann Fold", None),
        # Refused: a second statement, and a negation that would be lost.
        ("Paper rules are fixed for the whole sheet and aren't set for one fold or edge.", "paper rules", None),
        ("A Crease is an exact line on the sheet of paper, not a curve of the printer.", "Crease", None),
        ("Wet folds are applied only to sheets that satisfy the conditions of the printer.", "wet folds",
         "Which folds are applied only to sheets that satisfy the conditions of the printer?"),
        ("FoldFile never overrides the explicit choice of the printer.", None, None),
        ("Multiple creases keep the sheet of paper flat under the printer.", "multiple creases", None),
        ("FoldSheet is a subset and is standardized as the sheet of the printer.", "FoldSheet", None),
        # Refused: two sentences side by side, an order, a clause without its relative, a heading as a kind, either one.
        ("FoldServer handles all sheets of a printer, a Folder handles all sheets of a drawer.", "FoldServer", None),
        ("FoldServer keeps wide sheets of paper, narrow sheets get less room in the drawer.", "FoldServer", None),
        ("Fix drawer issues generating sheets in the old printer of the server.", None, None),
        ("The exact behavior Fold follows when the drawer is full is set by the printer.", None, None),
        ("On error FOLD_ERR is returned and the sheet is set to invalid by the printer.", None, None),
        ("FoldServer is either started by the printer at noon or by the folder of the sheet.", "FoldServer", None),
        ("Printing is the key aspect of the management of folded sheets.", "Printing", None),
        ("Paper filters and folders may be plugged in by extending the two interfaces.", None, None),
        ("The fold_all module is a simple module for folding of all sheets in a drawer.", "fold_all", None),
        # Refused: what "that" points to, what is set, another subject; a term is not "the name of the term".
        ("FoldServer prints the cover of the drawer for that wide sheet.", "FoldServer", None),
        ("Set the --fold option to true to print every sheet of paper.", None, None),
        ("Wet points are the official term for a sheet that is in a drawer.", "wet points", None),
        ("Whitespace is dropped by the old printer and wide sheets are cut.", "Whitespace", None),
        ("Wetting is the means through which sheets keep a round shape.", "Wetting", None),
        ("Creasing is the term used for the process of folding a whole sheet.", "Creasing",
         "What is the term used for the process of folding a whole sheet?"),
        ("Folders are people who folded a whole sheet of paper in a year.", "folders",
         "What do you call people who folded a whole sheet of paper in a year?"),
        ("A fold was encountered by the printer while it went through the sheets.", "fold", None),
        # What one can do by an option; a release; no list without its last item.
        ("You can crease whole sheets of paper by setting the fold-all option, which must be true.", "fold-all",
         "Which option is used to crease whole sheets of paper?"),
        ("FoldKit v1.8.0 brings improvements to wide sheets and important repairs of old printers.", "FoldKit v1.8.0",
         "Which release brings improvements to wide sheets and important repairs of old printers?"),
        ("FoldServer brings folders of wide sheets, a printer of old paper, and a drawer of creased sheets.",
         "FoldServer", None),
        # Refused: half of a comparison, a noun taken for a verb, another subject, a stock name, a name of a name.
        ("Inclusive comparisons allow for the wide parts of sheets whereas exclusive ones do not.",
         "inclusive comparisons", None),
        ("Debugging issues with folded sheets can be extremely difficult for users.", None, None),
        ("Folding is case-insensitive and old-style sheets are supported as well as wide ones.", "Folding", None),
        ("Carol selects the fourth sheet of paper and sends it to the printer.", None, None),
        ("The name of the generated function is called foldlex.", "foldlex", None),
    ],
)  # fmt: skip
def test_what_a_sentence_speaks_of_is_asked_for(sentence: str, name: str | None, question: str | None) -> None:
    said = statement(sentence)
    assert (said and said.name) == name
    asked = None if said is None else statement_question(said)
    assert (asked and asked[0]) == question
    assert asked is None or asked[1] in asked[0]


@pytest.mark.parametrize(
    ("heading", "verb"),
    [("replaces", "replace"), ("expands to", "expand to"), ("matches", None), ("default", None), ("sets of", None)],
)
def test_a_heading_that_says_what_its_rows_do_is_a_verb(heading: str, verb: str | None) -> None:
    assert verb_of(heading) == verb
