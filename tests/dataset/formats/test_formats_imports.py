"""Runs as others write them: what each format's files hold in the wild, and how it is read."""

from __future__ import annotations

from typing import Any

import pytest
from exporter_samples import PROVENANCE

from synth.agents.imported import from_request, import_trajectory, question_of
from synth.agents.trajectory import history_of
from synth.registry import find
from synth.schemas.adp import Trajectory
from synth.schemas.turns import speakers

ASKED = {"class_": "text_observation", "content": "Where is it?", "source": "user"}
CALL = {"class_": "api_action", "function": "look", "kwargs": {"at": "x"}, "description": None}
CODE = {"class_": "code_action", "language": "bash", "content": "ls", "description": "I list."}
DONE = {"class_": "message_action", "content": "Here.", "description": None}
PAGE = {
    "class_": "web_observation",
    "html": "<p>",
    "axtree": "[1] text",
    "url": "",
    "image_observation": None,
    "viewport_size": None,
}


def said(text: str, source: str = "user") -> dict[str, Any]:
    return {"class_": "text_observation", "content": text, "source": source}


def adp(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "theirs", "content": [dict(item) for item in content], "details": {}, **more}


def claude(kind: str, name: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": "s", "message": {"role": kind, "id": name, "content": content}, **more}


def codex(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **more}}


