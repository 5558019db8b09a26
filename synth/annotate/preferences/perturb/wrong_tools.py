"""Tools: one that does not exist, one that does not fit, and a call where none is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from synth.agents.contract import Turn
from synth.annotate.preferences.perturb.recoveries import again
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.annotate.preferences.perturb.values import name_of
from synth.environments.contract import ToolCall, ToolSchema
from synth.lexicon.alternatives import template
from synth.lexicon.reading import phrases

__all__ = ["NeedlessCall", "UnavailableTool", "UnfitTool"]

_ELSEWHERE = ("web_search", "browse", "visit", "click", "fetch_page", "lookup", "scroll", "read_page", "get_document")
"""Tools that agents have in other environments."""


class UnavailableTool:
    """The right thing asked of a tool that the agent does not have."""

    name = "unavailable_tool"
    family = "tool_irrelevance"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        missing = [name for name in _ELSEWHERE if name not in {tool.name for tool in run.tools}]
        for step in (int(at) for at in generator.permutation(run.last)):
            turn = run.history[step].turn
            if len(turn.calls) != 1:
                continue
            name = missing[int(generator.integers(len(missing)))]
            wrong = turn.calls[0].model_copy(update={"name": name})
            yield Proposal(
                step,
                Turn(thought=_said(run, step, turn, turn.calls[0], generator), calls=(wrong,)),
                ("error",),
                f"calls {name}, a tool that does not exist, in place of {turn.calls[0].name}",
            )


class UnfitTool:
    """Another tool than the one that fits, with what it would take for the same purpose."""

    name = "unfit_tool"
    family = "tool_irrelevance"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(run.last)):
            turn = run.history[step].turn
            if len(turn.calls) != 1:
                continue
            call = turn.calls[0]
            others = [tool for tool in run.tools if tool.name != call.name and _one_text(tool) is not None]
            for tool in (others[int(at)] for at in generator.permutation(len(others))):
                for value in _texts(run, step, call):
                    wrong = ToolCall(id=call.id, name=tool.name, arguments={str(_one_text(tool)): value})
                    yield Proposal(
                        step,
                        Turn(thought=_said(run, step, turn, wrong, generator), calls=(wrong,)),
                        ("error", "nothing"),
                        f"calls {tool.name} with {value!r}, which does not fit, in place of {call.name}",
                    )


class NeedlessCall:
    """Everything that the answer rests on was read, and one more call is made that was made before."""

    name = "needless_call"
    family = "tool_irrelevance"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        if run.last == 0 or len(run.views[run.last].hops) < len(run.task.walk.hops):
            return
        for past in (int(at) for at in generator.permutation(run.last)):
            turn = again(run, run.last, run.history[past].turn)
            if turn is not None and turn.calls:
                words = f"repeats turn {past} ({turn.calls[0].name}) where everything needed for the answer was in view"
                yield Proposal(run.last, turn, ("repeat",), words)


_SAID = {
    "find": phrases("search")["verify_find"],
    "search": phrases("search")["search_name"],
    "open": phrases("search")["hit_try"],
    "find_entity": phrases("graph")["g_find"],
}
"""What an agent says when it makes a call of one name."""


def _said(run: GoodRun, step: int, turn: Turn, call: ToolCall, generator: np.random.Generator) -> str | None:
    """What an agent says of the call, which is not what it said of the recorded one. The recorded thought where it
    thinks nothing, or in words of its own: then both sides think the same, and there is no pair."""
    options = _SAID.get(call.name, ())
    if turn.thought is None or run.row.model is not None or not options:
        return turn.thought
    value = str(next(iter(call.arguments.values())))
    name = name_of(run, step, value) or value
    words = template(options[int(generator.integers(len(options)))])
    said = words.draw(lambda count: int(generator.integers(count))).format(name=name, title=name)
    return said if run.grounded(step, Turn(thought=said)) else turn.thought


def _one_text(tool: ToolSchema) -> str | None:
    """Name of the one argument that the tool must have, if it is a text."""
    required: list[Any] = list(tool.parameters.get("required", ()))
    properties = tool.parameters.get("properties", {})
    if len(required) != 1 or properties.get(required[0], {}).get("type") != "string":
        return None
    return str(required[0])


def _texts(run: GoodRun, step: int, call: ToolCall) -> Iterator[str]:
    """What the call is about: its text, or the name that this was shown by. A relation or a direction is no name that
    anybody would look up."""
    for _, value in sorted(call.arguments.items()):
        if isinstance(value, str) and value.strip() and not (value.islower() and " " not in value and "/" not in value):
            yield name_of(run, step, value) or value
