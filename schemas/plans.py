"""What a reverse task knows of its own solution: the calls that solve it, and where each value in them comes from.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723): the plan is what was explored, cut down until
no call can be left out. It stands in ``Task.details["plan"]``, for tasks of any environment, and nobody but a
privileged agent reads it. What the end state must be is the environment's own matter (``Task.details["goal"]``).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = ["ChecklistItem", "Given", "Plan", "PlannedCall", "UserFact"]


class Given(Row):
    """Where the value of an argument comes from."""

    source: Literal["question", "observation", "user", "schema"]
    """``question``: the question says it. ``observation``: an earlier call of the plan shows it. ``user``: the user
    says it when asked. ``schema``: the tool's own description names it (a choice, a usual value)."""
    words: str
    """The words that say it: part of the question, of that observation, or of the user's answer."""
    call: int | None = None
    """Of ``observation``: index of the call that shows it."""

    @model_validator(mode="after")
    def _call(self) -> Given:
        if (self.source == "observation") != (self.call is not None):
            raise ValueError("call names the call of an observation, and only of that")
        return self


class PlannedCall(Row):
    """One call of the solution."""

    tool: NonEmpty
    arguments: JsonObject
    """As it was carried out when the plan was made. Ids that the environment hands out may be others in another run:
    ``given`` says where they come from."""
    changes: bool
    """Whether it changes the state. One that does not is there for what it shows."""
    instruction: NonEmpty
    """The call in words, for one who sees the screen: low-level (OS-Genesis)."""
    given: dict[str, Given]
    """Argument -> where its value comes from. An argument in parts has an entry for each: ``items.0.amount``."""


class ChecklistItem(Row):
    """One thing to be seen in a good run (CM2): said so that a reader, or a rule, can tell yes from no."""

    text: NonEmpty
    kind: Literal["state", "call", "no_call", "answer"]
    """``state``: a row that must be so at the end. ``call``: a call that must have been made and not refused.
    ``no_call``: a tool that must not have changed anything. ``answer``: what the last message must say."""
    details: JsonObject = {}
    """What the rule looks at."""


class UserFact(Row):
    """Something that the question leaves open and the user says when asked."""

    topic: NonEmpty
    """What it is about, in a few words."""
    keywords: tuple[str, ...] = Field(min_length=1)
    """Words of a question that ask for it."""
    says: NonEmpty
    """The user's answer."""


class Plan(Row):
    """The solution of a reverse task."""

    outcome: Literal["done", "answered", "refused", "offered"]
    """``done``: the state is what was asked for. ``answered``: something was looked up, nothing is changed.
    ``refused``: the policy forbids it, nothing is changed and the user is told so. ``offered``: the policy forbids it
    and allows something else, which the user has said to accept."""
    calls: tuple[PlannedCall, ...]
    """Empty only where something is refused that needs no look to be refused."""
    checklist: tuple[ChecklistItem, ...] = ()
    rule: str | None = None
    """Of ``refused`` and ``offered``: the rule of the policy that forbids it, in its words."""
    user: tuple[UserFact, ...] = ()
    """What the question leaves open. Empty = it says all."""
    attempts: tuple[PlannedCall, ...] = ()
    """Calls that are asked for, that nothing written forbids, and that are refused by a rule which is kept all the same
    (implicit rules, TTExplore, arXiv 2605.24828): only by making them can it be found out. They come after the looks
    that they need and before the first change, and change nothing; ``given`` counts ``calls``."""

    @model_validator(mode="after")
    def _something_to_do(self) -> Plan:
        if not self.calls and self.outcome != "refused":
            raise ValueError("only a refusal is a plan without calls")
        return self
