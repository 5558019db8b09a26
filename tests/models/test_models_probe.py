"""What `synth doctor --model` says of an endpoint, by what its server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from stand_ins.model_server import ModelServer

from synth.cli import main
from synth.mocks.model.replies import Call, Reply
from synth.models.probe import probe

GOOD = Reply(calls=(Call.of("price", article="lamp"),))


class Served:
    """Replies with one thing where tools are given, and with another where a schema is."""

    def __init__(self, to_tools: Reply, to_schema: str) -> None:
        self.to_tools, self.to_schema = to_tools, to_schema

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        return self.to_tools if "tools" in request else Reply(content=self.to_schema)


@pytest.mark.parametrize(
    ("to_tools", "state", "said"),
    [
        (GOOD, "ok", "it calls them"),
        (Reply(content='<tool_call>{"name": "price"}</tool_call>'), "broken", "--tool-call-parser"),
        (Reply(content="Nine euros."), "absent", "without calling one"),
        (Reply(calls=(Call.of("cost", thing="lamp"),)), "broken", "for price(article)"),
        (Reply(calls=(Call("price", "{oh"),)), "broken", "refuses them"),
    ],
)
def test_whether_it_calls_tools(to_tools: Reply, state: str, said: str) -> None:
    with ModelServer(Served(to_tools, "{}")) as server:
        endpoint, tools, _ = probe(server.url, "mine")
    assert (endpoint.state, tools.state) == ("ok", state)
    assert said in tools.detail


@pytest.mark.parametrize(
    ("to_schema", "state"),
    [
        ('{"article": "lamp"}', "ok"),
        ('{\n "article": "A lamp, a lamp, a lamp', "absent"),  # cut off
        ('{"thing": "A lamp, a lamp', "absent"),
        ("A lamp.", "absent"),
        ('{"thing": 1}', "absent"),
    ],
)
def test_whether_it_keeps_to_a_schema(to_schema: str, state: str) -> None:
    with ModelServer(Served(GOOD, to_schema)) as server:
        assert list(probe(server.url, "mine"))[2].state == state


def test_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--model", "mine", "--endpoint", "http://127.0.0.1:9/v1"])
    assert ended.value.code == 1
    assert "BROKEN endpoint: http://127.0.0.1:9/v1 does not answer" in capsys.readouterr().out


def test_an_endpoint_without_a_model_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--endpoint", "http://127.0.0.1:9/v1"])
    assert ended.value.code == 2
    assert "no model is named" in capsys.readouterr().err
