"""No key of ours is in anything that a server sent: neither as it stands nor escaped, encoded or cut."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from small_hubs import QUICK, bind, completion
from stand_ins.call_log import intents, replies

from synth.errors import InputError
from synth.models.client import ModelHub
from synth.models.contract import CallFailed, EndpointDown
from synth.models.transport import check_address
from synth.redaction import Redactor
from synth.store.calls import CallStore

KEY = "key-7f/3a9+b1c5d2e8f4a6"
VARIABLE = "SYNTH_TEST_CREDENTIAL"


def _basic(key: str) -> str:
    return base64.b64encode(f"ann:{key}".encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda key: key.replace("/", r"\/"),
    "JSON in JSON": lambda key: key.replace("/", r"\\\/").replace("+", r"\\u002B"),
    "JSON by code": lambda key: "".join(rf"\u{ord(one):04x}" for one in key),
    "URL": lambda key: quote(key, safe=""),
    "URL twice": lambda key: quote(quote(key, safe=""), safe="").lower(),
    "hex": lambda key: key.encode().hex(),
    "cut": lambda key: key[:-4],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_taken_out_in_every_form(form: str) -> None:
    said = Redactor([KEY]).text(f"You sent {FORMS[form](KEY)}.")
    assert said == "You sent [redacted]."


@pytest.mark.parametrize("user", ["", "a", "an", "ann"])
def test_a_key_is_taken_out_of_base64(user: str) -> None:
    coded = base64.b64encode(f"{user}{KEY}:x".encode()).decode()
    for text in (coded, coded.replace("+", "-").replace("/", "_")):
        said = Redactor([KEY]).text(f"Basic {text}")
        assert "[redacted]" in said
        assert len(said) < len("Basic [redacted]") + 12


@pytest.mark.parametrize("text", ["", "EMPTY", "100 %, 50%2F", r"{\"a\": \"<\u003e\"}", "key-7f and more", "ключ \\"])
def test_other_text_is_left_alone(text: str) -> None:
    redactor = Redactor([KEY, "EMPTY"])
    assert redactor.text(text) == text
    data = text.encode()
    assert redactor.data(data) is data


def _echoing(where: str) -> Callable[[Any, Any], Any]:
    async def answer(server: Any, asked: Any) -> web.Response:
        key = asked.headers["Authorization"].removeprefix("Bearer ")
        said: dict[str, Any] = {}
        if where == "400":
            return web.json_response({"error": {"message": f"no such key: {key}"}}, status=400)
        if where == "401":
            return web.json_response({"error": {"message": f"no such key: {key}"}}, status=401)
        if where == "error in 200":
            return web.json_response({"error": {"code": 400, "message": f"no such key: {key}"}})
        if where == "no JSON":
            return web.Response(text=f"upstream: Authorization: Bearer {key}")
        if where == "no JSON, cut":
            return web.Response(text=f"{'x' * 100} {key}"[:119])
        if where == "no JSON, in UTF-16":
            return web.Response(body=json.dumps({"error": key}).encode("utf-16"))
        if where == "header":
            return web.json_response({"error": {"message": "slow down"}}, status=400, headers={"X-Key": key})
        content = f"You are {key}." if where == "content" else "yes"
        if where == "reasoning":
            said["reasoning"] = f"They call me {key}; {_basic(key)}"
        if where == "arguments":
            function = {"name": "search", "arguments": json.dumps({"query": json.dumps(key)})}
            said["tool_calls"] = [{"id": key, "type": "function", "function": function}]
        body = completion(content, **said)
        if where == "tokens":
            body["choices"][0] |= {"token_ids": [1, 2], "logprobs": {"content": [{"token": key, "logprob": 0.0}]}}
        if where == "beside":
            body["request"] = {"headers": {"authorization": f"Bearer {key}"}}
        return web.json_response(body)

    return answer


PLACES = [
    *("400", "401", "error in 200", "no JSON", "no JSON, cut", "no JSON, in UTF-16", "header"),
    *("content", "reasoning", "arguments", "tokens", "beside"),
]


@pytest.mark.parametrize("where", PLACES)
def test_a_key_that_a_server_echoes_is_kept_nowhere(
    where: str, serve: Any, chat_all: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    path = tmp_path / "calls.sqlite"

    async def main() -> str:
        async with serve(_echoing(where)) as server:
            with CallStore(path) as calls, ModelHub(calls, patience=QUICK) as hub:
                model = bind(hub, server.address, api_key_env=VARIABLE, attempts=2)
                (reply,) = await chat_all(model, ["Who?"])
                assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"
                if isinstance(reply, CallFailed | EndpointDown):
                    return f"{reply} {reply!r} {reply.__cause__!r}"
                return str(reply.model_dump_json())

    said = asyncio.run(main())
    with CallStore(path) as calls:
        stored = b"\n".join(reply.body for reply in replies(calls))
        booked = str(intents(calls))
    known = [KEY, KEY[:12], json.dumps(KEY)[1:-1].replace("/", r"\/"), base64.b64encode(KEY.encode()).decode()[3:20]]
    for one in known:
        assert one not in said
        assert one.encode() not in stored
        assert one not in booked
    if where in ("content", "reasoning", "arguments", "400", "401", "error in 200"):
        assert "[redacted]" in said
    if where in ("content", "reasoning", "arguments", "beside"):
        assert b"[redacted]" in stored


def test_a_password_in_an_address_is_in_no_line(serve: Any, chat_all: Any) -> None:
    async def answer(server: Any, asked: Any) -> web.Response:
        return web.json_response({"error": {"message": f"who is {asked.headers['Authorization']}?"}}, status=401)

    async def main() -> str:
        async with serve(answer) as server:
            with ModelHub(patience=QUICK) as hub:
                model = bind(hub, server.address.replace("http://", "http://ann:pa55-of-ann@"))
                (down,) = await chat_all(model, ["Who?"])
                assert isinstance(down, EndpointDown)
                assert "pa55" not in str(hub.statistics())
                return str(down)

    said = asyncio.run(main())
    assert "who is Basic" in said
    assert "pa55" not in said
    assert base64.b64encode(b"ann:pa55-of-ann").decode()[8:18] not in said
    for address in ("http://h/v1?api_key=pa55-of-ann", "ftp://ann:pa55-of-ann@h/v1"):
        with pytest.raises(InputError) as caught:
            check_address(address, "roles.teacher")
        assert "pa55" not in str(caught.value)
