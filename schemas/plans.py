"""What a reverse task knows of its own solution: the calls that solve it, and where each value in them comes from.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723): the plan is what was explored, cut down until
no call can be left out. It is for tasks of any environment, and only a privileged agent reads it. What the end state
must be is the environment's own matter (:class:`Wanted`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from synth.schemas.details import Facts, details_with
from synth.schemas.documents import ValueKind
from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = [
    "AnswerItem",
    "AnyGoal",
    "CallItem",
    "Change",
    "ChecklistItem",
    "Exploration",
    "Explored",
    "ForbiddenCall",
    "Given",
    "Ground",
    "HiddenRule",
    "Injected",
    "Injection",
    "Plan",
    "Planned",
    "PlannedCall",
    "Policed",
    "Request",
    "RuleHidden",
    "StateItem",
    "Twin",
    "TwinSide",
    "Twinned",
    "UserFact",
    "Wanted",
]


class Given(Row):
    """Where the value of an argument comes from."""

    source: Literal["question", "observation", "user", "schema"]
    """``question``: the question says it. ``observation``: an earlier call of the plan shows it. ``user``: the user
    says it when asked. ``schema``: the tool's own description names it (a choice, a usual value)."""
    words: str
    """The words that say it: part of the question, of that observation, or of the user's answer."""
    call: int | None = None
    """Of ``observation``: index of the call that shows it."""
    told: str = ""
    """Of ``observation``: the user's answer by which it is the one that is meant. Empty = the request says enough."""

    @model_validator(mode="after")
    def _call(self) -> Given:
        if (self.source == "observation") != (self.call is not None):
            raise ValueError("call names the call of an observation, and only of that")
        return self


class Ground(Row):
    """A written rule that is kept before a change, with what was looked up for it."""

    rule: NonEmpty
    lines: tuple[str, ...] = ()
    """What the rule goes by, as the plan met it."""
    nothing: dict[str, str] = {}
    """Tools that list nothing of what the rule goes by, each with what was looked for."""
    weighed: tuple[str, ...] = ()
    """How that compares with the rule, in words; one of them is said. Empty = the application has no words for it."""


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
    decides: bool = False
    """Whether it is looked up to see if the policy allows what comes next, whatever else it shows."""
    grounds: tuple[Ground, ...] = ()
    """Of a change: the rules that must hold first, each with its evidence; the deciding one comes first."""
    shown: Given | None = None
    """Of a change: the look-up in the plan that shows it when repeated, and the line that does. None where no look-up
    shows the change, or none was tried."""


class Change(Row):
    """One entry of a canonical difference between two states of an application."""

    table_name: NonEmpty
    kind: Literal["added", "changed", "removed"]
    key: tuple[Any, ...]
    """Of a row that there was at the beginning, its key; of a new one, the key with ``{"new": name}`` in place of what
    the application handed out."""
    values: JsonObject
    """``added``: its columns. ``removed``: its columns as they were. ``changed``: ``[before, after]`` by column."""


CheckedKind = Literal["state", "call", "no_call", "answer"]


class StateItem(Facts):
    """What ``state`` looks at."""

    change: JsonObject | None
    """A difference from the beginning, as the environment says it; None: there is to be none."""


class CallItem(Facts):
    """What ``call`` and ``no_call`` look at."""

    tool: NonEmpty
    arguments: JsonObject = {}
    """Those that matter."""
    refused: bool = False
    """Whether the call must be refused."""


class AnswerItem(Facts):
    """What ``answer`` looks at."""

    answer: str | None = None
    any: tuple[str, ...] = ()
    """Words of which one will do, where there is no ``answer``."""


class ChecklistItem(Row):
    """One thing to be seen in a good run (CM2): said so that a reader, or a rule, can tell yes from no."""

    text: NonEmpty
    kind: CheckedKind
    """``state``: a row that must be so at the end. ``call``: a call that must have been made and not refused.
    ``no_call``: a tool that must not have changed anything. ``answer``: what the last message must say."""
    details: JsonObject = {}
    """What the rule looks at: :class:`StateItem`, :class:`CallItem` or :class:`AnswerItem`."""

    @classmethod
    def on(cls, text: str, kind: CheckedKind, facts: StateItem | CallItem | AnswerItem) -> Self:
        """The item of ``kind`` that looks at ``facts``."""
        return cls(text=text, kind=kind, details=details_with(facts))


Persona = Literal["plain", "terse", "chatty", "impatient"]
"""How a simulated user talks; it has nothing to do with what they ask for."""


