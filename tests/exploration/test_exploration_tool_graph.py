"""Tool graphs: what schemas say, what recorded calls prove, and what can be called next."""

from __future__ import annotations

from typing import Any

import pytest
from graph_world import graph_world
from runs_of import of_history

from synth.agents.contract import Step, Turn
from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.exploration.tool_graph import Run, tool_graph


def tool(name: str, *arguments: str, optional: tuple[str, ...] = ()) -> ToolSchema:
    return ToolSchema(
        name=name,
        description=name,
        parameters={
            "type": "object",
            "properties": {argument: {"type": "string"} for argument in (*arguments, *optional)},
            "required": list(arguments),
            "additionalProperties": False,
        },
    )


DESK = (tool("list_flights", "city"), tool("book", "flight", optional=("seat",)), tool("cancel", "booking"))


def history(*calls: tuple[str, dict[str, Any], str]) -> Run:
    steps = []
    for number, (name, arguments, content) in enumerate(calls):
        call = ToolCall(id=f"c{number}", name=name, arguments=arguments)
        error = "refused" if content.startswith("!") else None
        result = ToolResult(call_id=call.id, name=name, content=content, error=error)  # type: ignore[arg-type]
        steps.append(Step(turn=Turn(calls=(call,)), results=(result,)))
    return of_history(tuple(steps))


BOOKED = history(
    ("list_flights", {"city": "Orl"}, "Flights to Orl: FL-204 at 9, FL-311 at 12."),
    ("book", {"flight": "FL-204", "seat": "12A"}, "Booked FL-204 as BK-9001."),
    ("cancel", {"booking": "BK-9001"}, "Cancelled BK-9001."),
)


def test_observed_values_show_what_feeds_what() -> None:
    found = tool_graph(DESK, [BOOKED])
    assert [(f.source, f.target, f.argument, f.seen, f.declared) for f in found.feeds] == [
        ("book", "cancel", "booking", 1, False),
        ("list_flights", "book", "flight", 1, False),
    ]
    assert found.starts() == ("list_flights",)
    assert found.next(["list_flights"]) == ("list_flights", "book")
    assert found.needs("book") == {"flight"}  # the seat came from nowhere, and is not needed


def test_what_the_agent_said_first_is_fed_by_nobody() -> None:
    told = history(
        ("book", {"flight": "FL-204"}, "Booked FL-204 as BK-1111."),
        ("book", {"flight": "FL-204"}, "Booked FL-204 as BK-1112."),
    )
    assert tool_graph(DESK, [told]).feeds == ()


def test_refused_calls_prove_nothing_and_a_threshold_drops_the_rare() -> None:
    refused = history(("list_flights", {"city": "Orl"}, "FL-204"), ("book", {"flight": "FL-204"}, "!full"))
    assert tool_graph(DESK, [refused]).feeds == ()
    assert tool_graph(DESK, [BOOKED], least=2).feeds == ()
    assert len(tool_graph(DESK, [BOOKED, BOOKED], least=2).feeds) == 2


def test_an_unknown_tool_is_named() -> None:
    with pytest.raises(KeyError, match="nothing"):
        tool_graph(DESK).needs("nothing")


def test_the_graph_environments_tools_feed_each_other() -> None:
    world = graph_world()
    runs = [of_history(world.play(task, "teacher").history) for task in world.tasks[:20]]
    declared = tool_graph(world.environment.tools())
    assert declared.starts() == ("find_entity",)
    assert {(f.source, f.target) for f in declared.feeds} == {
        ("find_entity", "get_relations"),
        ("find_entity", "get_triples"),
    }
    found = {(f.source, f.target, f.argument): f for f in tool_graph(world.environment.tools(), runs, least=5).feeds}
    assert found["find_entity", "get_relations", "entity"].seen > 10
    assert found["get_triples", "get_relations", "entity"].seen > 10
    assert not found["get_triples", "get_relations", "entity"].declared
    assert found["get_relations", "get_triples", "relation"].seen > 10
