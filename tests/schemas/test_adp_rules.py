"""Every rule of the Agent Data Protocol, generation 2: what is taken, what is refused, and with which words."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from synth.schemas.adp import (
    ADP_VERSION,
    SUPPORTED_VERSIONS,
    AdpError,
    ApiAction,
    CodeAction,
    ImageObservation,
    MessageAction,
    TextObservation,
    Trajectory,
    WebObservation,
    dump,
    parse,
    problems,
    to_json,
)


def call(name: str | None, **more: Any) -> dict[str, Any]:
    link = {} if name is None else {"tool_call_id": name}
    return {"class_": "api_action", "function": "search", "kwargs": {"q": "x"}, **link, **more}


def code(name: str | None, language: str = "python") -> dict[str, Any]:
    link = {} if name is None else {"tool_call_id": name}
    return {"class_": "code_action", "language": language, "content": "1", **link}


def seen(name: str | None, **more: Any) -> dict[str, Any]:
    link = {} if name is None else {"tool_call_id": name}
    return {"class_": "text_observation", "content": "r", "source": "environment", **link, **more}


USER = {"class_": "text_observation", "content": "q", "source": "user"}
SAID = {"class_": "message_action", "content": "a"}


def value(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"schema_version": ADP_VERSION, "id": "t", "content": list(content), **more}


GOOD = value(USER, call("c1"), seen("c1"), SAID, details={"reward": 1, "tool_call_count": 2.0, "note": "1"})


@pytest.mark.parametrize(
    "good",
    [
        GOOD,
        value(),
        value(USER, SAID),
        *(value(USER, schema_version=version) for version in SUPPORTED_VERSIONS),
        value(call("a"), call("b"), seen("b"), seen("a")),  # parallel calls, answered in any order
        value(call("a"), SAID, seen("a")),  # "later", not "next"
        value(USER, call(None)),  # cut off: nothing follows
        value(call(None), SAID),  # followed by no observation
        value(call(None), call("a"), seen("a")),
        value(SAID, seen(None)),  # an observation that answers no call
        value(code("a"), seen("a"), available_code_languages=["python"]),
        value(code("a", "sh"), seen("a"), code(None, "python"), available_code_languages=["python", "sh"]),
        value(code("a"), seen("a")),  # languages need not be given
        value(USER, available_custom_tools=[]),
        value(USER, details={"reward": None, "a_score": True, "rates": "high", "account": "x", "discount": "10 %"}),
        value(
            {
                "class_": "web_observation",
                "html": None,
                "axtree": None,
                "url": "u",
                "image_observation": {"class_": "image_observation", "content": "p.png", "source": "environment"},
                "viewport_size": [3, 4],
            }
        ),
    ],
)
def test_what_the_protocol_allows(good: dict[str, Any]) -> None:
    assert problems(good) == ()
    assert parse(json.dumps(good)) == parse(good)


BROKEN = {
    "version": (value(USER, schema_version="0.9.0"), "schema_version: '0.9.0' is none of 1.0.0, 1.1.0, 1.2.0"),
    "no version": ({"id": "t", "content": []}, "schema_version: missing"),
    "no id": ({"schema_version": ADP_VERSION, "content": []}, "id: missing"),
    "no content": ({"schema_version": ADP_VERSION, "id": "t"}, "content: missing"),
    "unknown root field": (value(USER, more=1), "more: unknown field"),
    "generation 1 name": (value(USER, available_apis=["f"]), "available_apis: unknown field"),
    "unknown field of an action": (value(USER, call(None, thought="x")), "content[1].thought: unknown field"),
    "unknown field of an observation": (value(seen(None, text="x")), "content[0].text: unknown field"),
    "no class": (value(USER, {"content": "x"}), "content[1].class_: missing"),
    "unknown class": (
        value({"class_": "MessageAction", "content": "x"}),
        "content[0].class_: 'MessageAction' is none of",
    ),
    "no function": (value({"class_": "api_action", "kwargs": {}}), "content[0].function: missing"),
    "no kwargs": (value({"class_": "api_action", "function": "f"}), "content[0].kwargs: missing"),
    "kwargs no object": (value(call(None, kwargs=[1])), "content[0].kwargs: "),
    "kwargs no JSON": (value(call(None, kwargs={"a": float("nan")})), "content[0].kwargs: nan has no JSON form"),
    "source": (value({"class_": "text_observation", "content": "x", "source": "system"}), "content[0].source: "),
    "no source": (value({"class_": "text_observation", "content": "x"}), "content[0].source: missing"),
    "reward": (value(call(None, reward="high")), "content[0].reward: "),
    "web needs its nulls": (value({"class_": "web_observation", "html": "x"}), "content[0].axtree: missing"),
    "annotation": (
        value({"class_": "image_observation", "content": "p", "source": "user", "annotations": [{"text": "x"}]}),
        "content[0].annotations[0].element_type: missing",
    ),
    "id on a message": (
        value(USER, {**SAID, "tool_call_id": "c"}),
        "content[1].tool_call_id: unknown field",
    ),
    "call without id before an observation": (
        value(USER, call(None), seen(None)),
        "content[1].tool_call_id: missing, though content[2] is an observation that answers this action",
    ),
    "code without id before an observation": (
        value(code(None), seen(None)),
        "content[0].tool_call_id: missing, though",
    ),
    "ids not unique": (
        value(call("a"), seen("a"), call("a"), seen("a")),
        "content[2].tool_call_id: 'a' is the id of content[0] already",
    ),
    "never answered": (value(USER, call("a"), SAID), "content[1].tool_call_id: no later observation answers 'a'"),
    "answered twice": (
        value(call("a"), seen("a"), seen("a")),
        "content[2].tool_call_id: 'a' was answered by content[1] already",
    ),
    "answered before": (value(seen("a"), call("a")), "content[0].tool_call_id: 'a' is the id of no earlier action"),
    "answers nothing": (value(USER, seen("z")), "content[1].tool_call_id: 'z' is the id of no earlier action"),
    "language not listed": (
        value(code(None), available_code_languages=[]),
        "available_code_languages: 'python' used by code actions but not listed",
    ),
    "language not used": (
        value(USER, available_code_languages=["sh"]),
        "available_code_languages: 'sh' listed but used by no code action",
    ),
    "reward as text": (value(details={"reward": "1.0"}), "details.reward: '1.0' is text"),
    "score as text": (value(details={"final_Score": "3"}), "details.final_Score: '3' is text"),
    "count as text": (value(details={"tool_call_count": "3"}), "details.tool_call_count: '3' is text"),
    "rate as text": (value(details={"a": [{"pass_rate": "3"}]}), "details.a[0].pass_rate: '3' is text"),
    "success as text": (value(details={"session_success": "yes"}), "details.session_success: 'yes' is text"),
    "no object": ([], ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_the_protocol_refuses(name: str) -> None:
    wrong, line = BROKEN[name]
    found = problems(wrong)
    assert any(problem.startswith(line) for problem in found), found
    assert len(found) == 1 or name in ("web needs its nulls", "ids not unique", "answered before", "annotation"), found
    with pytest.raises(AdpError) as raised:
        parse(wrong)
    assert raised.value.problems == found


def test_each_problem_has_its_own_line() -> None:
    wrong = value(call(None), seen("z"), code("q"), details={"score": "1"}, schema_version="7")
    assert [line.split(":")[0] for line in problems(wrong)] == [
        "schema_version",
        "content[0].tool_call_id",
        "content[1].tool_call_id",
        "content[2].tool_call_id",
        "details.score",
    ]
    with pytest.raises(AdpError, match=r"schema_version.*\(and 4 more\)"):
        parse(wrong)
    assert all("\n" not in line for line in problems({"content": [{"class_": "x\ny"}], "\n": 1}))


def test_text_that_is_no_json_is_one_line() -> None:
    assert len(problems("{")) == 1
    assert problems(json.dumps(GOOD).encode()) == ()


def test_the_error_crosses_processes() -> None:
    error = AdpError(("a: b", "c: d"))
    assert pickle.loads(pickle.dumps(error)).problems == ("a: b", "c: d")


def test_making_one_checks_too() -> None:
    with pytest.raises(ValidationError, match="no later observation answers"):
        Trajectory(schema_version=ADP_VERSION, id="t", content=(ApiAction(function="f", kwargs={}, tool_call_id="a"),))


def test_absent_links_are_omitted_and_other_options_are_null() -> None:
    image = ImageObservation(content="p.png", source="environment")
    trajectory = Trajectory(
        schema_version=ADP_VERSION,
        id="t",
        content=(
            TextObservation(content="q", source="user"),
            ApiAction(function="f", kwargs={"b": 1, "a": 2}, tool_call_id="c"),
            WebObservation(
                html=None, axtree=None, url="u", image_observation=image, viewport_size=None, tool_call_id="c"
            ),
            CodeAction(language="python", content="1"),
            MessageAction(content="a"),
        ),
    )
    assert dump(trajectory) == {
        "schema_version": ADP_VERSION,
        "id": "t",
        "content": [
            {"class_": "text_observation", "content": "q", "source": "user", "name": None, "reward": None},
            {
                "class_": "api_action",
                "function": "f",
                "kwargs": {"b": 1, "a": 2},
                "description": None,
                "tool_call_id": "c",
                "reasoning_content": None,
                "reward": None,
            },
            {
                "class_": "web_observation",
                "html": None,
                "axtree": None,
                "url": "u",
                "image_observation": {
                    "class_": "image_observation",
                    "content": "p.png",
                    "source": "environment",
                    "annotations": None,
                    "reward": None,
                },
                "viewport_size": None,
                "tool_call_id": "c",
                "reward": None,
            },
            {
                "class_": "code_action",
                "language": "python",
                "content": "1",
                "description": None,
                "reasoning_content": None,
                "reward": None,
            },
            {
                "class_": "message_action",
                "content": "a",
                "description": None,
                "reasoning_content": None,
                "reward": None,
            },
        ],
        "details": {},
    }


def test_given_availability_is_written() -> None:
    trajectory = parse(value(code("a"), seen("a"), available_code_languages=["python"], available_custom_tools=[]))
    assert dump(trajectory)["available_code_languages"] == ["python"]
    assert dump(trajectory)["available_custom_tools"] == []


STEPS = st.lists(st.sampled_from(["call", "code", "said", "user"]), max_size=8)


@settings(max_examples=150)
@given(STEPS, st.randoms(use_true_random=False), st.dictionaries(st.text(max_size=5), st.integers(), max_size=2))
def test_json_round_trip_of_any_valid_trajectory(steps: list[str], random: Any, details: dict[str, int]) -> None:
    content, open_calls = [], []
    for number, step in enumerate(steps):
        if step in ("call", "code"):
            content.append(call(f"c{number}") if step == "call" else code(f"c{number}"))
            open_calls.append(f"c{number}")
            random.shuffle(open_calls)
            if random.random() < 0.7:
                content += [seen(name) for name in open_calls]
                open_calls = []
        else:
            content.append(deepcopy(SAID if step == "said" else USER))
    content += [seen(name) for name in open_calls]
    trajectory = parse(value(*content, details=details))
    assert parse(to_json(trajectory)) == trajectory
    assert parse(dump(trajectory)) == trajectory
    # Losing, repeating or moving any one linked item breaks a rule.
    linked = [place for place, item in enumerate(content) if "tool_call_id" in item]
    if linked:
        place = random.choice(linked)
        assert problems(value(*content[:place], *content[place + 1 :]))
        assert problems(value(*content[:place], content[place], *content[place:]))
