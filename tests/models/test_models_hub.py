"""The engine of calls: loops and threads, what goes over the wire, what it tells."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from small_hubs import QUESTION, QUICK, bind
from stand_ins.call_log import intents

from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import ChatReply, ChatRequest, EndpointDown, FailureKind, Runtime, Sampling
from synth.models.home import Home
from synth.store.calls import CallStore, IntentState

# Loops and threads


async def test_calls_from_plain_threads_loops_and_greenlets_meet_in_one_hub(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(0.03)
        return server.said(asked.text)

    async with serve(answer) as server:
        with ModelHub() as hub:
            model = bind(hub, server.address)

            def plain(text: str) -> Any:
                return model.chat([{"role": "user", "content": text}], sample="0").content

            def looped(text: str) -> Any:
                return asyncio.run(chat_all(model, [text]))[0].content

            texts = ["same", "a", "b", "same"]
            found = await asyncio.gather(
                chat_all(model, texts),
                *(asyncio.to_thread(plain, text) for text in texts),
                *(asyncio.to_thread(looped, text) for text in texts),
            )
            assert [reply.content for reply in found[0]] == texts
            assert found[1:] == texts * 2
            assert sorted(asked.text for asked in server.asked) == ["a", "b", "same"]


def test_one_loop_after_the_other(serve: Any, chat_all: Any, tmp_path: Any) -> None:
    """A build opens a loop for each stage; the server lives in a loop of its own."""
    ready, over = threading.Event(), threading.Event()
    found: list[Any] = []

    async def host() -> None:
        async def answer(server: Any, asked: Any) -> Any:
            return server.said(asked.text)

        async with serve(answer) as server:
            found.append(server)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(host(),))
    thread.start()
    try:
        assert ready.wait(20)
        (server,) = found
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            model = bind(hub, server.address)
            for number in range(3):
                results = asyncio.run(chat_all(model, [f"{number}a", f"{number}b"]))
                assert [reply.content for reply in results] == [f"{number}a", f"{number}b"]
            assert model.chat([{"role": "user", "content": "plain"}], sample="0").content == "plain"
            assert asyncio.run(chat_all(model, ["last"]))[0].content == "last"
            assert hub.account().delivered == 8
    finally:
        over.set()
        thread.join()


async def test_a_loop_that_dies_with_calls_in_flight_leaves_the_hub_well(
    serve: Any, chat_all: Any, tmp_path: Any
) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        if asked.text == "slow":
            await asyncio.sleep(60)
        return server.said(asked.text)

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            model = bind(hub, server.address, concurrency=1)

            async def dies() -> None:
                asyncio.get_running_loop().create_task(chat_all(model, ["slow", "waits"]))
                while not server.asked:
                    await asyncio.sleep(0.001)

            await asyncio.to_thread(asyncio.run, dies())
            (reply,) = await chat_all(model, ["after"])
            assert reply.content == "after"
            states = [intent.state for intent in intents(calls)]
    assert states == [IntentState.UNKNOWN, IntentState.DELIVERED]


# What goes over the wire


async def test_the_body_is_canonical_and_the_headers_name_the_attempt(serve: Any, tmp_path: Any) -> None:
    raw: list[bytes] = []

    async def answer(server: Any, asked: Any) -> Any:
        raw.append(await asked.request.read())
        return server.said()

    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls) as hub:
            model = hub.bind("m", Sampling(temperature=0.5), Runtime(endpoints=(server.address,)))
            tools = [{"type": "function", "function": {"name": "f"}}]
            sample = "0123456789abcdef" * 2
            await bridge.run(model.chat, QUESTION, sample=sample, tools=tools, tool_choice="auto")
            await bridge.run(model.chat, QUESTION, sample="of my own: é\n")
            keys = [intent.key for intent in intents(calls)]
    one = ChatRequest("m", tuple(QUESTION), tuple(tools), "auto", sampling=Sampling(temperature=0.5), sample=sample)
    assert raw[0] == one.body.encode()
    assert keys[0] == one.key
    first, second = server.asked
    assert first.sample == sample
    assert first.request_id.startswith(f"{one.key[:16]}-01234567-")
    assert first.headers["Content-Type"] == "application/json"
    assert second.sample.isalnum()
    assert second.sample.isascii()
    assert second.request_id.startswith(keys[1][:16])


async def test_a_redirect_is_not_followed(serve: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return web.Response(status=307, headers={"Location": asked.request.path})

    async with serve(answer) as server:
        with ModelHub() as hub, pytest.raises(EndpointDown, match="307"):
            await bridge.run(bind(hub, server.address).chat, QUESTION, sample="0")
    assert len(server.asked) == 1


async def test_a_large_reply_of_many_chunks(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return server.said("é" * 200_000)

    async with serve(answer) as server:
        with ModelHub() as hub:
            (reply,) = await chat_all(bind(hub, server.address), ["x"])
    assert reply.content == "é" * 200_000


async def test_the_endpoint_is_given_what_it_takes(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        if server.inside > 12:
            return web.Response(status=429)
        await asyncio.sleep(0.004)
        return server.said()

    async with serve(answer) as server:
        with ModelHub(patience=QUICK) as hub:
            results = await chat_all(bind(hub, server.address, attempts=30), [str(n) for n in range(400)])
            role = hub.statistics().roles[0]
            window = hub.statistics().endpoints[0].window
    assert {type(result) for result in results} == {ChatReply}
    assert window <= 24
    assert role.retries[FailureKind.RATE_LIMITED] < 200


# What it tells


async def test_statistics_count_calls_tokens_and_latencies_by_role(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(0.01)
        usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
        return server.said(usage=usage)

    async with serve(answer) as server:
        with ModelHub() as hub:
            teacher, judge = (bind(hub, server.address, role=role) for role in ("teacher", "judge"))
            assert [role.p50 for role in hub.statistics().roles] == [None, None]
            await chat_all(teacher, ["a", "b", "c"])
            await chat_all(judge, ["a"])
            by_role = {role.role: role for role in hub.statistics().roles}
            (endpoint,) = hub.statistics().endpoints
            account = hub.account()
    one = by_role["teacher"]
    assert (one.calls, one.from_store, one.prompt_tokens, one.completion_tokens, one.cached_tokens) == (
        (3, 0, 300, 21, 180)
    )
    assert one.cost == account.cost_exact == 3 * (100 * 1000 + 7 * 10_000)
    assert one.p50 is not None
    assert one.p95 is not None
    assert 0.01 <= one.p50 <= one.p95
    assert (by_role["judge"].calls, by_role["judge"].from_store, by_role["judge"].cost) == (1, 1, 0)
    assert (endpoint.address, endpoint.in_flight, endpoint.broken) == (server.address, 0, False)


@pytest.fixture
def before() -> Iterator[tuple[int, int, int]]:
    """Python's own thresholds of the search for garbage."""
    ours = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*ours)


