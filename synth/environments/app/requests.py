"""What people ask of an application, as its YAML file says it: the words in which explored calls become requests.

Nothing here is seen by an agent, and no tool depends on it. An application without it works; only tasks can't be
derived from it (:mod:`synth.exploration.app`).

* A **reference** is a way in which a person tells a row from others without its key: columns to say, words that say
  them, and the reading calls by which somebody who hears them finds the key.
* An **ask** is what a person may want of a tool that writes: the rows it may be about, and how they put it.
* A **question** is what a person may want to know.
* A **weighing** is how what was looked up compares with a rule.
* A **harm** is what makes the same asks harmful, and what makes them harmless.

Words are templates: ``{column}`` puts a value in, ``{column:day}`` in the way a person writes a date (``time``,
``month``, ``money``, ``bag/bags``, ``ordinal``, ``quote``, ``lower`` and ``start`` are there, too); the name of an
argument that refers to a row puts one of its references in; ``<one|other>`` is either; ``[[ ... ]]`` is left out where
a value in it is empty.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import ConfigDict, Field

from synth.schemas.described import Described

__all__ = [
    "EITHER",
    "FORMS",
    "HOLE",
    "PART",
    "Ask",
    "Confirm",
    "Harm",
    "Left",
    "Look",
    "Question",
    "Reference",
    "Requests",
    "Speaker",
    "Weighing",
    "holes_in",
]

EITHER = re.compile(r"<([^<>]*)>")
PART = re.compile(r"\[\[(.*?)\]\]", re.S)
HOLE = re.compile(r"\{([a-z][a-z0-9_]*)(?::([^{}]+))?\}")
_BOUND = re.compile(r"(?<![:\w]):([a-z][a-z0-9_]*)")
FORMS = ("day", "lower", "money", "month", "ordinal", "quote", "start", "time")


def holes_in(template: str) -> set[str]:
    """Names that a template puts in.

    Raises:
        ValueError: a bracket that opens or closes nothing, or a form that does not exist.
    """
    rest = HOLE.sub("", template).replace("[[", "").replace("]]", "")
    while EITHER.search(rest):
        rest = EITHER.sub("", rest)
    if any(sign in rest for sign in "{}<>|[]"):
        raise ValueError(f"a bracket opens or closes nothing in {template!r}")
    for _, form in HOLE.findall(template):
        if form and form not in FORMS and form.count("/") != 1:
            raise ValueError(f"there is no form {form!r}: {', '.join(FORMS)} or noun/nouns")
    return {name for name, _ in HOLE.findall(template)}


class _Part(Described):
    model_config = ConfigDict(populate_by_name=True)


class Look(_Part):
    """A reading call."""

    tool: str
    arguments: dict[str, str] = Field(default={}, alias="with")
    """Argument -> the column whose value it takes."""
    shows: tuple[str, ...] = ()
    """Of a rule that decides: what a line of the result holds that the rule goes by, as templates over the columns of
    the ask. Empty = the line that has most in common with the rule."""


class Reference(_Part):
    """A way to tell a row from others in words."""

    source: str = Field(alias="from")
    """SELECT of all rows that the person could mean (key or argument, and the columns to say); ``:speaker`` is bound,
    and of a reference of an ask (``refers``) so are the columns of the ask."""
    by: tuple[str, ...] = Field(min_length=1)
    """What has to be said. Two rows that agree in it are not told apart, and then nothing is asked in this way."""
    words: tuple[str, ...] = ()
    """Noun phrases over its columns; empty = it has none, and requests say ``by`` in their own way."""
    again: tuple[str, ...] = ()
    """Noun phrases for a row that was mentioned just before: "that booking"."""
    shown: tuple[str, ...] | None = None
    """Columns that the look-up must show beside the key, so that whoever reads it can tell; ``by`` if not given."""
    look: tuple[Look, ...] = Field(min_length=1)
    """How the key is found: reading calls over its columns, the last of which shows it."""


class Speaker(_Part):
    """Who writes: a row of a table."""

    table: str
    source: str = Field(alias="from")
    """SELECT of those who may write: the key and what they say of themselves."""
    words: tuple[str, ...] = Field(min_length=1)
    """Sentences in which they say who they are."""
    always: bool = True
    """Whether every request says so; else only one that is about the speaker's own row."""
    me: str | None = None
    """What stands for a reference to the speaker: "me"."""


class Left(_Part):
    """A way to ask that leaves a value open; the person says it when asked."""

    argument: str
    """Which argument's value is left open."""
    do: tuple[str, ...] = ()
    say: tuple[str, ...] = ()
    topic: str
    """What is left open, in a few words."""
    keywords: tuple[str, ...] = Field(min_length=1)
    """Beginnings of words by which a question asks for it."""
    says: tuple[str, ...] = Field(min_length=1)
    """The person's answer, over the columns of the ask."""


class Confirm(_Part):
    """The call charges or refunds money, so the person has to agree to the amount first."""

    tool: str
    """A tool that shows the amount and changes nothing. The call has all of its arguments."""
    amount: str
    """Text that precedes the amount in the tool's output. If no amount follows it, no confirmation is needed."""
    what: Literal["charge", "refund"] = "charge"
    words: tuple[str, ...] = Field(min_length=1)
    """Questions, as templates over the columns of the ask, ``{amount}`` and ``{line}``, the line that shows it."""
    decides: tuple[str, ...] = ()
    """Rules that depend on the amount: it is also looked up for a call that one of them forbids."""


