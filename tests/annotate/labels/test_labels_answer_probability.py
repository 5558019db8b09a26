"""How probable a model holds the right answer, turn by turn: read from what a server says of a prompt's tokens."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from stand_ins.model_server.listed import Listed, body

from synth.agents.imported import import_trajectory
from synth.agents.model.wire import Mode
from synth.annotate.labels.answer_probability import AnswerProbability
from synth.annotate.labels.label import label
from synth.errors import InputError
from synth.models.contract import CallFailed, FailureKind
from synth.registry import find
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

TASK = small_tasks()[0].model_copy(update={"answer": "Jon Maak"})
TWICE = '{"query": "Maak"}'


@pytest.fixture
def run() -> TrajectoryRow:
    """Two calls, then an answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK.question}]
    for name in ("c0", "c1"):
        call = {"id": name, "type": "function", "function": {"name": "search", "arguments": TWICE}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": name, "content": "1 result: the Atlas."})
    messages.append({"role": "assistant", "content": "Per Maak"})
    return import_trajectory(find("importers", "openai").read({"messages": messages}), TASK, provenance=PROVENANCE)


def told(*tokens: tuple[str, float]) -> dict[str, Any]:
    """A body that says so of the last tokens of a prompt."""
    read = [{str(at): {"logprob": log, "rank": 1, "decoded_token": text}} for at, (text, log) in enumerate(tokens)]
    return body({"content": "x"}, finish="length", prompt_logprobs=[None, *read])


def halves(*logs: float) -> list[dict[str, Any]]:
    return [told(("the end\n", -9), ("Jon", log), (" Ma", log), ("ak", log)) for log in logs]


def test_each_turn_that_calls_tools_is_measured_with_one_call(run: TrajectoryRow) -> None:
    model = Listed(halves(math.log(0.1), math.log(0.2), math.log(0.7)))
    held = AnswerProbability(model).after(run, TASK.answer)
    assert held == pytest.approx((0.1, 0.2, 0.7))
    rows = [one.row(PROVENANCE, held=held) for one in label(run, TASK)]
    assert [row.answer_probability for row in rows] == [pytest.approx(0.2), pytest.approx(0.7), None]
    assert [row.answer_gain for row in rows] == [pytest.approx(0.1), pytest.approx(0.5), None]
    sent = [json.loads(request.body)["messages"] for request in model.asked]
    assert [len(messages) for messages in sent] == [3, 5, 7]
    assert all(messages[-1] == {"role": "assistant", "content": "Jon Maak"} for messages in sent)
    assert all(before[:-1] == after[: len(before) - 1] for before, after in pairwise(sent))


@pytest.mark.parametrize(
    ("mode", "tokens", "wanted"),
    [
        ("native", [("assistant\n", -9.0), ("Jon", -1.0), ("Maak", -3.0)], math.exp(-2)),  # tokens without their blanks
        ("native", [("Jon Maak was. ", -9.0), ("Jon Maak", -1.0)], math.exp(-1)),
        ("native", [("nJon", -1.0), (" Maak", -3.0)], math.exp(-2)),  # a token may reach over the border
        ("native", [("Jon", -1.0), (" Ma", -1.0)], None),  # cut off
        ("native", [("Per", -1.0), (" Maak", -1.0)], None),
        (
            "structured",
            [('{"thought":"","action":{"answer":"', -9.0), ("Jon", -1.0), (" Maak", -1.0), ('"}}', -9.0)],
            math.exp(-1),
        ),
    ],
)
def test_the_tokens_of_the_answer_alone_count(
    run: TrajectoryRow, mode: Mode, tokens: list[tuple[str, float]], wanted: float | None
) -> None:
    held = AnswerProbability(Listed([told(*tokens)] * 3), mode).after(run, TASK.answer)
    assert held == (pytest.approx(wanted),) * 3 if wanted else held == (None,) * 3


def test_a_turn_too_long_for_the_model_is_not_measured(run: TrajectoryRow) -> None:
    first, second = halves(-1.0, -1.0)
    held = AnswerProbability(Listed([first, CallFailed(FailureKind.CONTEXT, "too long"), second])).after(
        run, TASK.answer
    )
    assert held == (pytest.approx(math.exp(-1)), None, pytest.approx(math.exp(-1)))
    rows = [one.row(PROVENANCE, held=held) for one in label(run, TASK)]
    assert [row.answer_gain for row in rows] == [None, None, None]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (body({"content": "Jon"}), "its reply holds none"),
        (CallFailed(FailureKind.REQUEST, "HTTP 400: unknown field"), "it refuses the request (HTTP 400"),
    ],
)
def test_a_server_that_reads_no_prompts_is_named(run: TrajectoryRow, reply: Any, words: str) -> None:
    with pytest.raises(InputError, match="gives no log probabilities of a prompt") as raised:
        AnswerProbability(Listed([reply])).after(run, TASK.answer)
    assert words in str(raised.value)
