"""What models say that is not a plain call and no plain answer: each ends in the right turn or in the right reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stand_ins.model_server.listed import Listed, body

from synth.agents.contract import Prompt, Turn, TurnRejected
from synth.agents.model.policy import ModelConfig, ModelPolicy
from synth.agents.model.wire import CORRECTION, GAVE_UP, Mode
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.models.contract import CallFailed, FailureKind
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason
from synth.testing.corpus import small_tasks

Body = dict[str, Any]
ANSWER = body({"content": "Vienna"})


def called(*calls: tuple[str, Any], content: str | None = None, finish: str = "tool_calls", **message: Any) -> Body:
    """A reply with tool calls; arguments that are not text are written as JSON."""
    written = [
        {
            "id": f"c{place}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for place, (name, given) in enumerate(calls)
    ]
    return body({"content": content, "tool_calls": written, **message}, finish)


def said(text: str | None, finish: str = "stop", **message: Any) -> Body:
    return body({"content": text, **message}, finish)


def act(
    environment: SearchEnvironment, replies: list[Any], mode: Mode = "native", tools: bool = True
) -> tuple[Turn, ModelTurn, Listed]:
    model = Listed(replies)
    prompt = Prompt(system="Look it up.", question="Where was it?", tools=environment.tools() if tools else ())
    decision = ModelPolicy(model, ModelConfig(mode=mode)).act(prompt, (), derive_generator(7, "outputs"))
    assert decision.source is not None
    return decision.turn, decision.source, model


def wanted(*calls: tuple[str, dict[str, Any]], said: str | None = None, thought: str | None = None) -> Body:
    return {"calls": list(calls), "said": said, "thought": thought, "answer": None}


def answer(text: str | None, thought: str | None = None, said: str | None = None) -> Body:
    return {"calls": [], "said": said, "thought": thought, "answer": text}


def plain(turn: Turn) -> Body:
    calls = [(call.name, call.arguments) for call in turn.calls]
    return {"calls": calls, "said": turn.said, "thought": turn.thought, "answer": turn.answer}


SEARCH = ("search", {"query": "Mosk"})
CALL = '{"name": "search", "arguments": {"query": "Mosk"}}'

TAKEN: dict[str, tuple[Body, Body, tuple[str, ...]]] = {
    # reply, turn, what was repaired
    "a plain call": (called(SEARCH), wanted(SEARCH), ()),
    "several calls at once": (
        called(SEARCH, ("find", {"pattern": "a"})),
        wanted(SEARCH, ("find", {"pattern": "a"})),
        (),
    ),
    "text beside a call": (called(SEARCH, content="I look."), wanted(SEARCH, said="I look."), ()),
    "an answer beside a call": (called(SEARCH, content="Vienna."), wanted(SEARCH, said="Vienna."), ()),
    "a call and finish stop": (called(SEARCH, finish="stop"), wanted(SEARCH), ()),
    "reasoning": (said("Vienna", reasoning="It says so."), answer("Vienna", "It says so."), ()),
    "reasoning in the older field": (said("Vienna", reasoning_content="So."), answer("Vienna", "So."), ()),
    "a thought in the content": (said("<think>It says so.</think>Vienna"), answer("Vienna", "It says so."), ()),
    "a thought without its opening tag": (said("It says so.</think>\n\nVienna"), answer("Vienna", "It says so."), ()),
    "an end token in the content": (said("Vienna<|im_end|>"), answer("Vienna"), ("special_tokens",)),
    "the words of giving up": (said(GAVE_UP), answer(None), ()),
    "giving up in other words": (
        said("Unfortunately, I couldn't find the answer."),
        answer(None, said="Unfortunately, I couldn't find the answer."),
        (),
    ),
    "arguments as an object": (
        body({"content": None, "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": SEARCH[1]}}]}),
        wanted(SEARCH),
        (),
    ),
    "arguments encoded twice": (
        called(("search", json.dumps('{"query": "Mosk"}'))),
        wanted(SEARCH),
        ("double_encoded",),
    ),
    "a character cut in two": (
        called(("search", '{"query": "Mosk \\ud83d"}')),
        wanted(("search", {"query": "Mosk \ufffd"})),
        (),
    ),
    "arguments in a fence": (called(("search", '```json\n{"query": "Mosk"}\n```')), wanted(SEARCH), ("fenced",)),
    "arguments as Python writes them": (called(("search", "{'query': 'Mosk'}")), wanted(SEARCH), ("python_literal",)),
    "an end token behind the arguments": (
        called(("search", '{"query": "Mosk"}</tool_call>')),
        wanted(SEARCH),
        ("trailing_text",),
    ),
    "a bracket too many": (called(("search", '{"query": "Mosk"}}')), wanted(SEARCH), ("trailing_text",)),
    "a whole number as text": (
        called(("search", {"query": "Mosk", "k": "3"})),
        wanted(("search", {"query": "Mosk", "k": 3})),
        ("coerced",),
    ),
    "a number where a text belongs": (
        called(("find", {"pattern": 1899})),
        wanted(("find", {"pattern": "1899"})),
        ("coerced",),
    ),
    "null for what may be left out": (
        called(("search", {"query": "Mosk", "k": None})),
        wanted(SEARCH),
        ("null_argument",),
    ),
    "a namespace before the tool's name": (called(("functions.search", SEARCH[1])), wanted(SEARCH), ("tool_name",)),
    "the tool's name in capitals": (called(("Search", SEARCH[1])), wanted(SEARCH), ("tool_name",)),
    "the same id twice": (
        body({"content": None, "tool_calls": 2 * called(SEARCH)["choices"][0]["message"]["tool_calls"]}, "tool_calls"),
        wanted(SEARCH, SEARCH),
        ("duplicate_ids",),
    ),
    "a value that the tool refuses": (  # the agent's own doing: the environment answers it
        called(("search", {"query": "Mosk", "k": 1000})),
        wanted(("search", {"query": "Mosk", "k": 1000})),
        (),
    ),
    "the older function_call": (
        body({"content": None, "function_call": {"name": "search", "arguments": '{"query": "Mosk"}'}}, "function_call"),
        wanted(SEARCH),
        (),
    ),
    "a call in tags": (
        said(f"I look.\n<tool_call>\n{CALL}\n</tool_call>"),
        wanted(SEARCH, said="I look."),
        ("narrated_call",),
    ),
    "two calls in tags": (
        said(f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>"),
        wanted(SEARCH, SEARCH),
        ("narrated_call",),
    ),
    "a call in a tag that stays open": (said(f"<tool_call>{CALL}"), wanted(SEARCH), ("narrated_call",)),
    "a call in XML": (
        said("<tool_call>\n<function=search>\n<parameter=query>\nMosk\n</parameter>\n</function>\n</tool_call>"),
        wanted(SEARCH),
        ("narrated_call",),
    ),
    "a call in a function tag": (
        said('<function=search>{"query": "Mosk"}</function>'),
        wanted(SEARCH),
        ("narrated_call",),
    ),
    "a call behind Mistral's mark": (said(f"[TOOL_CALLS] [{CALL}]"), wanted(SEARCH), ("narrated_call",)),
    "a call behind Llama's mark": (
        said('<|python_tag|>{"name": "search", "parameters": {"query": "Mosk"}}'),
        wanted(SEARCH),
        ("narrated_call",),
    ),
    "a call in a fence": (
        said(f"Let me see.\n```json\n{CALL}\n```"),
        wanted(SEARCH, said="Let me see."),
        ("narrated_call",),
    ),
    "a call as bare JSON": (said(CALL), wanted(SEARCH), ("narrated_call",)),
    "a call as Python": (
        said('search(query="Mosk", k=3)'),
        wanted(("search", {"query": "Mosk", "k": 3})),
        ("narrated_call",),
    ),
    "a call as ReAct writes it": (
        said('Thought: I look.\nAction: search\nAction Input: {"query": "Mosk"}'),
        wanted(SEARCH, said="I look."),
        ("narrated_call",),
    ),
    "a call at the end of the reasoning": (
        said(None, reasoning=f"I look.\n<tool_call>{CALL}</tool_call>"),
        wanted(SEARCH, thought="I look."),
        ("call_in_reasoning",),
    ),
    "a marked answer in the reasoning": (
        said(None, reasoning="The page says so.\nAnswer: Vienna"),
        answer("Vienna", "The page says so."),
        ("answer_in_reasoning",),
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_can_be_meant_in_one_way_is_taken_as_said(name: str, environment: SearchEnvironment) -> None:
    reply, turn, repaired = TAKEN[name]
    made, source, model = act(environment, [reply])
    assert plain(made) == turn
    assert source.repaired == repaired
    assert (source.raw is None) == (not repaired), "what was repaired is kept as it was"
    assert len(model.asked) == 1


CORRECTED: dict[str, tuple[Body, Reason, str]] = {
    # reply, reason when it comes again, what the model is told
    "nothing at all": (said(None), Reason.EMPTY_REPLY, "you said nothing"),
    "blanks": (said(" \n "), Reason.EMPTY_REPLY, "you said nothing"),
    "an announced call that is missing": (said(None, "tool_calls"), Reason.EMPTY_REPLY, "made none"),
    "an empty list of calls": (body({"content": None, "tool_calls": []}), Reason.EMPTY_REPLY, "you said nothing"),
    "a thought and nothing else": (
        said(None, reasoning="The page is about Mosk.\nIt is a town.\nI should go on."),
        Reason.EMPTY_REPLY,
        "you said nothing",
    ),
    "torn arguments": (called(("search", '{"query": "Mo')), Reason.MALFORMED_CALL, "not valid JSON"),
    "arguments that are a list": (called(("search", '["Mosk"]')), Reason.MALFORMED_CALL, "not a JSON object"),
    "two objects as arguments": (
        called(("search", '{"query": "a"}{"query": "b"}')),
        Reason.MALFORMED_CALL,
        "behind the JSON",
    ),
    "an argument given twice": (called(("search", '{"query": "a", "query": "b"}')), Reason.MALFORMED_CALL, "twice"),
    "arguments that no JSON holds": (called(("search", '{"query": NaN}')), Reason.MALFORMED_CALL, "NaN"),
    "arguments nested without end": (called(("search", '{"a":' * 100_000)), Reason.MALFORMED_CALL, "nested too deeply"),
    "no arguments": (called(("search", "")), Reason.WRONG_ARGUMENTS, "'query' is a required property"),
    "an empty object": (called(("search", {})), Reason.WRONG_ARGUMENTS, "'query' is a required property"),
    "an argument of another type": (called(("search", {"query": ["Mosk"]})), Reason.WRONG_ARGUMENTS, "query"),
    "a word for a number": (called(("search", {"query": "a", "k": "five"})), Reason.WRONG_ARGUMENTS, "'five'"),
    "an argument that does not exist": (
        called(("search", {"query": "a", "page": 2})),
        Reason.WRONG_ARGUMENTS,
        "'page'",
    ),
    "a tool that does not exist": (called(("browse", {"url": "a"})), Reason.UNKNOWN_TOOL, "no tool 'browse'"),
    "a call without a name": (called(("", {"query": "a"})), Reason.UNKNOWN_TOOL, "no tool ''"),
    "one good call and one bad": (called(SEARCH, ("browse", {})), Reason.UNKNOWN_TOOL, "no tool 'browse'"),
    "a torn call in tags": (said('<tool_call>{"name": "search", "argu'), Reason.MALFORMED_CALL, "can't be read"),
    "a made-up observation": (
        said(f"<tool_call>{CALL}</tool_call>\nThe tool says: Mosk is a town."),
        Reason.MALFORMED_CALL,
        "goes on behind the tool call",
    ),
    "a call told in prose": (said('I now call search(query="Mosk") and read on.'), Reason.NARRATED_CALL, "made none"),
    "a call announced in prose": (said("Let me search for the town of Mosk."), Reason.NARRATED_CALL, "made none"),
    "JSON of a call inside prose": (said(f"The call is {CALL}, is it not?"), Reason.NARRATED_CALL, "made none"),
    "a call in tags of another kind": (
        said("<tool_call>search Mosk</tool_call>"),
        Reason.MALFORMED_CALL,
        "can't be read",
    ),
}


@pytest.mark.parametrize("name", CORRECTED)
def test_what_can_not_be_carried_out_is_asked_for_once_more_and_then_rejected(
    name: str, environment: SearchEnvironment
) -> None:
    reply, reason, told = CORRECTED[name]
    turn, source, model = act(environment, [reply, ANSWER])
    assert turn.answer == "Vienna"
    first, again = model.asked
    assert again.messages[: len(first.messages)] == first.messages, "the conversation so far stays as it is"
    *_, spoken, correction = again.messages
    assert spoken["role"] == "assistant"
    assert isinstance(spoken["content"], str)
    assert spoken["content"]
    assert "tool_calls" not in spoken, "servers refuse calls that they can't read"
    assert correction["role"] == "user"
    assert correction["content"].startswith(CORRECTION)
    assert told in correction["content"]
    assert (again.tools, again.session) == (first.tools, first.session)
    assert again.sample != first.sample
    assert len(again.sample) == 32
    assert source.corrected is not None
    assert (source.corrected.call, source.call) == (first.key, again.key)
    assert f"{CORRECTION}{source.corrected.problem}" == correction["content"]
    assert (source.prompt_tokens, source.completion_tokens) == (200, 20), "both calls are booked"
    with pytest.raises(TurnRejected) as caught:
        act(environment, [reply, reply])
    assert caught.value.reason is reason
    assert "\n" not in caught.value.detail


REFUSED: dict[str, tuple[Body | CallFailed, Reason]] = {
    "a refusal in its field": (said(None, refusal="I can't help with that."), Reason.REFUSAL),
    "a refusal in words": (said("I'm sorry, but I can't assist with that request."), Reason.REFUSAL),
    "the server's filter": (said(None, "content_filter"), Reason.CONTENT_FILTER),
    "a cut answer": (said("The town is Vi", "length"), Reason.TRUNCATED),
    "a cut thought": (said(None, "length", reasoning="I think"), Reason.TRUNCATED),
    "cut arguments": (called(("search", '{"query": "Mo'), finish="length"), Reason.TRUNCATED),
    "a call that was cut behind its arguments": (called(SEARCH, finish="length"), Reason.TRUNCATED),
    "a context that is full": (CallFailed(FailureKind.CONTEXT, "8193 of 8192 tokens"), Reason.CONTEXT_OVERFLOW),
    "a request that the server refuses": (CallFailed(FailureKind.REQUEST, "400"), Reason.ENDPOINT_FAILED),
    "no reply after every attempt": (CallFailed(FailureKind.TIMEOUT, "600 s"), Reason.ENDPOINT_FAILED),
    "bodies that are none": (CallFailed(FailureKind.MALFORMED, "torn"), Reason.ENDPOINT_FAILED),
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_asking_again_is_of_no_use_it_is_rejected_at_once(name: str, environment: SearchEnvironment) -> None:
    reply, reason = REFUSED[name]
    model = Listed([reply])
    prompt = Prompt(system="s", question="q", tools=environment.tools())
    with pytest.raises(TurnRejected) as caught:
        ModelPolicy(model).act(prompt, (), derive_generator(7, "refused"))
    assert caught.value.reason is reason
    assert len(model.asked) == 1


def test_a_short_thought_answers_the_correction_when_there_is_nothing_else(environment: SearchEnvironment) -> None:
    """Some reasoning parsers put every short reply into the reasoning: the correction asked for the bare answer."""
    silent = said(None, reasoning="Vienna")
    turn, source, _ = act(environment, [silent, silent])
    assert plain(turn) == answer("Vienna")
    assert source.repaired == ("answer_in_reasoning",)


@pytest.mark.parametrize(
    "given",
    [("search", {"q": "Mosk"}), ("search", {"query": "a", "k": "five"}), ("browse", {"url": "a"}), ("find", {})],
)
def test_a_policys_wrong_calls_are_its_own(given: tuple[str, dict[str, Any]], environment: SearchEnvironment) -> None:
    """They are taken as they are, for the environment to answer: else a policy would look better than it is."""
    model = Listed([called(given)])
    prompt = Prompt(system="s", question="q", tools=environment.tools())
    config = ModelConfig(check_calls=False)
    turn = ModelPolicy(model, config).act(prompt, (), derive_generator(1)).turn
    assert [(call.name, call.arguments) for call in turn.calls] == [given]
    episode = environment.reset(small_tasks()[0])
    assert episode.step(turn.calls[0]).error in ("unknown_tool", "bad_arguments")
    with pytest.raises(TurnRejected):
        ModelPolicy(Listed([called(("search", '{"q')), called(("", {}))]), config).act(prompt, (), derive_generator(1))


def test_no_correction_where_the_recipe_wants_none(environment: SearchEnvironment) -> None:
    model = Listed([said(None)])
    with pytest.raises(TurnRejected):
        ModelPolicy(model, ModelConfig(correct=False)).act(
            Prompt(system="s", question="q", tools=environment.tools()), (), derive_generator(1)
        )
    assert len(model.asked) == 1


def action(value: Any, thought: str = "So.") -> Body:
    return said(json.dumps({"thought": thought, "action": value}))


ONE = {"tool": "search", "arguments": {"query": "Mosk"}}

STRUCTURED: dict[str, tuple[Body, Body, tuple[str, ...]]] = {
    "one call": (action(ONE), wanted(SEARCH, thought="So."), ()),
    "several calls": (action({"calls": [ONE, ONE]}), wanted(SEARCH, SEARCH, thought="So."), ()),
    "an answer": (action({"answer": "Vienna"}), answer("Vienna", "So."), ()),
    "an empty thought": (action({"answer": "Vienna"}, ""), answer("Vienna"), ()),
    "giving up": (action({"answer": GAVE_UP}), answer(None, "So."), ()),
    "null for an answer": (action({"answer": None}), answer(None, "So."), ("null_answer",)),
    "a number as answer": (action({"answer": 42}), answer("42", "So."), ("coerced",)),
    "in a fence": (
        said("```json\n" + json.dumps({"thought": "So.", "action": ONE}) + "\n```"),
        wanted(SEARCH, thought="So."),
        ("fenced",),
    ),
    "behind a preface": (
        said("Here it is: " + json.dumps({"thought": "So.", "action": ONE})),
        wanted(SEARCH, thought="So.", said="Here it is:"),
        ("text_around",),
    ),
    "the action beside the thought": (
        said(json.dumps({"thought": "So.", **ONE})),
        wanted(SEARCH, thought="So."),
        ("flat_action",),
    ),
    "the action as a text": (action(json.dumps(ONE)), wanted(SEARCH, thought="So."), ("double_encoded",)),
    "a native call all the same": (called(SEARCH), wanted(SEARCH), ()),
    "a call in tags": (said(f"<tool_call>{CALL}</tool_call>"), wanted(SEARCH), ("narrated_call",)),
    "reasoning and a thought": (
        body({"content": json.dumps({"thought": "So.", "action": {"answer": "Vienna"}}), "reasoning": "Hm."}),
        answer("Vienna", "Hm.\n\nSo."),
        (),
    ),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_turns(name: str, environment: SearchEnvironment) -> None:
    reply, turn, repaired = STRUCTURED[name]
    made, source, model = act(environment, [reply], "structured")
    assert (plain(made), source.repaired) == (turn, repaired)
    assert not model.asked[0].tools
    assert model.asked[0].response_format is not None


STRUCTURED_WRONG: dict[str, tuple[Body, Reason]] = {
    "prose": (said("The town is Vienna."), Reason.MALFORMED_CALL),
    "torn JSON": (said('{"thought": "So.", "action": {"to'), Reason.MALFORMED_CALL),
    "a list": (said("[1, 2]"), Reason.MALFORMED_CALL),
    "a bare text": (said('"Vienna"'), Reason.MALFORMED_CALL),
    "no action": (said('{"thought": "So."}'), Reason.MALFORMED_CALL),
    "a call and an answer": (action({**ONE, "answer": "Vienna"}), Reason.MALFORMED_CALL),
    "an answer that is a list": (action({"answer": ["a", "b"]}), Reason.MALFORMED_CALL),
    "an empty answer": (action({"answer": " "}), Reason.EMPTY_REPLY),
    "an unknown tool": (action({"tool": "browse", "arguments": {}}), Reason.UNKNOWN_TOOL),
    "wrong arguments": (action({"tool": "open", "arguments": {"page": 1}}), Reason.WRONG_ARGUMENTS),
    "a call that is not an object": (action({"calls": ["search"]}), Reason.MALFORMED_CALL),
}


@pytest.mark.parametrize("name", STRUCTURED_WRONG)
def test_structured_turns_that_are_none(name: str, environment: SearchEnvironment) -> None:
    reply, reason = STRUCTURED_WRONG[name]
    with pytest.raises(TurnRejected) as caught:
        act(environment, [reply, reply], "structured")
    assert caught.value.reason is reason
    turn, source, _ = act(environment, [reply, action({"answer": "Vienna"})], "structured")
    assert turn.answer == "Vienna"
    assert source.corrected is not None


@pytest.mark.parametrize("mode", ["native", "structured"])
def test_without_tools_nothing_is_offered_and_a_call_is_wrong(mode: Mode, environment: SearchEnvironment) -> None:
    good = ANSWER if mode == "native" else action({"answer": "Vienna"})
    turn, _, model = act(environment, [good], mode, tools=False)
    assert turn.answer == "Vienna"
    assert (model.asked[0].tools, model.asked[0].tool_choice) == ((), None)
    with pytest.raises(TurnRejected) as caught:
        act(environment, [called(SEARCH), called(SEARCH)], mode, tools=False)
    assert caught.value.reason is Reason.UNKNOWN_TOOL


def test_what_the_server_tells_of_itself_and_of_its_tokens_is_kept(environment: SearchEnvironment) -> None:
    reply = body({"content": "Vienna"}, model="toy-1-2026-08", system_fingerprint="fp_1")
    reply["choices"][0] |= {"token_ids": [5, 6], "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -0.25}]}}
    _, source, _ = act(environment, [reply])
    assert (source.served_by, source.fingerprint) == ("toy-1-2026-08", "fp_1")
    assert (source.token_ids, source.logprobs) == ((5, 6), (-0.5, -0.25))
    assert (source.prompt_tokens, source.completion_tokens) == (100, 10)
    _, source, _ = act(environment, [body({"content": "Vienna"}, usage=None)])
    assert (source.prompt_tokens, source.completion_tokens) == (None, None)
