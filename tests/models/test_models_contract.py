"""What makes two calls one call."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.identity import canonical_json, derive_generator, digest, digests, generator_of, key_of
from synth.models.contract import ChatRequest, Sampling

_TEXT = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), max_size=20)
_OBJECT = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers() | _TEXT, max_size=3)
_MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": _TEXT})
_SAMPLING = st.builds(
    Sampling,
    temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0.1, 1),
    max_tokens=st.integers(1, 9999),
    logprobs=st.booleans(),
    extra=st.dictionaries(st.sampled_from(["top_k", "min_p"]), st.integers(1, 50), max_size=2),
)
_REQUEST = st.builds(
    ChatRequest,
    model=_TEXT,
    messages=st.lists(_MESSAGE, min_size=1, max_size=3).map(tuple),
    tools=st.lists(st.fixed_dictionaries({"type": st.just("function"), "function": _OBJECT}), max_size=2).map(tuple),
    tool_choice=st.sampled_from([None, "auto", "required", "none"]),
    response_format=st.none() | _OBJECT,
    sampling=_SAMPLING,
    sample=_TEXT,
)


@given(_REQUEST, _REQUEST)
def test_the_key_is_equal_exactly_when_all_of_the_call_is(one: ChatRequest, other: ChatRequest) -> None:
    # JSON has one form for what Python writes in two (1 and True differ there, 1.0 and 1.0 do not).
    same = (json.loads(one.body), one.sample) == (json.loads(other.body), other.sample) and one.body == other.body
    assert (one.key == other.key) is same


@given(_REQUEST, _REQUEST)
def test_each_field_changes_the_key_and_the_session_does_not(one: ChatRequest, other: ChatRequest) -> None:
    for name in ("model", "messages", "tools", "tool_choice", "response_format", "sampling", "sample"):
        changed: Any = {name: getattr(other, name)}
        mixed = replace(one, **changed)
        # Of the response's schema the order of keys is a part: a model writes them in it.
        ordered = name == "response_format"
        same = _plain(getattr(one, name), ordered) == _plain(getattr(other, name), ordered)
        if name == "sampling" and not same:
            assert mixed.key != one.key
        elif name == "tools" and not one.tools and not other.tools:
            assert mixed.key == one.key
        else:
            assert (mixed.key == one.key) is same
    assert replace(one, session="another").key == one.key


def _plain(value: Any, ordered: bool = False) -> str:
    if isinstance(value, Sampling):
        value = value.model_dump(mode="json")
    return json.dumps(value, sort_keys=not ordered)


def test_a_sample_cannot_run_over_into_the_body() -> None:
    plain = ChatRequest("m", ({"role": "user", "content": "q"},), sample="a")
    assert plain.key != replace(plain, sample="a\n" + plain.body).key


def test_a_generator_is_named_by_its_stream_and_made_again_from_the_name() -> None:
    first = derive_generator(7, "rollouts", "task-1", 0)
    name = key_of(first)
    drawn = first.random(5)
    assert key_of(first) == name  # whatever was drawn
    assert np.array_equal(generator_of(name).random(5), drawn)
    assert np.array_equal(np.random.Generator(np.random.Philox(key=int(name, 16))).random(5), drawn)
    assert len({key_of(derive_generator(7, "rollouts", "task-1", turn)) for turn in range(1000)}) == 1000
    with pytest.raises(ValueError, match="derive_generator"):
        key_of(np.random.default_rng(1))


def test_what_begins_alike_is_hashed_once_with_the_same_outcome() -> None:
    each = ["", "ä", 1, {"b": 2}]
    assert list(digests(("voice", None, [1.5]), each)) == [digest("voice", None, [1.5], last) for last in each]
    assert list(digests((), each)) == [digest(last) for last in each]


@pytest.mark.parametrize(
    "value", [math.nan, [math.inf], {"a": [{"b": -math.inf}]}, {1: "a"}, {"a": {None: 1}}, [{"a": ({True: 1},)}]]
)
def test_what_has_no_canonical_json_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"no canonical JSON|not a string"):
        canonical_json(value)


def test_canonical_json_goes_by_value_not_by_type() -> None:
    class Text(str):
        __slots__ = ()

    plain = {"b": [1, True, None, 1.5, "ä"], "a": {"c": "d"}}
    assert canonical_json(plain) == '{"a":{"c":"d"},"b":[1,true,null,1.5,"ä"]}'
    assert canonical_json({Text("b"): (1, True, None, 1.5, Text("ä")), "a": {"c": Text("d")}}) == canonical_json(plain)
