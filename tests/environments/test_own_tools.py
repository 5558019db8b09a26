"""A user's functions as tools of a search: their schema, what agents hear of them, whose code an error names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from shared_builds import LEAN
from stand_ins.model_server import ModelServer

import synth
from synth.agents.trajectory import history_of
from synth.cli import main
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.search import SearchEnvironment
from synth.environments.trust import untrusted
from synth.errors import InputError
from synth.mocks.model.conversation import read_conversation
from synth.mocks.model.replies import Call, Reply
from synth.pipelines.reopen import reopen
from synth.schemas.tasks import Task
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks
from synth.testing.environments import EnvironmentContract

TOOLS = ("search", "open", "own_abacus:days_between", "own_abacus:length")


def environment(*tools: str) -> SearchEnvironment:
    documents = small_documents()
    return SearchEnvironment(WordIndex(documents), ListTable(documents), tools=tools)


class TestOwnTools(EnvironmentContract):
    def environment(self) -> SearchEnvironment:
        return environment(*TOOLS)

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {
            "query": ["Arvel Torrin"],
            "document": ["arvel-torrin", "nowhere"],
            "page": [1],
            "first": ["1900-01-01", "1950-05-05"],
            "last": ["1900-03-01"],
            "unit": ["days", "weeks"],
        }


def test_signature_and_docstring_are_the_schema() -> None:
    made = environment(*TOOLS)
    days, length = made.tools()[2:]
    assert (days.name, days.description) == ("days_between", "Count the days or weeks between two dates.")
    assert days.parameters == {
        "type": "object",
        "properties": {
            "first": {"type": "string", "format": "date", "description": "The earlier date, as YYYY-MM-DD."},
            "last": {"type": "string", "format": "date", "description": "The later date."},
            "unit": {"type": "string", "enum": ["days", "weeks"]},
        },
        "required": ["first", "last"],
        "additionalProperties": False,
    }
    assert list(length.parameters["properties"]) == ["document"]
    assert made.instructions().endswith(
        "`days_between`: Count the days or weeks between two dates. `length`: Say how long a document is."
    )


@pytest.mark.parametrize(
    ("name", "arguments", "content", "error"),
    [
        ("days_between", {"first": "1900-01-01", "last": "1900-03-01"}, "59 days", None),
        ("days_between", {"first": "1900-01-01", "last": "1900-03-01", "unit": "weeks"}, "8 weeks", None),
        ("days_between", {"first": "1950-01-01", "last": "1900-03-01"}, "The later date comes first.", "refused"),
        (
            "days_between",
            {"first": "spring", "last": "1900-03-01"},
            "Wrong arguments for days_between",
            "bad_arguments",
        ),
        ("days_between", {"first": "1900-01-01"}, "'last' is a required property", "bad_arguments"),
        ("length", {"document": "orl"}, " characters", None),
        ("length", {"document": "nowhere"}, "There is no 'nowhere'.", "refused"),
    ],
)
def test_what_an_agent_hears(name: str, arguments: dict[str, Any], content: str, error: str | None) -> None:
    result = step(environment(*TOOLS), name, arguments)
    assert content in result.content
    assert result.error == error


def step(made: SearchEnvironment, name: str, arguments: dict[str, Any]) -> ToolResult:
    return made.reset(small_tasks()[0]).step(ToolCall(id="c", name=name, arguments=arguments))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere:tool", "nowhere:tool can't be imported: No module named 'nowhere'. Put its file beside the"),
        ("own_abacus:missing", "own_abacus has no function 'missing'"),
        ("own_abacus:bare", "own_abacus:bare has no docstring"),
        ("own_abacus:untyped", "own_abacus:untyped does not say the type of number"),
        ("own_abacus:many", "own_abacus:many takes *numbers"),
        ("own_abacus:odd", "own_abacus:odd takes task of a type that is no JSON"),
        ("own_abacus:later", "own_abacus:later is no plain function"),
        ("own_abacus:date", "own_abacus:date is no plain function"),
    ],
)
def test_what_makes_no_tool_is_said_in_one_line(name: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        environment("search", "open", name)
    assert str(error.value).startswith(f"environment.tools: {said}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("broken", {"number": 0}, r"own_abacus:broken raised ZeroDivisionError: .*own_abacus.py:\d+\)"),
        ("mute", {}, "own_abacus:mute returned NoneType; a tool answers in text"),
    ],
)
def test_an_error_names_the_users_code(name: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        step(environment("search", "open", f"own_abacus:{name}"), name, arguments)


class _Counting:
    """Asks the user's tool once, then answers with what it said."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        history = read_conversation(request).history
        if not history:
            return Reply(calls=(Call.of("days_between", first="1900-01-01", last="1900-03-01"),))
        return Reply(content=history[-1].results[-1].content)


def test_a_build_records_replays_and_validates_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer({"toy": _Counting()}) as server:
        role = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        settings = {**LEAN, "source.entities": 300, "environment.tools": [*TOOLS], "roles.policy": role}
        built = synth.build("world-search", tasks=2, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
        broken = {**settings, "environment.tools": ["search", "open", "own_abacus:bare"]}
        with pytest.raises(InputError, match="own_abacus:bare has no docstring"):
            synth.build("world-search", tasks=2, out=tmp_path / "no", store=tmp_path / "store", settings=broken)
    dataset = synth.load(built.path)
    with pytest.raises(InputError, match=r"would run 'own_abacus:days_between'.*--trust"):
        reopen(dataset)
    opened, tasks = reopen(dataset, trust=True)
    answered = []
    for row in dataset.rows("trajectories"):
        task = tasks.by_id(row.task_id)
        assert task is not None
        episode = opened.reset(task)
        for turn in history_of(row)[1]:
            assert [episode.step(call) for call in turn.turn.calls] == list(turn.results)
            answered += [result.content for result in turn.results if result.name == "days_between"]
    assert answered == ["59 days"] * 2
    main(["validate", str(built.path), "--deep"])
    assert "every row holds" in capsys.readouterr().out
    assert untrusted({"tools": ["search", "open", "find"]}) is None
