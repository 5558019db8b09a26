"""Finished runs reworked: a team as one agent, and notes in the place of what was read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import synth
from synth.agents.actions import view_of
from synth.agents.grounding.check import ungrounded
from synth.agents.helpers import helper_runs
from synth.agents.trajectory import history_of
from synth.annotate.refinement.refiner import Unrefined
from synth.annotate.refinement.rework import compressed, distilled
from synth.dataset.reader import Dataset
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.schemas.rejections import Reason
from synth.schemas.reworked import Rework, Reworked
from synth.schemas.trajectories import TrajectoryRow

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
        assert how.roles[0][0] == "planner"
        assert not ungrounded(prompt, history)
    with pytest.raises(Unrefined, match="and 99 are wanted"):
        distilled(found[0][1], least=99)
    with pytest.raises(Unrefined, match="not all of its calls went to helpers"):
        distilled(found[0][0], least=1)
    wrong = found[0][1].model_copy(update={"verdict": found[0][1].verdict.model_copy(update={"correct": False})})
    with pytest.raises(Unrefined, match="an answer is wrong"):
        distilled(wrong, least=1)


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
    with pytest.raises(Unrefined, match="would be lost"):
        compressed(parent, budget=1, size=1, thought=str, count=lambda text: len(text) if "Known" not in text else 0)


def test_notes_are_trained_and_so_is_what_goes_on_from_them(
    made: Dataset, runs: dict[str, TrajectoryRow], tmp_path: Path
) -> None:
    synth.export(made.path, "trl-rft", tmp_path / "out", select=["role=teacher,policy"])
    rows = [row for file in (tmp_path / "out").rglob("*.parquet") for row in pq.read_table(file).to_pylist()]
    seen = 0
    for row, _, how in reworked(runs, "compressed"):
        parts = [one for one in rows if one["id"] == row.id]
        if not row.success or len(how.steps) != 1 or not parts:
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
