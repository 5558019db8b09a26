"""Batches that vLLM works through on this machine, by a stand-in for its command line."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from small_hubs import QUICK
from stand_ins.call_log import intents
from test_models_batches import ask

from synth.errors import InputError
from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import (
    BatchOptions,
    CallFailed,
    ChatReply,
    EndpointDown,
    FailureKind,
    Runtime,
    Sampling,
    ServeOptions,
)
from synth.store.calls import CallStore

SCRIPT = Path(__file__).parents[1] / "stand_ins" / "vllm_run_batch.py"


@pytest.fixture
def vllm(tmp_path: Path) -> Path:
    """An executable."""
    path = tmp_path / "vllm"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {SCRIPT} "$@"\n')
    path.chmod(0o755)
    return path


def runs(tmp_path: Path) -> list[list[str]]:
    return [line.split() for line in (tmp_path / "runs").read_text().splitlines()]


def bind(hub: ModelHub, vllm: Path, name: str = "m", **environment: str) -> Any:
    serve = ServeOptions(
        executable=str(vllm),
        arguments=("--max-model-len", "50"),
        environment={"STAND_IN_RUNS": str(vllm.with_name("runs")), **environment},
    )
    batch = BatchOptions(gather=0.05, poll=0.05)
    runtime = Runtime(serve=serve, batch=batch, patience=QUICK, role="judge")
    return hub.bind(name, Sampling(max_tokens=64), runtime)


def right(replies: list[Any]) -> bool:
    return [reply.content for reply in replies] == [f"WHAT IS {number}?" for number in range(len(replies))]


async def test_a_wave_is_a_run_of_vllm(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        assert right(await ask(bind(hub, vllm), range(40)))
        assert right(await ask(bind(hub, vllm), range(3)))
        assert [what for _, what, _ in runs(tmp_path)] == ["begins", "ends"]
        assert right([(await ask(bind(hub, vllm), [number]))[0] for number in range(2)])
        account = hub.account()
        assert (account.delivered, account.open, account.unknown) == (40, 0, 0)
        assert account.batches is not None
        assert account.batches.delivered == 40
        assert list((tmp_path / "calls.batches").iterdir()) == []


async def test_a_single_call_is_one_too(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        assert right(await ask(bind(hub, vllm), [0]))


async def test_one_run_at_a_time(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        models = [bind(hub, vllm, name, STAND_IN_SECONDS="0.02") for name in ("a", "b")]
        replies = await asyncio.gather(*(ask(model, range(5)) for model in models))
        assert all(map(right, replies))
        assert [what for _, what, _ in runs(tmp_path)] == ["begins", "ends"] * 2


async def test_what_vllm_refuses_is_the_calls_own(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        model = bind(hub, vllm)
        long = [{"role": "user", "content": "x" * 51}]
        with pytest.raises(CallFailed, match="maximum context length") as failed:
            await bridge.run(lambda: model.chat(long, sample="0"))
        assert failed.value.kind is FailureKind.CONTEXT
        assert hub.account().free == 1


async def test_a_run_that_ends_early_keeps_what_it_did(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        replies = await ask(bind(hub, vllm, STAND_IN_STOPS_AFTER="30"), range(80))
        assert right(replies)
        assert len(intents(calls)) == 80 + 50 + 20


async def test_one_that_brings_nothing_ends_the_run(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        replies = await ask(bind(hub, vllm, "broken"), range(5))
        assert all(isinstance(reply, EndpointDown) for reply in replies)
        assert "ValueError: no such model" in str(replies[0])


async def test_a_closed_hub_ends_its_run_and_the_next_one_goes_on(tmp_path: Path, vllm: Path) -> None:
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        task = asyncio.create_task(ask(bind(hub, vllm, STAND_IN_SECONDS="0.05"), range(40)))
        while not any(batch.remote for batch in calls.batches.all()):
            await asyncio.sleep(0.01)
        (folder,) = (tmp_path / "calls.batches").iterdir()
        while not (folder / "output.jsonl").exists() or (folder / "output.jsonl").read_bytes().count(b"\n") < 5:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    done = (folder / "output.jsonl").read_bytes().count(b"\n")
    assert 5 <= done < 40
    with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        replies = await ask(bind(hub, vllm), range(40))
        assert all(isinstance(reply, ChatReply) for reply in replies)
        assert right(replies)
        assert hub.account().delivered == 40
        assert len(intents(calls)) == 40 + 40 - done


def test_without_vllm_the_user_is_told(tmp_path: Path) -> None:
    with ModelHub() as hub, pytest.raises(InputError, match="Install vLLM in an environment of its own"):
        bind(hub, tmp_path / "nothing")
