"""Bodies of servers, as they differ."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.models.contract import ChatReply, Finish, RawCall, Usage
from synth.models.parse import MalformedReply, ServerSaysError, is_result, parse_chat, split_thought, to_store, usage_of


def body(message: Any, *, finish: Any = "stop", usage: Any = None, choice: Any = None, **top: Any) -> bytes:
    full = {"index": 0, "message": message, "finish_reason": finish, **(choice or {})}
    return json.dumps({"choices": [full], "usage": usage, **top}).encode()


def said(message: Any, **given: Any) -> ChatReply:
    return parse_chat(body(message, **given), "key")


def test_all_fields_of_a_full_reply() -> None:
    reply = said(
        {
            "role": "assistant",
            "content": " Ada ",
            "reasoning": " I look. ",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": 1}'}}],
        },
        finish="tool_calls",
        usage={"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
        choice={
            "token_ids": [5, 6],
            "logprobs": {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1}]},
        },
        model="m-2",
        system_fingerprint="fp",
    )
    assert reply == ChatReply(
        content="Ada",
        reasoning="I look.",
        tool_calls=(RawCall(id="c1", name="search", arguments='{"q": 1}'),),
        finish=Finish.TOOL_CALLS,
        usage=Usage(prompt_tokens=7, completion_tokens=3, cached_tokens=4),
        model="m-2",
        fingerprint="fp",
        token_ids=(5, 6),
        logprobs=(-0.5, -1.0),
        call="key",
    )


@pytest.mark.parametrize(
    ("message", "content", "reasoning"),
    [
        ({"content": None}, None, None),
        ({}, None, None),
        ({"content": ""}, None, None),
        ({"content": " \n"}, None, None),
        ({"content": "Ada", "reasoning_content": "Hm."}, "Ada", "Hm."),
        ({"content": "Ada", "reasoning": "", "reasoning_content": "Hm."}, "Ada", "Hm."),
        ({"content": None, "reasoning": "It is Ada."}, None, "It is Ada."),
        ({"content": "", "reasoning_content": "It is Ada."}, None, "It is Ada."),
        ({"content": "<think>Hm.</think>Ada"}, "Ada", "Hm."),
        ({"content": "\n<think>\nHm.\n</think>\n\nAda\n"}, "Ada", "Hm."),
        ({"content": "Hm.</think>Ada"}, "Ada", "Hm."),
        ({"content": "<think>Hm, and then"}, None, "Hm, and then"),
        ({"content": "<think></think>Ada"}, "Ada", None),
        ({"content": "<think>Hm.</think>"}, None, "Hm."),
        ({"content": "He wrote <think> into it."}, "He wrote <think> into it.", None),
        ({"content": "The tags <think> and </think> differ."}, "The tags <think> and </think> differ.", None),
        ({"content": "<think>a</think>b", "reasoning": "r"}, "<think>a</think>b", "r"),
        ({"content": [{"type": "text", "text": "A"}, {"type": "text", "text": "da"}]}, "Ada", None),
        ({"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Ada"}]}, "Ada", "Hm."),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, "Ada"]}, "Ada", "Hm."),
        ({"content": []}, None, None),
        ({"content": "Ada", "reasoning": {"steps": 3}}, "Ada", None),
    ],
)
def test_text_and_thought(message: dict[str, Any], content: str | None, reasoning: str | None) -> None:
    reply = said(message)
    assert (reply.content, reply.reasoning) == (content, reasoning)


@pytest.mark.parametrize("nothing", [None, [], "", {}])
def test_no_calls_in_every_spelling(nothing: Any) -> None:
    assert said({"content": "Ada", "tool_calls": nothing}).tool_calls == ()


@pytest.mark.parametrize(
    ("call", "raw"),
    [
        ({"id": "a", "function": {"name": "f", "arguments": ""}}, RawCall(id="a", name="f", arguments="")),
        ({"id": "a", "function": {"name": "f", "arguments": None}}, RawCall(id="a", name="f", arguments="")),
        ({"id": "a", "function": {"name": "f"}}, RawCall(id="a", name="f", arguments="")),
        ({"id": None, "function": {"name": "f", "arguments": "{"}}, RawCall(id="", name="f", arguments="{")),
        ({"function": {"name": None, "arguments": "x"}}, RawCall(id="", name="", arguments="x")),
        (
            {"id": "a", "function": {"name": "f", "arguments": {"b": 1, "a": "é"}}},
            RawCall(id="a", name="f", arguments='{"a":"é","b":1}'),
        ),
        ({"id": 3, "function": {"name": "f", "arguments": [1]}}, RawCall(id="", name="f", arguments="[1]")),
    ],
)
def test_a_call_is_taken_as_it_is(call: Any, raw: RawCall) -> None:
    assert said({"content": None, "tool_calls": [call]}).tool_calls == (raw,)


def test_several_calls_keep_their_order_and_their_equal_ids() -> None:
    given = [{"id": "x", "function": {"name": name, "arguments": "{}"}} for name in "abc"]
    assert [(call.id, call.name) for call in said({"content": None, "tool_calls": given}).tool_calls] == [
        ("x", "a"),
        ("x", "b"),
        ("x", "c"),
    ]


def test_the_old_form_of_a_call() -> None:
    reply = said({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, finish="function_call")
    assert reply.tool_calls == (RawCall(id="", name="f", arguments="{}"),)
    assert reply.finish is Finish.TOOL_CALLS


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("max_tokens", Finish.LENGTH),
        ("tool_calls", Finish.TOOL_CALLS),
        ("content_filter", Finish.CONTENT_FILTER),
        (None, Finish.OTHER),
        ("", Finish.OTHER),
        ("abort", Finish.OTHER),
        (7, Finish.OTHER),
        (["stop"], Finish.OTHER),
    ],
)
def test_finish_words(word: Any, finish: Finish) -> None:
    assert said({"content": "x"}, finish=word).finish is finish


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        "12",
        {"prompt_tokens": 1},
        {"prompt_tokens": 1, "completion_tokens": None},
        {"prompt_tokens": -1, "completion_tokens": 2},
        {"prompt_tokens": 1.5, "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": 2},
        {"total_tokens": 3},
    ],
)
def test_usage_that_says_too_little_is_none(usage: Any) -> None:
    assert said({"content": "x"}, usage=usage).usage is None


def test_more_cached_than_asked_is_all_of_it() -> None:
    usage = usage_of({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}})
    assert usage == Usage(prompt_tokens=5, completion_tokens=1, cached_tokens=5)


@pytest.mark.parametrize(
    "logprobs", [None, {}, {"content": None}, {"content": []}, {"content": [{"token": "a"}]}, {"content": [1]}, [], "x"]
)
def test_logprobs_that_are_not_whole_are_none(logprobs: Any) -> None:
    assert said({"content": "x"}, choice={"logprobs": logprobs, "token_ids": [1, "2"]}).logprobs is None


def test_infinite_logprobs_are_no_numbers_of_ours() -> None:
    text = body({"content": "x"}, choice={"logprobs": {"content": [{"token": "a", "logprob": float("-inf")}]}})
    assert parse_chat(text).logprobs is None


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (b"", "no JSON"),
        (b'{"choices": [{"message": {"content": "A', "no JSON"),
        (b"<html><h1>502 Bad Gateway</h1></html>", "502 Bad Gateway"),
        (b"data: {}\n\ndata: [DONE]\n\n", "no JSON"),
        (b"[]", "no JSON object"),
        (b'"text"', "no JSON object"),
        (b"null", "no JSON object"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"{}", "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": null}', "no choices"),
        (b'{"choices": {"0": 1}}', "no choices"),
        (b'{"choices": [null]}', "no message"),
        (b'{"choices": [{}]}', "no message"),
        (b'{"choices": [{"message": "x"}]}', "no message"),
        (b'{"choices": [{"message": {"content": 7}}]}', "neither text nor parts"),
        (b'{"choices": [{"message": {"content": [{"type": "image"}]}}]}', "a part that is not text"),
        (b'{"choices": [{"message": {"tool_calls": "search()"}}]}', "tool_calls is not a list"),
        (b'{"choices": [{"message": {"tool_calls": ["search()"]}}]}', "holds no function"),
        (b'{"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]}', "holds no function"),
    ],
)
def test_bodies_that_are_no_answer(text: bytes, detail: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        parse_chat(text)
    assert detail in caught.value.detail


def test_a_body_that_is_no_answer_still_says_what_it_cost() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    for text in (json.dumps({"choices": [], "usage": usage}).encode(), body({"content": 3}, usage=usage)):
        with pytest.raises(MalformedReply) as caught:
            parse_chat(text)
        assert caught.value.usage == Usage(prompt_tokens=9, completion_tokens=4)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429, "message": "slow down"}, 429),
        ({"code": "503", "message": "busy"}, 503),
        ({"code": "server_error", "message": "oh"}, 500),
        ({"code": 7}, 500),
        ("oh", 500),
    ],
)
def test_an_error_in_a_body_of_status_200(error: Any, status: int) -> None:
    with pytest.raises(ServerSaysError) as caught:
        parse_chat(json.dumps({"error": error}).encode())
    assert caught.value.status == status


def test_half_a_surrogate_pair_becomes_a_character_that_files_hold() -> None:
    text = b'{"choices": [{"message": {"content": "a\\ud83d", "reasoning": "\\ude00 \\ud83d\\ude00", "tool_calls": '
    text += b'[{"id": "\\ud83d", "function": {"name": "f", "arguments": "{\\"q\\": \\"\\ud83d\\"}"}}]}}]}'
    reply = parse_chat(text)
    assert (reply.content, reply.reasoning) == ("a\ufffd", "\ufffd \U0001f600")
    assert reply.model_dump_json().encode()
    assert reply.tool_calls[0].id == "\ufffd"


@pytest.mark.parametrize(
    ("message", "finish", "result"),
    [
        ({"content": "Ada"}, "stop", True),
        ({"content": "Ada"}, None, True),
        ({"content": None, "reasoning": "It is Ada."}, "stop", True),
        ({"content": None, "tool_calls": [{"function": {"name": "f"}}]}, "tool_calls", True),
        ({"content": "Ad"}, "length", False),
        ({"content": "Ada"}, "content_filter", False),
        ({"content": None, "refusal": "I can't."}, "stop", False),
        ({"content": ""}, "stop", False),
    ],
)
def test_what_the_store_may_serve(message: Any, finish: str | None, result: bool) -> None:
    assert is_result(said(message, finish=finish)) is result


def read(*tokens: tuple[str, float]) -> list[Any]:
    told = [{str(at): {"logprob": log, "rank": 1, "decoded_token": text}} for at, (text, log) in enumerate(tokens)]
    return [None, *told]


def test_of_a_prompts_tokens_the_last_are_kept_and_are_an_answer() -> None:
    tokens = [(f"w{number} ", -number / 100) for number in range(1000)]
    whole = body({"content": None}, finish="length", prompt_logprobs=read(*tokens))
    kept = to_store(whole)
    assert len(json.loads(kept)["prompt_logprobs"]) == 128
    assert parse_chat(kept) == parse_chat(whole)
    assert parse_chat(whole).prompt_tail == tuple(tokens[-128:])
    assert is_result(parse_chat(kept))


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        [None],
        [None, None, {}],
        [None, {"1": {"logprob": -1.0, "decoded_token": "a"}, "2": {"logprob": -1.0, "decoded_token": "b"}}],
        [None, {"1": {"logprob": True, "decoded_token": "a"}}],
        [None, {"1": {"logprob": 2.0, "decoded_token": "a"}}],
        [None, {"1": {"logprob": -1.0}}],
        [None, "a"],
    ],
)
def test_what_is_no_reading_of_a_prompt_is_none(told: Any) -> None:
    assert not said({"content": "x"}, prompt_logprobs=told).prompt_tail


def test_what_is_stored_lacks_the_token_ids_of_the_prompt_and_nothing_else() -> None:
    message = {"content": 'He said "prompt_token_ids" \U0001f600', "reasoning": "Hm."}
    whole = body(message, choice={"token_ids": [5, 6], "prompt_token_ids": [1] * 500}, prompt_token_ids=[1] * 500)
    kept = to_store(whole)
    assert len(kept) < 400
    assert parse_chat(kept) == parse_chat(whole)
    assert set(json.loads(kept)) == set(json.loads(whole)) - {"prompt_token_ids"}
    plain = body({"content": "x"})
    assert to_store(plain) is plain
    odd = b'{"choices": [{"prompt_token_ids": [1], "message": {"content": "\\ud83d"}}], "prompt_token_ids": null}'
    assert parse_chat(to_store(odd)).content == "\ufffd"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_ODD_MESSAGE = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("content", "reasoning", "reasoning_content", "tool_calls", "function_call", "refusal"), _JSON
    ),
)


@given(_ODD_MESSAGE, _JSON, _JSON, _JSON)
def test_whatever_comes_is_a_reply_or_no_answer(message: Any, finish: Any, usage: Any, other: Any) -> None:
    text = body(message, finish=finish, usage=usage, choice={"logprobs": other, "token_ids": other}, model=other)
    try:
        reply = parse_chat(text, "k")
    except MalformedReply:
        return
    assert ChatReply.model_validate_json(reply.model_dump_json()) == reply


@given(st.binary(max_size=60))
def test_whatever_bytes_come(text: bytes) -> None:
    with pytest.raises((MalformedReply, ServerSaysError)):
        parse_chat(text)


@given(st.text(st.sampled_from("ab<think></think>\n "), max_size=30))
def test_no_word_is_lost_by_splitting(text: str) -> None:
    thought, rest = split_thought(text)
    if thought is None:
        assert rest == text
    else:
        assert (thought + rest).replace("\n", "").replace(" ", "") in (
            text.replace("<think>", "", 1).replace("</think>", "", 1).replace("\n", "").replace(" ", "")
        )
