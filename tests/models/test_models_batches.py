"""Calls in batches: sent once, waited for, stored; what a batch did not do is made up for."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_hubs import QUICK
from stand_ins.call_log import intents
from stand_ins.call_log import replies as stored_replies
from stand_ins.model_server import Faults, ModelServer, Reply, ServerOptions

from synth.errors import InputError
from synth.mocks.model import BatchFault, FaultKind
from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import BatchOptions, BudgetReached, ChatReply, EndpointDown, Price, Runtime, Sampling
from synth.store.calls import CallStore

CALLS = 200
KEY = "key-7f3a9b1c5d2e8f4a6"
PRICE = Price(prompt=1, completion=10)
FAST: Mapping[str, Any] = {"gather": 0.05, "poll": 0.02, "least": 4}


class Echo:
    """Says the question and the sample again."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        return Reply(content=f"{request['messages'][-1]['content']} / {sample}")


def served(faults: Faults | None = None, **options: Any) -> ModelServer:
    return ModelServer(Echo(), ServerOptions(faults=faults or Faults(), **options))


def of_batches(**rates: float) -> Faults:
    return Faults(seed=3, batches={BatchFault[name.upper()]: rate for name, rate in rates.items()})


def bind(hub: ModelHub, *addresses: str, batch: BatchOptions | None = None, **given: Any) -> Any:
    batch = BatchOptions(**FAST) if batch is None else batch
    runtime = Runtime(endpoints=addresses, price=PRICE, batch=batch, patience=QUICK, role="judge", **given)
    return hub.bind("m", Sampling(max_tokens=64), runtime)


async def ask(model: Any, numbers: Any) -> list[Any]:
    def chat(number: int) -> Any:
        return model.chat([{"role": "user", "content": f"What is {number}?"}], sample=f"{number:032x}")

    return await asyncio.gather(*(bridge.run(chat, number) for number in numbers), return_exceptions=True)


def said(replies: list[Any]) -> list[str]:
    assert all(isinstance(reply, ChatReply) for reply in replies), [r for r in replies if isinstance(r, Exception)][:3]
    return [reply.content for reply in replies]


def expected(count: int = CALLS) -> list[str]:
    return [f"What is {number}? / {number:032x}" for number in range(count)]


def deliveries(server: ModelServer) -> Counter[str]:
    """How often each call was answered, and so paid for."""
    return Counter(record.call for record in server.log.records() if record.usage is not None)