def steps(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = [{"step_id": 1, "source": "user", "message": "Where is it?"}, *steps]
    return {"schema_version": "ATIF-v1.6", "agent": {"name": "theirs", "version": "1"}, "steps": told, **more}


def acts(results: list[Any], *names: str) -> dict[str, Any]:
    calls = [{"tool_call_id": f"t{n}", "function_name": name, "arguments": {}} for n, name in enumerate(names)]
    return {"source": "agent", "message": "", "tool_calls": calls, "observation": {"results": results}}


def called(name: str, arguments: str = "{}", id_: str = "c") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Where is it?"}, *messages], **more}


def event(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "source": "agent", **more}


WEATHER = [{"role": "assistant", "tool_calls": [called("look")]}, {"role": "tool", "tool_call_id": "c", "content": "1"}]

TAKEN: dict[str, tuple[str, dict[str, Any], str]] = {
    "results as the user's": ("adp", adp(ASKED, CALL, said("There."), CALL, said("Here."), DONE), "u A=u A=u M"),
    "two calls, one output": ("adp", adp(ASKED, CODE, CODE, said("a\nb", "environment"), DONE), "u C C=e M"),
    "code and its output": ("adp", adp(ASKED, CODE, said("a"), CODE, said("b", "environment"), DONE), "u C=u C=e M"),
    "several turns of the user": ("adp", adp(ASKED, DONE, said("Sure?"), CALL, said("x"), DONE), "u M u A=u M"),
    "a page before the first action": ("adp", adp(ASKED, PAGE, CALL, PAGE, DONE), "u w A=w M"),
    "an introduction": ("adp", adp(said("Rules."), said("Yes.", "agent"), ASKED, CALL), "u g u A"),
    "words and a call in one turn": ("adp", adp(ASKED, DONE, CALL, said("x"), DONE), "u M A=u M"),
    "tools as JSON": ("adp", adp(ASKED, DONE, details={"tools": '[{"name": "look"}]'}), "u M"),
    "measures as text": ("adp", adp(ASKED, DONE, details={"test_score": "high", "reward": "0.5"}), "u M"),
    "a later version": ("adp", adp(ASKED | {"said_at": 3}, DONE, schema_version="1.5.0", licences=["x"]), "u M"),
    "ids that tie nothing": (
        "adp",
        adp(ASKED, CALL | {"tool_call_id": "a"}, DONE, said("?") | {"tool_call_id": "b"}, schema_version="1.0.0"),
        "u A M u",
    ),
    "ADP as ATIF": ("adp", steps({"source": "agent", "message": "Here."}, schema_version="ATIF-v1.7"), "u M"),
    "a result without an id": ("atif", steps(acts([{"content": "x"}], "look")), "u A=e"),
    "null ids in order": (
        "atif",
        steps(acts([{"source_call_id": None, "content": n} for n in ("a", "b")], "look", "go")),
        "u A A=e=e",
    ),
    "one screen for two commands": ("atif", steps(acts([{"content": "x"}], "look", "go")), "u A A=e"),
    "a step without calls that is answered": ("atif", steps(acts([{"content": "no JSON"}])), "u M e"),
    "system and user in the middle": (
        "atif",
        steps(acts([], "look"), {"source": "system", "message": "!"}, {"source": "user", "message": "So?"}),
        "u A=e u",
    ),
    "pictures": ("atif", steps({"source": "agent", "message": [{"type": "text", "text": "Here."}]}), "u M"),
    "several users' turns": ("openai", chat(*WEATHER, {"role": "user", "content": "?"}, *WEATHER), "u A=e u A=e"),
    "a call that names no object": ("openai", chat({"role": "assistant", "tool_calls": [called("f", "{x")]}), "u A"),
    "the old function_call": (
        "openai",
        chat(
            {"role": "assistant", "content": "", "function_call": {"name": "look", "arguments": "{}"}},
            {"role": "function", "name": "look", "content": "x"},
        ),
        "u A=e",
    ),
    "Anthropic's parts": (
        "openai",
        chat(
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        ),
        "u A=e",
    ),
    "calls in marks": (
        "openai",
        chat({"role": "assistant", "content": 'Hm.\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'}),
        "u A",
    ),
    "prompt and completion": ("openai", {"prompt": "Where is it?", "completion": "Here."}, "u M"),
    "LLaMA-Factory's alpaca": (
        "sharegpt",
        {"instruction": "Where", "input": "is it?", "output": "Here.", "history": [["Where?", "Hi"]]},
        "u M u M",
    ),
    "a call in plain words": (
        "sharegpt",
        {
            "conversations": [
                {"from": "human", "value": "Where is it?"},
                {"from": "function_call", "value": "<function=look>\n<parameter=at>\nx\n</parameter>\n</function>"},
                {"from": "observation", "value": "x"},
                {"from": "function_call", "value": "I found it."},
            ]
        },
        "u A=e M",
    ),
    "OpenHands' events": (
        "auto",
        {
            "events": [
                event(0, action="system", args={"content": "Be brief.", "tools": []}),
                event(1, source="user", action="message", args={"content": "Where is it?"}),
                event(2, action="recall", args={}),
                event(3, action="run", args={"command": "ls", "thought": "I list."}),
                event(4, observation="run", cause=3, content="x"),
                event(5, action="edit", args={"path": "x"}, tool_call_metadata={"function_name": "editor"}),
                event(6, observation="edit", cause=5, content="ok"),
                event(7, action="finish", args={"final_thought": "Here."}),
            ]
        },
        "u C=e A=e M",
    ),
    "SWE-agent's trajectory": (
        "auto",
        {
            "trajectory": [{"action": "ls", "observation": "x", "thought": "I list.", "response": "..."}],
            "history": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}],
            "info": {"exit_status": "submitted", "submission": "diff"},
        },
        "u C=e",
    ),
    "mini-swe-agent's trajectory": (
        "auto",
        {
            "trajectory_format": "mini-swe-agent-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Where is it?"},
                {"role": "assistant", "content": "THOUGHT: I list.\n\n```bash\nls\n```"},
                {"role": "user", "content": "<returncode>0</returncode>"},
            ],
        },
        "u C=e",
    ),
    "messages under history alone": (
        "auto",
        {"history": [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "Here."}]},
        "u M",
    ),
    "alpaca with earlier pairs": (
        "auto",
        {"instruction": "Where is it?", "output": "Here.", "history": [["Where?", "What?"]]},
        "u M u M",
    ),
    "a log of several agents": (
        "auto",
        {
            "question": "Where is it?",
            "system_prompt": {"Finder": "Find it."},
            "history": [
                {"role": "assistant", "name": "Finder", "content": "```sh\nls\n```"},
                {"role": "user", "name": "Computer_terminal", "content": "x"},
                {"role": "user", "name": "Checker", "content": "Here."},
                {"role": "user", "name": "Checker", "content": "TERMINATE"},
            ],
        },
        "u g M e g M g M",
    ),
    "a log of an orchestrator": (
        "auto",
        {
            "history": [
                {"role": "human", "content": "Where is it?"},
                {"role": "Orchestrator (thought)", "content": "Hm."},
                {"role": "Orchestrator (-> WebSurfer)", "content": "Look."},
                {"role": "WebSurfer", "content": "Here."},
            ]
        },
        "u g M g M g M",
    ),
    "agents that call tools": (
        "group-chat",
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Where is it?"},
                {
                    "role": "assistant",
                    "name": "Finder",
                    "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}],
                },
                {"role": "tool", "name": "look", "tool_call_id": "a", "content": "x"},
                {"role": "assistant", "name": "Teller", "content": "Here."},
            ]
        },
        "u g A=e g M",
    ),
    "Claude Code's session": (
        "auto",
        {
            "events": [
                {"type": "summary", "summary": "x", "leafUuid": "x"},
                {"type": "system", "subtype": "init", "tools": ["Read"], "session_id": "s"},
                claude("user", "m0", "Where is it?"),
                claude("assistant", "m1", [{"type": "thinking", "thinking": "Hm."}]),
                claude("assistant", "m1", [{"type": "tool_use", "id": "a", "name": "Read", "input": {}}]),
                claude("user", None, [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]),
                claude("assistant", "m2", [{"type": "text", "text": "A helper's."}], isSidechain=True),
                claude("assistant", "m3", [{"type": "text", "text": "Here."}]),
            ]
        },
        "u A=e M",
    ),
    "Codex's session": (
        "sessions",
        {
            "events": [
                {"type": "session_meta", "payload": {"id": "s"}},
                codex("message", role="user", content=[{"type": "input_text", "text": "<environment_context>x"}]),
                codex("message", role="user", content=[{"type": "input_text", "text": "Where is it?"}]),
                {"type": "event_msg", "payload": {"type": "user_message", "message": "Where is it?"}},
                codex("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
                codex("function_call", name="shell", arguments='{"command": ["ls"]}', call_id="a"),
                codex("function_call_output", call_id="a", output="x"),
                codex("custom_tool_call", name="apply_patch", input="*** Begin", call_id="b"),
                codex("custom_tool_call_output", call_id="b", output="done"),
                codex("message", role="assistant", content=[{"type": "output_text", "text": "Here."}]),
            ]
        },
        "u A=e A=e M",
    ),
}
SIGNS = {"api_action": "A", "code_action": "C", "message_action": "M", "web_observation": "w", "image_observation": "i"}


