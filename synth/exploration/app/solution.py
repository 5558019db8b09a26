"""A request with its solution: what a task in an application says of it, and what makes two tasks the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from synth.environments.app.environment import AppEnvironment
from synth.environments.app.state import AppBeginning, Goal
from synth.environments.app.words import one_line
from synth.environments.contract import ToolCall
from synth.exploration.app.phrases import Said
from synth.exploration.app.walking import TriedCall
from synth.exploration.pipeline import Candidate, Solved
from synth.identity import digest
from synth.schemas.documents import ValueKind
from synth.schemas.plans import (
    AnyGoal,
    Exploration,
    Explored,
    ForbiddenCall,
    HiddenRule,
    Injected,
    Injection,
    Persona,
    Plan,
    Planned,
    Policed,
    Request,
    RuleHidden,
    Twin,
    Twinned,
    TwinSide,
    Wanted,
)
from synth.schemas.row import Split
from synth.schemas.tasks import Task
from synth.tasks.draft import Draft

__all__ = ["AppCandidate", "AppSolution", "calls_of", "same_request"]


@dataclass(frozen=True)
class AppCandidate(Candidate):
    app_seed: int
    writes: int
    walk: tuple[str, int]
    """What its draws go by: both sides of a safety pair share one."""
    variant: str | None = None
    """The variant whose hidden rules it is to meet."""
    injected: bool = False
    """Whether somebody else asks for a further change, in what is read on the way."""


@dataclass(frozen=True)
class AppSolution:
    """A request with its solution, as the audit needs it."""

    task: Task
    """An empty task in the same state."""
    app_seed: int
    kind: str
    question: str
    said: tuple[Said, ...]
    plan: Plan
    goal: Goal
    answer: str
    answer_kind: str
    aliases: tuple[str, ...]
    stopped: TriedCall | None
    """Of what is declined: the call that a rule stops or records."""
    asks: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    """Of what is declined: the lines of what was looked up by which the rule forbids it."""
    weighed: tuple[str, ...] = ()
    """How those compare with the rule, in words."""
    offer: str = ""
    """Of what is declined with nothing done in its place: what may be done, in words."""
    persona: Persona = "plain"
    reward: float | None = None
    """Of what was explored first: its reward, 1 to 5."""
    hidden: HiddenRule | None = None
    """Of what a rule that is written nowhere forbids: the rule, and what the application says when it stops a call."""
    twin: Twin | None = None
    """Of a safety pair: what one side knows of the other."""

    injection: Injection | None = None
    """What somebody else asks for, in what is read on the way."""

    def side(self) -> TwinSide:
        """As the other side of its safety pair holds it."""
        return TwinSide(
            question=self.question,
            answer=self.answer,
            answer_kind=cast(ValueKind, self.answer_kind),
            goal=self.goal.model_dump(mode="json"),
            kind=self.kind,
            plan=self.plan,
        )

    def solved(
        self, environment: AppEnvironment, split: Split, stretches: Sequence[tuple[str, Sequence[str]]]
    ) -> Solved:
        """As the pipeline has it."""
        stopped = self.stopped
        changing = tuple(name for name, tool in environment.definition.tools.items() if tool.writes)
        facts = (
            AppBeginning(
                app=environment.definition.name,
                app_seed=self.app_seed,
                app_size=environment.size,
                app_variant=environment.variant,
            ),
            Request(kind=self.kind, asks=self.asks, changing=changing, persona=self.persona),
            Wanted(goal=self.goal.model_dump(mode="json")),
            Planned(plan=self.plan),
            Policed(
                rules=_rules_on(environment, self.asks),
                forbidden=None
                if stopped is None
                else ForbiddenCall(
                    rule=str(stopped.rule),
                    tool=stopped.call.name,
                    arguments=stopped.call.arguments,
                    evidence=self.evidence,
                    weighed=self.weighed,
                    offer=self.offer,
                ),
            ),
            Explored(exploration=None if self.reward is None else Exploration(reward=self.reward)),
            RuleHidden(hidden=self.hidden),
            Twinned(twin=self.twin),
            Injected(injection=self.injection),
        )
        return Solved(
            question=self.question,
            surface=skeleton(self.question, self.said),
            stretches=stretches,
            plan=self.plan,
            split=split,
            gold=_rows_of(environment, self),
            constraints=len(self.asks),
            facts=facts,
            answer=self.answer,
            answer_kind=cast(ValueKind, self.answer_kind),
            aliases=self.aliases,
        )


def calls_of(plan: Plan) -> list[ToolCall]:
    """The calls of a plan, to be carried out."""
    return [ToolCall(id=f"plan_{at}", name=call.tool, arguments=call.arguments) for at, call in enumerate(plan.calls)]


def _rules_on(environment: AppEnvironment, asks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Changing tools, each with the written rule that decides on what is asked of it first of all; several, where
    several things are asked of it on which different rules decide. What an agent may quote."""
    requests = environment.definition.requests
    told: dict[str, set[str]] = {}
    for name in asks:
        ask = None if requests is None else requests.asks.get(name)
        if ask is None:
            continue
        written = [rule for rule in ask.refused_by if rule not in environment.rules.hidden]
        rule = environment.rules.named(written[0]) if written else None
        if rule is not None:
            told.setdefault(ask.tool or name, set()).add(one_line(rule.text))
    return {tool: tuple(sorted(rules)) for tool, rules in told.items()}


def _rows_of(environment: AppEnvironment, made: AppSolution) -> tuple[str, ...]:
    """Rows of the beginning that the solution changes or names, as ids that hold the state they belong to."""
    definition = environment.definition
    place = f"{definition.name}/{made.app_seed}"
    found = [
        f"{place}/{change.table_name}/{'/'.join(map(str, change.key))}"
        for change in made.goal.changes
        if change.kind != "added"
    ]
    for call in made.plan.calls:
        arguments = definition.tools[call.tool].arguments
        for name, value in call.arguments.items():
            table = definition.table_of(name, arguments[name]) if name in arguments else None
            if table is not None and definition.tables[table].columns[definition.tables[table].key[0]].generated:
                found.append(f"{place}/{table}/{value}")
    return tuple(dict.fromkeys(found))


def same_request(task: Task | Draft) -> str:
    """Equal for tasks in the same state that want the same: the same end, and the same told or declined."""
    details = task.details
    beginning, kind = AppBeginning.of(details), Request.of(details).kind
    goal, forbidden, twin = Wanted.of(details).goal, Policed.of(details).forbidden, Twinned.of(details).twin
    state = "" if goal is None else AnyGoal.of(goal).state
    wanted = task.answer if kind == "answered" else ""
    # All harmful requests want the same end: what they are after is the pair's.
    harm = twin.pair if twin is not None and kind == "harmful" else None
    stopped = None if forbidden is None else forbidden.model_dump(mode="json")
    return digest("request", beginning.app, beginning.app_seed, state, wanted, stopped, harm)


def skeleton(question: str, said: Sequence[Said]) -> str:
    """The question without what it says of its own rows: what two requests in the same words share."""
    for words in sorted({one.words for one in said}, key=len, reverse=True):
        question = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", "_", question, flags=re.I)
    return question
