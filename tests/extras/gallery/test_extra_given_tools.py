"""A list of tools becomes an application over the command line, by rule and by a model that is held to the list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stand_ins.model_server import ModelServer
from stand_ins.model_server.designing import ToolsPlayer

import synth
from synth.cli import main
from synth.dataset.rules.validate import validate
from synth.environments.app.from_tools.reading import read_tools
from synth.environments.app.reading import load_definition
from synth.exploration.app.given_tools import make_of_tools

pytestmark = pytest.mark.extras
TEXT = {"type": "string"}
TOOLS = {
    "search_rooms": {"query": TEXT},
    "get_room": {"room_id": TEXT},
    "create_room": {"name": TEXT, "seats": {"type": "integer", "minimum": 2, "maximum": 40}},
    "update_room": {"room_id": TEXT, "seats": {"type": "integer", "minimum": 2, "maximum": 40}},
    "close_room": {"room_id": TEXT},
    "recalibrate": {"room_id": TEXT},
}


@pytest.fixture
def tools(place: Path, tmp_path: Path) -> Path:
    file = tmp_path / "tools.json"
    listed = [
        {
            "name": name,
            "description": name,
            "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
        }
        for name, properties in TOOLS.items()
    ]
    file.write_text(json.dumps({"tools": listed}), "utf-8")
    return file


def test_by_rule_every_request_was_carried_out_and_the_rest_is_said(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "desk.yaml"
    main(["architect", "--tools", str(tools), "--out", str(out)])
    said = capsys.readouterr().out
    assert "left out: recalibrate: no word of its name says" in said
    assert "5 of 6 tools" in said
    definition = load_definition(out)
    assert definition.requests is not None
    assert set(definition.requests.asks) == {"create_room", "update_room", "close_room"}
    made = synth.build(
        "app-desk", tasks=10, out=tmp_path / "out", store=tmp_path / "store", settings={"source.application": str(out)}
    )
    assert len(list(synth.load(made.path).rows("tasks"))) == 10
    assert validate(made.path) == []


def test_a_model_may_say_more_and_invents_no_tool(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = make_of_tools(read_tools(tools.read_text("utf-8"), "tools"), "tools", "tools").text
    out = tmp_path / "desk.yaml"
    with ModelServer({"toy": ToolsPlayer(draft)}) as server:
        given = ["--model", "toy", "--endpoint", server.url, "--store", str(tmp_path / "store")]
        main(["architect", "--tools", str(tools), *given, "--out", str(out)])
    said = capsys.readouterr().out
    assert "attempt 1: tools.invented_tool: the list has no such tool" in said
    assert "arguments.invented: the tool of the list takes no such argument" in said
    assert "attempt 3: tools: " in said
    assert load_definition(out).about == "You look after what these tools hold."


@pytest.mark.parametrize(("policy", "words"), [(True, "not both"), (False, "there is no policy and no list of tools")])
def test_one_of_policy_and_tools_is_given(
    tools: Path, policy: bool, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(tools), "--tools", str(tools)] if policy else []
    with pytest.raises(SystemExit) as ended:
        main(["architect", *given])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