def outline(trajectory: Trajectory) -> str:
    """``A=e``: a call and the environment's answer to it."""
    open_: set[str | None] = set()
    made = ""
    for item in trajectory.content:
        sign = SIGNS.get(item.class_) or {"user": "u", "environment": "e", "agent": "g"}[item.source]
        name = getattr(item, "tool_call_id", None)
        made += ("=" if name in open_ else " ") + sign
        open_ |= {name} if name is not None else set()
    return made.strip()


@pytest.mark.parametrize("case", TAKEN)
def test_what_is_in_the_wild_is_taken_whole(case: str) -> None:
    name, value, wanted = TAKEN[case]
    read = find("importers", name).read(value)
    assert outline(read) == wanted
    assert "Where" in question_of(read)
    row = import_trajectory(read, None, provenance=PROVENANCE)
    _, history = history_of(row)
    assert len(history) == row.turns
    assert sum(len(step.turn.calls) for step in history) == row.tool_calls


@pytest.mark.parametrize(("reward", "wanted"), [(1.0, True), (0, False), (0.5, None), (True, None)])
def test_a_reward_of_one_or_nothing_is_a_verdict(reward: Any, wanted: bool | None) -> None:
    chat = [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "Here."}]
    assert find("importers", "auto").read({"traj": chat, "reward": reward}).details.get("correct") is wanted


