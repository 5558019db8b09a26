"""A model as the judge of steps: its labels stand above the rules' where they cite steps that there are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stand_ins.model_server.listed import Listed, body

from synth.agents.imported import import_trajectory
from synth.annotate.labels import StepLabel, label
from synth.annotate.labels.model_judge import ModelStepJudge
from synth.registry import find
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Walk
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

WALKED = small_tasks()[0]
GIVEN = WALKED.model_copy(
    update={"walk": Walk(shape="given", hops=()), "question": "Who wrote the Atlas?", "answer": "Jon Maak"}
)


def run() -> TrajectoryRow:
    call = {"id": "c0", "type": "function", "function": {"name": "browse", "arguments": '{"page": 0}'}}
    messages = [
        {"role": "user", "content": GIVEN.question},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c0", "content": "Works: the Atlas. Jon Maak wrote it in 1702."},
        {"role": "assistant", "content": "Jon Maak"},
    ]
    return import_trajectory(find("importers", "openai").read({"messages": messages}), GIVEN, provenance=PROVENANCE)


def said(step: int, sign: int | None, *cites: int) -> dict[str, Any]:
    return {"step": step, "reason": "So I read it.", "cites": cites, "label": sign}


def labelled(*steps: dict[str, Any], content: str | None = None) -> tuple[tuple[StepLabel, ...], Listed]:
    reply = body({"content": json.dumps({"steps": steps}) if content is None else content})
    model = Listed([reply, reply])
    row = run()
    return label(row, GIVEN, judged=ModelStepJudge(model).labels(GIVEN, row)), model


def test_what_it_labels_stands_above_the_rules_and_says_what_it_rests_on() -> None:
    (looked, end), model = labelled(said(0, -1, 0), said(1, 0, 0, 1))
    assert (looked.label, looked.label_reason, looked.first_error) == (-1, LabelReason.JUDGED, True)
    assert looked.label_detail == "a model, by step 0: So I read it."
    assert (end.label, end.label_detail) == (0, "a model, by step 0, 1: So I read it.")
    prompt = json.loads(model.asked[0].body)["messages"][0]["content"]
    assert '"right_answer": "Jon Maak"' in prompt
    assert '"found_right": true' in prompt


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (said(0, None, 0),),
        (said(0, -1),),
        (said(0, -1, 7),),
        (said(0, -1, 0), said(0, 1, 0)),
        (said(7, -1, 0),),
        (said(-1, -1, 0),),
    ],
    ids=["nothing", "can't tell", "cites nothing", "cites what is not there", "twice", "no such step", "from the end"],
)
def test_what_it_does_not_say_by_steps_that_there_are_is_left_to_the_rules(steps: tuple[dict[str, Any], ...]) -> None:
    labels, _ = labelled(*steps)
    assert labels == label(run(), GIVEN)


@pytest.mark.parametrize("content", ["I like it.", '{"steps": [{"step": 0, "label": 5, "cites": [0], "reason": ""}]}'])
def test_a_reply_of_another_form_labels_nothing(content: str) -> None:
    labels, model = labelled(content=content)
    assert labels == label(run(), GIVEN)
    assert len(model.asked) == 2, "it is asked once more"


def test_where_a_walk_is_known_there_is_nothing_to_ask() -> None:
    assert ModelStepJudge.wanted(GIVEN)
    assert not ModelStepJudge.wanted(WALKED)