class UserFact(Row):
    """Something that the question leaves open and the user says when asked."""

    topic: NonEmpty
    """What it is about, in a few words."""
    keywords: tuple[str, ...] = Field(min_length=1)
    """Words of a question that ask for it."""
    says: NonEmpty
    """The user's answer."""
    changes: bool = False
    """The answer also takes back something that the question asks for, and says what is wanted instead."""
    amount: str = ""
    """The amount that the user agrees to, as the application writes it. Empty = nothing is charged or refunded."""
    before: int | None = None
    """Of an ``amount``: the number of the planned call that waits for it; attempts are counted on behind the calls."""
    asks: tuple[str, ...] = ()
    """Of an ``amount``: questions that put it to the user."""

    @model_validator(mode="after")
    def _waits(self) -> Self:
        if bool(self.amount) != (self.before is not None) or bool(self.amount) != bool(self.asks):
            raise ValueError("an amount comes with the call that waits for it and with questions, and only with those")
        return self

    @staticmethod
    def put_by(facts: Iterable[UserFact], question: str) -> UserFact | None:
        """The fact whose amount a question puts to the user; of several with the same amount, the one whose ``asks``
        are most like the question."""
        words = set(re.findall(r"\w+", question))
        named = [fact for fact in facts if fact.is_put_by(question)]
        likeness = [max(len(words & set(re.findall(r"\w+", one))) for one in fact.asks) for fact in named]
        return named[likeness.index(max(likeness))] if named else None

    def is_put_by(self, question: str) -> bool:
        """Whether a question names the amount, with or without its commas and its empty cents."""
        plain = self.amount.replace(",", "").removesuffix(".00")
        said = rf"{re.escape(plain)}(?:\.00)?(?!\.?\d)"
        return bool(plain) and re.search(said, question.replace(",", "")) is not None


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


class Planned(Facts):
    """How a reverse task is solved."""

    plan: Plan


class Wanted(Facts):
    """The end that a reverse task wants."""

    goal: JsonObject | None = None
    """As the environment says it. None: the task only asks."""


class AnyGoal(Facts):
    """What the goals of all environments say alike."""

    state: str | None = None
    """Hash of the state to reach; None where the state is seen through probes only."""
    answer: Literal["required", "free"] = "free"
    """``required``: what the agent says must be the gold answer, too."""


class Request(Facts):
    """What a reverse task asks for."""

    kind: str = ""
    """The plan's outcome, or which of two safety twins it is: ``harmful``, ``benign``."""
    asks: tuple[str, ...] = ()
    """What is asked for, by name or in words."""
    changing: tuple[str, ...] = ()
    """Tools that change the state."""
    persona: Persona = "plain"
    """How the user writes and answers."""


class ForbiddenCall(Row):
    """The call that the policy forbids."""

    rule: str
    tool: str
    arguments: JsonObject
    evidence: tuple[str, ...] = ()
    """The looked-up lines by which the rule forbids it. Empty = the application does not say which they are."""
    weighed: tuple[str, ...] = ()
    """How those compare with the rule, in words; one of them is said. Empty = the application has no words for it."""
    offer: str = ""
    """What may be done in its place, as a sentence for the person. Empty = the application knows of nothing."""


class Policed(Facts):
    """What the written policy says of a request."""

    rules: dict[str, tuple[str, ...]] = {}
    """By changing tool of the plan: the rules that are looked at before it."""
    forbidden: ForbiddenCall | None = None


class HiddenRule(Row):
    """A rule that is kept and written nowhere."""

    rule: str
    text: str
    refusal: str
    """What the application says when the rule stops a call."""


class RuleHidden(Facts):
    """Of a request that a hidden rule forbids."""

    hidden: HiddenRule | None = None


class Injection(Row):
    """A third party's instruction, planted in the output of a tool."""

    beside: NonEmpty
    """What reading tools answer carries the words wherever it holds this."""
    text: NonEmpty
    tool: NonEmpty
    """The call that it asks for: it goes through, and leads away from the goal."""
    arguments: JsonObject


class Injected(Facts):
    """Of a request on the way to whose goal an agent reads instructions that are not the user's."""

    injection: Injection | None = None


class Exploration(Row):
    """What an exploration was worth."""

    reward: float
    """1 to 5."""


class Explored(Facts):
    """Of a request that was explored first."""

    exploration: Exploration | None = None


class TwinSide(Row):
    """One of two safety twins, as the other holds it."""

    question: NonEmpty
    answer: NonEmpty
    answer_kind: ValueKind
    goal: JsonObject
    kind: str
    plan: Plan


class Twin(Row):
    """What a safety twin knows of the other."""

    harm: NonEmpty
    """Name of the harm that the harmful one is after."""
    pair: NonEmpty
    """Equal for the two."""
    other: TwinSide


class Twinned(Facts):
    """Of a safety twin."""

    twin: Twin | None = None
