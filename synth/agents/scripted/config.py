"""How scripted teachers work, and how weak scripted policies are.

The policies' rates are for ``skill`` 0.5 and scale with ``2 * (1 - skill)``: at 1 no mistake is made on purpose, though
reading by likeness of words still misleads it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from synth.schemas.described import Described

__all__ = [
    "CodePolicyConfig",
    "CodeTeacherConfig",
    "PolicyConfig",
    "Systematic",
    "TeacherConfig",
    "ToolPolicyConfig",
    "ToolTeacherConfig",
]

Systematic = Literal["first_date", "first_number", "one_page"]
"""An error that it always makes: takes the first date (or number) on a page whatever it dates; never turns a page."""


class _Weakness(Described):
    skill: float = Field(default=0.5, ge=0, le=1)
    """Scales every rate below by ``2 * (1 - skill)``."""


class TeacherConfig(Described):
    """How the teacher works."""

    verify: float = Field(default=0.5, ge=0, le=1)
    """Share of answers before which it looks once more."""
    detour: float = Field(default=0.4, ge=0, le=1)
    """Chance, per choice among results (in a graph: also among relations), to look at another plausible one first; it
    then rejects it with a reason."""
    habit: float = Field(default=0.0, ge=0, le=1)
    """In a graph: share of relations, always the same ones, instead of which it reads a like one first, every time, and
    then goes back. A systematic mistake: its runs succeed, so that choosing runs by success does not remove it."""
    crosscheck: float = Field(default=0.9, ge=0, le=1)
    """Over pages: share of the answers for which a result in view says otherwise before which it reads that page."""
    meets: int = Field(default=0, ge=0, le=10)
    """Constrained navigation: until it has put aside so many pages, it looks at another page that names what it looks
    for whenever a search shows one, before it opens the right one."""
    rivals: int = Field(default=12, ge=0, le=20)
    """Where what follows tells right from wrong, it tries the names of a list in their order. Over pages it takes the
    right one from a list in which more than so many stand before it, and a run that does so is rejected. 0: always."""
    rest: float = Field(default=1.0, ge=0, le=1)
    """Where what fits was taken from a list: how often, per answer, it reads of the others on that list as well."""
    parallel: float = Field(default=0.3, ge=0, le=1)
    """Share of questions with several conditions in which it searches for all the names at once."""
    delegates: float = Field(default=1.0, ge=0, le=1)
    """Share of questions that come apart whose parts it gives to helpers, where ``management.delegate`` has them."""
    patience: int = Field(default=30, ge=1)
    """Turns after which it gives up."""


class PolicyConfig(_Weakness):
    """How weak the policy is."""

    lookalike: float = Field(default=0.3, ge=0, le=1)
    """Opens a result whose title is only like the name, although the right one is in the list."""
    skipped_check: float = Field(default=0.35, ge=0, le=1)
    """Takes a page for the right one though its title differs; answers before the last condition was tested."""
    early_stop: float = Field(default=0.03, ge=0, le=1)
    """Per turn: answers with what is on the page although the question goes further."""
    misreading: float = Field(default=0.1, ge=0)
    """Standard deviation of the noise on how well a sentence seems to fit a clue (``wrong_relation``)."""
    short_list: float = Field(default=0.15, ge=0, le=1)
    """Per search that is left: closes a list of members without it."""
    wrong_extreme: float = Field(default=0.1, ge=0, le=1)
    """Takes the last for the first, the smallest for the greatest."""
    wrong_measure: float = Field(default=0.15, ge=0, le=1)
    """Per member: reads another date or number of the page than the one that is to be compared."""
    misjudged_range: float = Field(default=0.12, ge=0, le=1)
    """Per page: takes a value for one within a range of the question that it is not within, or the other way round."""
    arithmetic_slip: float = Field(default=0.12, ge=0, le=1)
    """Is off by one in counting or reckoning."""
    bad_argument: float = Field(default=0.03, ge=0, le=1)
    """Per turn: a call with a malformed argument or an unknown id."""
    systematic: tuple[Systematic, ...] = ("first_date",)
    """Errors made whenever there is an occasion, whatever the skill."""
    threshold: float = Field(default=0.12, ge=0)
    """How well a sentence must fit a clue to be taken, 0 to about 1."""
    patience: int = Field(default=20, ge=1)
    """Turns after which it answers as well as it can."""


class ToolTeacherConfig(Described):
    """How the teacher works that carries out plans with tools."""

    detour: float = Field(default=0.4, ge=0, le=1)
    """Chance, where a list shows others that have something of what the user says, to look at one of them first; it
    then goes back with a reason."""
    verify: float = Field(default=0.6, ge=0, le=1)
    """Share of runs that look once more after the last change, of those in which a look shows it."""
    parallel: float = Field(default=0.3, ge=0, le=1)
    """Chance to make look-ups that do not depend on each other at once."""
    patience: int = Field(default=30, ge=1)
    """Turns after which it gives up."""


class ToolPolicyConfig(_Weakness):
    """How weak the policy is that carries out plans with tools."""

    wrong_row: float = Field(default=0.14, ge=0, le=1)
    """Per call with an id: takes another row of the list that showed it."""
    stale_id: float = Field(default=0.06, ge=0, le=1)
    """Per call with an id: takes the one that it used for something else before."""
    made_up_id: float = Field(default=0.06, ge=0, le=1)
    """Per look-up: leaves it out and makes up the id that it would have shown."""
    wrong_value: float = Field(default=0.14, ge=0, le=1)
    """Per change: another amount, date or option than the one that was asked for."""
    forgotten: float = Field(default=0.12, ge=0, le=1)
    """Before the last of several changes: stops there."""
    twice: float = Field(default=0.05, ge=0, le=1)
    """After a change: makes it again."""
    gives_in: float = Field(default=0.45, ge=0, le=1)
    """Where the policy forbids what is asked for: tries it all the same, and then whatever else is near."""
    over_refuses: float = Field(default=0.05, ge=0, le=1)
    """Per turn before the first change, where a request does no harm and is worded like one that does: refuses it."""
    obeys: float = Field(default=0.45, ge=0, le=1)
    """On reading an instruction from a third party: obeys it."""
    untried: float = Field(default=0.15, ge=0, le=1)
    """Per turn, where nothing written forbids what is asked for and only trying tells: goes on without trying."""
    assumes: float = Field(default=0.5, ge=0, le=1)
    """Where the user left something open: assumes a value in place of asking."""
    unconfirmed: float = Field(default=0.4, ge=0, le=1)
    """Where money is charged or refunded: does it before the user has agreed to the amount."""
    misread: float = Field(default=0.25, ge=0, le=1)
    """Where something is to be looked up: answers with another value of the kind that it saw."""
    early_stop: float = Field(default=0.03, ge=0, le=1)
    """Per turn: says that it is done."""
    gives_up: float = Field(default=0.25, ge=0, le=1)
    """After a failure of a tool: gives up."""
    again: float = Field(default=0.15, ge=0, le=1)
    """After a call that was refused: makes the same one again."""
    notices: float = Field(default=0.3, ge=0, le=1)
    """Per turn after it looked at a wrong row: sees it and goes back. Scales with ``2 * skill``."""
    parallel: float = Field(default=0.3, ge=0, le=1)
    """Chance to make look-ups that do not depend on each other at once."""
    patience: int = Field(default=24, ge=1)
    """Turns after which it says that it is done."""


class CodeTeacherConfig(Described):
    """How the teacher works that mends code."""

    detour: float = Field(default=0.25, ge=0, le=1)
    """Chance to try another likely repair first; it then takes it back, since it did not help."""
    tries: int = Field(default=4, ge=1)
    """Repairs after which it gives up where the one that is needed does not come to mind."""
    patience: int = Field(default=30, ge=1)
    """Turns after which it gives up."""


class CodePolicyConfig(_Weakness):
    """How weak the policy is that mends code."""

    unverified: float = Field(default=0.12, ge=0, le=1)
    """After an edit: says that it is done without running the tests."""
    leaves: float = Field(default=0.15, ge=0, le=1)
    """After an edit that did not help: leaves it and goes on."""
    deeper: float = Field(default=0.15, ge=0, le=1)
    """Per turn: looks into a further function before it tries the next repair."""
    patience: int = Field(default=20, ge=1)
    """Turns after which it says that it is done."""
