"""How a question says a relation. ``«...»`` marks the words that state the hop (its cue).

Slots: ``{s}`` what is known, as a noun phrase with its article; ``{k}`` the kind of what is sought; ``{x}`` what the
sentence of the documentation adds (a condition, a purpose, a parameter), ``{X}`` the same with a capital.

``noun``   names what is sought by what is known, branching to the right so that it can be nested: "the class whose
           instances are returned by the function that ...".
``ask``    the question itself.
``tell``   the hop as a sentence of a story about "it": the next sentence calls what was found "that {k}".
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLOSINGS", "OPENINGS", "PHRASES", "Phrases"]


@dataclass(frozen=True)
class Phrases:
    noun: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    tell: tuple[str, ...] = ()


PHRASES: dict[str, Phrases] = {
    "mentions": Phrases(
        noun=(
            "the {k} «mentioned in the description of» {s}",
            "the only {k} «that is referred to in the description of» {s}",
            "the {k} «that comes up in the documentation of» {s}",
        ),
        ask=(
            "«Which {k} is mentioned in the description of» {s}?",
            "«Which {k} does the documentation refer to when it describes» {s}?",
        ),
        tell=(
            "Its description «mentions one other {k}».",
            "The documentation «refers to a single {k} when it describes it».",
        ),
    ),
    "introduction_mentions": Phrases(
        noun=(
            "the {k} «mentioned in the introduction to» {s}",
            "the only other {k} «that is brought up right at the start of the documentation of» {s}",
        ),
        ask=("«Which other {k} is mentioned in the introduction to» {s}?",),
        tell=("The introduction of its page «mentions one other {k}».",),
    ),
    "raises": Phrases(
        noun=("the exception «raised, {x}, by» {s}",),
        ask=("«{X}, which exception is raised by» {s}?", "«{X}, which exception can be expected from» {s}?"),
        tell=("{X}, it «raises an exception».",),
    ),
    "returns": Phrases(
        noun=("the class «whose instances are returned by» {s}", "the type of object «that you get back from» {s}"),
        ask=("«Instances of which class are returned by» {s}?", "«What type of object do you get back from» {s}?"),
        tell=("It «returns an instance of a class that has its own entry».",),
    ),
    "subclass_of": Phrases(
        noun=("«the parent class of» {s}", "the class «that is subclassed by» {s}"),
        ask=("«What is the parent class of» {s}?", "«Which class is extended by» {s}?"),
        tell=("It is documented as «a subclass of another class».",),
    ),
    "replacement": Phrases(
        noun=(
            "the {k} «recommended in place of» {s}",
            "the {k} «that the documentation says to use instead of» {s}",
        ),
        ask=(
            "«Which {k} does the documentation recommend in place of» {s}?",
            "«According to the documentation, which {k} should be used instead of» {s}?",
        ),
        tell=("The documentation «recommends another {k} in its place».",),
    ),
    "see_also": Phrases(
        noun=(
            "the {k} «listed under “See also” in the documentation of» {s}",
            "the {k} «that the “See also” notes point to from» {s}",
        ),
        ask=(
            "«Which {k} is listed under “See also” in the documentation of» {s}?",
            "«Which {k} do the “See also” notes recommend to readers interested in» {s}?",
        ),
        tell=("Its “See also” notes «point to one other {k}».",),
    ),
    "seen_also_from": Phrases(
        noun=("the {k} «whose “See also” notes point to» {s}",),
        ask=("«In the documentation of which {k} do the “See also” notes point to» {s}?",),
        tell=("One other {k} «lists it under “See also”».",),
    ),
    "refers_for": Phrases(
        noun=("the {k} «that readers are sent to for {x} from the description of» {s}",),
        ask=(
            "«For {x}, which {k} are readers referred to in the description of» {s}?",
            "«Which {k} should be consulted for {x}», according to the description of {s}?",
        ),
        tell=("For {x}, its description «refers readers to another {k}».",),
    ),
    "quoted": Phrases(
        noun=("the {k} «that is left out of the sentence “{x}” in the documentation of» {s}",),
        ask=(
            "«Which {k} is missing from the sentence “{x}”», which stands in the documentation of {s}?",
            "«Which {k} fills the gap in “{x}”», according to the documentation of {s}?",
        ),
        tell=("One sentence about it reads: «“{x}”, where the gap stands for a {k}».",),
    ),
    "defined_in": Phrases(
        noun=("the module «that provides» {s}", "the module «in whose documentation one finds» {s}"),
        ask=("«Which module provides» {s}?",),
        tell=("It «is part of a certain module».",),
    ),
    "listed_in": Phrases(
        ask=(
            "«In which chapter of the documentation is» {s} listed?",
            "«Under which chapter title is» {s} listed in the table of contents?",
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
        noun=("the version «announced for the removal of» {s}",),
        ask=("«In which version is» {s} due to be removed?", "«Which version is announced for the removal of» {s}?"),
    ),
    "source_file": Phrases(
        noun=("«the path of the source code of» {s}",),
        ask=(
            "«Which source file does the documentation give for» {s}?",
            "«Where is the source code of» {s} found?",
            "«In which file is the source code of» {s}?",
        ),
    ),
    "availability": Phrases(
        noun=("the platform availability «stated for» {s}",),
        ask=("«On which platforms is» {s} available?",),
    ),
    "audit_event": Phrases(
        noun=("the auditing event «raised by» {s}",),
        ask=("«Which auditing event is raised by» {s}?", "«What is the name of the auditing event raised by» {s}?"),
    ),
    "default_setting": Phrases(
        noun=("«the default of» {s}",),
        ask=("«What is the default of» {s}?", "«Which value is the default for» {s}?"),
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
            "«What is the default value of the {x} parameter of» {s}?",
            "«Which default does the {x} parameter have in the signature of» {s}?",
        ),
    ),
}

OPENINGS = (
    "There is {a} {d}.",
    "Take the {d}.",
    "Look up the {d}.",
    "I am reading about the {d}.",
    "The documentation has an entry for {a} {d}.",
)
"""How a story begins: ``{d}`` is the described thing without an article, ``{a}`` its indefinite article."""

CLOSINGS = ("What is {n}?", "Name {n}.", "Find {n}.", "Give {n}.")
"""How a noun phrase becomes a question or a request."""
