"""There and back again: what a format can hold comes back as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from exporter_samples import PROVENANCE, TOOLS
from format_samples import ABOUT, COMMON, run_of
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.agents.imported import import_trajectory
from synth.export.contract import Inexpressible, Run, Why
from synth.registry import find
from synth.schemas.adp import CodeAction, TextObservation, Trajectory, WebObservation
from synth.schemas.trajectories import StopReason, TrajectoryRow, Verdict

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | TEXT
ARGUMENTS = st.dictionaries(
    TEXT, st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=4), max_size=3
)
PARTS = ("id", "content", "task_id", "role", "model", "success", "answer", "stop_reason", "turns", "tool_calls")
MORE = ("split", "licence", "system_prompt", "tool_schemas", "schema_version", "available_custom_tools")

REFUSALS = (Why.ANSWERS_OUT_OF_ORDER, Why.RESERVED_TEXT, Why.NO_TARGET)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Runs as rollouts write them: several calls at once, thoughts and words or none, every way to end."""
    odd = draw(st.booleans())
    content: list[Any] = [COMMON["question"](draw(TEXT))]
    turns = draw(st.integers(0, 3))
    for turn in range(turns):
        ids = [f"x{turn}.{n}" if odd else f"call_{turn}_{n}" for n in range(draw(st.integers(1, 2)))]
        content += [
            COMMON["call"](
                id_,
                draw(st.sampled_from(["search", "find"])),
                draw(ARGUMENTS),
                thought=draw(st.none() | TEXT) if place == 0 else None,
                said=draw(st.none() | TEXT) if place == 0 else None,
            )
            for place, id_ in enumerate(ids)
        ]
        names = [item.function for item in content[-len(ids) :]]
        answers = [COMMON["answer"](id_, name, draw(TEXT)) for id_, name in zip(ids, names, strict=True)]
        content += draw(st.permutations(answers))
    end = draw(st.sampled_from(["answered", "gave_up", "max_turns"]))
    thought = draw(st.none() | TEXT)
    answer = draw(TEXT) if end == "answered" else None
    if end == "max_turns":
        content.append(COMMON["call"](None, "search", {}, thought=thought, said=None))
    else:
        content.append(COMMON["message"](answer or "", thought))
    correct = draw(st.sampled_from([True, True, False])) if answer else False
    tools = draw(st.sampled_from([(), TOOLS]))
    return run_of(
        content,
        masked=None,
        stop_reason=StopReason(end),
        answer=answer,
        role=draw(st.sampled_from(["teacher", "policy", "expert"])),
        model=draw(st.none() | TEXT),
        system_prompt=draw(TEXT),
        tool_schemas=tools,
        available_custom_tools=tuple(tool["function"]["name"] for tool in tools),
        split=draw(st.sampled_from(["train", "test"])),
        success=correct,
        verdict=Verdict(correct=correct, rule="recorded"),
        tool_calls=sum(item.class_ == "api_action" for item in content),
        turns=turns + 1,
        details=draw(st.sampled_from([{}, {"note": {"a": [1, None]}}])),
    )


def back(name: str, importer: str, run: Run) -> Trajectory | None:
    """What comes back of one run; None where the format can't hold it."""
    try:
        (record,) = find("formats", name).convert(run, ABOUT, 0)
    except Inexpressible as error:
        refusal = error
    else:
        return find("importers", importer).read(json.loads(json.dumps(record)))
    assert refusal.why in REFUSALS
    return None


@pytest.mark.parametrize(
    ("name", "importer"), [("adp-1", "adp"), ("adp-2", "adp"), ("atif-1.7", "atif"), ("atif-1.8", "atif")]
)
@settings(max_examples=40)
@given(run=runs())
def test_everything_comes_back(name: str, importer: str, run: Run) -> None:
    read = back(name, importer, run)
    if read is None:
        return
    row = import_trajectory(read, None, provenance=PROVENANCE)
    for part in (*PARTS, *MORE):
        assert getattr(row, part) == getattr(run.row, part), part
    assert row.verdict.correct is run.row.verdict.correct
    for key, value in run.row.details.items():
        assert row.details[key] == value


@pytest.mark.parametrize(("name", "importer"), [("openai", "openai"), ("llamafactory-sft", "sharegpt")])
@settings(max_examples=40)
@given(run=runs())
def test_the_conversation_comes_back(name: str, importer: str, run: Run) -> None:
    read = back(name, importer, run)
    if read is None:
        return
    wanted = run.row.content
    if importer == "sharegpt":
        wanted = import_ids(run.row)
    assert read.content == wanted
    assert read.details["system_prompt"] == run.row.system_prompt
    assert tuple(read.details["tools"]) == run.row.tool_schemas
    assert (read.details.get("stop_reason") == "gave_up") is (run.row.stop_reason is StopReason.GAVE_UP)


def import_ids(row: TrajectoryRow) -> tuple[Any, ...]:
    """The content with ids as an importer gives them, where the format has none."""
    ids: dict[str, str] = {}
    made = []
    turn, place, acting = -1, 0, False
    for item in row.content:
        action = item.class_ in ("api_action", "message_action")
        if action:
            turn, place = (turn, place + 1) if acting else (turn + 1, 0)
        acting = action
        old = getattr(item, "tool_call_id", None)
        if old is not None and action:
            ids[old] = f"call_{turn}_{place}"
        made.append(item if old is None else item.model_copy(update={"tool_call_id": ids[old]}))
    return tuple(made)


@pytest.mark.parametrize("name", ["adp-1", "adp-2", "atif-1.7", "atif-1.8"])
def test_code_pages_and_what_answers_nothing_come_back(name: str) -> None:
    page = WebObservation(
        html="<p>", axtree="A page.", url="http://a.example", image_observation=None, viewport_size=(8, 9)
    )
    content = (
        COMMON["question"]("Which?"),
        page,
        CodeAction(language="python", content="print(1)", tool_call_id="c0", description="I count.", reward=0.5),
        COMMON["answer"]("c0", None, "1"),
        COMMON["call"]("c1", "open", {"url": "b"}, thought="Hm.", said=None),
        page.model_copy(update={"tool_call_id": "c1"}),
        TextObservation(content="Time is short.", source="environment"),
        COMMON["message"]("That.", None),
    )
    run = run_of(content, masked=None, available_code_languages=("python",))
    read = back(name, name.partition("-")[0], run)
    assert read is not None
    assert read.content == content
