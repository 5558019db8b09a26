"""`synth mock-endpoint` and `synth mock-hub`: servers that a user starts in place of a model's and of the Hub."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from shared_builds import LEAN, WORLD, world_store

import synth
from synth.agents.loop import prompt_for
from synth.agents.model.wire import messages_of
from synth.cli import main
from synth.mocks.model.cast import Cast
from synth.models.probe import probe
from synth.pipelines.reopen import reopen


@contextmanager
def started(*command: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The line that a command prints first, and its process, which is ended as a service manager does."""
    whole = [sys.executable, "-c", "from synth.cli import main; main()", *command]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline(), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def test_an_endpoint_without_a_model_does_what_agents_need(capsys: pytest.CaptureFixture[str]) -> None:
    with started("mock-endpoint", "--port", "0") as (line, process):
        url = line.split()[0]
        assert [finding.state for finding in probe(url, "any")] == ["ok"] * 3
        with pytest.raises(SystemExit) as end:
            main(["mock-endpoint", "--port", url.rpartition(":")[2].removesuffix("/v1")])
        assert end.value.code == 2
        assert "the port can't be used" in capsys.readouterr().err
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("hang", "is not KIND=SHARE"),
        ("hang=2", "is not KIND=SHARE"),
        ("hangs=0.1", "One of all, rate_limited"),
        ("all=0.5", "sum to more than 1"),
    ],
)
def test_a_wrong_fault_is_one_line(fault: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["mock-endpoint", "--fault", fault])
    assert (end.value.code, said in capsys.readouterr().err) == (2, True)


def test_a_dataset_is_played_by_its_scripted_agents(tmp_path: Path) -> None:
    settings = {**WORLD, **LEAN, "roles.policy.rollouts": 2}
    made = synth.build("world-search", tasks=20, out=tmp_path / "w", store=world_store(tmp_path), settings=settings)
    dataset = synth.load(made.path)
    cast = Cast(dataset)
    assert (cast.tasks, cast.models) == (20, ("teacher", "policy"))
    environment, tasks = reopen(dataset, trust=False)
    thought: list[str | None] = []
    for number in range(3):
        task = tasks.by_number(number)
        prompt = prompt_for(environment, task, "")
        messages = messages_of(prompt, (), mode="native", send_reasoning="reasoning")
        names = [tool.name for tool in prompt.tools]
        tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]
        for model in ("teacher", "policy", "another"):
            reply = cast.reply({"model": model, "messages": messages, "tools": tools}, None)
            assert {call.name for call in reply.calls} <= set(names)
            assert reply.calls
            thought.append(reply.reasoning)
        strange = [{"role": "user", "content": "What is 2 + 2?"}]
        assert cast.reply({"model": "teacher", "messages": strange}, None).content == "I do not know."
    assert any(thought), "a scripted agent thinks, though not before every call"


def test_a_hub_keeps_what_is_pushed(tmp_path: Path) -> None:
    with started("mock-hub", str(tmp_path / "hub"), "--port", "0") as (line, process):
        found = re.match(r"HF_ENDPOINT=(\S+) HF_TOKEN=(\S+)", line)
        assert found is not None
        request = urllib.request.Request(f"{found[1]}/api/whoami-v2", headers={"Authorization": f"Bearer {found[2]}"})
        with urllib.request.urlopen(request) as answer:
            assert "name" in json.load(answer)
    assert process.returncode == 0
    assert os.path.isdir(tmp_path / "hub")