async def test_a_wave_of_calls_is_one_batch_at_half_the_price(tmp_path: Path) -> None:
    with served() as server, CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        assert said(await ask(bind(hub, server.url), range(CALLS))) == expected()
        assert len(server.batches.made) == server.batches.uploads == 1
        names = [json.loads(line)["custom_id"] for line in server.batches.made[0].lines]
        assert max(map(len, names)) <= 64 - len("ffffff")  # of as many calls as nobody makes
        assert set(deliveries(server).values()) == {1}
        used = [record.usage for record in server.log.records() if record.usage is not None]
        full = sum(prompt * 1000 + completion * 10_000 for prompt, completion in used)
        account, (batch,) = hub.account(), calls.batches.all("a")
        assert (account.delivered, account.open, account.cost_exact) == (CALLS, 0, full // 2)
        assert (batch.calls, batch.open, batch.delivered, batch.cost) == (CALLS, 0, CALLS, full // 2)
        bounds = {intent.tokens_bound * 1000 + 64 * 9_000 for intent in intents(calls)}
        assert {2 * intent.cost_bound for intent in intents(calls)} == bounds
        assert hub.statistics().roles[0].cost == full // 2
        assert said(await ask(bind(hub, server.url), range(CALLS))) == expected()
        assert len(server.batches.made) == 1


async def test_replies_are_those_of_direct_calls(tmp_path: Path) -> None:
    with served() as server, ModelHub() as hub, ModelHub() as other:
        direct = other.bind("m", Sampling(max_tokens=64), Runtime(endpoints=(server.url,), price=PRICE))
        ours, theirs = await ask(bind(hub, server.url), range(CALLS)), await ask(direct, range(CALLS))
        assert said(ours) == said(theirs)
        assert [reply.call for reply in ours] == [reply.call for reply in theirs]
        assert [reply.usage for reply in ours] == [reply.usage for reply in theirs]


async def test_few_calls_are_made_directly(tmp_path: Path) -> None:
    with served() as server, ModelHub() as hub:
        assert said(await ask(bind(hub, server.url), range(3))) == expected(3)
        assert server.batches.made == []
        assert hub.account().delivered == 3


async def test_a_file_holds_no_more_calls_than_it_may(tmp_path: Path) -> None:
    with served() as server, ModelHub() as hub:
        assert said(await ask(bind(hub, server.url, batch=BatchOptions(**FAST, calls=60)), range(CALLS))) == expected()
        assert sorted(len(batch.lines) for batch in server.batches.made) == [20, 60, 60, 60]


@pytest.mark.parametrize(
    "faults",
    [
        of_batches(slow=1.0),
        of_batches(out_of_order=1.0, line_twice=0.5),
        of_batches(line_error=0.3),
        of_batches(expired=0.5),
        of_batches(lost=1.0),
        of_batches(expired=0.3, lost=0.3, line_error=0.1, line_twice=0.1, out_of_order=0.5),
    ],
    ids=["slow", "order", "errors", "expired", "lost", "all"],
)
async def test_what_goes_wrong_is_made_up_for(tmp_path: Path, faults: Faults) -> None:
    with (
        served(faults, batch_seconds=0.02) as server,
        CallStore(tmp_path / "calls") as calls,
        ModelHub(calls, account="a") as hub,
    ):
        assert said(await ask(bind(hub, server.url), range(CALLS))) == expected()
        assert set(deliveries(server).values()) == {1}
        account = hub.account()
        assert (account.delivered, account.open, account.cost_open) == (CALLS, 0, 0)
        errors = sum(record.outcome == BatchFault.LINE_ERROR for record in server.log.records())
        assert account.unknown == errors  # a 500 may have cost
        assert all(batch.open == 0 for batch in calls.batches.all("a"))


async def test_a_call_that_no_batch_does_is_made_directly(tmp_path: Path) -> None:
    with served(of_batches(expired=1.0)) as server, ModelHub() as hub:
        model = bind(hub, server.url, batch=BatchOptions(**FAST, attempts=2))
        assert said(await ask(model, range(CALLS))) == expected()
        assert [len(batch.lines) for batch in server.batches.made] == [200, 100]
        assert set(deliveries(server).values()) == {1}
        assert sum(record.status == 200 and record.request_id.count("-") == 2 for record in server.log.records()) == 200


async def test_refusals_are_recorded_and_not_served(tmp_path: Path) -> None:
    faults = Faults(rates={FaultKind.REFUSAL: 0.3, FaultKind.USAGE_MISSING: 0.2})
    with served(faults) as server, CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
        replies = await ask(bind(hub, server.url), range(CALLS))
        refused = sum(reply.refusal is not None for reply in replies)
        assert 0 < refused < CALLS
        account = hub.account()
        unknown = sum(record.fault is FaultKind.USAGE_MISSING for record in server.log.records())
        assert (account.delivered, account.unknown) == (CALLS - unknown, unknown)
        again = await ask(bind(hub, server.url), range(CALLS))
        assert [reply.content for reply in again] == [reply.content for reply in replies]
        assert len(server.batches.made[1].lines) == refused


async def test_the_cap_counts_what_is_under_way(tmp_path: Path) -> None:
    """A batch takes what fits into the cap at the most that calls may cost; the others wait for what it did cost."""
    with served(batch_seconds=0.05) as server, CallStore(tmp_path / "calls") as calls:
        with ModelHub(calls, account="a") as hub:
            await ask(bind(hub, server.url), range(20))
            spent = hub.account().cost_spent
        bound = next(intent.cost_bound for intent in intents(calls))
        with ModelHub(calls, account="a", max_cost=spent + 30 * bound) as hub:
            model = bind(hub, server.url)
            task = asyncio.create_task(ask(model, range(100, 160)))
            while not calls.batches.all("a")[1:]:
                await asyncio.sleep(0.005)
            assert hub.account().open == len(intents(calls)) - 20 <= 30
            replies = await task
            assert hub.account().cost_bound <= spent + 30 * bound
        good = sum(isinstance(reply, ChatReply) for reply in replies)
        assert good > 30
        assert all(isinstance(reply, BudgetReached) for reply in replies if not isinstance(reply, ChatReply))


async def test_a_server_without_batches_is_said(tmp_path: Path, serve: Any) -> None:
    async with serve(lambda server, asked: server.said()) as server:
        with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
            replies = await ask(bind(hub, server.address), range(10))
            assert all(isinstance(reply, EndpointDown) for reply in replies)
            assert "has no batch endpoint" in str(replies[0])
            assert (hub.account().free, hub.account().open) == (10, 0)


async def test_a_wrong_key_and_an_outage_end_the_run(tmp_path: Path) -> None:
    with served(api_key="right") as server, ModelHub() as hub:
        replies = await ask(bind(hub, server.url), range(10))
        assert all(isinstance(reply, EndpointDown) for reply in replies)
        assert "Incorrect API key" in str(replies[0])
    with ModelHub() as hub:
        replies = await ask(bind(hub, server.url), range(10))
        assert all(isinstance(reply, EndpointDown) for reply in replies)
        assert "its batch endpoint gives no answer" in str(replies[0])


async def test_a_batch_under_way_is_waited_for_whoever_asks(tmp_path: Path) -> None:
    """A hub that is closed with a batch under way; the next one has it by its id, though its role has no batches."""
    with served(batch_seconds=1.0) as server:
        with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
            task = asyncio.create_task(ask(bind(hub, server.url), range(CALLS)))
            while not any(batch.remote for batch in calls.batches.all()):
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert hub.account().open == CALLS
        with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
            assert (hub.account().open, hub.account().unknown) == (CALLS, 0)
            elsewhere = bind(hub, "http://127.0.0.1:1/v1")
            (refused,) = await ask(elsewhere, [0])
            assert isinstance(refused, InputError)
            assert "endpoint again until the batch is through" in str(refused)
            batchless = hub.bind("m", Sampling(max_tokens=64), Runtime(endpoints=(server.url,), price=PRICE))
            server.batches.made[0].due = 0.0
            assert said(await ask(batchless, range(5))) == expected(5)
            assert (hub.account().delivered, hub.account().open) == (CALLS, 0)
        assert set(deliveries(server).values()) == {1}
        assert len(server.batches.made) == 1


async def test_a_batch_can_be_given_up(tmp_path: Path) -> None:
    with served(batch_seconds=100) as server:
        with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
            task = asyncio.create_task(ask(bind(hub, server.url), range(10)))
            while not any(batch.remote for batch in calls.batches.all()):
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        (made,) = server.batches.made
        with CallStore(tmp_path / "calls") as calls, ModelHub(calls, account="a") as hub:
            options = BatchOptions(**{**FAST, "least": 100}, forget=(made.id,))
            assert said(await ask(bind(hub, server.url, batch=options), range(10))) == expected(10)
            assert (hub.account().delivered, hub.account().unknown) == (10, 10)


async def test_a_provider_that_is_full_gets_smaller_batches() -> None:
    with served() as server, ModelHub() as hub:
        full = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}
        task = asyncio.create_task(ask(bind(hub, server.url), range(40)))
        while not server.batches.made:
            await asyncio.sleep(0.001)
        server.batches.made[0].status, server.batches.made[0].refused = "failed", [full]
        assert said(await task) == expected(40)
        assert [len(batch.lines) for batch in server.batches.made] == [40, 20, 20]


async def test_a_batch_that_is_refused_for_good_says_why(tmp_path: Path) -> None:
    with served(batch_seconds=10) as server, ModelHub() as hub:
        task = asyncio.create_task(ask(bind(hub, server.url), range(10)))
        while not server.batches.made:
            await asyncio.sleep(0.001)
        made = server.batches.made[0]
        made.status, made.refused = "failed", [{"code": "x", "message": "The model has no batches.", "line": None}]
        replies = await task
        assert all(isinstance(reply, EndpointDown) for reply in replies)
        assert "The model has no batches" in str(replies[0])
        assert (hub.account().free, hub.account().open) == (10, 0)


async def test_a_batch_that_is_cancelled_there_costs_what_it_did() -> None:
    with served(batch_seconds=10) as server, ModelHub() as hub:
        task = asyncio.create_task(ask(bind(hub, server.url), range(10)))
        while not server.batches.made:
            await asyncio.sleep(0.001)
        server.batches.made[0].status = "cancelled"  # before any call of it, and without a word about them
        while not server.batches.made[1:]:
            await asyncio.sleep(0.001)
        server.batches.made[1].due = 0.0
        assert said(await task) == expected(10)
        assert (hub.account().free, hub.account().delivered, hub.account().unknown) == (10, 10, 0)


async def test_a_line_that_is_refused_is_asked_for_directly(tmp_path: Path) -> None:
    with served(batch_seconds=10) as server, ModelHub() as hub:
        task = asyncio.create_task(ask(bind(hub, server.url), range(10)))
        while not server.batches.made:
            await asyncio.sleep(0.001)
        made = server.batches.made[0]
        made.status, made.refused = "failed", [{"code": "x", "message": "A wrong line.", "line": 3}]
        while not server.batches.made[1:]:
            await asyncio.sleep(0.001)
        server.batches.made[1].due = 0.0
        assert said(await task) == expected(10)
        assert len(server.batches.made[1].lines) == 9


def test_lines_of_other_servers_are_read() -> None:
    """vLLM writes the error of a line beside a response without a body; some leave the response out."""
    from synth.models.batch_api import line_of

    def line(**given: Any) -> Any:
        return line_of(json.dumps({"custom_id": "a", **given}).encode())

    assert line(response={"status_code": 400, "body": None}, error={"message": "no"}).response.status == 400
    assert line(response=None, error={"code": "batch_expired"}).response is None
    assert line(response={"status_code": 200, "body": None}).response is None
    assert line(response={"body": {"choices": []}}, error=None).response.status == 200
    assert [line_of(text) for text in (b"{", b"[]", b"{}")] == [None, None, None]


class Blabs:
    """Says the key that it was sent, to every second question."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        return Reply(content=f"Your key is {KEY}." if sample is not None and int(sample, 16) % 2 else "I won't say.")


async def test_a_key_is_taken_out_of_every_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens, too: they say it once more, in pieces."""
    monkeypatch.setenv("SYNTH_TEST_CREDENTIAL", KEY)
    faults = Faults(seed=3, batches={BatchFault.LINE_ERROR: 0.2})
    with (
        ModelServer(Blabs(), ServerOptions(api_key=KEY, faults=faults)) as server,
        CallStore(tmp_path / "calls") as calls,
        ModelHub(calls, account="a") as hub,
    ):
        runtime = Runtime(
            endpoints=(server.url,), price=PRICE, batch=BatchOptions(**FAST), api_key_env="SYNTH_TEST_CREDENTIAL"
        )
        replies = await ask(hub.bind("m", Sampling(max_tokens=64, logprobs=True), runtime), range(40))
        assert said(replies) == ["Your key is [redacted]." if number % 2 else "I won't say." for number in range(40)]
        assert all(reply.token_ids is None and reply.logprobs is None for reply in replies[1::2])
        stored = [reply.body for reply in stored_replies(calls)]
    assert len(stored) == 40
    assert not any(KEY.encode() in body for body in stored)
