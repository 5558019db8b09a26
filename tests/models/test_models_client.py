"""The engine of calls, against small servers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from small_hubs import QUESTION, QUICK, bind
from stand_ins.call_log import intents, replies

from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import (
    BudgetReached,
    CallFailed,
    ChatReply,
    EndpointDown,
    FailureKind,
    Price,
    Runtime,
    Sampling,
)
from synth.store.calls import CallStore, IntentState


async def test_a_call_is_reserved_sent_booked_stored_and_then_served(serve: Any, tmp_path: Any) -> None:
    known: list[bool] = []

    async def answer(server: Any, asked: Any) -> Any:
        open_now = [intent.request_id for intent in intents(calls) if intent.state is IntentState.OPEN]
        known.append(open_now == [asked.request_id])
        return server.said("Ada")

    async with serve(answer) as server:
        runtime = Runtime(endpoints=(server.address,), price=Price(prompt=1, completion=10), role="teacher")
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, account="a") as hub:
            model = hub.bind("m", Sampling(), runtime)
            first = await bridge.run(model.chat, QUESTION, sample="0a")
            again = await bridge.run(model.chat, QUESTION, sample="0a")
            other = await bridge.run(model.chat, QUESTION, sample="0b")
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, account="a") as hub:
            later = await bridge.run(hub.bind("m", Sampling(), runtime).chat, QUESTION, sample="0b")
            role = hub.statistics().roles[0]
            assert (role.role, role.calls, role.from_store) == ("teacher", 1, 1)
            account = hub.account()
            assert [intent.role for intent in intents(calls)] == ["teacher", "teacher"]
    assert known == [True, True]  # before it was sent
    assert first == again
    assert first.content == "Ada"
    assert later == other
    assert len(server.asked) == 2
    assert [asked.sample for asked in server.asked] == ["0a", "0b"]
    assert (account.delivered, account.prompt_tokens, account.completion_tokens) == (2, 20, 10)
    assert account.cost_exact == 2 * (10 * 1000 + 5 * 10_000)


# Equal calls


async def test_equal_calls_at_the_same_time_are_one_call(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(0.02)
        return server.said(asked.text)

    async with serve(answer) as server:
        with ModelHub() as hub:
            model = bind(hub, server.address)
            results = await chat_all(model, ["a", "b"] * 100)
            role = hub.statistics().roles[0]
            account = hub.account()
    assert [result.content for result in results] == ["a", "b"] * 100
    assert len(server.asked) == 2
    assert (role.calls, role.shared, role.from_store, account.delivered) == (200, 198, 0, 2)


async def test_a_failure_is_shared_too(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(0.01)
        return web.json_response({"error": {"message": "context length"}}, status=400)

    async with serve(answer) as server:
        with ModelHub() as hub:
            results = await chat_all(bind(hub, server.address), ["a"] * 50)
    assert {type(result) for result in results} == {CallFailed}
    assert len(server.asked) == 1


@pytest.mark.parametrize("first", [True, False])
async def test_who_is_cancelled_cancels_nobody_else(serve: Any, first: bool) -> None:
    gate = asyncio.Event()

    async def answer(server: Any, asked: Any) -> Any:
        await gate.wait()
        return server.said()

    async with serve(answer) as server:
        with ModelHub() as hub:
            model = bind(hub, server.address)
            tasks = [asyncio.create_task(bridge.run(model.chat, QUESTION, sample="0")) for _ in range(3)]
            while not server.asked:
                await asyncio.sleep(0.001)
            tasks[0 if first else 2].cancel()
            await asyncio.sleep(0.01)
            gate.set()
            results = await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["CancelledError", "ChatReply", "ChatReply"]
    assert len(server.asked) == 1


async def test_when_all_are_cancelled_the_call_is_booked_at_its_bound(serve: Any, tmp_path: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(60)

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            model = bind(hub, server.address)
            tasks = [asyncio.create_task(bridge.run(model.chat, QUESTION, sample="0")) for _ in range(3)]
            while not server.asked:
                await asyncio.sleep(0.001)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            (intent,) = intents(calls)
            account = hub.account()
            assert hub.statistics().endpoints[0].in_flight == 0
    assert intent.request_id == server.asked[0].request_id
    assert intent.state is IntentState.UNKNOWN
    assert account.tokens_unknown == intent.tokens_bound > 0


# What each end of an attempt is booked as


async def hang(server: Any, asked: Any) -> Any:
    await asyncio.sleep(60)


async def torn(server: Any, asked: Any) -> Any:
    """Headers promise more than comes."""
    response = web.StreamResponse(headers={"Content-Length": "500", "Content-Type": "application/json"})
    await response.prepare(asked.request)
    await response.write(b'{"choices": [{"mess')
    return None


def plain(status: int = 200, body: bytes = b"", **headers: str) -> Any:
    async def answer(server: Any, asked: Any) -> Any:
        return web.Response(status=status, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return answer


async def hang_up(server: Any, asked: Any) -> Any:
    return None


async def no_choices(server: Any, asked: Any) -> Any:
    return web.json_response({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 4}})


FREE, UNKNOWN, DELIVERED = IntentState.FREE, IntentState.UNKNOWN, IntentState.DELIVERED


@pytest.mark.parametrize(
    ("fault", "kind", "state"),
    [
        (plain(429), FailureKind.RATE_LIMITED, FREE),
        (plain(429, Retry_After="0.01"), FailureKind.RATE_LIMITED, FREE),
        (plain(503), FailureKind.SERVER, FREE),
        (plain(500), FailureKind.SERVER, UNKNOWN),
        (plain(502, b"<html>Bad Gateway</html>"), FailureKind.SERVER, UNKNOWN),
        (hang_up, FailureKind.CONNECTION, UNKNOWN),
        (torn, FailureKind.CONNECTION, UNKNOWN),
        (hang, FailureKind.TIMEOUT, UNKNOWN),
        (plain(200, b'{"choices": [{"mess'), FailureKind.MALFORMED, UNKNOWN),
        (plain(200, b"<html>welcome</html>", Content_Type="text/html"), FailureKind.MALFORMED, UNKNOWN),
        (plain(200, b"\x1f\x8bnot gzip", Content_Encoding="gzip"), FailureKind.MALFORMED, UNKNOWN),
        (plain(200, b'{"error": {"code": 429, "message": "slow"}}'), FailureKind.RATE_LIMITED, FREE),
        (plain(200, b'{"error": {"code": 500, "message": "oh"}}'), FailureKind.SERVER, UNKNOWN),
        (no_choices, FailureKind.MALFORMED, DELIVERED),
    ],
    ids=lambda value: getattr(value, "value", None),
)
async def test_an_attempt_that_fails_is_booked_and_made_again(
    serve: Any, tmp_path: Any, fault: Any, kind: FailureKind, state: IntentState
) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return await fault(server, asked) if asked.number == 0 else server.said("Ada")

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, patience=QUICK) as hub:
            model = bind(hub, server.address, timeout=0.5)
            reply = await bridge.run(model.chat, QUESTION, sample="0")
            role = hub.statistics().roles[0]
            begun = intents(calls)
            account = hub.account()
    assert reply.content == "Ada"
    assert dict(role.retries) == {kind: 1}
    assert [intent.state for intent in begun] == [state, DELIVERED]
    assert [intent.request_id for intent in begun] == [asked.request_id for asked in server.asked]
    assert len({intent.request_id for intent in begun}) == 2
    spent = {FREE: 0, UNKNOWN: begun[0].cost_bound, DELIVERED: 30 * 1000 + 4 * 10_000}[state]
    assert account.cost_spent == role.cost == spent + 10 * 1000 + 5 * 10_000


async def test_a_refused_connection_costs_nothing(serve: Any, tmp_path: Any) -> None:
    with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, patience=QUICK) as hub:
        with pytest.raises(EndpointDown, match=r"127\.0\.0\.1:9"):
            await bridge.run(bind(hub, "http://127.0.0.1:9/v1").chat, QUESTION, sample="0")
        assert {intent.state for intent in intents(calls)} == {FREE}


async def test_a_reply_without_usage_is_used_and_booked_at_its_bound(serve: Any, tmp_path: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return server.said("Ada", usage=None)

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            model = bind(hub, server.address)
            first = await bridge.run(model.chat, QUESTION, sample="0")
            again = await bridge.run(model.chat, QUESTION, sample="0")
            (intent,) = intents(calls)
    assert first == again
    assert (first.content, first.usage) == ("Ada", None)
    assert intent.state is UNKNOWN
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"content": "Ad", "finish": "length"}, "length"),
        ({"content": None, "refusal": "I can't."}, "refusal"),
        ({"content": "x", "finish": "content_filter"}, "content_filter"),
        ({"content": ""}, "empty"),
    ],
)
def test_what_is_no_result_is_recorded_and_not_served(serve: Any, tmp_path: Any, given: Any, reason: str) -> None:
    async def main() -> None:
        async def answer(server: Any, asked: Any) -> Any:
            return server.said(**given) if asked.number == 0 else server.said("Ada")

        async with serve(answer) as server:
            with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
                model = bind(hub, server.address)
                got = [await bridge.run(model.chat, QUESTION, sample="0") for _ in range(3)]
                kept = [stored.reason for stored in replies(calls)]
                account = hub.account()
        assert [reply.content == "Ada" for reply in got] == [False, True, True]
        assert kept == [reason, None]
        assert len(server.asked) == 2
        assert account.delivered == 2

    asyncio.run(main())


# Money


async def test_the_cap_holds_with_many_calls_at_once_and_in_the_next_run(
    serve: Any, chat_all: Any, tmp_path: Any
) -> None:
    texts = [f"{number:03}" for number in range(80)]
    cap = 40 * (10 * 1000 + 5 * 10_000)

    async def run(server: Any, most: int) -> tuple[int, Any, list[int]]:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, account="a", max_cost=most) as hub:
            watched.append(lambda: hub.account().cost_bound)
            results = await chat_all(bind(hub, server.address, max_tokens=8), texts)
            reached = [result for result in results if isinstance(result, BudgetReached)]
            assert all(isinstance(result, BudgetReached | ChatReply) for result in results)
            return len(results) - len(reached), reached, [hub.account().cost_spent, hub.account().open]

    watched: list[Any] = []
    seen: list[int] = []

    async def answer(server: Any, asked: Any) -> Any:
        seen.append(watched[-1]())
        await asyncio.sleep(0.002)
        return server.said()

    async with serve(answer) as server:
        one = await run(server, cap)
        assert 0 < one[0] < 40  # the last calls may need more than is left, though they would not cost it
        assert max(seen) <= cap
        assert one[2][0] <= cap
        line = str(one[1][0])
        for part in ("account a", "cap of 0.0024", "--max-cost", "same command"):
            assert part in line
        again = await run(server, cap)
        assert again[0] == one[0]
        assert len(server.asked) == one[0]
        more = await run(server, 10 * cap)
        assert more[0] == 80
        assert len(server.asked) == 80
        assert more[2] == [80 * (10 * 1000 + 5 * 10_000), 0]


async def test_a_cap_of_tokens_holds(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return server.said(usage=(500, 8))

    async with serve(answer) as server:
        with ModelHub(max_tokens=6080) as hub:
            results = await chat_all(bind(hub, server.address, max_tokens=8), [str(n) for n in range(30)])
            account = hub.account()
    assert account.tokens_spent <= 6080
    assert 0 < account.delivered == len(server.asked) < 12
    assert "--max-tokens" in str(next(result for result in results if isinstance(result, BudgetReached)))
