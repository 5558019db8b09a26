"""Finished runs reworked: a team as one agent, and notes in the place of what was read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from shared_builds import LEAN
from stand_ins.model_server import ModelServer, Reply

import synth
from synth.agents.actions import view_of
from synth.agents.contract import Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.helpers import helper_runs
from synth.agents.trajectory import history_of
from synth.annotate.refinement.refiner import Unrefined
from synth.annotate.refinement.rewording import Rewriter
from synth.annotate.refinement.rewording import reworded as said_anew
from synth.annotate.refinement.rework import _settled, compressed, distilled
from synth.cli import main
from synth.dataset.reader import Dataset
from synth.dataset.rules.validate import validate
from synth.environments.observed import observe
from synth.environments.shown import Hits, Page
from synth.errors import InputError
from synth.recipe.load import load_recipe
from synth.schemas.rejections import Reason
from synth.schemas.reworked import Rework, Reworked
from synth.schemas.trajectories import TrajectoryRow

pytestmark = pytest.mark.thorough

SETTINGS = {
    "source.entities": 300,
    "management.compress": True,
    "rework.compress": 1000,
    "rework.unverified": 1.0,
    "roles": {"teacher": {}, "policy": {}},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("reworked")
    built = synth.build("chain-of-agents", tasks=8, out=folder / "out", store=folder / "store", settings=SETTINGS)
    return synth.load(built.path)


@pytest.fixture(scope="module")
def runs(made: Dataset) -> dict[str, TrajectoryRow]:
    return {row.id: row for row in made.rows("trajectories")}


def reworked(runs: dict[str, TrajectoryRow], how: str) -> list[tuple[TrajectoryRow, TrajectoryRow, Rework]]:
    """(the run, what it was made of, how)"""
    found = [
        (row, runs[row.retry_of or ""], Reworked.of(row.details).reworked)
        for row in runs.values()
        if Reworked.stand_in(row.details)
    ]
    return [one for one in found if one[2].how == how]


def test_every_row_holds(made: Dataset) -> None:
    assert validate(made.path) == []


def test_a_team_becomes_one_agent(runs: dict[str, TrajectoryRow]) -> None:
    found = reworked(runs, "distilled")
    assert len(found) >= 3
    for row, parent, how in found:
        prompt, history = history_of(row)
        assert (row.answer, row.success) == (parent.answer, True)
        assert "delegate" not in (row.available_custom_tools or ())
        assert "<planner>" in row.system_prompt
        helped = [result.content for _, run in helper_runs(parent) for step in run for result in step.results]
        assert [result.content for step in history for result in step.results] == helped
        for step, roles in zip(history, how.roles, strict=True):
            for role in ("planner", "searcher", "reader", "verifier"):
                assert (f"<{role}>\n" in (step.turn.thought or "")) == (role in roles)
                assert f"<{role}>\n\n</{role}>" not in (step.turn.thought or "")
        assert how.roles[0][0] == "planner"
        assert not ungrounded(prompt, history)
    with pytest.raises(Unrefined, match="and 99 are wanted"):
        distilled(found[0][1], least=99)
    with pytest.raises(Unrefined, match="not all of its calls went to helpers"):
        distilled(found[0][0], least=1)
    wrong = found[0][1].model_copy(update={"verdict": found[0][1].verdict.model_copy(update={"correct": False})})
    with pytest.raises(Unrefined, match="an answer is wrong"):
        distilled(wrong, least=1)


def test_a_name_among_hits_is_nothing_to_verify(runs: dict[str, TrajectoryRow]) -> None:
    helped = [run for _, parent, _ in reworked(runs, "distilled") for _, run in helper_runs(parent)]
    checked = 0
    for run in helped:
        answer = str(run[-1].turn.answer)
        hits = [step for step in run if any(isinstance(observe(one.content), Hits) for one in step.results)]
        named = [step for step in hits if answer in step.results[0].content]
        pages = [step for step in run if any(isinstance(observe(one.content), Page) for one in step.results)]
        read = [step for step in pages if answer in step.results[0].content]
        if not (named and read):
            continue
        says, lists = (
            Step(turn=Turn(thought=text, calls=read[0].turn.calls), results=())
            for text in (f"It may be {answer}.", f"I choose between {answer} and Vera Other.")
        )
        assert not _settled((named[0], says), answer)
        assert not _settled((read[0], lists), answer)
        assert _settled((read[0], says), answer)
        checked += 1
    assert checked


def test_what_follows_notes_is_grounded_in_them_and_not_without(runs: dict[str, TrajectoryRow]) -> None:
    found = reworked(runs, "compressed")
    assert len(found) >= 2
    needed = 0
    for row, parent, how in found:
        prompt, history = history_of(row)
        _, before = history_of(parent)
        assert tuple(step.turn.thought for n, step in enumerate(history) if n not in how.steps) == tuple(
            step.turn.thought for step in before
        )
        assert how.tokens is not None
        assert how.tokens[1] < how.tokens[0]
        own = {(bad.place, bad.text) for bad in ungrounded(prompt, before)}
        for step in how.steps:
            assert view_of(history[: step + 1]) == history[step : step + 1]
            notes = str(history[step].turn.calls[0].arguments["notes"])
            told = prompt.model_copy(update={"question": f"{prompt.question}\n\n{notes}"})
            rest = history[step + 1 :]
            assert {(bad.place, bad.text) for bad in ungrounded(told, rest)} <= own
            needed += bool({(bad.place, bad.text) for bad in ungrounded(prompt, rest)} - own)
    assert needed, "without the notes something that is used is lost"
    parent = found[0][1]
    with pytest.raises(Unrefined, match="it fits") as refused:
        compressed(parent, budget=10**6, size=300, thought=str, count=len)
    assert refused.value.reason is Reason.NOT_COMPRESSED
    lost = []
    for _, one, _ in found:
        try:
            compressed(one, budget=1, size=1, thought=str, count=lambda text: len(text) if "Known" not in text else 0)
        except Unrefined as error:
            lost.append("would be lost" in str(error))
    assert any(lost), "notes of one character hold nothing of what some run uses later"


def test_notes_are_trained_and_so_is_what_goes_on_from_them(
    made: Dataset, runs: dict[str, TrajectoryRow], tmp_path: Path
) -> None:
    synth.export(made.path, "trl-rft", tmp_path / "out", select=["role=teacher,policy"])
    rows = [row for file in (tmp_path / "out").rglob("*.parquet") for row in pq.read_table(file).to_pylist()]
    trained = {(step.trajectory_id, step.step) for step in made.rows("steps") if step.train}
    seen = 0
    for row, _, how in reworked(runs, "compressed"):
        parts = [one for one in rows if one["id"] == row.id]
        if not row.success or len(how.steps) != 1 or (row.id, how.steps[0]) not in trained or not parts:
            continue
        said = [[json.loads(text) for text in part["completion"]] for part in parts]
        writes = [
            any(call["function"]["name"] == "compress" for m in part for call in m.get("tool_calls", ()))
            for part in said
        ]
        assert writes.count(True) == 1
        told = [json.loads(text) for text in parts[-1]["prompt"]]
        assert [message["role"] for message in told[:4]] == ["system", "user", "assistant", "tool"]
        assert told[2]["tool_calls"][0]["function"]["name"] == "compress"
        seen += 1
    assert seen


def test_keys_that_lack_their_tool_are_refused(tmp_path: Path) -> None:
    for settings, problem in (
        ({"rework.compress": 900}, "compress: true"),
        ({"rework.distill": True}, "delegate: true"),
    ):
        with pytest.raises(InputError, match=problem):
            synth.build("world-search", tasks=1, out=tmp_path / "x", store=tmp_path / "s", settings=settings)


class StudentPlayer:
    """A student that rephrases thoughts in the manner ``how``; as an agent it gives up."""

    def __init__(self, how: str) -> None:
        self._how = how

    def say(self, thought: str) -> str:
        return {
            "honest": f"Let me see. {thought} That is how I understand it.",
            "parrot": thought,
            "forgetful": "I go on with what I have found.",
            "lying": f"{thought} Albert Zweistein said so in 1987.",
        }[self._how]

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        _, found, text = str(request["messages"][-1]["content"]).partition("\n\nThe turn:\n\n")
        if not found:
            return Reply(content="I do not know.")
        return Reply(content=json.dumps({"thought": self.say(json.loads(text)["thought"])}))


def test_a_student_says_the_thoughts_of_its_teacher(tmp_path: Path) -> None:
    with ModelServer({"toy": StudentPlayer("honest")}) as server:
        who = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        settings = {**LEAN, "source.entities": 300, "rework": {"reword": True}, "roles": {"teacher": {}, "policy": who}}
        out, store = tmp_path / "out", tmp_path / "store"
        made = synth.load(synth.build("world-search", tasks=3, out=out, store=store, settings=settings).path)
    main(["validate", str(made.path), "--deep"])
    runs = {row.id: row for row in made.rows("trajectories")}
    found = reworked(runs, "reworded")
    right = {row.id for row in runs.values() if row.success and row.retry_of is None}
    assert {parent.id for _, parent, _ in found} == right
    for row, parent, how in found:
        (_, after), (_, before) = history_of(row), history_of(parent)
        assert (row.model, row.role, row.answer, row.success) == ("toy", "teacher", parent.answer, True)
        assert [s.turn.calls for s in after] == [s.turn.calls for s in before]
        changed = [n for n, (one, other) in enumerate(zip(after, before, strict=True)) if one.turn != other.turn]
        assert tuple(changed) == how.steps == tuple(n for n, step in enumerate(before) if step.turn.thought)
        assert len(how.calls) == len(changed)
        assert (parent.duplicate_of, row.duplicate_of) == (row.id, None)  # exports take the student's words


class Words(Rewriter):
    """A rewriter without a model."""

    def __init__(self, how: str) -> None:
        self.by, self._player = how, StudentPlayer(how)

    def say(self, sample: str, question: str, turn: Turn) -> tuple[str | None, tuple[str, ...]]:
        return self._player.say(turn.thought or ""), (sample,)


def test_words_that_tell_something_else_are_not_taken(runs: dict[str, TrajectoryRow]) -> None:
    right = [row for row in runs.values() if row.success and row.retry_of is None]
    refusals: list[str] = []
    for run in right:
        for how, why in (("parrot", "these are the teacher's words"), ("lying", "was not seen before")):
            with pytest.raises(Unrefined, match=why) as refused:
                said_anew(run, Words(how), computed=False)
            assert refused.value.reason is Reason.NOT_REWORDED
        _, before = history_of(run)
        try:
            after, rework = said_anew(run, Words("forgetful"), computed=False)
        except Unrefined as error:
            refusals.append(error.detail)
            continue
        assert len(before) - 1 not in rework.steps, "what led to the answer is left out"
        assert after[-1] == before[-1]
    assert all("it leaves out" in detail for detail in refusals)
    failed = right[0].model_copy(update={"verdict": right[0].verdict.model_copy(update={"correct": False})})
    with pytest.raises(Unrefined, match="its answer is not right"):
        said_anew(failed, Words("honest"), computed=False)


def test_only_a_model_has_words_of_its_own() -> None:
    with pytest.raises(InputError, match=r"rework\.reword: the words are a model's"):
        load_recipe("world-search", settings={"rework.reword": True})