def test_a_report_of_a_harness_is_no_broken_row_of_instructions() -> None:
    with pytest.raises(ValueError, match="no run of a format that we know: its keys are instruction, is_resolved"):
        find("importers", "auto").read({"instruction": "Leave the maze.", "is_resolved": False})


def test_what_stands_beside_is_kept() -> None:
    def details(case: str) -> dict[str, Any]:
        name, value, _ = TAKEN[case]
        return dict(find("importers", name).read(value).details)

    assert details("tools as JSON")["tools"][0]["function"]["name"] == "look"
    assert details("measures as text") == {"test_score_text": "high", "reward": 0.5}
    assert details("a later version")["given"] == {
        "licences": ["x"],
        "content": {"0": {"said_at": 3}},
        "schema_version": "1.5.0",
    }
    assert details("OpenHands' events")["system_prompt"] == "Be brief."
    assert details("OpenHands' events")["given"] == {"events_left_out": {"recall": 1}}
    assert details("a log of several agents")["given"] == {"system_prompts": {"Finder": "Find it."}}
    assert details("a log of several agents")["answer"] == "Here."
    assert details("Claude Code's session")["given"] == {
        "events_left_out": {"isSidechain": 1, "summary": 1, "system": 1}
    }
    assert details("Codex's session")["system_prompt"] == "<environment_context>x"
    assert details("SWE-agent's trajectory")["given"] == {"exit_status": "submitted", "submission": "diff"}


def test_the_names_of_agents_are_kept() -> None:
    def names(case: str) -> tuple[str | None, ...]:
        name, value, _ = TAKEN[case]
        return speakers(find("importers", name).read(value).content)

    assert names("a log of several agents") == ("Finder", "Checker", "Checker")
    assert names("a log of an orchestrator") == ("Orchestrator (thought)", "Orchestrator (-> WebSurfer)", "WebSurfer")
    assert names("agents that call tools") == ("Finder", "Teller")
    assert names("OpenHands' events") == (None, None, None)


def test_a_message_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match=r"history\[1\].name: the speaker is missing"):
        find("importers", "group-chat").read({"history": [{"name": "A", "content": "?"}, {"content": "!"}]})


@pytest.mark.parametrize(
    ("beside", "wanted"),
    [
        ({"resolved": True}, {"correct": True}),
        ({"correct": "False", "success": True}, {"correct": False}),
        (
            {"instance_id": 7, "license": "MIT", "split": "dev"},
            {"task_id": "7", "licence": "MIT", "split": "validation"},
        ),
        ({"success": 0.5, "model": ["a"]}, {}),
    ],
)
def test_names_that_mean_the_same(beside: dict[str, Any], wanted: dict[str, Any]) -> None:
    read = find("importers", "openai").read(chat({"role": "assistant", "content": "Here."}, **beside))
    assert dict(read.details) == {"system_prompt": "", "tools": [], **wanted}


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        (["A: Hi! How can I help?"], "Where is it?"),
        (["U: Hello there!", "A: Hi! What do you need?"], "Where is it?"),
        (["U: Good morning.", "A: Hi.", "U: hi"], "Where is it?"),
        (["U: Hello, is it big?", "A: Yes."], "Hello, is it big?"),
        (["A: " + "I plan. " * 50], None),
    ],
)
def test_a_run_begins_with_its_first_request(before: list[str], asked: str | None) -> None:
    roles = {"A": "assistant", "U": "user"}
    told = [{"role": roles[line[0]], "content": line[3:]} for line in before]
    chat = [*told, {"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "Here."}]
    read = find("importers", "openai").read({"messages": chat})
    run = from_request(read)
    if asked is None:
        with pytest.raises(ValueError, match="nobody asks"):
            question_of(run)
        return
    assert question_of(run) == asked
    opening = run.details.get("given", {}).get("opening", [])
    assert len(opening) + len(run.content) == len(read.content)
    assert [item["content"] for item in opening] == ([] if run is read else [line[3:] for line in before])
