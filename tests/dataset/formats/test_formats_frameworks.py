"""What LangChain, AutoGen and smolagents dump of a run is read as the run: the shapes are those of their releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from synth.registry import find
from synth.schemas.adp import ApiAction, MessageAction, TextObservation, Trajectory
from synth.sources.runs.files import objects_in, pieces_of, run_files

ASKED, FOUND, ANSWER = "Which bus goes to Kallmet after noon?", "Bus 12 at 13:40; bus 7 at 9:05", "Bus 12"
SEARCH = {"name": "timetable", "args": {"to": "Kallmet"}, "id": "call_1", "type": "tool_call"}
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "You help with trips."},
    {"type": "human", "content": ASKED},
    {
        "type": "ai",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "call_1", "name": "timetable"},
        ],
        "tool_calls": [SEARCH],
    },
    {"type": "tool", "content": FOUND, "tool_call_id": "call_1", "name": "timetable"},
    {"type": "ai", "content": ANSWER, "tool_calls": []},
]
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
PACKED = [
    {"lc": 1, "type": "constructor", "id": ["langchain_core", CLASSES[one["type"]]], "kwargs": one} for one in LANGCHAIN
]
CALLED = {"id": "call_1", "name": "timetable", "arguments": '{"to": "Kallmet"}'}
RESULT = {"content": FOUND, "name": "timetable", "call_id": "call_1", "is_error": False}
AUTOGEN: list[dict[str, Any]] = [
    {"source": "user", "content": ASKED, "type": "TextMessage"},
    {"source": "assistant", "content": "Let me look.", "type": "ThoughtEvent"},
    {"source": "assistant", "content": [CALLED], "type": "ToolCallRequestEvent"},
    {"source": "assistant", "content": [RESULT], "type": "ToolCallExecutionEvent"},
    {"source": "assistant", "content": "Bus", "type": "ModelClientStreamingChunkEvent"},
    {"source": "assistant", "content": ANSWER, "type": "TextMessage"},
]
CORE: list[dict[str, Any]] = [
    {"content": ASKED, "source": "User", "type": "UserMessage"},
    {"content": [CALLED], "thought": "Let me look.", "source": "Clerk", "type": "AssistantMessage"},
    {"content": [RESULT], "type": "FunctionExecutionResultMessage"},
    {"content": ANSWER, "source": "Clerk", "type": "AssistantMessage"},
]


def step(number: int, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
    call = {"id": f"call_{number}", "type": "function", "function": {"name": tool, "arguments": arguments}}
    return {"step_number": number, "tool_calls": [call], "model_output": "Let me look.", "error": None, **more}


SMOLAGENTS: list[dict[str, Any]] = [
    {"task": ASKED, "task_images": None},
    step(1, "timetable", {"to": "Kallmet"}, observations=FOUND),
    step(2, "final_answer", {"answer": ANSWER}, observations=ANSWER, is_final_answer=True),
]
CODE = "print(timetable('Kallmet'))"
CODED: list[dict[str, Any]] = [
    {"system_prompt": "You write code."},
    {"task": ASKED},
    step(
        1,
        "python_interpreter",
        CODE,
        model_output=f"Let me look.\n<code>\n{CODE}\n</code>",
        code_action=CODE,
        observations=FOUND,
        action_output=ANSWER,
        is_final_answer=True,
    ),
]
DUMPS: dict[str, dict[str, Any]] = {
    "langchain": {"messages": LANGCHAIN},
    "langchain, as constructors": {"messages": PACKED},
    "langchain, type and data": {"messages": [{"type": one["type"], "data": one} for one in LANGCHAIN]},
    "langsmith": {"inputs": {"messages": PACKED[1:2]}, "outputs": {"messages": PACKED}, "run_type": "chain"},
    "autogen": {"messages": AUTOGEN, "stop_reason": "done"},
    "autogen core": {"messages": CORE},
    "smolagents": {"steps": SMOLAGENTS, "output": ANSWER},
    "smolagents, code": {"steps": CODED},
}


@pytest.mark.parametrize("dump", DUMPS)
def test_a_dump_is_the_run(dump: str) -> None:
    read = find("importers", "auto").read(DUMPS[dump])
    assert isinstance(read, Trajectory)
    shown = [one for one in read.content if not (isinstance(one, TextObservation) and one.source == "agent")]
    asked, call, result, answer = shown
    assert isinstance(asked, TextObservation)
    assert isinstance(call, ApiAction)
    assert isinstance(result, TextObservation)
    assert isinstance(answer, MessageAction)
    assert (asked.source, asked.content) == ("user", ASKED)
    assert (call.function, call.kwargs) in [("timetable", {"to": "Kallmet"}), ("python_interpreter", {"code": CODE})]
    assert "Let me look." in (call.description, call.reasoning_content)
    assert (result.content, result.tool_call_id) == (FOUND, call.tool_call_id)
    assert answer.content == ANSWER


def test_events_of_the_harness_are_counted() -> None:
    read = find("importers", "auto").read(DUMPS["autogen"])
    assert read.details["given"]["events_left_out"] == {"ModelClientStreamingChunkEvent": 1}


@pytest.mark.parametrize("who", ["assistant", "Clerk"])
def test_the_word_that_ends_a_conversation_is_no_part_of_the_answer(who: str) -> None:
    said = {"source": who, "content": f"{ANSWER}. TERMINATE", "type": "TextMessage"}
    read = find("importers", "auto").read({"messages": [*AUTOGEN[:1], said]})
    assert read.details["answer"] == f"{ANSWER}."
    last = read.content[-1]
    assert isinstance(last, MessageAction)
    assert last.content == said["content"], "the words stay as they were"


def test_a_step_that_fails_shows_its_error() -> None:
    failed = step(
        1, "timetable", {"to": "Kallmet"}, error={"type": "AgentToolExecutionError", "message": "no such town"}
    )
    read = find("importers", "auto").read({"steps": [SMOLAGENTS[0], failed, SMOLAGENTS[2]]})
    assert [one.content for one in read.content if isinstance(one, TextObservation)] == [ASKED, "no such town"]


def test_files_that_hold_nothing_but_the_list_are_one_run_each(tmp_path: Path) -> None:
    for name, run in (("a", LANGCHAIN), ("b", AUTOGEN), ("c", SMOLAGENTS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    (tmp_path / "d.json").write_text(json.dumps([{"task": "Two runs.", "messages": LANGCHAIN}] * 2))
    found = [value for piece in pieces_of(run_files(tmp_path)) for _, value in objects_in(piece, events=False)]
    assert [sorted(one) for one in found[:3]] == [["id", "messages"], ["id", "messages"], ["id", "steps"]]
    assert found[3:] == [{"task": "Two runs.", "messages": LANGCHAIN}] * 2
