"""Through the server, a scripted agent takes the very turns that it takes in process."""

from __future__ import annotations

from typing import Any

import pytest
from server_calls import ask, body
from small_runs import play
from stand_ins.model_server import ModelServer, ScriptedPlayer

from synth.agents.contract import History, Policy, Prompt, Step, Turn
from synth.agents.loop import Rollout, prompt_for
from synth.agents.model.wire import Mode, correction, function_tools, messages_of, response_format
from synth.agents.scripted.players import scripted_policy
from synth.environments.contract import ToolCall
from synth.environments.search import SearchEnvironment
from synth.mocks.model.conversation import read_conversation
from synth.prompting import load_prompt
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

ROLES: tuple[Role, ...] = ("teacher", "policy")
# Calls that break a tool's schema are the one thing that a model is asked for again, so they go another way over HTTP.
SKILL: dict[Role, dict[str, Any]] = {"teacher": {}, "policy": {"skill": 0.3, "bad_argument": 0.0}}


@pytest.fixture(scope="module")
def environment() -> SearchEnvironment:
    documents = small_documents()
    return SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)


@pytest.fixture(scope="module")
def system(environment: SearchEnvironment) -> str:
    return load_prompt("agents/search").render(instructions=environment.instructions())


def run(policy: Policy, environment: SearchEnvironment, system: str, task: Task, number: int) -> Rollout:
    return play(policy, environment, task, number, seed=11, system=system)


def request_of(prompt: Prompt, history: History, mode: Mode) -> dict[str, Any]:
    messages = messages_of(prompt, history, mode=mode, send_reasoning="reasoning")
    if mode == "structured":
        return body(messages=messages, response_format=response_format(prompt.tools))
    return body(messages=messages, tools=function_tools(prompt.tools, strict=True))


@pytest.mark.parametrize("mode", ["native", "structured"])
def test_a_conversation_is_read_back_as_it_was(environment: SearchEnvironment, system: str, mode: Mode) -> None:
    """Errors of tools among it, which the protocol carries as words only."""
    task = small_tasks()[0]
    prompt = prompt_for(environment, task, system)
    at = environment.reset(task)
    turns: list[tuple[str, dict[str, Any]]] = [
        ("find", {"pattern": "x"}),
        ("open", {"document": "nowhere"}),
        ("open", {"document": "orl", "page": 99}),
        ("search", {"question": "Orl"}),
        ("read", {"page": 1}),
        ("search", {"query": "Orl"}),
    ]
    calls = [ToolCall(id=f"call_{number}", name=name, arguments=given) for number, (name, given) in enumerate(turns)]
    steps = [Step(turn=Turn(thought=f"{call.id}?", calls=(call,)), results=(at.step(call),)) for call in calls]
    both = (calls[5], calls[1])
    steps.append(Step(turn=Turn(thought="Both.", calls=both), results=tuple(at.step(call) for call in both)))
    read = read_conversation(request_of(prompt, tuple(steps), mode))
    assert read.structured is (mode == "structured")
    assert read.prompt.question == prompt.question
    assert [tool.name for tool in read.prompt.tools] == [tool.name for tool in prompt.tools]
    assert [step.results[0].error for step in steps[:6]] == [
        "refused",
        "not_found",
        "not_found",
        "bad_arguments",
        "unknown_tool",
        None,
    ]
    for back, step in zip(read.history, steps, strict=True):
        assert back.turn.thought == step.turn.thought
        assert [(c.name, c.arguments) for c in back.turn.calls] == [(c.name, c.arguments) for c in step.turn.calls]
        assert [(r.content, r.error) for r in back.results] == [(r.content, r.error) for r in step.results]


@pytest.mark.parametrize("mode", ["native", "structured"])
def test_a_turn_that_was_asked_for_once_more_is_no_step(
    environment: SearchEnvironment, system: str, mode: Mode
) -> None:
    task = small_tasks()[0]
    prompt = prompt_for(environment, task, system)
    history = run(scripted_policy(task=task, role="teacher"), environment, system, task, 0).history[:2]
    request = request_of(prompt, history, mode)
    before = read_conversation(request)
    request["messages"] += correction("search(Orl", "that is not a call")
    assert read_conversation(request) == before


def test_questions_that_nobody_gave() -> None:
    players = {"policy": ScriptedPlayer.scripted(small_tasks(), "policy")}
    with ModelServer(players) as own:
        answer = ask(own.url, body(model="policy"))
        assert answer.status == 500
        assert "no task asks 'Where is the Orl?'" in answer.error["message"]
        assert [type(error) for error in own.errors] == [LookupError]
