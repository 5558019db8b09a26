"""A model as a policy: what it is sent, what a run of it leaves behind, and where a run ends without a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest
from stand_ins.model_server.listed import Listed, body

from synth.agents.contract import Decision, History, Policy, Prompt, Step, Turn, TurnRejected
from synth.agents.loop import Limits, Rollout
from synth.agents.model.policy import ModelConfig, ModelPolicy
from synth.agents.model.wire import GAVE_UP, Mode, gave_up, messages_of, structured_action, structured_schema
from synth.agents.scripted.players import ScriptedPolicy, ScriptedTeacher
from synth.agents.trajectory import history_of, to_row
from synth.annotate.critical.branching import Branching, BranchPoint
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.environments.search import SearchEnvironment
from synth.identity import canonical_json, derive_generator, key_of
from synth.mocks.model.protocol import check_request
from synth.models.contract import CallFailed, ChatReply, ChatRequest, FailureKind, Finish, Model, RawCall, Usage
from synth.prompting import load_prompt
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.trajectories import StopReason
from synth.testing.corpus import small_tasks

Run = Callable[..., Rollout]
PROVENANCE = Provenance(
    dataset="d", stage="s", stage_version=1, fingerprint="f", seed=7, source="s", source_sha256="0" * 64
)


@pytest.fixture(scope="module")
def runs(run: Run) -> list[Rollout]:
    tasks = small_tasks()
    good = [run(ScriptedTeacher(task), task, "wire", sample) for task in tasks for sample in range(3)]
    return good + [run(ScriptedPolicy(task), task, "wire", sample) for task in tasks for sample in range(3)]


@pytest.mark.parametrize("mode", ["native", "structured"])
def test_each_turn_extends_the_conversation_byte_for_byte(mode: Mode, runs: list[Rollout]) -> None:
    extended = 0
    for made in runs:
        whole = canonical_json(messages_of(made.prompt, made.history, mode=mode))
        for turn in range(len(made.history)):
            part = canonical_json(messages_of(made.prompt, made.history[:turn], mode=mode))
            assert whole.startswith(part[:-1]), "a prefix but for the closing bracket"
            extended += 1
    assert extended > 150


def test_messages_are_of_the_form_that_servers_check(runs: list[Rollout]) -> None:
    for made in runs:
        messages = messages_of(made.prompt, made.history)
        check_request({"model": "any", "messages": messages})
        said = [message for message in messages if message["role"] == "assistant"]
        assert all(set(one) <= {"role", "content", "tool_calls"} for one in said), "no thought goes back unasked"
        structured = messages_of(made.prompt, made.history, mode="structured")
        check_request({"model": "any", "messages": structured}, strict_alternation=True)


def test_thoughts_go_back_where_they_are_wanted(runs: list[Rollout]) -> None:
    made = max(runs, key=lambda one: len(one.history))
    thoughts = [step.turn.thought for step in made.history]
    for name in ("reasoning", "reasoning_content"):
        sent = messages_of(made.prompt, made.history, send_reasoning=name)
        assert [message.get(name) for message in sent if message["role"] == "assistant"] == thoughts


def test_every_turn_fits_the_schema_of_structured_turns(runs: list[Rollout], environment: SearchEnvironment) -> None:
    schema = jsonschema.Draft202012Validator(structured_schema(environment.tools()))
    turns: list[Turn] = []
    for made in runs[: len(runs) // 2]:  # the teacher's: a policy's calls may be wrong
        for step in made.history:
            turn = structured_action(step.turn)
            schema.validate(json.loads(turn))
            assert turn.startswith('{"thought":')
            turns.append(step.turn)
    calls = tuple(call for turn in turns[:40] for call in turn.calls)
    assert len(calls) > 10
    schema.validate(json.loads(structured_action(Turn(calls=calls))))
    for wrong in (
        {"thought": "a", "action": {"tool": "browse", "arguments": {}}},
        {"thought": "a", "action": {"tool": "search", "arguments": {"k": 1}}},
        {"thought": "a", "action": {"calls": []}},
        {"thought": "a", "action": {"tool": "find", "arguments": {"pattern": "a"}, "answer": "b"}},
        {"thought": "a"},
        {"action": {"answer": "b"}},
    ):
        assert not schema.is_valid(wrong), wrong
    only = structured_schema(())
    assert jsonschema.Draft202012Validator(only).is_valid({"thought": "", "action": {"answer": "b"}})
    assert not jsonschema.Draft202012Validator(only).is_valid(wrong)


class Played(Model):
    """A policy of ours gives the turns, in the form that the request asks for."""

    name = "played"

    def __init__(self, policy: Policy, prompt: Prompt, history: Callable[[], History], generator: np.random.Generator):
        self.policy, self.prompt, self.history, self.generator = policy, prompt, history, generator

    def ask(self, request: ChatRequest) -> ChatReply:
        assert request.sample == key_of(self.generator)
        turn = self.policy.act(self.prompt, self.history(), self.generator).turn
        finish, usage = Finish.STOP, Usage(prompt_tokens=1, completion_tokens=1)
        if request.response_format is not None:
            return ChatReply(content=structured_action(turn), finish=finish, usage=usage)
        calls = tuple(RawCall(id="x", name=call.name, arguments=canonical_json(call.arguments)) for call in turn.calls)
        content = turn.said if calls else turn.answer if turn.answer is not None else GAVE_UP
        return ChatReply(content=content, reasoning=turn.thought, tool_calls=calls, finish=finish, usage=usage)


@pytest.mark.parametrize("mode", ["native", "structured"])
def test_the_same_decision_is_the_same_turn_in_both_forms(mode: Mode, runs: list[Rollout]) -> None:
    agents = (ScriptedTeacher, ScriptedPolicy)
    turns = 0
    for place, made in enumerate(runs):
        agent = agents[place >= len(runs) // 2](made.task)
        for number in range(len(made.history)):
            before = made.history[:number]
            names = (7, made.task.id, "wire", place % 3, number)
            model = Played(agent, made.prompt, lambda before=before: before, derive_generator(*names))  # type: ignore[misc]
            policy = ModelPolicy(model, ModelConfig(mode=mode, check_calls=False))
            turn = policy.act(made.prompt, before, derive_generator(*names)).turn
            recorded = made.history[number].turn
            assert [(c.name, c.arguments) for c in turn.calls] == [(c.name, c.arguments) for c in recorded.calls]
            assert (turn.thought, turn.said, turn.answer) == (recorded.thought, recorded.said, recorded.answer)
            turns += 1
    assert turns > 150


GIVING_UP = """It can't be found.
It can’t be found
"It can't be found."
IT CANNOT BE FOUND!
The answer can't be found in the available pages.
The answer could not be determined.
I'm sorry, but I couldn't find the answer.
I was unable to find the answer in the documents.
Unfortunately, the name can't be found.
I am unable to answer the question.
The question cannot be answered from the given documents.
No answer could be found.
I don't know.
I don't know the answer.
I give up."""

ANSWERS = """Vienna
It can't be found. Perhaps it is Vienna.
It can't be found in Vienna
I don't know, but probably Vienna.
I don't know why it was Vienna.
Unknown
None
Not found
The Answer
The book "I Give Up"
It can be found in Vienna.
The name is Vienna."""


@pytest.mark.parametrize("text", GIVING_UP.split("\n"))
def test_giving_up_is_recognized(text: str) -> None:
    assert gave_up(text)


@pytest.mark.parametrize("text", ANSWERS.split("\n"))
def test_whatever_says_more_is_an_answer(text: str) -> None:
    assert not gave_up(text)


def test_the_prompt_asks_for_the_words_of_giving_up() -> None:
    assert load_prompt("agents/search").text.strip().endswith(GAVE_UP)
    assert gave_up(GAVE_UP)


def called(query: str, **more: Any) -> dict[str, Any]:
    function = {"name": "search", "arguments": json.dumps({"query": query})}
    return body({"content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}, **more)


def test_a_run_keeps_where_its_turns_come_from(run: Run, environment: SearchEnvironment) -> None:
    task = small_tasks()[0]
    model = Listed([called(task.answer), body({"content": None}), body({"content": task.answer}, model="toy-1-b")])
    made = run(ModelPolicy(model), task)
    row = to_row(made, environment, role="teacher", number=0, privileged=False, provenance=PROVENANCE, model=model.name)
    first, second = row.details["model_turns"]
    assert first == {"call": model.asked[0].key, "finish": "stop", "prompt_tokens": 100, "completion_tokens": 10}
    assert second["corrected"]["call"] == model.asked[1].key
    assert second["call"] == model.asked[2].key
    assert (row.success, row.model, row.turns) == (True, "toy-1", 2)
    assert row.provenance.model_revision is None, "the first turn came from elsewhere"
    assert history_of(row)[1] == made.history, "a reply that was asked for again is not a step"
    assert len({request.session for request in model.asked}) == 1
    assert len({request.sample for request in model.asked}) == 3


def test_what_a_server_draws_for_a_call_is_not_in_the_corrective_one(run: Run) -> None:
    """Else the corrective call, made again, would have another key: it would be paid for twice."""
    task = small_tasks()[0]

    def asked(ident: str) -> list[ChatRequest]:
        function = {"name": "serch", "arguments": "{}"}
        broken = body({"content": None, "tool_calls": [{"id": ident, "type": "function", "function": function}]})
        model = Listed([broken, body({"content": task.answer})])
        assert run(ModelPolicy(model), task).verdict.correct
        assert len(model.asked) == 2
        return model.asked

    first, second = asked("chatcmpl-tool-1f"), asked("chatcmpl-tool-2a")
    assert [request.key for request in first] == [request.key for request in second]
    assert "serch" in str(first[1].messages[-2]["content"])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (body({"content": "cu"}, "length"), Reason.TRUNCATED),
        (CallFailed(FailureKind.TIMEOUT, "600 s"), Reason.ENDPOINT_FAILED),
    ],
)
def test_a_run_that_is_cut_short_has_no_verdict(reply: Any, reason: Reason, run: Run) -> None:
    task = small_tasks()[0]
    made = run(ModelPolicy(Listed([called("a"), reply])), task)
    assert made.stop_reason is StopReason.REJECTED
    assert made.rejected is not None
    assert made.rejected.reason is reason
    assert made.verdict.correct is None
    assert len(made.history) == 1, "what came before is there"


def test_tokens_are_counted_over_the_run_and_the_last_reply_is_kept(run: Run) -> None:
    task = small_tasks()[0]
    limits = Limits(tokens=25)
    ended = run(ModelPolicy(Listed([called("a"), called("b"), body({"content": "Vienna"})])), task, limits=limits)
    assert (ended.stop_reason, len(ended.sources)) == (StopReason.ANSWERED, 3)
    model = Listed([called(word) for word in "abcdef"])
    made = run(ModelPolicy(model), task, limits=limits)
    assert made.rejected is not None
    assert made.rejected.reason is Reason.TOKEN_LIMIT
    assert (len(model.asked), made.rejected.detail) == (3, "30 of 25 tokens after 3 turns")


def test_time_is_counted_over_the_run(run: Run) -> None:
    model = Listed([called(word) for word in "abcdef"])
    made = run(ModelPolicy(model), small_tasks()[0], limits=Limits(seconds=1e-9))
    assert made.rejected is not None
    assert made.rejected.reason is Reason.TIME_LIMIT
    assert len(model.asked) == 1, "the first turn is always asked for"


class Sometimes:
    """The scripted policy, whose ``bad`` turns are rejected: counted over all turns that it is asked for."""

    privileged = False

    def __init__(self, policy: Policy, bad: Callable[[int], bool]) -> None:
        self.policy, self.bad, self.count = policy, bad, 0

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        self.count += 1
        if self.bad(self.count):
            raise TurnRejected(Reason.REFUSAL, "no")
        return self.policy.act(prompt, history, generator)


def test_a_rejected_continuation_is_neither_a_success_nor_a_failure(run: Run, environment: SearchEnvironment) -> None:
    task = small_tasks()[0]
    made = run(ScriptedPolicy(task), task, "branch")
    row = to_row(made, environment, role="policy", number=0, privileged=False, provenance=PROVENANCE)

    def generator(*names: str | int) -> np.random.Generator:
        return derive_generator(7, *names)

    def pool(bad: Callable[[int], bool]) -> ContinuationPool:
        branching = Branching.open(row, task, environment, CriticalConfig())
        assert isinstance(branching, Branching)
        return ContinuationPool(branching, Sometimes(ScriptedPolicy(task), bad), generator)

    never = pool(lambda _: True)
    place = never.original(-1)
    first = never.draw(place)
    assert (first.content, first.action_kind, first.success, first.rejected) == ((), "none", False, Reason.REFUSAL)
    assert first.stop_reason is StopReason.REJECTED
    assert never.tally(place) == (0, 0)
    put = never.draw(never.original(0))
    assert put.turns == 1, "what was put there is kept"
    assert put.verdict.correct is None

    often = pool(lambda count: count % 23 == 0)  # a run has 4 to 20 turns
    always = pool(lambda _: False)
    for _ in range(30):
        often.draw(often.original(-1))
        always.draw(always.original(-1))
    successes, known = often.tally(BranchPoint(-1, "original"))
    assert 0 < known < 30
    assert [one.rejected is None for one in often.continuations()].count(True) == known
    assert always.tally(BranchPoint(-1, "original"))[1] == 30
    assert successes <= known


def test_an_agent_of_ones_own_may_let_a_failed_call_through(run: Run) -> None:
    class Own:
        privileged = False

        def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
            if not history:
                return Decision(Turn(answer=None, calls=()))
            raise AssertionError

    assert run(Own(), small_tasks()[0]).stop_reason is StopReason.GAVE_UP

    class Failing(Own):
        def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
            raise CallFailed(FailureKind.CONTEXT, "too long")

    made = run(Failing(), small_tasks()[0])
    assert made.rejected is not None
    assert made.rejected.reason is Reason.CONTEXT_OVERFLOW
    assert made.history == ()


def test_a_step_without_results_can_be_shown_too(environment: SearchEnvironment) -> None:
    turn = Turn(thought="t", answer="Vienna")
    prompt = Prompt(system="s", question="q", tools=environment.tools())
    assert messages_of(prompt, (Step(turn=turn),))[-1] == {"role": "assistant", "content": "Vienna"}
