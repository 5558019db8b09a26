"""From a written policy to an application: a model proposes the file, and it is taken when everything in it was proven
(the architect of LOGIGEN, arXiv 2603.00540; ASTRA, arXiv 2601.21558).

An application that is proposed goes through the checks of any user's file. Then it is held to the policy, sentence by
sentence, and explored: each request is carried out at least once in a task that passes its audit, and each rule stops
one. So rules that contradict each other, which leave something undoable, and rules that stop nothing do not get in.
Whether a condition says what its sentence says is judged by nobody.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from synth.environments.app.definition import Definition
from synth.environments.app.environment import AppEnvironment
from synth.environments.app.grammar import desk_text
from synth.environments.app.reading import parse_definition
from synth.errors import InputError
from synth.exploration.app.explorer import app_explorer
from synth.exploration.pipeline import Exploration
from synth.identity import digest
from synth.models.asking import AskConfig, Asked, Asker, quoted
from synth.models.contract import Model
from synth.prompting import load_prompt
from synth.schemas.plans import Policed
from synth.schemas.row import JsonObject, Row
from synth.tasks.contract import Checked

__all__ = ["Design", "design", "policy_lines", "problem_with", "propose", "undone"]

_PROMPT = ("environment/architect", 1)
_EXAMPLE = 8
"""Seed of the desk that the model is shown."""
_TRIED = 40
"""Candidates of each request by which it must have been carried out, and its rules have stopped it."""


class _Proposed(Row):
    application: JsonObject


@dataclass(frozen=True)
class Design:
    """What came of a policy."""

    text: str | None
    """The application's file; None: no attempt held."""
    refused: tuple[str, ...]
    """What was wrong with each attempt that did not."""


def design(model: Model, policy: Sequence[str], *, attempts: int, config: AskConfig | None = None) -> Design:
    """Ask for an application until one holds. ``policy`` is its sentences."""
    schema = json.dumps(Definition.model_json_schema(), ensure_ascii=False)

    def material(refused: Sequence[str]) -> dict[str, str]:
        told = quoted(policy=list(policy), refused=list(refused))
        return {"schema": schema, "example": desk_text(_EXAMPLE), "material": told}

    return propose(model, _PROMPT, material, lambda text: problem_with(text, policy), attempts, config)


def propose(
    model: Model,
    prompt: tuple[str, int],
    material: Callable[[Sequence[str]], dict[str, str]],
    problem_with: Callable[[str], str | None],
    attempts: int,
    config: AskConfig | None = None,
) -> Design:
    """Ask for an application until one holds.

    Args:
        material: What the prompt is filled with, given what was wrong with the attempts so far.
        problem_with: What is wrong with a file; None: nothing.
    """
    asker = Asker(model, load_prompt(*prompt), _Proposed, config)
    refused: list[str] = []
    for number in range(attempts):
        asked: Asked[_Proposed] = asker.ask(digest("architect", number)[:32], **material(refused))
        if asked.answer is None:
            refused.append(f"{asked.reason}: {asked.detail}"[:600])
            continue
        text = yaml.safe_dump(asked.answer.application, sort_keys=False, allow_unicode=True, width=120)
        problem = problem_with(text)
        if problem is None:
            return Design(text, tuple(refused))
        refused.append(problem[:600])
    return Design(None, tuple(refused))


def problem_with(text: str, policy: Sequence[str]) -> str | None:
    """The first thing that is wrong with an application as one of this policy; None: all of it was proven."""
    try:
        definition = parse_definition(text, "application")
        return next(_problems(definition, policy), None)
    except InputError as error:
        return str(error)


def policy_lines(definition: Definition) -> tuple[str, ...]:
    """The sentences of its policy: rules, and lines of sections."""
    lines = [rule.text for rule in definition.rules]
    lines += [line for section in definition.policy for line in (section.text or "").splitlines()]
    return tuple(bare for line in lines if (bare := " ".join(line.split())))


def _problems(definition: Definition, policy: Sequence[str]) -> Iterator[str]:
    said, wanted = Counter(policy_lines(definition)), Counter(" ".join(line.split()) for line in policy)
    for line in wanted - said:
        yield f"policy: the sentence {line!r} stands in no rule or section"
    for line in said - wanted:
        yield f"policy: {line!r} is not a sentence of the policy"
    if definition.variants:
        yield "variants: there must be none"
    AppEnvironment(definition)
    if definition.requests is None:
        yield "requests: people ask nothing of it"
        return
    asks = definition.requests.asks
    for name in sorted(_written(definition) - {ask.tool or name for name, ask in asks.items()}):
        yield f"requests.asks: nobody asks for the tool {name}"
    decided = {rule for ask in asks.values() for rule in ask.refused_by}
    for rule in definition.rules:
        if rule.name not in decided:
            yield f"policy: the rule {rule.name} stands in `refused_by` of no request"
    stopped: set[str] = set()
    for name in undone(definition, stopped):
        yield f"requests.asks.{name}: it could not be carried out once in {_TRIED} tries, as its rules stand"
    for name in sorted(decided - stopped):
        yield f"policy: the rule {name} stopped nothing in {_TRIED} tries of each request that it decides on"


def undone(definition: Definition, stopped: set[str], runs: list[Checked] | None = None) -> Iterator[str]:
    """Requests that can't be carried out once, as the rules stand.

    Args:
        stopped: The rules that stop a request are added.
        runs: A task of each request that can be carried out is added.
    """
    requests = definition.requests
    for name, ask in requests.asks.items() if requests is not None else ():
        alone = ask.model_copy(update={"instead": {}, "alone": False})
        only = requests.model_copy(update={"asks": {name: alone}, "questions": {}, "harms": {}}) if requests else None
        environment = AppEnvironment(definition.model_copy(update={"requests": only}))
        found = next(_tasks(environment, "done"), None)
        if found is None:
            yield name
        elif runs is not None:
            runs.append(found)
        missing = set(ask.refused_by) - stopped
        for task in _tasks(environment, "refused") if missing else ():
            forbidden = Policed.of(task.draft.details).forbidden
            missing -= {forbidden.rule} if forbidden else set()
            if not missing:
                break
        stopped |= set(ask.refused_by) - missing


def _written(definition: Definition) -> set[str]:
    return {name for name, tool in definition.tools.items() if tool.writes}


def _tasks(environment: AppEnvironment, kind: str) -> Iterator[Checked]:
    explorer: Any = app_explorer(
        environment=environment, kinds={kind: 1.0}, writes={1: 1.0}, graded=False, hidden=0.0, safety_pairs=0.0
    )
    exploration: Exploration[Any] = Exploration(explorer)
    for index in range(_TRIED):
        for found in exploration.propose([index], 0):
            if isinstance(found, Checked):
                yield found