def test_the_search_for_garbage_is_set_back_with_the_connections(
    before: tuple[int, int, int], serve: Any, chat_all: Any
) -> None:

    async def main() -> None:
        async def answer(server: Any, asked: Any) -> Any:
            inside.append(gc.get_threshold())
            return server.said()

        async with serve(answer) as server:
            with ModelHub() as hub:
                await chat_all(bind(hub, server.address), ["x"])

    inside: list[tuple[int, int, int]] = []
    asyncio.run(main())
    assert inside == [(20_000, 10, 10)]
    assert gc.get_threshold() == before


def test_a_home_that_is_being_closed_takes_nobody_in() -> None:
    """``asyncio.run`` ends the generators of its loop first: what comes then would find no connections, or leave some
    open."""
    home = Home(lambda: None, lambda: asyncio.sleep(0))
    old = asyncio.new_event_loop()
    thread = threading.Thread(target=old.run_forever)
    thread.start()

    async def main() -> None:
        begun, over = asyncio.Event(), asyncio.Event()
        here = asyncio.get_running_loop()

        async def hosted() -> None:
            here.call_soon_threadsafe(begun.set)
            while not over.is_set():
                await asyncio.sleep(0.001)

        async def where() -> asyncio.AbstractEventLoop:
            return asyncio.get_running_loop()

        first = asyncio.run_coroutine_threadsafe(home.carry(hosted), old)
        await begun.wait()
        assert await home.carry(where) is old
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(old.shutdown_asyncgens(), old))
        assert await home.carry(where) is here
        over.set()
        await asyncio.wrap_future(first)

    try:
        asyncio.run(main())
    finally:
        old.call_soon_threadsafe(old.stop)
        thread.join()
        old.close()


