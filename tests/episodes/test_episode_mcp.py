"""Our environments as MCP servers, with our own MCP environment at the other end: what comes out is what went in."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from serving_search import environment as search

from synth.environments.contract import Environment, ToolCall, ToolResult
from synth.errors import InputError
from synth.schemas.tasks import Task
from synth.testing.corpus import small_tasks
from synth.testing.environments import EnvironmentContract

pytest.importorskip("mcp", reason="extra mcp")

from synth.environments.mcp.environment import McpEnvironment, open_mcp

pytestmark = pytest.mark.thorough

SCRIPT = str(Path(__file__).with_name("serving_search.py"))
ROOT = str(Path(__file__).resolve().parents[2])
TASK = small_tasks()[0]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "Arvel Torrin"}),
    ("open", {"document": "arvel-torrin"}),
    ("find", {"pattern": "Torrin"}),
    ("open", {"document": "nowhere"}),
    ("find", {"pattern": "Torrin"}),
]


@contextmanager
def http_server(*arguments: str, stop: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """The address of a server in a process of its own, which must end well when it is asked to."""
    with subprocess.Popen(
        [sys.executable, SCRIPT, "http", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), process.stderr and process.stderr.read()
            yield url
            process.send_signal(stop)
            out, err = process.communicate(timeout=60)
            assert (process.returncode, out, err) == (0, "", "")
        finally:
            process.kill()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http_server() as address:
        yield address


@pytest.fixture(scope="module")
def over_http(url: str) -> McpEnvironment:
    return open_mcp(servers={"pages": {"url": url}}, replay_safe=True, call_seconds=30)


@pytest.fixture(scope="module")
def over_stdio() -> Iterator[McpEnvironment]:
    before = os.environ.get("SYNTH_TEST_PATH")
    os.environ["SYNTH_TEST_PATH"] = ROOT
    program = f"import os, sys; sys.path.insert(0, os.environ['SYNTH_TEST_PATH']); sys.argv = [{SCRIPT!r}, 'stdio']"
    command = [sys.executable, "-c", f"{program}; import runpy; runpy.run_path({SCRIPT!r}, run_name='__main__')"]
    try:
        yield open_mcp(servers={"pages": {"command": command, "env": ["SYNTH_TEST_PATH"]}}, replay_safe=True)
    finally:
        if before is None:
            os.environ.pop("SYNTH_TEST_PATH")


def do(environment: Environment, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[ToolResult]:
    episode = environment.reset(TASK)
    try:
        return [
            episode.step(ToolCall(id=f"c{number}", name=name, arguments=given))
            for number, (name, given) in enumerate(calls)
        ]
    finally:
        episode.close()


@pytest.mark.parametrize("over", ["over_http", "over_stdio"])
def test_what_comes_out_is_what_went_in(over: str, request: pytest.FixtureRequest) -> None:
    served: McpEnvironment = request.getfixturevalue(over)
    ours = search()
    assert {tool.name: tool.parameters for tool in served.tools()} == {
        tool.name: tool.parameters for tool in ours.tools()
    }
    assert served.warnings == ()
    assert served.servers["pages"]["name"] == "synth-search"
    here, there = do(ours, CALLS), do(served, CALLS)
    assert [result.content for result in there] == [result.content for result in here]
    # Over the protocol every error of a tool is one: which, stands in the result's _meta.
    assert [bool(result.error) for result in there] == [bool(result.error) for result in here]
    left = [" ".join(child.cmdline()) for child in psutil.Process().children(recursive=True)]
    assert not [line for line in left if "runpy" in line]


class TestOverHttp(EnvironmentContract):
    """The whole contract, of an environment that stands behind a connection."""

    max_examples = 6

    @pytest.fixture(autouse=True)
    def _served(self, over_http: McpEnvironment) -> None:
        type(self).served = over_http  # type: ignore[attr-defined]

    def environment(self) -> McpEnvironment:
        served: McpEnvironment = self.served  # type: ignore[attr-defined]
        return served

    def tasks(self) -> Sequence[Task]:
        return small_tasks()[:2]

    def examples(self) -> dict[str, Sequence[Any]]:
        return {
            "query": ["Arvel Torrin", "Orl"],
            "document": ["arvel-torrin", "orl", "nowhere"],
            "pattern": ["Torrin", "the"],
            "page": [1, 2],
        }


def test_two_clients_do_not_see_each_other(over_http: McpEnvironment) -> None:
    one, two = over_http.reset(TASK), over_http.reset(TASK)
    opened = one.step(ToolCall(id="1", name="open", arguments={"document": "orl"}))
    assert opened.error is None
    nothing = two.step(ToolCall(id="1", name="find", arguments={"pattern": "river"}))
    assert (nothing.error, nothing.content) == ("refused", "No document is open: open one first.")
    assert one.step(ToolCall(id="2", name="find", arguments={"pattern": "river"})).error is None
    one.close()
    two.close()


def test_calls_and_sessions_have_an_end() -> None:
    with http_server("2", stop=signal.SIGINT) as address:
        served = open_mcp(servers={"pages": {"url": address}}, call_seconds=30)
        episode = served.reset(TASK)
        many = [episode.step(ToolCall(id=str(n), name="search", arguments={"query": "Orl"})) for n in range(51)]
        assert {result.error for result in many[:50]} == {None}
        assert many[50].error == "failure"
        assert "50 calls, of which 0 are left" in many[50].content
        second = served.reset(TASK)
        assert second.step(ToolCall(id="1", name="search", arguments={"query": "Orl"})).error is None
        third = served.reset(TASK)
        assert third.step(ToolCall(id="1", name="search", arguments={"query": "Orl"})).error == "failure"
        for one in (episode, second, third):
            one.close()


def test_a_server_that_goes_away_is_nobodys_fault() -> None:
    with http_server() as address:
        served = open_mcp(servers={"pages": {"url": address}}, call_seconds=10, start_seconds=10)
        episode = served.reset(TASK)
        assert episode.step(ToolCall(id="1", name="search", arguments={"query": "Orl"})).error is None
    gone = episode.step(ToolCall(id="2", name="search", arguments={"query": "Orl"}))
    assert gone.error == "failure"
    late = served.reset(TASK).step(ToolCall(id="3", name="search", arguments={"query": "Orl"}))
    assert (late.error, late.content) == ("failure", "The tool failed: its server did not start.")
    episode.close()
    with pytest.raises(InputError, match="the server can't be used"):
        open_mcp(servers={"pages": {"url": address}}, start_seconds=5)


def test_headers_hold_values_of_named_variables_only(url: str) -> None:
    os.environ["SYNTH_TEST_KEY"] = "s3cret"
    try:
        server = {"url": url, "headers": {"Authorization": "SYNTH_TEST_KEY"}}
        served = open_mcp(servers={"pages": server})
        assert "s3cret" not in json.dumps([served.config.model_dump(mode="json"), served.settings(TASK)])
    finally:
        del os.environ["SYNTH_TEST_KEY"]


def test_over_http_it_is_called_by_its_own_names_only(url: str) -> None:
    address = url.removeprefix("http://").partition("/")[0]
    for headers, wanted in (
        ({"Host": "attacker.example"}, {403}),
        ({"Origin": "https://attacker.example"}, {403}),
        ({"Content-Length": str(10**12)}, {413}),
        ({}, {400, 406}),
    ):
        connection = http.client.HTTPConnection(address, timeout=20)
        connection.request("POST", "/mcp", b"{}", {"Content-Type": "application/json", **headers})
        assert connection.getresponse().status in wanted
        connection.close()
