"""Replicas, and when a run has to end."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web

from synth.errors import InputError
from synth.models.client import ModelHub
from synth.models.contract import CallFailed, EndpointDown, FailureKind, Patience, Runtime, Sampling
from synth.models.endpoints import _weight

QUICK = Patience(seconds=0.15, attempts=6, first_delay=0.002, longest_delay=0.02)
TEXTS = [f"question {number}" for number in range(60)]


def bind(hub: ModelHub, *addresses: str, **runtime: Any) -> Any:
    return hub.bind("m", Sampling(), Runtime(endpoints=addresses, **runtime))


def ends(results: list[Any]) -> Counter[str]:
    return Counter(type(result).__name__ for result in results)


# One session, one replica


async def test_a_session_stays_with_its_replica(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return server.said()

    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(serve(answer)) for _ in range(3)]
        with ModelHub() as hub:
            model = bind(hub, *(server.address for server in servers))
            texts = [f"{session}/{turn}" for turn in range(4) for session in range(40)]
            await chat_all(model, texts, session=lambda text: text.split("/")[0])
        homes = defaultdict(set)
        for number, server in enumerate(servers):
            for asked in server.asked:
                homes[asked.text.split("/")[0]].add(number)
        assert len(homes) == 40
        assert all(len(home) == 1 for home in homes.values())
        assert all(len(server.asked) >= 4 * 5 for server in servers)  # 40 sessions over 3: none is left out


async def test_only_the_sessions_of_a_broken_replica_move_and_they_come_back(serve: Any, chat_all: Any) -> None:
    ill = {0}

    async def run(number: int) -> Any:
        async def answer(server: Any, asked: Any) -> Any:
            return web.Response(status=500) if number in ill else server.said()

        return await stack.enter_async_context(serve(answer))

    def homes() -> dict[str, int]:
        found = {asked.text.split("/")[0]: number for number, s in enumerate(servers) for asked in s.asked}
        for server in servers:
            server.asked.clear()
        return found

    async with AsyncExitStack() as stack:
        servers = [await run(number) for number in range(3)]
        with ModelHub(patience=QUICK) as hub:
            model = bind(hub, *(server.address for server in servers))

            async def turn(number: int) -> dict[str, int]:
                texts = [f"{session}/{number}" for session in range(40)]
                results = await chat_all(model, texts, session=lambda text: text.split("/")[0])
                assert ends(results) == {"ChatReply": 40}
                return homes()

            ill.clear()
            well = await turn(0)
            ill.add(0)
            for number in range(1, 4):
                later = await turn(number)
            moved = {session for session in well if well[session] != later.get(session)}
            assert moved <= {session for session in well if well[session] == 0}
            ill.clear()
            back: dict[str, int] = {}
            for number in range(4, 60):  # each tries the replica again, one call at a time
                back = await turn(number)
                if back == well:
                    break
                await asyncio.sleep(0.02)
            assert back == well


def test_who_has_the_highest_weight_does_not_depend_on_the_others() -> None:
    addresses = [f"http://host-{number}/v1" for number in range(5)]
    sessions = [str(number) for number in range(500)]
    best = {s: max(addresses, key=lambda address: _weight(s, address)) for s in sessions}
    fewer = addresses[1:]
    for session in sessions:
        if best[session] in fewer:
            assert max(fewer, key=lambda address: _weight(session, address)) == best[session]
    counts = Counter(best.values())
    assert min(counts.values()) > 60


# A run ends


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_ends_the_run_at_once(serve: Any, chat_all: Any, status: int, monkeypatch: Any) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1234")

    async def answer(server: Any, asked: Any) -> Any:
        assert asked.headers["Authorization"] == "Bearer secret-1234"
        return web.json_response({"error": {"message": "no such key"}}, status=status)

    async with serve(answer) as server:
        with ModelHub() as hub:
            results = await chat_all(bind(hub, server.address, api_key_env="MY_KEY", concurrency=1), TEXTS)
            account = hub.account()
        assert ends(results) == {"EndpointDown": 60}
        assert len(server.asked) == 1
        line = str(results[0])
        assert "\n" not in line
        for part in ("model m", server.address, str(status), "no such key", "api_key_env"):
            assert part in line
        assert "secret-1234" not in line
        assert (account.free, account.unknown, account.delivered, account.open) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({}, {"code": "insufficient_quota", "message": "You exceeded your current quota"}),
        ({}, {"message": "Rate limit: 1000 requests per day"}),
        ({"Retry-After": "3600"}, {"message": "slow down"}),
    ],
)
async def test_a_used_up_quota_ends_the_run_at_once(serve: Any, chat_all: Any, headers: Any, error: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        if asked.number < 3:
            return server.said()
        return web.json_response({"error": error}, status=429, headers=headers)

    async with serve(answer) as server:
        with ModelHub() as hub:
            results = await chat_all(bind(hub, server.address, concurrency=1), TEXTS)
        assert ends(results) == {"ChatReply": 3, "EndpointDown": 57}
        assert len(server.asked) == 4
        assert "quota" in str(results[-1])


@pytest.mark.parametrize("kind", ["429", "500", "503", "hangup", "html", "refused", "429 with a wait"])
async def test_an_endpoint_that_answers_nobody_ends_the_run_and_blames_no_call(
    serve: Any, chat_all: Any, kind: str
) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        if kind == "hangup":
            return None
        if kind == "html":
            return web.Response(text="<html>login</html>", content_type="text/html")
        headers = {"Retry-After": "0.01"} if " " in kind else None
        return web.json_response({"error": {"message": "busy"}}, status=int(kind[:3]), headers=headers)

    async with serve(answer) as server:
        address = "http://127.0.0.1:9/v1" if kind == "refused" else server.address
        with ModelHub(patience=QUICK) as hub:
            results = await chat_all(bind(hub, address, attempts=2), TEXTS)
            later = await chat_all(bind(hub, address, attempts=2), ["later"])
        assert ends(results) == {"EndpointDown": 60}
        assert ends(later) == {"EndpointDown": 1}
        assert "gave no reply" in str(results[0])
        assert "it last said" in str(results[0])


async def test_an_endpoint_that_hangs_is_silent_since_it_was_asked(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(60)

    async with serve(answer) as server:
        with ModelHub(patience=QUICK) as hub:
            results = await chat_all(bind(hub, server.address, timeout=0.4), TEXTS)
        assert ends(results) == {"EndpointDown": 60}
        assert len(server.asked) == QUICK.window  # nobody waits for a second round of timeouts
        assert "no reply within 0.4 s" in str(results[0])
        assert "timeout" in str(results[0])


async def test_all_replicas_have_to_fail(serve: Any, chat_all: Any) -> None:
    async def well(server: Any, asked: Any) -> Any:
        return server.said()

    async def ill(server: Any, asked: Any) -> Any:
        return web.json_response({"error": "key"}, status=401)

    async with serve(well) as first, serve(ill) as second:
        # Patience enough for a busy machine: the good replica may take its time.
        with ModelHub(patience=QUICK.model_copy(update={"seconds": 10})) as hub:
            results = await chat_all(bind(hub, first.address, second.address, "http://127.0.0.1:9/v1"), TEXTS)
        assert ends(results) == {"ChatReply": 60}
        assert len(first.asked) == 60


async def test_a_burst_of_errors_among_replies_never_ends_a_run(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        # Half of all fail, in bursts of 6, over a time that is longer than the patience.
        await asyncio.sleep(0.005)
        return web.Response(status=500) if asked.number // 6 % 2 else server.said()

    async with serve(answer) as server:
        with ModelHub(patience=QUICK.model_copy(update={"seconds": 0.3})) as hub:
            texts = [f"{number}" for number in range(150)]
            results = await chat_all(bind(hub, server.address, attempts=50, concurrency=8), texts)
            role = hub.statistics().roles[0]
        assert ends(results) == {"ChatReply": 150}
        assert role.retries[FailureKind.SERVER] > 50


# A call fails


async def test_a_call_that_fails_among_others_that_are_answered_is_blamed(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        await asyncio.sleep(0.001)
        return web.Response(status=500) if asked.text == "question 7" else server.said()

    async with serve(answer) as server:
        with ModelHub(patience=QUICK) as hub:
            results = await chat_all(bind(hub, server.address, attempts=3), TEXTS)
            assert hub.statistics().roles[0].failed == 1
        assert ends(results) == {"ChatReply": 59, "CallFailed": 1}
        assert results[7].kind is FailureKind.SERVER
        assert "after 3 attempts" in results[7].detail


@pytest.mark.parametrize("alive", [True, False])
async def test_the_only_call_is_blamed_when_the_server_is_well_otherwise(
    serve: Any, chat_all: Any, alive: bool
) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return web.Response(status=500)

    async with serve(answer) as server:
        server.models_status = 200 if alive else 503
        with ModelHub(patience=QUICK) as hub:
            results = await chat_all(bind(hub, server.address, attempts=4), ["poison"])
        assert ends(results) == {"CallFailed" if alive else "EndpointDown": 1}


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"message": "unknown field"}, FailureKind.REQUEST),
        (422, {"message": "unknown field"}, FailureKind.REQUEST),
        (413, {}, FailureKind.REQUEST),
        (404, {"message": "gone"}, FailureKind.REQUEST),
        (400, {"message": "maximum context length is 8"}, FailureKind.CONTEXT),
    ],
)
async def test_a_wrong_request_is_not_made_again(
    serve: Any, chat_all: Any, status: int, error: Any, kind: FailureKind
) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        if asked.text == "wrong":
            return web.json_response({"error": error}, status=status)
        return server.said()

    async with serve(answer) as server:
        with ModelHub() as hub:
            model = bind(hub, server.address)
            assert ends(await chat_all(model, ["right"])) == {"ChatReply": 1}
            (found,) = await chat_all(model, ["wrong"])
            assert isinstance(found, CallFailed)
            assert found.kind is kind
            assert ends(await chat_all(model, ["right, too"])) == {"ChatReply": 1}
        assert len(server.asked) == 3


async def test_an_unknown_model_ends_the_run(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return web.json_response({"error": {"message": "The model `m` does not exist"}}, status=404)

    async with serve(answer) as server:
        with ModelHub() as hub:
            results = await chat_all(bind(hub, server.address), TEXTS)
        assert ends(results) == {"EndpointDown": 60}
        assert "does not exist" in str(results[0])
        assert "check the address" in str(results[0]).lower()


async def test_when_every_request_is_refused_the_run_ends(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> Any:
        return web.json_response({"error": {"message": "max_tokens is not supported"}}, status=400)

    async with serve(answer) as server:
        with ModelHub() as hub:
            results = await chat_all(bind(hub, server.address), TEXTS)
        assert isinstance(results[-1], EndpointDown)
        assert ends(results)["CallFailed"] == 15
        assert "refuses every request" in str(results[-1])


# Said before anything runs


@pytest.mark.parametrize(
    "address",
    ["localhost:8000/v1", "ftp://host/v1", "http://", "http://host:port/v1", "", "http://h:0/v1", "http://h/v1?x=1"],
)
def test_an_address_that_is_none(address: str) -> None:
    with ModelHub() as hub, pytest.raises(InputError, match="is not an address"):
        hub.bind("m", Sampling(), Runtime.model_construct(endpoints=(address,)))


def test_addresses_that_are_the_same_are_one_replica() -> None:
    with ModelHub() as hub:
        bind(hub, "http://h/v1", "http://h/v1/", "http://h/v1/chat/completions")
        assert [each.address for each in hub.statistics().endpoints] == ["http://h/v1"]


def test_what_is_missing_is_said_in_one_line(monkeypatch: Any) -> None:
    monkeypatch.delenv("NO_KEY", raising=False)
    with ModelHub() as hub:
        with pytest.raises(InputError, match="no endpoint"):
            bind(hub)
        with pytest.raises(InputError, match="NO_KEY holds no key"):
            bind(hub, "http://h/v1", api_key_env="NO_KEY")
        at = Runtime(endpoints=("http://h/v1",))
        with pytest.raises(InputError, match="can't set n, stream"):
            hub.bind("m", Sampling(extra={"n": 2, "stream": True, "top_k": 3}), at)
        with pytest.raises(InputError, match=r"max_completion_tokens\. Name it in sampling\.length_field"):
            hub.bind("m", Sampling(extra={"max_completion_tokens": 9}), at)


@pytest.mark.parametrize("status", [429, 503])
async def test_how_long_an_outage_is_borne_is_the_role_s_to_say(serve: Any, chat_all: Any, status: int) -> None:
    """Where two roles share an endpoint, the more patient one counts."""

    async def answer(server: Any, asked: Any) -> Any:
        return web.json_response({"error": {"message": "busy"}}, status=status)

    async with serve(answer) as server:
        with ModelHub() as hub:  # whose own patience is two minutes
            model = hub.bind("m", Sampling(), Runtime(endpoints=(server.address,), attempts=100, patience=QUICK))
            (end,) = await asyncio.wait_for(chat_all(model, ["a"]), 30)
            assert isinstance(end, EndpointDown)
            assert "gave no reply for" in str(end)
        with ModelHub() as hub:
            runtime = Runtime(endpoints=(server.address,), attempts=100, patience=QUICK)
            hub.bind("m", Sampling(), runtime.model_copy(update={"patience": Patience()}))
            patient = hub.bind("m", Sampling(), runtime)
            waiting = asyncio.create_task(chat_all(patient, ["a"]))
            before = len(server.asked)
            while len(server.asked) < before + 5:
                await asyncio.sleep(0.001)
            await asyncio.sleep(2 * QUICK.seconds)
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
