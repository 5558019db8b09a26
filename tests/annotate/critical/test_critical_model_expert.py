"""A model as the expert: other steps, one suggestion a call, each read as a policy's turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from pydantic import ValidationError
from small_runs import play
from stand_ins.model_server import ExpertPlayer
from stand_ins.model_server.listed import Listed, Played, body

from synth.agents.contract import Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.loop import Limits, prompt_for
from synth.agents.model.wire import GAVE_UP, Mode
from synth.agents.scripted.config import PolicyConfig
from synth.agents.scripted.players import ScriptedPolicy
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.contract import Point
from synth.annotate.critical.model_expert import ModelExpert, ModelExpertConfig, model_expert
from synth.annotate.critical.scripted_expert import scripted_expert
from synth.environments.contract import ToolCall
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator, key_of
from synth.models.contract import CallFailed, FailureKind
from synth.schemas.tasks import Task
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

DOCUMENTS = small_documents()
ENVIRONMENT = SearchEnvironment(WordIndex(DOCUMENTS), ListTable(DOCUMENTS))
TASKS = small_tasks()
SYSTEM = "You answer questions from a collection of pages."


def points_of(task: Task, number: int) -> Iterator[Point]:
    """Every step of a weak policy's run."""
    policy = ScriptedPolicy(task, PolicyConfig(skill=0.1))
    done = play(policy, ENVIRONMENT, task, number, seed=5, system=SYSTEM, limits=Limits(max_turns=10))
    for at, step in enumerate(done.history):
        yield Point(task, ENVIRONMENT, done.prompt, done.history[:at], step.turn)


@cache
def points() -> list[Point]:
    return [point for task in TASKS for number in range(3) for point in points_of(task, number)]


RECORDED = Turn(calls=(ToolCall(id="call_0_0", name="search", arguments={"query": "founder"}),))
START = Point(TASKS[0], ENVIRONMENT, prompt_for(ENVIRONMENT, TASKS[0], SYSTEM), (), RECORDED)
NAME = next(word for word in TASKS[0].question.split() if word[0].isupper() and word not in ("Who", "Where", "What"))


def search(query: str, thought: str = "Let me look.") -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": json.dumps({"query": query})}}
    return body({"content": None, "reasoning": thought, "tool_calls": [call]}, "tool_calls")


def propose(replies: list[Any], n: int = 2, **options: Any) -> tuple[Any, Listed]:
    model = Listed(replies)
    expert = ModelExpert(model, ModelExpertConfig(**options))
    return expert.propose(START, n, derive_generator(9, "expert")), model


@pytest.mark.parametrize("mode", ["native", "structured"])
def test_played_by_the_embedded_expert_it_proposes_what_that_does(mode: Mode) -> None:
    embedded = scripted_expert()
    options = {"send_reasoning": "reasoning"} if mode == "native" else {}
    model = Played(ExpertPlayer(TASKS, ENVIRONMENT, embedded))
    expert = ModelExpert(model, ModelExpertConfig(mode=mode, **options))
    proposed = 0
    for point in points():
        names = (point.task.id, point.step, action_key(point.recorded, point.prompt.tools))
        wanted = embedded.propose(point, 3, derive_generator(9, *names))
        found = expert.propose(point, 3, derive_generator(9, *names))
        assert found == wanted
        assert found.dropped == {}
        proposed += len(found)
    assert len(points()) > 40
    assert proposed > 1.7 * len(points())  # a look after the answer is found has one alternative


def test_it_is_told_what_was_done_and_what_was_suggested() -> None:
    found, model = propose([search("place"), search(NAME)])
    assert [turn.calls[0].arguments["query"] for turn in found] == ["place", NAME]
    assert [turn.calls[0].id for turn in found] == ["call_0_0"] * 2
    first, second = (request.messages for request in model.asked)
    assert [message["role"] for message in first] == ["system", "user"], "never two messages of one role in a row"
    assert first[1]["content"].startswith(TASKS[0].question)
    assert '"founder"' in first[1]["content"]
    assert "suggested already" not in first[1]["content"]
    assert '"place"' in second[1]["content"]
    assert all(request.sample == key_of(derive_generator(9, "expert")) for request in model.asked)
    assert model.asked[0].tools, "it has the policy's tools"


def test_nothing_of_the_answer_is_told() -> None:
    task = TASKS[0]
    _, model = propose([search("place"), search("page")])
    secret = [task.answer, *(hop.target.name for hop in task.walk.hops)]
    told = json.dumps([request.messages for request in model.asked])
    assert not [name for name in secret if name in told and name not in task.question]
    assert ModelExpert.privileged is False


def test_the_same_step_again_is_dropped_and_asked_for_anew() -> None:
    found, model = propose([search("founder"), search("place"), search("place"), search("page")], n=2)
    assert [turn.calls[0].arguments["query"] for turn in found] == ["place", "page"]
    assert found.dropped == {"same_action": 2}
    samples = [request.sample for request in model.asked]
    assert len({request.key for request in model.asked}) == 4, "no call is answered from the store by an earlier one"
    assert samples[0] != samples[1]


def test_it_is_not_asked_for_ever() -> None:
    found, model = propose([search("founder")] * 10, n=3, extra=2)
    assert (found, found.dropped, len(model.asked)) == ((), {"same_action": 5}, 5)


def test_what_was_not_seen_is_left_out_and_counted() -> None:
    found, model = propose([search("Zanzibar Quartet"), search("place")], n=1)
    assert [turn.calls[0].arguments["query"] for turn in found] == ["place"]
    assert found.dropped == {"ungrounded": 1}
    assert "Zanzibar Quartet" in model.asked[1].messages[1]["content"], "it is told, so that it thinks of another"
    kept, _ = propose([search("Zanzibar Quartet")], n=1, grounded=False)
    assert len(kept) == 1


def test_that_there_is_no_other_step_ends_it() -> None:
    found, model = propose([search("place"), body({"content": GAVE_UP}), search("page")], n=3)
    assert (len(found), len(model.asked), found.dropped) == (1, 2, {})


REJECTED = {
    "a refusal": ([body({"content": "I'm sorry, but I can't assist with that."})], "refusal"),
    "cut off": ([body({"content": "Let me"}, "length")], "truncated"),
    "an endpoint that fails": ([CallFailed(FailureKind.SERVER, "500")], "endpoint_failed"),
    "silence, twice": ([body({"content": ""})] * 2, "empty_reply"),
    "a call in words, twice": ([body({"content": "I will call the search tool with the name."})] * 2, "narrated_call"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_a_reply_that_is_no_turn_is_counted_and_the_others_stay(case: str) -> None:
    replies, reason = REJECTED[case]
    found, _ = propose([search("place"), *replies, search("page")], n=2)
    assert [turn.calls[0].arguments["query"] for turn in found] == ["place", "page"]
    assert found.dropped == {reason: 1}
    found, _ = propose(replies, n=1, extra=0)
    assert (found, found.dropped) == ((), {reason: 1})


def test_proposals_are_grounded_in_what_the_policy_saw() -> None:
    model = Played(ExpertPlayer(TASKS, ENVIRONMENT, scripted_expert()))
    expert = ModelExpert(model, ModelExpertConfig(mode="structured"))
    for point in points()[::5]:
        for turn in expert.propose(point, 2, derive_generator(3, point.task.id, point.step)):
            history = (*point.history, Step(turn=turn))
            assert not ungrounded(point.prompt, history, start=point.step, own_words=True)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError):
        model_expert(model=Listed([]), tries=3)
