"""Servers that lie about usage: what is booked never exceeds the cap, and never stands still."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from small_hubs import QUESTION, bind
from stand_ins.call_log import intents

from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import BudgetReached, ChatReply
from synth.store.calls import CallStore, IntentState

TEXTS = [f"{number:03}" for number in range(60)]
CAP = 12_000_000


def usage(prompt: Any, completion: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion}


OVER = {
    "a little": usage(700, 8),
    "much": usage(16_000_000, 5),
    "beyond 64 bits": usage(10**400, 5),
    "of the completion": usage(10, 10**18),
}
UNDER = {"zero": usage(0, 0), "nothing sent": usage(0, 5), "nothing said": usage(10, 0)}
NONE = {
    "negative": usage(-5, -5),
    "floats": usage(10.5, 1e300),
    "words": usage("10", "5"),
    "not a number": usage(float("nan"), float("inf")),
    "a list": [10, 5],
}


async def run(serve: Any, chat_all: Any, said: Any, path: Any, cap: int | None, unit: str = "cost") -> Any:
    """(ends, account, requests that came, most that was booked while they were answered)"""
    booked: list[int] = []

    async def answer(server: Any, asked: Any) -> Any:
        held = hub.account()
        booked.append(getattr(held, f"{unit}_spent") + getattr(held, f"{unit}_open"))
        await asyncio.sleep(0.002)
        return server.said("Ada wrote it.", usage=said)

    async with serve(answer) as server:
        with CallStore(path) as calls, ModelHub(calls, account="a", **{f"max_{unit}": cap}) as hub:
            ends = await chat_all(bind(hub, server.address, max_tokens=8), TEXTS)
            return ends, hub.account(), len(server.asked), max(booked, default=0), intents(calls)


@pytest.mark.parametrize("unit", ["cost", "tokens"])
@pytest.mark.parametrize("kind", OVER)
async def test_after_a_count_that_is_too_high_nothing_more_is_sent(
    serve: Any, chat_all: Any, tmp_path: Any, kind: str, unit: str
) -> None:
    cap = CAP if unit == "cost" else 12_000
    path = tmp_path / "calls.sqlite"
    ends, account, asked, most, intents = await run(serve, chat_all, OVER[kind], path, cap, unit)
    assert {type(end) for end in ends} <= {ChatReply, BudgetReached}
    assert 0 < asked <= 16  # the calls that were in flight
    assert account.overruns == account.unknown == asked
    assert most <= cap
    assert getattr(account, f"{unit}_spent") <= cap
    assert all(intent.state is IntentState.UNKNOWN for intent in intents)
    assert all(end.usage is None for end in ends if isinstance(end, ChatReply))
    lines = [str(end) for end in ends if isinstance(end, BudgetReached)]
    assert lines
    for part in ("counted more", "can't be kept", "nothing more is sent", f"raise --max-{unit}"):
        assert all(part in line.lower() for line in lines)

    # The same again, though the server is honest now, sends nothing; with a raised cap it goes on.
    honest = usage(10, 5)
    ends, account, asked, _, _ = await run(serve, chat_all, honest, path, cap, unit)
    assert asked == 0
    assert any(isinstance(end, BudgetReached) and "can't be kept" in str(end) for end in ends)
    ends, account, asked, most, _ = await run(serve, chat_all, honest, path, 10 * cap, unit)
    assert asked > 0
    assert {type(end) for end in ends} == {ChatReply}
    assert most <= 10 * cap


@pytest.mark.parametrize("kind", OVER)
async def test_without_a_cap_a_count_that_is_too_high_is_booked_at_the_bound(
    serve: Any, chat_all: Any, tmp_path: Any, kind: str
) -> None:
    ends, account, asked, _, intents = await run(serve, chat_all, OVER[kind], tmp_path / "calls.sqlite", None)
    assert {type(end) for end in ends} == {ChatReply}
    assert (asked, account.overruns, account.delivered) == (60, 60, 0)
    assert account.cost_spent == sum(intent.cost_bound for intent in intents)


@pytest.mark.parametrize("kind", UNDER | NONE)
async def test_a_count_that_is_too_low_or_none_is_booked_at_the_bound(
    serve: Any, chat_all: Any, tmp_path: Any, kind: str
) -> None:
    path, cap = tmp_path / "calls.sqlite", CAP
    ends, account, asked, most, _ = await run(serve, chat_all, (UNDER | NONE)[kind], path, cap)
    assert most <= cap
    assert 0 < asked < 60
    assert (account.delivered, account.unknown, account.overruns) == (0, asked, 0)
    assert 0.9 * cap < account.cost_spent <= cap
    assert all(end.usage is None for end in ends if isinstance(end, ChatReply))
    assert "is reached" in next(str(end) for end in ends if isinstance(end, BudgetReached))


async def test_a_reply_is_the_same_from_the_store(serve: Any, tmp_path: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return server.said("Ada", usage=usage(10**400, 5))

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            model = bind(hub, server.address)
            first = await bridge.run(model.chat, QUESTION, sample="0")
            again = await bridge.run(model.chat, QUESTION, sample="0")
            cost = hub.statistics().roles[0].cost
            assert cost == hub.account().cost_spent
    assert first == again
    assert first.usage is None
    assert len(server.asked) == 1


async def test_ids_of_tokens_are_counted(serve: Any, chat_all: Any, tmp_path: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        body = {"choices": [{"message": {"content": "Ada"}, "finish_reason": "stop", "token_ids": [1, 2, 3]}]}
        return web.json_response({**body, "usage": usage(10, 2 if asked.text == "few" else 3)})

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            few, right = await chat_all(bind(hub, server.address), ["few", "right"])
    assert few.usage is None
    assert right.usage.completion_tokens == 3