def run_and_close(model: Any, chat_all: Any) -> Any:
    return asyncio.run(chat_all(model, ["first"]))


def run_and_stop(model: Any, chat_all: Any) -> Any:
    """Its loop stops with what else was given to it; later it is cleaned up."""
    loop = asyncio.new_event_loop()
    found = loop.run_until_complete(chat_all(model, ["first"]))
    time.sleep(0.5)
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    return found


@pytest.mark.parametrize("host", [run_and_close, run_and_stop])
async def test_a_loop_that_ends_takes_no_other_s_calls_with_it(serve: Any, chat_all: Any, host: Any) -> None:
    """The first call's loop is home to those of others; its own call returns when these are settled, and it ends."""

    first = asyncio.Event()

    async def answer(server: Any, asked: Any) -> Any:
        if asked.text == "first":
            await first.wait()
        else:
            await asyncio.sleep(0.05)
        return server.said(asked.text)

    async with serve(answer) as server:
        with ModelHub(patience=QUICK) as hub:
            model = bind(hub, server.address)
            hosted = asyncio.create_task(asyncio.to_thread(host, model, chat_all))
            while not server.asked:
                await asyncio.sleep(0.001)
            guests = asyncio.create_task(chat_all(model, [f"guest {number}" for number in range(5)]))
            while len(server.asked) < 4:
                await asyncio.sleep(0.001)
            first.set()
            found = await asyncio.wait_for(guests, 30)
            assert [reply.content for reply in found] == [f"guest {number}" for number in range(5)]
            assert (await hosted)[0].content == "first"
            # What was sent is not sent again.
            asked = sorted(one.text for one in server.asked)
            assert asked == ["first", *(f"guest {number}" for number in range(5))]


# The end


@pytest.mark.parametrize("seconds", [30.0, 0.02])
async def test_an_ending_lets_calls_end_that_are_out_and_no_other_begin(
    serve: Any, chat_all: Any, tmp_path: Any, seconds: float
) -> None:
    """Four calls are out, four wait for a place; one reply is followed by another call. After ``seconds`` those that
    are out are their callers' business again."""

    slow = seconds < 1

    async def answer(server: Any, asked: Any) -> Any:
        await released.wait()
        return server.said(asked.text)

    released = asyncio.Event()
    async with serve(answer) as server:
        with CallStore(tmp_path / "calls.sqlite") as calls, ModelHub(calls, patience=QUICK) as hub:
            model = bind(hub, server.address, concurrency=4)

            def twice(text: str) -> Any:
                said = [model.chat([{"role": "user", "content": text}], sample=str(n)).content for n in range(2)]
                return said

            rows = [asyncio.create_task(bridge.run(twice, f"row {number}")) for number in range(8)]
            while len(server.asked) < 4:
                await asyncio.sleep(0.001)
            if not slow:
                asyncio.get_running_loop().call_later(0.05, released.set)
            async with hub.ending(seconds):
                if slow:
                    released.set()
                done, left = await asyncio.wait(rows, timeout=10)
            assert not left
            assert all(row.cancelled() for row in done)
            assert len(server.asked) == 4
            account = hub.account()
            assert (account.delivered, account.unknown, account.open) == (4, 0, 0)
            again = await bridge.run(twice, "row 0")
            assert again == ["row 0", "row 0"]
            assert len(server.asked) == 5, "the first of the two was stored"
