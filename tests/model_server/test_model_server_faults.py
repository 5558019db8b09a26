"""Every fault is what it says, comes as often as planned, and comes again in the same places."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import aiohttp
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from server_calls import SEARCH, Answer, ask, ask_all, body, call_message, result
from stand_ins.model_server import (
    CONTENT_FAULTS,
    TRANSPORT_FAULTS,
    Call,
    FaultKind,
    Faults,
    FixedPlayer,
    ModelServer,
    Reply,
    ServerOptions,
)

from synth.mocks.model.log import OPEN

CALLS = (Call.of("search", query="Orl", k=3), Call.of("search", query="Mosk"))
SAID = Reply(content="I search.", reasoning="Where to begin?", calls=CALLS)


def faulty(kind: FaultKind, reply: Reply = SAID, **more: Any) -> ModelServer:
    faults = Faults(rates={kind: 1.0}, slow=0.05, **more)
    return ModelServer(FixedPlayer(reply), ServerOptions(faults=faults))


def status_of(kind: FaultKind, **more: Any) -> Answer:
    with faulty(kind, **more) as server:
        answer = ask(server.url, body())
        (record,) = server.log.records()
        assert (record.outcome, record.fault, record.status) == (kind.value, kind, answer.status)
        return answer


def test_statuses() -> None:
    plain = status_of(FaultKind.RATE_LIMITED)
    assert (plain.status, plain.headers.get("Retry-After")) == (429, None)
    later = status_of(FaultKind.RETRY_AFTER, retry_after="7")
    assert (later.status, later.headers["Retry-After"]) == (429, "7")
    assert status_of(FaultKind.SERVER_ERROR).status == 500
    assert status_of(FaultKind.UNAVAILABLE).status == 503
    for kind in (FaultKind.RATE_LIMITED, FaultKind.SERVER_ERROR, FaultKind.UNAVAILABLE):
        assert status_of(kind).error["message"]


def test_reset_before() -> None:
    with faulty(FaultKind.RESET_BEFORE) as server:
        with pytest.raises((aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
            ask(server.url, body())
        (record,) = server.log.records()
        assert (record.outcome, record.status, record.usage) == ("reset_before", None, None)


def test_reset_after() -> None:
    with faulty(FaultKind.RESET_AFTER) as server:
        with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientOSError)):
            ask(server.url, body())
        (record,) = server.log.records()
        assert (record.outcome, record.status) == ("reset_after", 200)
        assert record.usage is not None


def test_hang_lasts_until_the_client_gives_up() -> None:
    with faulty(FaultKind.HANG) as server:
        with pytest.raises(TimeoutError):
            ask(server.url, body(), timeout=0.3)
        assert [record.outcome for record in server.log.records()] == ["hang"]


def test_slow_body_is_whole() -> None:
    with faulty(FaultKind.SLOW_BODY) as server:
        assert ask(server.url, body()).message["content"] == "I search."
    (record,) = server.log.records()  # the note is written behind the last byte: a client may be ahead of it
    assert (record.outcome, record.fault) == ("delivered", FaultKind.SLOW_BODY)


def test_a_client_that_leaves_a_slow_body_is_not_served() -> None:
    faults = Faults(rates={FaultKind.SLOW_BODY: 1.0}, slow=2.0)
    with ModelServer(FixedPlayer(SAID), ServerOptions(faults=faults)) as server, pytest.raises(TimeoutError):
        ask(server.url, body(), timeout=0.5)
    (record,) = server.log.records()
    assert record.outcome == "aborted"
    assert record.usage is not None


def test_bodies() -> None:
    torn = status_of(FaultKind.TORN_JSON)
    assert (torn.status, torn.headers["Content-Type"].partition(";")[0]) == (200, "application/json")
    assert torn.data.startswith(b"{")
    with pytest.raises(ValueError):
        json.loads(torn.data)
    page = status_of(FaultKind.WRONG_CONTENT_TYPE)
    assert (page.status, page.headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert page.data.startswith(b"<!DOCTYPE html>")
    empty = status_of(FaultKind.EMPTY_CHOICES)
    assert (empty.status, empty.json["choices"]) == (200, [])
    assert empty.json["usage"]["completion_tokens"] > 0


def spoilt(kind: FaultKind, reply: Reply = SAID, request: dict[str, Any] | None = None) -> Answer:
    with faulty(kind, reply) as server:
        answer = ask(server.url, request or body(tools=[SEARCH]))
        assert answer.status == 200
        (record,) = server.log.records()
        assert (record.outcome, record.fault) == ("delivered", kind)
        assert record.usage is not None
        return answer


def test_lost_calls() -> None:
    message = spoilt(FaultKind.LOST_CALLS).message
    assert message["content"] is None
    assert "tool_calls" not in message


def test_empty_arguments() -> None:
    calls = spoilt(FaultKind.EMPTY_ARGUMENTS).message["tool_calls"]
    assert [(call["function"]["name"], call["function"]["arguments"]) for call in calls] == [("search", "")] * 2


@pytest.mark.parametrize(
    ("kind", "opening", "closing"),
    [(FaultKind.NARRATED_TAG, "<tool_call>", "</tool_call>"), (FaultKind.NARRATED_FENCE, "```json", "```")],
)
def test_narrated_calls(kind: FaultKind, opening: str, closing: str) -> None:
    choice = spoilt(kind).choice
    assert choice["finish_reason"] == "stop"
    assert "tool_calls" not in choice["message"]
    text = choice["message"]["content"]
    assert text.startswith("I search.\n")
    told = [json.loads(part.partition(closing)[0]) for part in text.split(opening)[1:]]
    assert told == [{"name": call.name, "arguments": json.loads(call.arguments)} for call in CALLS]


def test_wrong_types() -> None:
    first, second = spoilt(FaultKind.WRONG_TYPES).message["tool_calls"]
    check = jsonschema.Draft202012Validator(SEARCH["function"]["parameters"])
    assert not check.is_valid(json.loads(first["function"]["arguments"]))
    assert check.is_valid(json.loads(second["function"]["arguments"]))


def test_length() -> None:
    choice = spoilt(FaultKind.LENGTH).choice
    assert choice["finish_reason"] == "length"
    whole = f"{SAID.reasoning}{SAID.content}{CALLS}"
    assert len(str(choice["message"].get("content") or "")) <= len(whole)


def test_refusal() -> None:
    message = spoilt(FaultKind.REFUSAL).message
    assert message["refusal"]
    assert message["content"] is None


def test_duplicate_ids() -> None:
    first, second = spoilt(FaultKind.DUPLICATE_IDS).message["tool_calls"]
    assert first["id"] == second["id"]
    messages = [*body()["messages"], call_message("earlier"), result("earlier")]
    one = Reply(calls=CALLS[:1])
    (again,) = spoilt(FaultKind.DUPLICATE_IDS, one, body(messages=messages)).message["tool_calls"]
    assert again["id"] == "earlier"


def test_usage_missing() -> None:
    answer = spoilt(FaultKind.USAGE_MISSING)
    assert "usage" not in answer.json
    assert answer.message["content"] == "I search."


@pytest.mark.parametrize(
    "kind", [kind for kind in CONTENT_FAULTS if "call" in kind or "argum" in kind or "narr" in kind]
)
def test_no_fault_where_there_is_no_place_for_it(kind: FaultKind) -> None:
    with faulty(kind, Reply(content="The Orl.")) as server:
        assert ask(server.url, body()).message["content"] == "The Orl."
        assert {record.fault for record in server.log.records()} == {None}


def outcomes(faults: Faults, requests: list[tuple[Any, str]]) -> list[tuple[str, FaultKind | None]]:
    """By sample: what became of the first attempt."""
    with ModelServer(FixedPlayer(SAID), ServerOptions(faults=faults)) as server:
        ask_all(server.url, requests)
        # The last word of a reply may come before the server has noted that it said it.
        while any(record.outcome == OPEN for record in server.log.records()):
            time.sleep(0.005)
        return sorted((str(record.sample), record.fault) for record in server.log.records())


def test_a_plan_comes_again_whatever_the_order() -> None:
    kinds = [kind for kind in FaultKind if kind is not FaultKind.HANG]
    faults = Faults(seed=3, rates=dict.fromkeys(kinds, 0.04), slow=0.01)
    requests = [(body(), f"{number:04d}") for number in range(150)]
    first = dict(outcomes(faults, requests))
    assert first == dict(outcomes(faults, requests[::-1]))
    assert len(set(first.values())) > 10
    other = dict(outcomes(Faults(seed=4, rates=faults.rates, slow=0.01), requests))
    assert other != first


def test_faults_of_transport_go_with_a_retry_and_those_of_content_stay() -> None:
    rates = {FaultKind.SERVER_ERROR: 0.5, FaultKind.LENGTH: 0.5}
    with ModelServer(FixedPlayer(SAID), ServerOptions(faults=Faults(rates=rates))) as server:
        seen: dict[str, set[Any]] = {}
        statuses: Counter[int] = Counter()
        for number in range(12):
            for _ in range(6):
                answer = ask(server.url, body(), sample=str(number))
                statuses[answer.status] += 1
                if answer.status == 200:
                    seen.setdefault(str(number), set()).add(answer.choice["finish_reason"])
        assert set(statuses) == {200, 500}
        assert all(len(finishes) == 1 for finishes in seen.values())
        assert set().union(*seen.values()) == {"length", "tool_calls"}
        attempts = [record.attempt for record in server.log.records() if record.sample == "3"]
        assert attempts == list(range(6))


@settings(max_examples=8)
@given(st.integers(0, 2**31), st.floats(0.005, 0.05))
def test_rates_are_kept(seed: int, rate: float) -> None:
    faults = Faults.all(rate, seed=seed)
    count = 1_000
    for kinds, draw in (
        (TRANSPORT_FAULTS, lambda call: faults.transport(call, 0)),
        (CONTENT_FAULTS, faults.content),
    ):
        drawn = Counter(draw(f"{number:x}") for number in range(count))
        share = 1 - drawn[None] / count
        wanted = rate * len(kinds)
        # Five standard deviations of a binomial share.
        assert abs(share - wanted) < 5 * (wanted * (1 - wanted) / count) ** 0.5


def test_plans_that_can_not_be() -> None:
    for rates in ({"nonsense": 0.1}, {"hang": -0.1}, {"hang": 0.6, "torn_json": 0.6}):
        with pytest.raises(ValueError):
            Faults(rates=rates)  # type: ignore[arg-type]
    assert len(TRANSPORT_FAULTS) + len(CONTENT_FAULTS) == len(FaultKind)


def test_a_slow_body_says_what_a_fast_one_does() -> None:
    """Faults of content do not depend on how an answer came."""
    rates = {FaultKind.SLOW_BODY: 0.5, FaultKind.REFUSAL: 0.5}
    with ModelServer(FixedPlayer(SAID), ServerOptions(faults=Faults(rates=rates, slow=0.01))) as server:
        for number in range(8):
            said = {ask(server.url, body(), sample=str(number)).message["refusal"] for _ in range(5)}
            assert len(said) == 1
        seen = {(record.sample, record.fault) for record in server.log.records()}
    refused = {sample for sample, fault in seen if fault is FaultKind.REFUSAL}
    assert 0 < len(refused) < 8
    assert all((sample, FaultKind.SLOW_BODY) not in seen for sample in refused)
    assert any(fault is FaultKind.SLOW_BODY for _, fault in seen)
