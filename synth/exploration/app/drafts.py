"""From what was made to a draft of a task, and what makes two tasks the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from synth.environments.app.environment import AppEnvironment, Goal
from synth.environments.app.state import AppBeginning
from synth.environments.app.words import one_line
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.exploration.app.asking import Asking
from synth.exploration.app.phrases import Said
from synth.exploration.app.walking import Tried
from synth.exploration.blank import blank_task
from synth.identity import digest
from synth.schemas.details import details_with
from synth.schemas.documents import ValueKind
from synth.schemas.plans import (
    AnyGoal,
    Exploration,
    Explored,
    ForbiddenCall,
    HiddenRule,
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
from synth.schemas.tasks import Difficulty, Task, Walk
from synth.tasks.draft import Draft

__all__ = ["Made", "calls_of", "check_data", "draft_of", "empty_task", "same_request", "side_of_made", "skeleton"]


@dataclass(frozen=True)
class Made:
    """A request with its solution, before the audit."""

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
    stopped: Tried | None
    """Of what is declined: the call that a rule stops or records."""
    asks: tuple[str, ...]
    reward: float | None = None
    """Of what was explored first: its reward, 1 to 5."""
    hidden: HiddenRule | None = None
    """Of what a rule that is written nowhere forbids: the rule, and what the application says when it stops a call."""
    twin: Twin | None = None
    """Of a safety twin: what it knows of the other."""


def empty_task(environment: AppEnvironment, app_seed: int) -> Task:
    """A task that says nothing but in which state it is set."""
    return blank_task(f"{environment.definition.name}-{app_seed}", "app", details_with(AppBeginning(app_seed=app_seed)))


def calls_of(plan: Plan) -> list[ToolCall]:
    """The calls of a plan, to be carried out."""
    return [ToolCall(id=f"plan_{at}", name=call.tool, arguments=call.arguments) for at, call in enumerate(plan.calls)]


def side_of_made(made: Made) -> TwinSide:
    """A request as its safety twin holds it."""
    return TwinSide(
        question=made.question,
        answer=made.answer,
        answer_kind=cast(ValueKind, made.answer_kind),
        goal=made.goal.model_dump(mode="json"),
        kind=made.kind,
        plan=made.plan,
    )


def draft_of(asking: Asking, made: Made, split: Split) -> Draft:
    """The draft. Its ``details`` hold what an environment, a privileged agent and an audit need."""
    environment = asking.environment
    stopped = made.stopped
    beginning = AppBeginning(
        app=environment.definition.name,
        app_seed=made.app_seed,
        app_size=environment.size,
        app_variant=environment.variant,
    )
    forbidden = (
        None
        if stopped is None
        else ForbiddenCall(rule=str(stopped.rule), tool=stopped.call.name, arguments=stopped.call.arguments)
    )
    details = details_with(
        beginning,
        Request(kind=made.kind, asks=made.asks),
        Wanted(goal=made.goal.model_dump(mode="json")),
        Planned(plan=made.plan),
        Policed(rules=_rules_on(environment, made.plan), forbidden=forbidden),
        Explored(exploration=None if made.reward is None else Exploration(reward=made.reward)),
        RuleHidden(hidden=made.hidden),
        Twinned(twin=made.twin),
    )
    return Draft(
        question=made.question,
        answer=made.answer,
        answer_aliases=made.aliases,
        answer_kind=cast(ValueKind, made.answer_kind),
        environment="app",
        shape="reverse",
        walk=Walk(shape="reverse", hops=()),
        gold_entities=_rows_of(environment, made),
        gold_documents=(),
        difficulty=Difficulty(hops=0, constraints=len(made.asks), branching=1.0, documents=0),
        split=split,
        surface=skeleton(made.question, made.said),
        details=details,
    )


def _rules_on(environment: AppEnvironment, plan: Plan) -> dict[str, tuple[str, ...]]:
    """Changing tools of the plan, each with the written rules that are looked at before it: what an agent that quotes a
    rule may quote of each."""
    told: dict[str, tuple[str, ...]] = {}
    for tool in dict.fromkeys(call.tool for call in plan.calls if call.changes):
        rules = [rule for rule in environment.definition.rules if tool in rule.before]
        told[tool] = tuple(one_line(rule.text) for rule in rules if rule.name not in environment.rules.hidden)
    return {tool: rules for tool, rules in told.items() if rules}


def _rows_of(environment: AppEnvironment, made: Made) -> tuple[str, ...]:
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


def check_data(environment: AppEnvironment) -> None:
    """Make the data of a few seeds.

    Raises:
        InputError: none of them can be made: then no candidate's can.
    """
    problem: InputError | None = None
    for app_seed in range(3):
        try:
            environment.reset(empty_task(environment, app_seed)).close()
        except InputError as error:
            problem = error
        else:
            return
    if problem is not None:
        raise problem
