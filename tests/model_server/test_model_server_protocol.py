"""The model server takes what real servers take, and refuses what they refuse, in the form that clients know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from server_calls import SEARCH, ask, body, call_message, result
from stand_ins.model_server import Call, FixedPlayer, ModelServer, Reply, ServerOptions

from synth.mocks.model.replies import cut, tokens_of

USER = {"role": "user", "content": "Where is the Orl?"}
SYSTEM = {"role": "system", "content": "Be brief."}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "turn", "schema": {"type": "object"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(FixedPlayer(Reply(content="In the north.", reasoning="It flows there."))) as server:
        yield server
        assert server.errors == []


TAKEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "system": {"messages": [SYSTEM, USER]},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "Where?"}]}]},
    "tools": {"tools": [SEARCH]},
    "choice": {"tools": [SEARCH], "tool_choice": "required"},
    "named choice": {"tools": [SEARCH], "tool_choice": {"type": "function", "function": {"name": "search"}}},
    "history": {"tools": [SEARCH], "messages": [USER, call_message("a", "b"), result("b"), result("a")]},
    "reasoning back": {"messages": [USER, {"role": "assistant", "content": "Hm.", "reasoning": "So."}, USER]},
    "schema": {"response_format": SCHEMA},
    "sampling": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 100, "n": 1, "stream": False, "top_k": 20},
}


def calling(arguments: Any) -> dict[str, Any]:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"messages": [USER, {"role": "assistant", "tool_calls": [call]}]}


def tool(name: str, kind: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": kind}}}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no model": ({"model": None}, "model"),
    "no messages": ({"messages": []}, "messages"),
    "messages no list": ({"messages": "Where?"}, "messages"),
    "message no object": ({"messages": ["Where?"]}, "messages[0]"),
    "unknown role": ({"messages": [{"role": "human", "content": "Where?"}]}, "messages[0]"),
    "no content": ({"messages": [{"role": "user"}]}, "messages[0].content"),
    "content a number": ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
    "picture": ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
    "empty assistant": ({"messages": [USER, {"role": "assistant", "content": None}]}, "messages[1]"),
    "result of nothing": ({"messages": [USER, result("a")]}, "messages[1]"),
    "result without id": ({"messages": [USER, call_message("a"), {"role": "tool", "content": "x"}]}, "messages[2]"),
    "result of another": ({"messages": [USER, call_message("a"), result("b")]}, "messages[2]"),
    "result twice": ({"messages": [USER, call_message("a"), result("a"), result("a")]}, "messages[3]"),
    "call unanswered": ({"messages": [USER, call_message("a", "b"), result("a"), USER]}, "messages[3]"),
    "call unanswered at the end": ({"messages": [USER, call_message("a")]}, "messages"),
    "two calls of one id": ({"messages": [USER, call_message("a", "a")]}, "messages[1].tool_calls[1].id"),
    "call of no type": (
        {"messages": [USER, {"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]}]},
        "messages[1].tool_calls[0]",
    ),
    "arguments an object": (calling({}), "messages[1].tool_calls[0].function.arguments"),
    "arguments torn": (calling('{"q'), "messages[1].tool_calls[0].function.arguments"),
    "no tools": ({"tools": []}, "tools"),
    "tool without function": ({"tools": [{"type": "function"}]}, "tools[0]"),
    "tool name": ({"tools": [tool("look up", "object")]}, "tools[0].function.name"),
    "one tool twice": ({"tools": [SEARCH, SEARCH]}, "tools[1].function.name"),
    "tool schema": ({"tools": [tool("f", "thing")]}, "tools[0].function.parameters"),
    "tool schema no object": ({"tools": [tool("f", "string")]}, "tools[0].function.parameters"),
    "choice without tools": ({"tool_choice": "auto"}, "tool_choice"),
    "choice of no tool": (
        {"tools": [SEARCH], "tool_choice": {"type": "function", "function": {"name": "open"}}},
        "tool_choice",
    ),
    "choice of a word": ({"tools": [SEARCH], "tool_choice": "sometimes"}, "tool_choice"),
    "format": ({"response_format": {"type": "yaml"}}, "response_format"),
    "schema without name": (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
        "response_format",
    ),
    "no schema": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
        "response_format.json_schema.schema",
    ),
    "stream": ({"stream": True}, "stream"),
    "two choices": ({"n": 2}, "n"),
    "no tokens": ({"max_tokens": 0}, "max_tokens"),
    "half a token": ({"max_tokens": 1.5}, "max_tokens"),
    "hot": ({"temperature": 3}, "temperature"),
    "warm": ({"temperature": "0.7"}, "temperature"),
    "top_p": ({"top_p": 0}, "top_p"),
    "logprobs": ({"logprobs": 5}, "logprobs"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(server: ModelServer, name: str) -> None:
    answer = ask(server.url, body(**TAKEN[name]))
    assert answer.status == 200, answer.data
    assert answer.message["content"] == "In the north."


@pytest.mark.parametrize("name", REFUSED)
def test_refused(server: ModelServer, name: str) -> None:
    changes, param = REFUSED[name]
    answer = ask(server.url, body(**changes))
    assert answer.status == 400
    assert answer.error["type"] == "invalid_request_error"
    assert answer.error["param"] == param
    assert server.log.records()[-1].outcome == "refused"


def test_a_key_and_players_by_the_name_of_the_model() -> None:
    players = {name: FixedPlayer(Reply(content=name)) for name in ("small", "large")}
    with ModelServer(players, ServerOptions(api_key="secret")) as server:
        for key, model, error in (("secret", "large", None), ("secret", "medium", 404), ("wrong", "small", 401)):
            with openai.OpenAI(base_url=server.url, api_key=key, max_retries=0) as client:
                ask_for = {"model": model, "messages": [USER]}
                if error is None:
                    assert client.chat.completions.create(**ask_for).choices[0].message.content == model  # type: ignore[call-overload]
                    continue
                with pytest.raises(openai.APIStatusError) as caught:
                    client.chat.completions.create(**ask_for)  # type: ignore[call-overload]
                assert caught.value.status_code == error


def test_bodies_that_are_none(server: ModelServer) -> None:
    for data in (b"", b"{", b"[]", b"null", b"\xff"):
        assert ask(server.url, data).status == 400


def test_alternation_is_refused_where_a_template_wants_it() -> None:
    twice = body(messages=[USER, {"role": "user", "content": "And the Mosk?"}])
    answered = body(
        messages=[SYSTEM, USER, call_message("a"), result("a"), {"role": "assistant", "content": "x"}, USER]
    )
    early = body(messages=[{"role": "assistant", "content": "Hello."}, USER])
    with ModelServer(FixedPlayer(Reply(content="x")), ServerOptions(strict_alternation=True)) as strict:
        assert [ask(strict.url, one).status for one in (body(), answered, twice, early)] == [200, 200, 400, 400]


def test_a_client_library_reads_everything() -> None:
    said = Reply(
        content="Two at once.", reasoning="I look.", calls=(Call.of("search", query="Orl"), Call("search", "{"))
    )
    with ModelServer(FixedPlayer(said)) as server, openai.OpenAI(base_url=server.url, api_key="x") as client:
        made = client.chat.completions.create(
            model="any",
            messages=[{"role": "user", "content": "Where?"}],
            tools=[SEARCH],  # type: ignore[list-item]
            logprobs=True,
            extra_body={"return_token_ids": True},
        )
        (choice,) = made.choices
        assert choice.finish_reason == "tool_calls"
        assert choice.message.content == "Two at once."
        assert choice.message.model_extra is not None
        assert choice.message.model_extra["reasoning"] == "I look."
        calls = choice.message.tool_calls or []
        assert [call.function.arguments for call in calls if call.type == "function"] == ['{"query": "Orl"}', "{"]
        assert len({call.id for call in calls}) == 2
        tokens = tokens_of(said)
        assert made.usage is not None
        assert made.usage.completion_tokens == len(tokens)
        assert choice.logprobs is not None
        assert "".join(one.token for one in choice.logprobs.content or []) == "".join(tokens)
        assert choice.model_extra is not None
        assert len(choice.model_extra["token_ids"]) == len(tokens)
        (record,) = server.log.records()
        assert record.usage == (made.usage.prompt_tokens, made.usage.completion_tokens)
        assert (record.outcome, record.status) == ("delivered", 200)


def test_max_tokens_cuts() -> None:
    said = Reply(content="abcdefgh", reasoning="12345678", calls=(Call.of("search", query="x" * 30),))
    whole = len(tokens_of(said))
    with ModelServer(FixedPlayer(said)) as server:
        for most in range(1, whole + 3):
            answer = ask(server.url, body(max_tokens=most))
            used = answer.json["usage"]["completion_tokens"]
            assert used <= most
            assert answer.choice["finish_reason"] == ("length" if most < whole else "tool_calls")
            if most >= 4:
                assert answer.message["content"] == "abcdefgh"
        torn = ask(server.url, body(max_tokens=whole - 1)).message["tool_calls"][0]["function"]["arguments"]
        assert '{"query": "' in torn
        with pytest.raises(ValueError):
            json.loads(torn)
    assert cut(said, whole) is said
    assert cut(said, 1) == Reply(reasoning="1234", finish="length")


def test_replies_in_order_and_when_they_are_used_up() -> None:
    with ModelServer(FixedPlayer([Reply(content="1"), Reply(content="2")])) as server:
        assert [ask(server.url, body()).message["content"] for _ in range(2)] == ["1", "2"]
        third = ask(server.url, body())
        assert third.status == 500
        assert "used up" in third.error["message"]
        assert [type(error) for error in server.errors] == [LookupError]
        assert server.log.records()[-1].outcome == "failed"
