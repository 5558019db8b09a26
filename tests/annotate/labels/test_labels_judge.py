"""A model as the judge of steps: it labels what the rules leave open, by citing steps that there are."""

from __future__ import annotations

import json
from functools import partial
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


OPEN = "Jon Maak or perhaps Per Maak, who was his brother"
"""No rule tells whether this is right: the step has no label."""


def run(answer: str = OPEN) -> TrajectoryRow:
    call = {"id": "c0", "type": "function", "function": {"name": "browse", "arguments": '{"page": 0}'}}
    messages = [
        {"role": "user", "content": GIVEN.question},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c0", "content": "Works: the Atlas. Jon Maak wrote it in 1702."},
        {"role": "assistant", "content": answer},
    ]
    return import_trajectory(find("importers", "openai").read({"messages": messages}), GIVEN, provenance=PROVENANCE)


def said(step: int, sign: int | None, *cites: int) -> dict[str, Any]:
    return {"step": step, "reason": "So I read it.", "cites": cites, "label": sign}


def labelled(
    *steps: dict[str, Any], answer: str = OPEN, content: str | None = None
) -> tuple[tuple[StepLabel, ...], Listed]:
    reply = body({"content": json.dumps({"steps": steps}) if content is None else content})
    model = Listed([reply, reply])
    row = run(answer)
    return label(row, GIVEN, judged=partial(ModelStepJudge(model).labels, GIVEN, row)), model


def test_it_labels_what_the_rules_leave_open_and_says_what_it_rests_on() -> None:
    (looked, end), model = labelled(said(0, 1, 0), said(1, -1, 0, 1))
    assert (looked.label, looked.label_reason) == (1, LabelReason.PROGRESS)
    assert (end.label, end.label_reason, end.first_error) == (-1, LabelReason.JUDGED, True)
    assert end.label_detail == "a model, by step 0, 1: So I read it."
    prompt = json.loads(model.asked[0].body)["messages"][0]["content"]
    assert '"right_answer": "Jon Maak"' in prompt


def test_it_does_not_overrule_a_rule() -> None:
    labels, _ = labelled(said(0, -1, 0))
    assert labels == label(run(), GIVEN)


def test_where_the_rules_label_every_step_it_is_not_asked() -> None:
    labels, model = labelled(said(0, -1, 0), answer="Jon Maak")
    assert [one.label for one in labels] == [1, 1]
    assert not model.asked


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (said(1, None, 0),),
        (said(1, -1),),
        (said(1, -1, 7),),
        (said(1, -1, 0), said(1, 1, 0)),
        (said(7, -1, 0),),
        (said(-1, -1, 0),),
    ],
    ids=["nothing", "can't tell", "cites nothing", "cites what is not there", "twice", "no such step", "from the end"],
)
def test_what_it_does_not_say_by_steps_that_there_are_stays_without_a_label(steps: tuple[dict[str, Any], ...]) -> None:
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
