"""One question, one answer of a given form, or a reason why there is none."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from pydantic import Field
from stand_ins.model_server.listed import Listed, body

from synth.errors import InputError
from synth.models.asking import AskConfig, Asker, answer_schema
from synth.models.contract import CallFailed, FailureKind
from synth.prompting import parse_prompt
from synth.schemas.rejections import Reason
from synth.schemas.row import Row

PROMPT = parse_prompt("toys/rate", 1, b"---\nvariables: [text]\n---\nRate this text:\n{{ text }}\n")


class Part(Row):
    name: str


class Rating(Row):
    why: str
    score: int = Field(ge=1, le=5)
    parts: tuple[Part, ...] = ()


GOOD = {"why": "it rhymes", "score": 4, "parts": []}


def asked(*replies: Any, config: AskConfig | None = None) -> tuple[Any, Listed]:
    model = Listed(reply if isinstance(reply, CallFailed) else body(*reply) for reply in replies)
    return Asker(model, PROMPT, Rating, config).ask("a" * 32, text="a poem"), model


def say(text: str | None, finish: str = "stop", **more: Any) -> tuple[dict[str, Any], str]:
    return {"content": text, **more}, finish


READABLE = {
    "plain": (json.dumps(GOOD), ()),
    "fenced": (f"```json\n{json.dumps(GOOD)}\n```", ("fenced",)),
    "with words around": (f"Here it is: {json.dumps(GOOD)} I hope that helps.", ("text_around",)),
    "after a thought": ("hm {} hm</think>" + json.dumps(GOOD), ()),
    "as Python writes it": (str(GOOD), ("python_literal",)),
    "with a special token": (json.dumps(GOOD) + "<|im_end|>", ("special_tokens",)),
}


@pytest.mark.parametrize("case", READABLE)
def test_an_answer_that_can_be_read_in_one_way(case: str) -> None:
    text, repaired = READABLE[case]
    found, model = asked(say(text))
    assert found.answer == Rating(**GOOD)
    assert (found.reason, found.repaired, found.calls) == (None, repaired, (model.asked[0].key,))
    assert (found.thought == "hm {} hm") is (case == "after a thought")
    (request,) = model.asked
    assert request.messages == ({"role": "user", "content": "Rate this text:\na poem"},)


UNREADABLE = {
    "another form": ('{"score": 4}', "why: Field required", Reason.MALFORMED),
    "out of range": ('{"why": "", "score": 9, "parts": []}', "score: Input should be less", Reason.MALFORMED),
    "an unknown key": (json.dumps({**GOOD, "mood": 1}), "mood: Extra inputs", Reason.MALFORMED),
    "no JSON": ("I like it.", "not valid JSON", Reason.MALFORMED),
    "a key twice": ('{"why": "a", "why": "b", "score": 4, "parts": []}', "twice", Reason.MALFORMED),
    "torn": ('{"why": "it rhy', "not valid JSON", Reason.MALFORMED),
    "nothing": ("", "you said nothing", Reason.EMPTY_REPLY),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_another_form_is_asked_for_once_more_and_then_there_is_no_answer(case: str) -> None:
    text, problem, reason = UNREADABLE[case]
    found, model = asked(say(text), say(json.dumps(GOOD)))
    assert found.answer == Rating(**GOOD)
    first, second = model.asked
    assert found.calls == (first.key, second.key)
    assert second.sample != first.sample
    assert second.messages[:1] == first.messages
    assert second.messages[1]["content"] == (text or "(nothing)")
    assert problem in second.messages[2]["content"]
    found, model = asked(say(text), say(text))
    assert (found.answer, found.reason, len(model.asked)) == (None, reason, 2)
    assert problem in found.detail
    found, model = asked(say(text), config=AskConfig(correct=False))
    assert (found.answer, found.reason, len(model.asked)) == (None, reason, 1)


HOPELESS = {
    "refusal field": (say(None, refusal="No."), Reason.REFUSAL),
    "refusal in words": (say("I'm sorry, but I can't assist with that."), Reason.REFUSAL),
    "filter": (say("", "content_filter"), Reason.CONTENT_FILTER),
    "length": (say(json.dumps(GOOD)[:-1], "length"), Reason.TRUNCATED),
    "a length that left a whole object": (say(json.dumps(GOOD), "length"), Reason.TRUNCATED),
    "endpoint": (CallFailed(FailureKind.SERVER, "500"), Reason.ENDPOINT_FAILED),
    "context": (CallFailed(FailureKind.CONTEXT, "too long"), Reason.CONTEXT_OVERFLOW),
}


@pytest.mark.parametrize("case", HOPELESS)
def test_what_asking_again_would_not_mend_is_asked_once(case: str) -> None:
    reply, reason = HOPELESS[case]
    found, model = asked(reply)
    assert (found.answer, found.reason, len(model.asked)) == (None, reason, 1)


def test_the_form_goes_along_and_holds_every_key_in_order() -> None:
    schema = answer_schema(Rating)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == ["why", "score", "parts"] == schema["required"]
    holds = jsonschema.Draft202012Validator(schema)
    assert holds.is_valid({**GOOD, "parts": [{"name": "a"}]})
    for wrong in ({**GOOD, "parts": [{}]}, {**GOOD, "more": 1}, {"why": "", "score": 1}, {**GOOD, "score": 0}):
        assert not holds.is_valid(wrong), wrong
    forms = {}
    for form in ("json_schema", "json_object", "none"):
        _, model = asked(say(json.dumps(GOOD)), config=AskConfig(response_format=form, strict=True))
        forms[form] = model.asked[0].response_format
    assert forms["json_schema"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }
    assert (forms["json_object"], forms["none"]) == ({"type": "json_object"}, None)


def test_wrong_values_are_the_callers_mistake() -> None:
    with pytest.raises(InputError, match="missing text"):
        Asker(Listed([]), PROMPT, Rating).ask("a" * 32)