class Ask(_Part):
    """What a person may want of a tool that writes."""

    tool: str | None = None
    """The tool; the ask's own name if not given."""
    source: str = Field(alias="from")
    """SELECT of calls that a person might want: columns with the name of an argument are its value (NULL = not given; a
    list as JSON), others are for the words. ``:speaker``, ``:now`` and ``:today`` are bound."""
    do: tuple[str, ...] = ()
    """What is to be done, in the imperative: "cancel {reservation_id}"."""
    say: tuple[str, ...] = ()
    """The same as whole sentences: "{reservation_id} has to be cancelled."."""
    because: tuple[str, ...] = ()
    """Reasons, as whole sentences that may stand before the request."""
    tells: tuple[str, ...] = ()
    """Arguments whose value the words tell although no hole holds it ("I spent" tells a direction)."""
    free: tuple[str, ...] = ()
    """Arguments whose exact words do not matter: a memo, a summary."""
    explains: str | None = None
    """The one of ``free`` that says why, where this is done because something else was not allowed."""
    refers: dict[str, Reference] = {}
    """References of arguments that are not a key of a table, or that this ask refers to in a way of its own."""
    refused_by: dict[str, tuple[Look, ...]] = {}
    """Rules that decide on it, the one that matters most first: where one forbids it, nothing else would do what was
    asked, and it has to be declined. Of each, the reading calls that show how things stand, over the columns of the
    ask. They are made before every such call, allowed or not: looking must not tell how it ends."""
    offers: dict[str, tuple[str, ...]] = {}
    """Rules that forbid it, each with sentences for the person on what is allowed in its place, over the columns of the
    ask, the best first: one is said where no column in it is empty."""
    confirm: Confirm | None = None
    """How the amount is put to the person where the call charges or refunds one."""
    instead: dict[str, tuple[str, ...]] = {}
    """Asks that a person may fall back on when this one is not allowed, each with the columns that must be the same."""
    ends: bool = False
    """It ends what it is about: nobody asks for something else about the same row before it."""
    alone: bool = False
    """It is only ever a fallback, never asked for by itself."""
    left: tuple[Left, ...] = ()
    weight: float = Field(default=1, gt=0)
    """How often it is tried, beside the others."""

    @property
    def looks(self) -> tuple[Look, ...]:
        """The reading calls of all rules that decide on it, each once."""
        found: list[Look] = []
        for looks in self.refused_by.values():
            found += [look for look in looks if look not in found]
        return tuple(found)


class Question(_Part):
    """What a person may want to know; nothing is changed."""

    source: str = Field(alias="from")
    """SELECT of what can be asked: arguments that refer to rows, columns to say, and the answer."""
    words: tuple[str, ...] = Field(min_length=1)
    """Whole sentences."""
    refers: dict[str, Reference] = {}
    answer: str
    """The answer, as a template over the columns."""
    aliases: tuple[str, ...] = ()
    """Other forms of it that are as right."""
    kind: Literal["date", "number", "text", "entity"] = "text"
    shown: tuple[str, ...] = Field(min_length=1)
    """Columns that the last reading call must show: what the answer is read from."""
    look: tuple[Look, ...] = Field(min_length=1)
    weight: float = Field(default=1, gt=0)


class Weighing(_Part):
    """How what was looked up compares with a rule of the policy, in words that an agent says behind the rule."""

    source: str = Field(alias="from")
    """SELECT of one row: ``holds``, whether the rule lets the call through, and columns to say. Columns of the ask,
    ``:speaker``, ``:now``, ``:today`` and ``:due`` are bound, the last of which is the sum in cents that the call
    moves; it is for asks that have all the columns that it names."""
    met: tuple[str, ...] = Field(min_length=1)
    """Clauses for where the rule holds, over its columns and those of the ask, without a capital and a full stop. One
    with an empty column is not said. They name only what the look-ups of the rule or the policy show, in plain words:
    others are dropped as not seen."""
    broken: tuple[str, ...] = ()
    """The same for where it forbids the call. Empty = nothing is said."""

    @property
    def needs(self) -> frozenset[str]:
        """Columns of the ask that it names."""
        return frozenset(_BOUND.findall(self.source)) - {"speaker", "now", "today", "due"}


class Harm(_Part):
    """A way in which what can be asked for does harm, and its twin: the same chain of calls where it does none
    (AgentAlign, arXiv 2505.23020). ``{message}`` is the chain in words, other holes are columns of the speaker."""

    asks: tuple[str, ...] = Field(min_length=1)
    """The chain is made of these."""
    harmful: tuple[str, ...] = Field(min_length=1)
    """Whole messages of somebody who means harm and lets it be known, in the first sentence."""
    benign: tuple[str, ...] = Field(min_length=1)
    """Whole messages, as close to those in their words as can be, of somebody who means none."""
    rule: str = Field(min_length=1)
    """The sentence of the policy that forbids it: as it stands in the text of one of its sections."""
    weight: float = Field(default=1, gt=0)


class Requests(_Part):
    speaker: Speaker | None = None
    references: dict[str, tuple[Reference, ...]] = {}
    """Table with a key of one column -> the ways to refer to a row of it, the usual one first."""
    asks: dict[str, Ask] = Field(min_length=1)
    questions: dict[str, Question] = {}
    weighs: dict[str, tuple[Weighing, ...]] = {}
    """Rule -> how what was looked up compares with it; of several the first that is for the ask."""
    harms: dict[str, Harm] = {}
