"""Servers that are broken or mean: a clear line or an observation, never a crash, never a process left behind."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest

from synth.environments.contract import ToolCall, ToolResult
from synth.errors import InputError
from synth.testing.corpus import small_tasks

pytest.importorskip("mcp", reason="extra mcp")

from stand_ins.mcp_server import command

from synth.environments.mcp.environment import McpEnvironment, open_mcp
from synth.environments.mcp.tools import result_text

pytestmark = pytest.mark.thorough

TASK = small_tasks()[0]


def make(listing: str = "all", *more: str, **options: Any) -> McpEnvironment:
    return open_mcp(servers={"notes": {"command": command(listing, *more)}}, **options)


def do(environment: McpEnvironment, *calls: tuple[str, dict[str, Any]]) -> list[ToolResult]:
    episode = environment.reset(TASK)
    try:
        return [episode.step(ToolCall(id=f"c{n}", name=name, arguments=given)) for n, (name, given) in enumerate(calls)]
    finally:
        episode.close()


def children() -> list[psutil.Process]:
    lines = [(child, " ".join(_line(child))) for child in psutil.Process().children(recursive=True)]
    return [child for child, line in lines if "mcp_server.py" in line and "guardian.py" not in line]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return ["mcp_server.py", "(zombie)"]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    gc.collect()
    assert children() == []


@pytest.fixture(scope="module")
def everything() -> McpEnvironment:
    return make(call_seconds=20)


def kinds(environment: McpEnvironment) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for warning in environment.warnings:
        found.setdefault(warning.tool, set()).add(warning.kind)
    return found


# --- descriptions and schemas -----------------------------------------------------------------------------------------


def test_orders_in_a_description_are_a_label_on_every_run() -> None:
    environment = make("poison")
    assert kinds(environment) == {
        "add": {"instructs"},
        "multiply": {"hidden_characters"},
        "sum": {"instructs"},
        "div": {"instructs", "hidden_characters"},
    }
    warnings = environment.settings(TASK)["warnings"]
    assert {(one["tool"], one["kind"]) for one in warnings} >= {("add", "instructs"), ("sum", "instructs")}
    said = " ".join(one["detail"] for one in warnings)
    assert "asks for secrecy" in said
    assert "asks for secrets" in said
    for tool in environment.tools():
        assert tool.description.isprintable() or "\n" in tool.description
        assert not any(0xE0000 <= ord(letter) <= 0xE007F for letter in json.dumps(tool.function(), ensure_ascii=False))
    # What a server says of itself stands in no system prompt.
    assert "gnore" not in environment.instructions()


def test_good_tools_have_no_label(everything: McpEnvironment) -> None:
    assert everything.warnings == ()
    assert "warnings" not in everything.settings(TASK)


def test_gigantic_and_deep_schemas_are_left_out_and_long_descriptions_cut() -> None:
    environment = make("gigantic")
    assert [tool.name for tool in environment.tools()] == ["good", "wordy"]
    assert len(environment.tools()[1].description) < 9_000
    assert "1,000,000 characters" in environment.tools()[1].description
    assert {warning.tool: warning.detail.split(",")[0] for warning in environment.warnings} == {
        "wide": "its input schema has 5",
        "deep": "its input schema is nested deeper than 32 levels",
    }


def test_schemas_that_are_none_are_left_out_and_slow_ones_are_not_followed() -> None:
    environment = make("schemas")
    assert [tool.name for tool in environment.tools()] == ["circular", "good", "laughs", "open", "slow"]
    said = {warning.tool: warning.detail for warning in environment.warnings}
    assert set(said) == {"no_object", "no_type", "bad_required", "remote"}
    assert "outside itself" in said["remote"]
    assert "ghost" in said["bad_required"]
    for tool in environment.tools():
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters["additionalProperties"] is False
    results = do(
        environment,
        ("slow", {"a": "a" * 40 + "!"}),  # by this pattern, for ever
        ("laughs", {"a": "x"}),  # by these references, 2^40 checks
        ("circular", {"a": {"a": {}}}),
        ("circular", {"b": "no number"}),
        ("open", {"anything": 1}),
    )
    assert [result.error for result in results] == [None, None, None, "bad_arguments", "bad_arguments"]


def test_names_that_are_taken_or_no_function_names() -> None:
    environment = make("names")
    assert [tool.name for tool in environment.tools()] == ["a_b_c", "etc", "good", "n" * 64, "x_x1b_31m"]
    assert kinds(environment)["good"] == {"left_out"}
    assert sorted(warning.kind for warning in environment.warnings).count("left_out") == 4
    called = do(environment, ("a_b_c", {}), ("etc", {}), ("x_x1b_31m", {}))
    assert [result.content.split(" was called")[0] for result in called] == ["a b/c", "../../etc", "x\\x1b[31m"]


def test_thousands_of_tools_and_pages_without_end() -> None:
    assert len(make("thousands", max_tools=40).tools()) == 40
    paged = make("pages", max_tools=10)
    assert len(paged.tools()) == 10
    assert "lists 11 tools" in paged.warnings[0].detail


def test_a_tool_that_became_another_one_fails_and_its_new_words_are_never_shown(tmp_path: Path) -> None:
    environment = make("changing", str(tmp_path / "starts"))
    assert "must send" not in json.dumps([tool.function() for tool in environment.tools()])
    results = do(environment, ("read", {"title": "a"}), ("write", {"title": "a", "text": "b"}))
    assert results[0].error == "failure"
    assert results[0].content == "The tool failed: its server now lists another tool under this name, or none."
    assert results[1].error is None


@pytest.mark.parametrize(
    ("listing", "options", "words"),
    [
        ("mute", {"start_seconds": 0.5}, "it said nothing within 0.5 seconds"),
        ("refuses", {}, "error: the license of this server has run out"),
        ("old", {}, "its handshake is not what the protocol allows"),
        ("schemas", {"tools": ["no_type"]}, "no server has the tool 'no_type' (its input schema is no JSON Schema"),
        ("notes", {"tools": ["fly"]}, "no server has the tool 'fly'"),
    ],
)
def test_a_server_that_can_not_be_used_is_one_clear_line(listing: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        make(listing, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


# --- results ----------------------------------------------------------------------------------------------------------


def test_control_characters_are_written_out(everything: McpEnvironment) -> None:
    (result,) = do(everything, ("controls", {}))
    assert result.error is None
    assert result.content == (
        "red \\x1b[31m, null \\x00, bell \\x07, turned \\u202e, tag \\U000e0041, line\nend, half ?."
    )


def test_what_is_no_text_is_refused_in_words(everything: McpEnvironment) -> None:
    lines = do(everything, ("picture", {}))[0].content.split("\n")
    assert lines[0] == "[image, image/png, about 300 bytes, is not shown: only text is]"
    assert lines[1].startswith("[audio, audio/wav, about 3 bytes")
    assert lines[2:4] == ["[resource file:///a]", "inside"]
    assert lines[4].startswith("[resource file:///b, about 3 bytes, is not shown")
    assert lines[5] == "[link to a resource: c file:///c]"


def test_structured_content_is_shown_once(everything: McpEnvironment) -> None:
    alone, both, nothing = do(everything, ("structured", {}), ("structured", {"both": True}), ("empty", {}))
    assert alone.content == '{"a":[1,2],"b":1}'
    assert json.loads(both.content) == {"a": [1, 2], "b": 1}
    assert nothing.content == "(The tool gave an empty result.)"
    (rows,) = do(everything, ("rows", {}))
    assert rows.content == '{"id": 1}\n{"id": 2}'
    text = '{"tasks": []}'  # JSON that the tool serialised itself and returned as text
    assert result_text([{"type": "text", "text": text}], {"result": text}, replace={}, max_chars=1_000) == text


def test_fifty_megabytes_are_cut_and_counted(everything: McpEnvironment) -> None:
    huge, after = do(everything, ("huge", {"size": 50_000_000}), ("titles", {}))
    assert huge.error is None
    assert huge.content.endswith("\n(The result has 50,000,000 characters; the first 20,000 are shown.)")
    assert len(huge.content) < 20_100
    assert after.content == "none"


@pytest.mark.parametrize(
    ("calls", "first"),
    [
        ([("huge", {"size": 3_000_000})], "its answer has over 2,000,000 bytes"),
        ([("endless", {})], "its answer has over 2,000,000 bytes"),
        ([("die", {})], "its server ended the connection"),
        ([("silent", {})], "no answer within 1 seconds"),
    ],
)
def test_a_server_that_breaks_in_a_call_is_gone_and_nobody_is_to_blame(calls: Any, first: str) -> None:
    environment = make(call_seconds=1, max_bytes=2_000_000)
    broke, after = do(environment, *calls, ("titles", {}))
    assert (broke.error, after.error) == ("failure", "failure")
    assert broke.content == f"The tool failed: {first}."
    assert after.content == "The tool failed: its server is gone since an earlier call."
    # Another rollout has a server of its own.
    assert do(environment, ("titles", {}))[0].content == "none"


def test_a_server_that_ends_behind_an_answer(everything: McpEnvironment) -> None:
    answered, after = do(everything, ("die_after", {}), ("titles", {}))
    assert answered.content == "bye"
    assert (after.error, after.content) == ("failure", "The tool failed: its server ended the connection.")


def test_junk_on_stdout_is_passed_over(everything: McpEnvironment) -> None:
    junk, after = do(everything, ("junk", {}), ("titles", {}))
    assert (junk.error, junk.content) == (None, "after the junk")
    assert after.content == "none"


@pytest.mark.parametrize("kind", ["content", "block", "list"])
def test_a_malformed_answer_costs_only_itself(everything: McpEnvironment, kind: str) -> None:
    broke, after = do(everything, ("malformed", {"kind": kind}), ("titles", {}))
    assert (broke.error, broke.content) == ("failure", "The tool failed: its answer is not what the protocol allows.")
    assert after.content == "none"


def test_errors_are_told_apart(everything: McpEnvironment) -> None:
    own, broke, arguments, known = do(
        everything, ("read", {"title": "x"}), ("broken", {}), ("broken", {"code": -32602}), ("titles", {})
    )
    assert (own.error, own.content) == ("refused", "There is no note 'x'.")
    assert (broke.error, broke.content) == (
        "failure",
        "The tool failed: the server answered with an error: it\\x1b broke.",
    )
    assert (arguments.error, arguments.content) == ("bad_arguments", "Wrong arguments for broken: it\\x1b broke")
    assert known.error is None


def test_a_server_gets_no_answer_to_its_own_questions(everything: McpEnvironment) -> None:
    (result,) = do(everything, ("asks", {}))
    assert "not supported" in result.content


def test_oversize_and_deep_arguments_never_reach_a_server(everything: McpEnvironment) -> None:
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    results = do(
        everything, ("write", {"title": "a", "text": "x" * 1_100_000}), ("read", {"title": deep}), ("titles", {})
    )
    assert [result.error for result in results] == ["bad_arguments", "bad_arguments", None]
    assert all(len(result.content) < 1000 for result in results)


# --- processes --------------------------------------------------------------------------------------------------------


def test_processes_end_with_all_that_they_started(everything: McpEnvironment) -> None:
    (result,) = do(everything, ("spawn", {}))
    spawned = int(result.content)

    def gone() -> bool:
        return not psutil.pid_exists(spawned) or psutil.Process(spawned).status() == "zombie"

    for _ in range(1000):  # it is killed by now; the system takes a moment
        if gone():
            break
        time.sleep(0.01)
    assert gone()


def test_a_server_that_does_not_want_to_end_is_ended() -> None:
    answered, silent = do(make(call_seconds=0.5), ("stubborn", {}), ("titles", {}))
    assert (answered.content, silent.error) == ("try", "failure")


def test_an_episode_that_nobody_closes_leaves_no_process(everything: McpEnvironment) -> None:
    episode = everything.reset(TASK)
    assert episode.step(ToolCall(id="c", name="titles", arguments={})).error is None
    running = children()
    assert len(running) == 1
    del episode
    gc.collect()
    psutil.wait_procs(running, timeout=10)


def test_a_process_starts_with_the_first_call_and_once(everything: McpEnvironment) -> None:
    episode = everything.reset(TASK)
    assert children() == []
    for number in range(3):
        episode.step(ToolCall(id=str(number), name="titles", arguments={}))
        assert len(children()) == 1
    episode.close()
    assert children() == []
    gone = episode.step(ToolCall(id="late", name="titles", arguments={}))
    assert gone.error == "failure"


def test_a_server_sees_its_own_folder_and_only_named_variables(
    tmp_path: Path, everything: McpEnvironment, recorded: Callable[[str, str], None]
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    recorded("SYNTH_TEST_TOKEN", "s3cret")
    recorded("SYNTH_TEST_OTHER", "other")
    server = {"command": command("all"), "folder": str(folder), "env": ["SYNTH_TEST_TOKEN"]}
    environment = open_mcp(servers={"notes": server})
    where, variables = do(environment, ("where", {}), ("variables", {}))
    assert where.content == "/workspace: ['a.txt']"
    names = variables.content.split()
    assert "SYNTH_TEST_TOKEN" in names
    assert not {"SYNTH_TEST_OTHER", "PYTHONPATH"} & set(names)
    (told,) = do(environment, ("write", {"title": "/workspace/a.txt", "text": "x"}))
    assert told.content == "Call 1: the note '/workspace/a.txt' is written."
    before = environment.identity
    (folder / "a.txt").write_text("b")
    assert open_mcp(servers={"notes": server}).identity != before
    assert "s3cret" not in json.dumps(environment.settings(TASK))


@pytest.fixture
def recorded() -> Iterator[Callable[[str, str], None]]:
    """Sets environment variables for a test."""
    before = dict(os.environ)
    yield lambda name, value: os.environ.update({name: value})
    os.environ.clear()
    os.environ.update(before)


_HOLDER = """
import sys
from synth.environments.contract import ToolCall
from synth.environments.mcp.environment import open_mcp
from synth.testing.corpus import small_tasks
from stand_ins.mcp_server import command

episode = open_mcp(servers={"notes": {"command": command("all")}}).reset(small_tasks()[0])
print(episode.step(ToolCall(id="1", name="spawn", arguments={})).content, flush=True)
if sys.argv[1] == "waits":
    episode.step(ToolCall(id="2", name="silent", arguments={}))
"""


@pytest.mark.parametrize("end", ["waits", "ends"])
def test_servers_end_with_a_process_that_is_killed_or_ends_without_closing(end: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", _HOLDER, end]
    holder = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip().isdigit()
        if end == "waits":
            servers = [child for child in holder.children(recursive=True) if "mcp_server.py" in " ".join(_line(child))]
            assert len(servers) == 2  # with its guardian
            holder.kill()
            psutil.wait_procs(servers, timeout=20)
            assert not [server for server in servers if server.is_running() and server.status() != "zombie"]
        else:
            assert holder.wait(timeout=60) == 0
            assert holder.stderr is not None
            assert holder.stderr.read() == b""
    finally:
        if holder.poll() is None:
            holder.kill()
        holder.communicate()
