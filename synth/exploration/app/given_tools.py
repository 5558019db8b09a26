"""From a list of tools to an application in which every request was carried out (ASTRA, arXiv 2601.21558).

What :mod:`synth.environments.app.from_tools` composes by rule is explored: a request that can't be carried out, and a
rule that stops nothing, are taken out and said. A model may then propose a fuller file; it is held to the same list.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from synth.environments.app.definition import Definition
from synth.environments.app.environment import AppEnvironment
from synth.environments.app.from_tools.composing import compose
from synth.environments.app.from_tools.reading import GivenTool, snake
from synth.environments.app.reading import parse_definition
from synth.environments.app.state import AppBeginning
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.exploration.app.architect import Design, policy_lines, problem_with, propose, undone
from synth.exploration.app.feeds import declared_feeds
from synth.exploration.app.requests import beginning_of
from synth.exploration.tool_graph import Run, ToolGraph, tool_graph
from synth.models.asking import AskConfig, quoted
from synth.models.contract import Model
from synth.schemas.plans import Planned
from synth.tasks.contract import Checked

__all__ = ["MadeOfTools", "design_tools", "make_of_tools", "problem_with_tools"]

_PROMPT = ("environment/tools", 1)


@dataclass(frozen=True)
class MadeOfTools:
    """The application of a list of tools."""

    text: str
    tools: tuple[str, ...]
    """Those of the list that it has."""
    left_out: tuple[str, ...]
    """What could not be made of the list, a line each."""
    graph: ToolGraph
    """Which tool shows what another one takes: by the definition, and in the tasks that were carried out."""


def make_of_tools(tools: Sequence[GivenTool], name: str, where: str) -> MadeOfTools:
    """The application by rule.

    Raises:
        InputError: nothing can be made of the list.
    """
    composed = compose(tools, name, where)
    application: dict[str, Any] = yaml.safe_load(composed.text)
    definition = parse_definition(composed.text, where)
    AppEnvironment(definition)
    left_out = list(composed.left_out)
    stopped: set[str] = set()
    done: list[Checked] = []
    asks = application["requests"]["asks"]
    for ask in list(undone(definition, stopped, done)):
        left_out.append(f"request {ask}: no way was found to carry it out")
        del asks[ask]
    if not asks:
        raise InputError("none of its requests can be carried out", where=where, mend="write the application by hand")
    for section in application["policy"]:
        for rule in section["rules"]:
            if rule["name"] not in stopped:
                left_out.append(f"rule {rule['name']}: it stopped no request")
        section["rules"] = [rule for rule in section["rules"] if rule["name"] in stopped]
    application["policy"] = [section for section in application["policy"] if section["rules"]]
    for ask in asks.values():
        ask["refused_by"] = {rule: looks for rule, looks in ask.get("refused_by", {}).items() if rule in stopped}
    text = yaml.safe_dump(application, sort_keys=False, allow_unicode=True, width=200)
    environment = AppEnvironment(parse_definition(text, where))
    runs = [_run(environment, task) for task in done]
    graph = tool_graph(environment.tools(), runs, declared=declared_feeds(environment.definition))
    return MadeOfTools(text, composed.tools, tuple(left_out), graph)


def _run(environment: AppEnvironment, task: Checked) -> Run:
    """The calls of a task's solution with what they show."""
    seed = AppBeginning.of(task.draft.details).app_seed
    episode = environment.reset(beginning_of(environment, int(str(seed))))
    try:
        calls = [
            ToolCall(id=f"call_{number}", name=call.tool, arguments=call.arguments)
            for number, call in enumerate(Planned.of(task.draft.details).plan.calls)
        ]
        return [[(call, episode.step(call))] for call in calls]
    finally:
        episode.close()


def design_tools(
    model: Model, tools: Sequence[GivenTool], made: MadeOfTools, *, attempts: int, config: AskConfig | None = None
) -> Design:
    """Ask a model for a fuller application of the same tools until one holds."""
    schema = json.dumps(Definition.model_json_schema(), ensure_ascii=False)
    listed = [_listed(tool) for tool in tools]

    def material(refused: Sequence[str]) -> dict[str, str]:
        told = quoted(tools=listed, left_out=list(made.left_out), refused=list(refused))
        return {"schema": schema, "draft": made.text, "material": told}

    return propose(model, _PROMPT, material, lambda text: problem_with_tools(text, tools, made), attempts, config)


def _listed(tool: GivenTool) -> dict[str, Any]:
    parameters = {one.name: dict(one.schema) | {"required": one.required} for one in tool.parameters}
    return {"name": tool.name, "about": tool.about, "parameters": parameters, "shows": dict(tool.shows)}


def problem_with_tools(text: str, tools: Sequence[GivenTool], made: MadeOfTools) -> str | None:
    """The first thing that is wrong with an application as one of these tools; None: all of it was proven."""
    try:
        definition = parse_definition(text, "application")
    except InputError as error:
        return str(error)
    given = {snake(tool.name): {snake(one.name): one.required for one in tool.parameters} for tool in tools}
    for name, tool in definition.tools.items():
        if name not in given:
            return f"tools.{name}: the list has no such tool"
        for argument in tool.arguments:
            if argument not in given[name]:
                return f"tools.{name}.arguments.{argument}: the tool of the list takes no such argument"
    for name in made.tools:
        if snake(name) not in definition.tools:
            return f"tools: {snake(name)} was in the draft and is missing"
    return problem_with(text, policy_lines(definition))
