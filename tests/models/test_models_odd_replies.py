"""Whatever a server says is a reply, or no reply: never our error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_replies import RETRY_AFTER, bent_response

from synth.agents.model.reading import Unreadable, read_reply
from synth.environments.contract import ToolSchema
from synth.models.contract import ChatReply
from synth.models.failures import retry_after, trouble_of
from synth.models.lenient import read_json, read_object
from synth.models.parse import MalformedReply, ServerSaysError, parse_chat, to_store

TOOLS = [
    ToolSchema(
        name="search",
        description="Searches.",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    )
]
CALLED = {
    "id": "x",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": [{"text": "so"}]}, {"text": "I look."}],
                "reasoning": "I should look.",
                "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": {"query": "x"}}}],
            },
            "finish_reason": "tool_calls",
            "logprobs": {"content": [{"token": "a", "logprob": -0.5}]},
            "token_ids": [1],
        }
    ],
    "prompt_token_ids": [1, 2],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}},
}
ANSWERED = {
    "choices": [{"message": {"content": "<think>so</think>Ada", "refusal": None}, "finish_reason": "stop"}],
    "error": {"code": "500", "message": "oh", "type": "x"},
    "usage": {"prompt_tokens": 9, "completion_tokens": 3},
}


def read(status: int, headers: dict[str, str], body: bytes) -> str:
    """What becomes of a response: a word."""
    if status != 200:
        trouble = trouble_of(status, headers, body, longest_wait=600)
        trouble.detail.encode()
        return trouble.kind.value
    try:
        reply = parse_chat(body)
    except MalformedReply as malformed:
        malformed.detail.encode()
        return "malformed"
    except ServerSaysError as error:
        error.detail.encode()
        return "error"
    assert parse_chat(to_store(body)) == reply
    json.dumps(reply.model_dump(mode="json"), allow_nan=False, ensure_ascii=False).encode()
    words = set()
    for mode in ("native", "structured"):
        try:
            reading = read_reply(reply, TOOLS, mode)  # type: ignore[arg-type]
        except Unreadable as unreadable:
            unreadable.args[0].encode() if unreadable.args and isinstance(unreadable.args[0], str) else None
            words.add("unreadable")
        else:
            json.dumps(reading.turn.model_dump(mode="json"), allow_nan=False, ensure_ascii=False).encode()
            words.add("read")
    return "+".join(sorted(words))


def test_a_thousand_odd_replies() -> None:
    found: dict[str, int] = {}
    for number in range(1_000):
        word = read(*bent_response(CALLED if number % 3 else ANSWERED, number))
        found[word] = found.get(word, 0) + 1
    assert len(found) >= 6, found
    assert found["malformed"] > 50
    assert sum(count for word, count in found.items() if "read" in word.split("+")) > 100


def message(**given: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": "x", **given}}]}).encode()


@pytest.mark.parametrize(
    "body",
    [
        message(tool_calls=[{"function": {"name": "f", "arguments": {"x": float("nan")}}}]),
        message(tool_calls=[{"function": {"name": "f", "arguments": [float("inf")]}}]),
        message(content=[{"thinking": 5}]),
        message(content=[{"thinking": [1, "x", None, {"text": 2}]}]),
        message(content=[{"thinking": True}]),
        b'{"choices": [{"message": {"content": "x"}}, "odd"], "prompt_token_ids": [1]}',
        b'{"error": {"code": "\xc2\xb2", "message": "x"}}',
        b'{"error": {"code": "' + b"9" * 5_000 + b'"}}',
        b'{"error": "\\ud800"}',
        b'{"error": ' + b"[" * 940 + b"]" * 940 + b"}",
        b'{"choices": [{"message": {}, "logprobs": {"content": [{"logprob": 1' + b"0" * 400 + b"}]}}]}",
        b'{"choices": [{"message": {}, "token_ids": [1' + b"0" * 30 + b"]}]}",
    ],
    ids=range(12),
)  # fmt: skip
def test_a_form_that_broke_the_reader(body: bytes) -> None:
    read(200, {}, body)


@pytest.mark.parametrize(
    ("token_ids", "logprobs"),
    [([10**30], [-1.0]), ([-1], [-1.0]), ([1, 2], [-1.0]), ([1], [10**400]), ([1], [0.5]), ([1], [-1e200])],
)
def test_what_no_token_can_have_is_dropped(token_ids: Any, logprobs: Any) -> None:
    content = [{"token": "a", "logprob": value} for value in logprobs]
    choice = {"message": {"content": "x"}, "token_ids": token_ids, "logprobs": {"content": content}}
    reply = parse_chat(json.dumps({"choices": [choice]}).encode())
    assert reply.token_ids is None or reply.logprobs is None
    assert isinstance(reply, ChatReply)


@pytest.mark.parametrize("value", RETRY_AFTER)
def test_an_odd_date_is_no_wait_or_a_wait(value: str) -> None:
    found = retry_after({"retry-after": value})
    assert found is None or found >= 0


@given(st.text(max_size=60))
def test_any_text_is_no_wait_or_a_wait(value: str) -> None:
    found = retry_after({"retry-after": value})
    assert found is None or found >= 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"x": 1e400}', "1e400 is larger than any number"),
        ('{"x": NaN}', "NaN is no JSON value"),
        ('{"x": ' + "9" * 5_000 + "}", "a number of 5,000 digits"),
        ("[" * 200 + "]" * 200, "nested too deeply"),
        ('{"\\ud800": 1, "\\ud801": 2}', "a key stands in it twice"),
        ("[" * 200_000, "too many parts"),
    ],
)
def test_json_that_no_file_could_hold_is_refused_in_words(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_json(text)


def test_half_a_character_is_made_whole() -> None:
    assert read_object('{"q": ["\\ud800", "\\ud83d\\ude00"]}')[0] == {"q": ["\ufffd", "\U0001f600"]}
