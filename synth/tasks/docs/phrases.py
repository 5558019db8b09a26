"""How a question says a relation. ``«...»`` marks the words that state the hop (its cue).

Slots: ``{s}`` what is known, as a noun phrase with its article (``{S}`` at the start of a sentence); ``{k}`` the kind
of what is sought; ``{x}`` what the sentence of the documentation adds (a condition, a purpose, a parameter), ``{X}``
the same with a capital.

``noun``   names what is sought by what is known, branching to the right so that it can be nested once: "the class whose
           instances are returned by the function that ...".
``ask``    the question itself.
``tell``   the hop as a sentence of its own, after which what was found is "that {k}".
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLOSINGS", "PHRASES", "Phrases"]


@dataclass(frozen=True)
class Phrases:
    noun: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    tell: tuple[str, ...] = ()


PHRASES: dict[str, Phrases] = {
    "mentions": Phrases(
        noun=("the {k} «mentioned in the description of» {s}", "the {k} «that comes up in the description of» {s}"),
        ask=(
            "«Which {k} is mentioned in the description of» {s}?",
            "«Which {k} comes up in the description of» {s}?",
            "«What {k} does the documentation bring up when it describes» {s}?",
        ),
        tell=(
            "The description of {s} «mentions one {k}».",
            "The description of {s} «brings up a single {k}».",
            "Reading about {s}, one meets «a single {k} in its description».",
        ),
    ),
    "introduction_mentions": Phrases(
        noun=("the {k} «mentioned in the introduction to» {s}",),
        ask=("«Which {k} is mentioned in the introduction to» {s}?", "«What {k} comes up in the introduction to» {s}?"),
        tell=(
            "The introduction to {s} «mentions one {k}».",
            "The introduction to {s} «brings up a single {k}».",
        ),
    ),
    "sole_mention": Phrases(
        noun=(
            "the only {k} «mentioned in the documentation of» {s}",
            "the one {k} «that comes up in the documentation of» {s}",
        ),
        ask=(
            "«Which {k} is mentioned in the documentation of» {s}?",
            "«What is the only {k} that comes up in the documentation of» {s}?",
            "«Which {k} does one come across in the documentation of» {s}?",
        ),
        tell=(
            "The documentation of {s} «mentions just one {k}».",
            "The documentation of {s} «brings up exactly one {k}».",
            "The documentation of {s} «names a single {k}».",
        ),
    ),
    "raises": Phrases(
        noun=("the exception «raised, {x}, by» {s}", "the exception «that, {x}, comes from» {s}"),
        ask=(
            "«{X}, which exception is raised by» {s}?",
            "«{X}, which exception can be expected from» {s}?",
            "«{X}, what kind of exception do I get from» {s}?",
        ),
        tell=("«{X}, an exception is raised by» {s}.", "«{X}, you get an exception from» {s}."),
    ),
    "returns": Phrases(
        noun=("the class «whose instances are returned by» {s}", "the type of object «that you get back from» {s}"),
        ask=(
            "«Instances of which class are returned by» {s}?",
            "«What type of object do you get back from» {s}?",
            "«Which class does the result belong to when one calls» {s}?",
        ),
        tell=(
            "{S} «returns instances of a documented class».",
            "{S} «gives back an instance of another class».",
        ),
    ),
    "subclass_of": Phrases(
        noun=("«the parent class of» {s}", "the class «that is subclassed by» {s}"),
        ask=(
            "«What is the parent class of» {s}?",
            "«Which class is extended by» {s}?",
            "«Which class does the documentation give as the parent of» {s}?",
        ),
        tell=(
            "{S} «extends another class».",
            "{S} «has a documented parent class».",
        ),
    ),
    "replacement": Phrases(
        noun=("the {k} «recommended in place of» {s}", "the {k} «that should be used instead of» {s}"),
        ask=(
            "«Which {k} is recommended in place of» {s}?",
            "«Which {k} should be used instead of» {s}?",
            "«What {k} does the documentation advise people to use rather than» {s}?",
        ),
        tell=(
            "The documentation of {s} «recommends another {k} instead».",
            "The documentation of {s} «advises readers to use another {k}».",
        ),
    ),
    "see_also": Phrases(
        noun=(
            "the {k} «listed under “See also” for» {s}",
            "the {k} «recommended under “See also” to readers about» {s}",
        ),
        ask=(
            "«Which {k} is listed under “See also” for» {s}?",
            "«Which {k} does the “See also” list name for» {s}?",
            "«Which related {k} is suggested under “See also” in the documentation of» {s}?",
        ),
        tell=(
            "The documentation of {s} «lists a single {k} under “See also”».",
            "Under “See also”, the documentation of {s} «points to one {k}».",
        ),
    ),
    "seen_also_from": Phrases(
        noun=("the {k} «whose “See also” notes point to» {s}",),
        ask=(
            "«Which {k} has a “See also” note that points to» {s}?",
            "«The documentation of which {k} recommends, under “See also”,» {s}?",
        ),
        tell=("«Just one {k} has a “See also” note about» {s}.",),
    ),
    "refers_for": Phrases(
        noun=("the {k} «to consult for {x}, according to the documentation of» {s}",),
        ask=(
            "«Which {k} should one consult for {x}, according to the documentation of» {s}?",
            "«Which {k} covers {x}, according to the documentation of» {s}?",
            "«Where ({k}) can one read about {x}, going by the documentation of» {s}?",
        ),
        tell=(
            "The documentation of {s} «refers readers to another {k} for {x}».",
            "For details, the documentation of {s} «sends readers to a {k} about {x}».",
        ),
    ),
    "cross_reference": Phrases(
        noun=("the other {k} that {s} «refers its readers to»", "the other {k} «cross-referenced in» {s}"),
        ask=(
            "«Which other {k} is cross-referenced in» {s}?",
            "«Which {k} are readers sent on to from» {s}?",
            "«Which {k} is recommended for further reading in» {s}?",
        ),
        tell=(
            "{S} «sends its readers on to one other {k}».",
            "{S} «refers to one other {k}».",
            "{S} «has a cross-reference to one other {k}».",
        ),
    ),
    "cited_for": Phrases(
        noun=("the {k} «cited for the remark “{x}” in» {s}",),
        ask=(
            "«Which {k} is cited for the remark “{x}” in» {s}?",
            "«“{x}”: which {k} is given as a reference for this in» {s}?",
            "«Which {k} should one see about the statement “{x}”», made in {s}?",
        ),
        tell=(
            "In {s}, «a {k} is cited for the remark “{x}”».",
            "{S} «cites another {k} for the remark “{x}”».",
            "{S} says «“{x}” and points to another {k}».",
        ),
    ),
    "references": Phrases(
        noun=(
            "the {k} «referenced by the {x} column of» {s}",
            "the {k} «reached through the {x} column of» {s}",
        ),
        ask=(
            "«Which {k} is referenced by the {x} column of» {s}?",
            "«Which {k} does one reach through the {x} column of» {s}?",
            "«Which {k} would I join on the {x} column of» {s}?",
        ),
        tell=(
            "{S} «points to another {k} through its {x} column».",
            "{S} «has a column, {x}, that references another {k}».",
        ),
    ),
    "referenced_by": Phrases(
        noun=("the only {k} «with a column that references» {s}",),
        ask=(
            "«Which {k} has a column that references» {s}?",
            "«In which {k} is there a column with references to» {s}?",
            "«What is the only {k} with a column that points to» {s}?",
        ),
        tell=("{S} «is referenced by a column of just one {k}».", "{S} «is referenced by no {k} but one»."),
    ),
    "more_in": Phrases(
        noun=("the {k} «to see for more information about» {s}", "the {k} «where one can read more about» {s}"),
        ask=(
            "«Which {k} should one see for more information about» {s}?",
            "«Which {k} are readers sent to for more about» {s}?",
            "«In which {k} can I read more about» {s}?",
        ),
        tell=(
            "For more information about {s}, «readers are sent to a {k}».",
            "The entry for {s} «names a {k} with more information».",
        ),
    ),
    "documented_in": Phrases(
        noun=("the page «with the entry for» {s}",),
        ask=(
            "«Which page of the documentation describes» {s}?",
            "«On which page of the documentation is the entry for» {s}?",
            "«What is the title of the page that describes» {s}?",
        ),
    ),
    "has_list": Phrases(
        ask=(
            "«What is listed in the table of» {s}?",
            "«Of what things is there a list in» {s}?",
            "«Which list can one find in» {s}?",
        ),
    ),
    "also_listed": Phrases(
        ask=(
            "«Which list in another chapter also has» {s}?",
            "«Apart from the list that says so, which list includes» {s}?",
            "«In what second list, in a different chapter, does one find» {s}?",
        ),
        tell=(
            "{S} «also appears in a list in another chapter».",
            "{S} «is in a second list as well, in another chapter».",
        ),
    ),
    "chapter_of": Phrases(
        noun=("the chapter «that contains» {s}",),
        ask=(
            "«Which chapter contains» {s}?",
            "«In which chapter does one find» {s}?",
            "«Which chapter includes» {s}?",
        ),
    ),
    "quoted": Phrases(
        noun=("the {k} «left out of the sentence “{x}” in the documentation of» {s}",),
        ask=(
            "«Which {k} is missing from the sentence “{x}”» in the documentation of {s}?",
            "«Which {k} fills the gap in “{x}”», a sentence from the documentation of {s}?",
            "«“{x}”: which {k} belongs in the gap of this sentence from the documentation of» {s}?",
        ),
    ),
    "defined_in": Phrases(
        noun=("the module «that provides» {s}", "the module «that contains» {s}"),
        ask=("«Which module provides» {s}?", "«Which module contains» {s}?", "«In which module does one find» {s}?"),
        tell=(
            "{S} «comes with a certain module».",
            "{S} «is provided by one of the modules».",
        ),
    ),
    "listed_in": Phrases(
        noun=("the chapter «that contains» {s}",),
        ask=(
            "«Which chapter of the documentation contains» {s}?",
            "«In which chapter of the documentation does one find» {s}?",
            "«What is the title of the chapter with» {s}?",
        ),
    ),
    "added_in": Phrases(
        noun=("the version «that introduced» {s}", "the version «that first had» {s}"),
        ask=(
            "«In which version was» {s} added?",
            "«Which version introduced» {s}?",
            "«Since which version has» {s} been available?",
            "«What was the first version with» {s}?",
        ),
    ),
    "deprecated_since": Phrases(
        noun=("the version «that deprecated» {s}",),
        ask=(
            "«Since which version has» {s} been deprecated?",
            "«Which version deprecated» {s}?",
            "«As of which version is» {s} marked as deprecated?",
        ),
    ),
    "removed_in": Phrases(
        noun=("the version «that will no longer have» {s}",),
        ask=(
            "«In which version is» {s} due to be removed?",
            "«Which version will no longer have» {s}?",
        ),
    ),
    "source_file": Phrases(
        noun=("«the path of the source code of» {s}",),
        ask=(
            "«Where is the source code of» {s} found?",
            "«In which file is the source code of» {s}?",
            "«Which source file implements» {s}?",
        ),
    ),
    "availability": Phrases(
        noun=("«the platforms that have» {s}",),
        ask=("«On which platforms is» {s} available?", "«Which platforms have» {s}?"),
    ),
    "audit_event": Phrases(
        noun=("the auditing event «raised by» {s}",),
        ask=("«Which auditing event is raised by» {s}?", "«What is the name of the auditing event raised by» {s}?"),
    ),
    "default_setting": Phrases(
        noun=("«the default value of» {s}",),
        ask=(
            "«Which value is the default for» {s}?",
            "«To what value is the default set for» {s}?",
            "«What value applies unless one changes» {s}?",
        ),
    ),
    "set_when": Phrases(
        ask=(
            "«{X} does one have to set» {s}?",
            "«{X} exactly is it possible to set» {s}?",
            "«{X} can one set» {s}?",
        ),
    ),
    "bare_unit": Phrases(
        noun=("«the unit that a bare number means in» {s}",),
        ask=(
            "«In which unit is a bare number taken for» {s}?",
            "«What unit is assumed when none is given for» {s}?",
            "«If I leave out the unit, which one is assumed for» {s}?",
        ),
    ),
    "column": Phrases(
        noun=("the {x} «given for» {s}",),
        ask=("«Which {x} is given for» {s}?", "«What {x} does the list state for» {s}?"),
    ),
    "gained": Phrases(
        noun=("the version «that brought {x} to» {s}",),
        ask=(
            "«In which version did {x} become part of» {s}?",
            "«Which version brought {x} to» {s}?",
            "«In which version was {x} added to» {s}?",
        ),
    ),
    "started": Phrases(
        noun=("the version «that started {x} in» {s}",),
        ask=("«Since which version has» {s} been {x}?",),
    ),
    "default": Phrases(
        noun=("«the default value of the {x} parameter of» {s}",),
        ask=(
            "«Which value is the default of the {x} parameter of» {s}?",
            "«Which default does the {x} parameter have in» {s}?",
            "«If nothing is passed, what is the value of the {x} parameter of» {s}?",
        ),
    ),
}

CLOSINGS = ("What is {n}?", "Name {n}.", "Find {n}.", "Give {n}.", "Please look up {n}.", "I need to know {n}.")
"""How a noun phrase becomes a question or a request."""
