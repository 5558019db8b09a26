"""When a turn does the same as another one."""

from __future__ import annotations

from typing import Any

import pytest

from synth.annotate.rewards.pivots import equivalent, pivot_reward
from synth.errors import InputError


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def turn(*calls: dict[str, Any], text: str = "") -> list[dict[str, Any]]:
    made = [{"type": "function", "function": one} for one in calls]
    return [{"role": "assistant", "content": text, "tool_calls": made}]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (call("search", query="Korvan Works founder"), call("search", query="founder, korvan works"), True),
        (call("search", query="Korvan Works"), call("search", query="Korvan Mills"), False),
        (call("open", document="p1"), call("open", document="p2"), False),
        (call("open", document="p1"), call("find", document="p1"), False),
        (call("pay", amount=12, currency="EUR"), call("pay", currency="eur", amount=12.0), True),
        (call("pay", amount=12), call("pay", amount=-12), False),
        (call("pay", amount="12"), call("pay", amount="-12"), False),
        (call("pay", note="to Ann from Bo"), call("pay", note="to Bo from Ann"), False),
        (call("book", seat=None, flight="F1"), call("book", flight="F1"), True),
        (call("book", flags=[True, 1]), call("book", flags=[1, True]), False),
    ],
)
def test_calls_do_the_same_where_their_arguments_say_the_same(one: Any, other: Any, *, same: bool) -> None:
    assert equivalent([one], [other]) is same
    assert equivalent([one, one], [other]) is False, "once more is another turn"


def test_a_turn_is_rewarded_by_what_it_does_not_by_its_words() -> None:
    wanted = [call("search", query="Korvan Works")]
    written = 'I look. <tool_call>\n{"name": "search", "arguments": {"query": "korvan works"}}\n</tool_call>'
    completions = [turn(*wanted, text="I look."), [{"role": "assistant", "content": written}], written, "Korvan Works"]
    told = {"calls": [wanted] * 4, "answer": [None] * 4}
    assert pivot_reward(completions=completions, **told) == [1.0, 1.0, 1.0, 0.0]
    answers = ["Answer: Ilse Brandt.", turn(*wanted), "Answer: Ilse Brand"]
    assert pivot_reward(completions=answers, calls=[[]] * 3, answer=["Ilse Brandt"] * 3) == [1.0, 0.0, 0.0]


def test_rows_of_another_export_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="no actions"):
        pivot_reward(completions=["x"])
